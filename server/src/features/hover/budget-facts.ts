import { plural } from '../../cost/money.ts';
import { allowedEvictions } from '../../evidence/evictions.ts';
import type { BudgetFacts, CrossReferences, Referenced } from '../../model/cross-references.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { keyOf } from '../../yaml/cursor.ts';
import { tableOf } from '../../yaml/table.ts';
import type { Block } from './render.ts';

/** The evictions that the project's PodDisruptionBudgets allow for the pods of a workload. */
export function budgetFacts({ podSets, namespace }: Workload, crossReferences: CrossReferences): readonly Block[] {
  return podSets.flatMap((podSet) => {
    const labels = tableOf(podSet.labels.map(({ value, at }) => [keyOf(at), value] as const));
    if (Object.keys(labels).length === 0) return [];
    return crossReferences
      .budgetsOf(namespace, labels)
      .map((budget) => ({ kind: 'text' as const, text: words(budget, podSet) }));
  });
}

function words({ name, file, facts }: Referenced<BudgetFacts>, { pods }: PodSet): string {
  const budget = `PodDisruptionBudget ${name}${file === null ? '' : ` (${file})`}`;
  const count = allowedEvictions(facts, pods.min);
  if (count === null) return `${budget} limits evictions while nodes are drained: ${limitOf(facts)}.`;
  if (count === 0) return `${budget} allows no eviction: node drains and consolidation wait until the budget changes.`;
  return `${budget} allows the eviction of ${count} of ${plural(pods.min ?? count, 'pod')} at a time.`;
}

function limitOf({ minAvailable, maxUnavailable }: BudgetFacts): string {
  return maxUnavailable === null ? `minAvailable ${minAvailable ?? 'unknown'}` : `maxUnavailable ${maxUnavailable}`;
}

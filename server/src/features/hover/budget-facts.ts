import { plural } from '../../cost/money.ts';
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

/** How many pods can be evicted at a time; null if a percentage, a template or an unknown number of pods leaves it unknown. */
function allowedEvictions({ minAvailable, maxUnavailable }: BudgetFacts, pods: number | null): number | null {
  if (maxUnavailable === '0' || maxUnavailable === '0%' || minAvailable === '100%') return 0;
  if (pods === null || pods === 0) return null;
  if (maxUnavailable !== null) return isCount(maxUnavailable) ? Math.min(Number(maxUnavailable), pods) : null;
  return minAvailable !== null && isCount(minAvailable) ? Math.max(pods - Number(minAvailable), 0) : null;
}

function isCount(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function limitOf({ minAvailable, maxUnavailable }: BudgetFacts): string {
  return maxUnavailable === null ? `minAvailable ${minAvailable ?? 'unknown'}` : `maxUnavailable ${maxUnavailable}`;
}

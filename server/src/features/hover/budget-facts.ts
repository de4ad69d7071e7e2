import type { BudgetFacts, CrossReferences, Referenced } from '../../model/cross-references.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { keyOf } from '../../yaml/cursor.ts';
import { tableOf } from '../../yaml/table.ts';
import type { Block } from './markdown.ts';

/** What a PodDisruptionBudget of the project lets happen to the pods of a workload when their nodes are drained. */
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
  const may = mayGo(facts, pods.min);
  if (may === null) return `${budget} holds while nodes are drained: ${said(facts)}.`;
  if (may === 0)
    return `${budget} lets no pod go: draining or consolidating its nodes waits until somebody changes it.`;
  return `${budget} lets ${may} of ${pods.min} go at a time while nodes are drained.`;
}

/** How many pods may go at a time; null where a share, a template or an unknown number of pods leaves it open. */
function mayGo({ minAvailable, maxUnavailable }: BudgetFacts, pods: number | null): number | null {
  if (maxUnavailable === '0' || maxUnavailable === '0%' || minAvailable === '100%') return 0;
  if (pods === null || pods === 0) return null;
  if (maxUnavailable !== null) return isCount(maxUnavailable) ? Math.min(Number(maxUnavailable), pods) : null;
  return minAvailable !== null && isCount(minAvailable) ? Math.max(pods - Number(minAvailable), 0) : null;
}

function isCount(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function said({ minAvailable, maxUnavailable }: BudgetFacts): string {
  return maxUnavailable === null ? `minAvailable ${minAvailable ?? 'not told'}` : `maxUnavailable ${maxUnavailable}`;
}

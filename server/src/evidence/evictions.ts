import type { BudgetFacts } from '../model/cross-references.ts';

/**
 * How many pods a PodDisruptionBudget allows to evict at a time; null if a template or an unknown number of pods leaves it unknown. Percentages are
 * rounded up.
 * https://kubernetes.io/docs/tasks/run-application/configure-pdb/#rounding-logic-when-specifying-percentages
 */
export function allowedEvictions({ minAvailable, maxUnavailable }: BudgetFacts, pods: number | null): number | null {
  if (maxUnavailable === '0' || maxUnavailable === '0%' || minAvailable === '100%') return 0;
  const [, digits, percent] = /^(\d{1,9})(%?)$/.exec(maxUnavailable ?? minAvailable ?? '') ?? [];
  if (pods === null || pods === 0 || digits === undefined) return null;
  const bound = percent === '%' ? Math.ceil((pods * Number(digits)) / 100) : Number(digits);
  return maxUnavailable !== null ? Math.min(bound, pods) : Math.max(pods - bound, 0);
}

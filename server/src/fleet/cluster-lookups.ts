import type { ClusterView } from './cluster-view.ts';
import type { FitAnswer, FitQuestion } from './fit-question.ts';

/** What an analysis can look up in a connected cluster. Each lookup is recorded with its result, so only a new result makes the analysis stale. */
export interface ClusterLookups {
  /** Would these pods run? Undefined without a cluster, and until the answer arrives. */
  fit(question: FitQuestion): FitAnswer | undefined;
  /**
   * A part of the view, or a result computed from it: plain data, which is compared by value. The smaller it is, the less often it changes.
   * @param question identifies the lookup, with all values that it depends on
   * @returns undefined without a cluster
   */
  lookUp<T>(question: readonly string[], find: (view: ClusterView) => T): T | undefined;
}

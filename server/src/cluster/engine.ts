import type { ClusterObjects } from '../fleet/cluster-objects.ts';
import type { ClusterView, LiveNode } from '../fleet/cluster-view.ts';
import type { FitAnswer, FitQuestion } from '../fleet/fit-question.ts';

/** What a view says of its connection. */
export type Moment = Pick<ClusterView, 'context' | 'serverVersion' | 'state' | 'asOf' | 'coverage'>;

/** A view, and the nodes of its pools, which are many. */
export interface Computed {
  readonly view: ClusterView;
  /** Sorted by name. @param pool `LivePool.id` */
  readonly nodesOf: (pool: string) => readonly LiveNode[];
}

/** Computes what a cluster offers from its objects. */
export interface Engine {
  readonly compute: (objects: ClusterObjects, moment: Moment) => Computed;
  /** Would these pods run, as the objects were last computed? */
  readonly answer: (question: FitQuestion, moment: Moment) => FitAnswer;
}

import type { Cursor } from '../../yaml/cursor.ts';
import { getIn } from '../../yaml/cursor.ts';
import { product } from '../count.ts';
import { lowerCount } from '../pod.ts';
import type { Retries } from '../workload.ts';
import type { PodCount, PodSetSource } from './kind.ts';

// Shared by the tables of kinds: pod sets from templates and replica counts.

/** The pods of a pod template (a mapping with `metadata` and `spec`); empty if there is none. */
export function fromTemplate(
  name: string,
  template: Cursor | undefined,
  pods: PodCount,
  replicas?: Cursor,
): readonly PodSetSource[] {
  const pod = getIn(template, 'spec');
  return pod === undefined ? [] : [{ name, pod, metadata: getIn(template, 'metadata'), replicas, pods }];
}

/** The pods of a pod spec without a template around it. */
export function fromPodSpec(
  name: string,
  pod: Cursor | undefined,
  pods: PodCount,
  replicas?: Cursor,
): readonly PodSetSource[] {
  return pod === undefined ? [] : [{ name, pod, metadata: undefined, replicas, pods }];
}

/** The written number of pods, else the kind's default. */
export function written(replicas: Cursor | undefined, unset = 1): PodCount {
  return exactly(lowerCount(replicas, unset));
}

/** A number without a range; null if it is unknown. */
export function exactly(count: number | null): PodCount {
  return { min: count, max: count };
}

/** A number between two bounds; the ceiling is never below the floor. */
export function between(min: number | null, max: number | null): PodCount {
  return { min, max: max === null || min === null ? max : Math.max(min, max) };
}

/** Both bounds times a factor; null if a number or the factor is unknown. */
export function times({ min, max }: PodCount, factor: number | null): PodCount {
  return { min: product(min, factor), max: product(max, factor) };
}

/** For controllers that always replace failed pods. */
export const unlimitedRetries: Retries = { limit: Number.POSITIVE_INFINITY, at: undefined };

/** The written number of retries, else the kind's default; null if templated. */
export function retriesAt(cursor: Cursor | undefined, unset: number): Retries | null {
  const limit = lowerCount(cursor, unset);
  return limit === null ? null : { limit, at: cursor };
}

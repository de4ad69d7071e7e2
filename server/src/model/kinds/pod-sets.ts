import type { Cursor } from '../../yaml/cursor.ts';
import { getIn } from '../../yaml/cursor.ts';
import { product } from '../count.ts';
import { lowerCount } from '../pod.ts';
import type { Retries } from '../workload.ts';
import type { PodCount, PodSetSource } from './kind.ts';

// What the tables of kinds share: from templates and replica counts to sets of pods.

/** The pods of one pod template (a mapping with `metadata` and `spec`); nothing where there is none. */
export function fromTemplate(
  name: string,
  template: Cursor | undefined,
  pods: PodCount,
  replicas?: Cursor,
): readonly PodSetSource[] {
  const pod = getIn(template, 'spec');
  return pod === undefined ? [] : [{ name, pod, metadata: getIn(template, 'metadata'), replicas, pods }];
}

/** The pods of a template that is a pod spec itself. */
export function fromPodSpec(
  name: string,
  pod: Cursor | undefined,
  pods: PodCount,
  replicas?: Cursor,
): readonly PodSetSource[] {
  return pod === undefined ? [] : [{ name, pod, metadata: undefined, replicas, pods }];
}

/** As many pods as are written, with the kind's default where nothing is. */
export function written(replicas: Cursor | undefined, unset = 1): PodCount {
  return exactly(lowerCount(replicas, unset));
}

export function exactly(count: number | null): PodCount {
  return { min: count, max: count };
}

/** Between two bounds; the ceiling is never under the floor. */
export function between(min: number | null, max: number | null): PodCount {
  return { min, max: max === null || min === null ? max : Math.max(min, max) };
}

export function times({ min, max }: PodCount, factor: number | null): PodCount {
  return { min: product(min, factor), max: product(max, factor) };
}

/** Controllers that replace whatever fails, for ever. */
export const unlimitedRetries: Retries = { limit: Number.POSITIVE_INFINITY, at: undefined };

/** Retries as written, with the kind's default; null where a template will say it. */
export function retriesAt(cursor: Cursor | undefined, unset: number): Retries | null {
  const limit = lowerCount(cursor, unset);
  return limit === null ? null : { limit, at: cursor };
}

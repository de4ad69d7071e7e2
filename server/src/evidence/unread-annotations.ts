import { isGpuLabel } from '../catalog/index.ts';
import type { PodSet } from '../model/workload.ts';
import { type Cursor, getIn, isUnseen, keyOf } from '../yaml/cursor.ts';

/** An annotation of a pod with the name of a node label, which no program reads there. */
export interface UnreadAnnotation {
  readonly at: Cursor;
  /** Meant as a share of a GPU, as a request, or to select nodes. */
  readonly about: 'share' | 'request' | 'nodes';
}

/**
 * Annotations of pods that only mean something as labels of nodes. Plugins and schedulers have annotations with other names, and a scheduler of the
 * project may read any.
 */
export function unreadAnnotations({ annotations, selectors, labels, pod }: PodSet): readonly UnreadAnnotation[] {
  if (annotations.length === 0 || getIn(pod, 'schedulerName') !== undefined || isUnseen(pod)) return [];
  if (labels.some(({ at }) => /^(?:runai|kai\.|hami|project$)/.test(keyOf(at)))) return [];
  return annotations.flatMap(({ at, value }): readonly UnreadAnnotation[] => {
    const key = keyOf(at);
    if (shares.test(key)) return [{ at, about: 'share' }];
    // "false" and "none" request nothing.
    if (key === 'nvidia.com/gpu' || key === 'amd.com/gpu')
      return /^(?:[1-9]\d*|true|yes|required)$/i.test(value) ? [{ at, about: 'request' }] : [];
    if (!isGpuLabel(key) && !properties.test(key)) return [];
    // It repeats what the selector says.
    return selectors.some((one) => one.key === key) ? [] : [{ at, about: 'nodes' }];
  });
}

const shares = /^nvidia\.com\/gpu[.-](?:mem|memory|fraction|share|sharing|sharing-strategy|replicas)$/;
// Cloud Run reads its label in the node selector of a service: https://cloud.google.com/run/docs/configuring/services/gpu
const properties = /^(?:nvidia\.com\/gpu[.-](?:count|family|machine|present)|run\.googleapis\.com\/accelerator)$/;

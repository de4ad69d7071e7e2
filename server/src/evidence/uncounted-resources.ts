import { namesAccelerators } from '../model/accelerators.ts';
import type { CrossReferences, Referenced } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import { isListedContainer } from '../model/pod.ts';
import type { QuotaFacts } from '../model/referenced.ts';
import type { Container, Workload } from '../model/workload.ts';
import { getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';

/** A container that does not set what a quota counts for every container: the API server rejects its pod. */
export interface Uncounted {
  readonly container: Container;
  readonly quota: Referenced<QuotaFacts>;
  /** The amounts that it lacks, under the names of the quota: `limits.memory`. */
  readonly missing: readonly string[];
}

/**
 * The first container without an amount that a quota of its namespace counts. A LimitRange may give it.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/quota/v1/evaluator/core/pods.go (validationSet)
 */
export function uncountedContainer(
  { apiVersion, namespace, podSets }: Workload,
  crossReferences: Pick<CrossReferences, 'quotasIn' | 'defaultsIn'>,
): Uncounted | undefined {
  // Other controllers give their containers requests of their own.
  if (!plainGroups.test(groupOf(apiVersion))) return undefined;
  const given = new Set(crossReferences.defaultsIn(namespace));
  for (const quota of crossReferences.quotasIn(namespace)) {
    const counted = [...wanted.keys()].filter((name) => {
      const { resource } = wanted.get(name) ?? {};
      return quota.facts.hard[name] !== undefined && !given.has(resource ?? '');
    });
    for (const podSet of counted.length === 0 ? [] : podSets) {
      const { containers, pod, pods } = podSet;
      const lists = [pod, getIn(pod, 'containers'), getIn(pod, 'initContainers')];
      if (pods.max === 0 || !namesAccelerators(podSet) || lists.some((one) => one !== undefined && isUnseen(one)))
        continue;
      // Amounts for the whole pod count as well.
      if (getIn(pod, 'resources') !== undefined || lists.some(isIncomplete)) continue;
      for (const container of containers) {
        const missing = counted.filter((name) => lacks(container, name));
        if (missing.length > 0) return { container, quota, missing };
      }
    }
  }
  return undefined;
}

const plainGroups = /^(?:|apps|batch|jobset\.x-k8s\.io|batch\.volcano\.sh)$/;

/** The amounts that a quota needs of every container, and where a container may set them: a limit is also a request. */
const wanted: ReadonlyMap<string, { readonly resource: string; readonly parts: readonly string[] }> = new Map(
  ['cpu', 'memory'].flatMap((resource) => [
    [resource, { resource, parts: ['requests', 'limits'] }],
    [`requests.${resource}`, { resource, parts: ['requests', 'limits'] }],
    [`limits.${resource}`, { resource, parts: ['limits'] }],
  ]),
);

function lacks({ at, resources }: Container, name: string): boolean {
  const { resource, parts } = wanted.get(name) ?? { resource: '', parts: [] };
  const places = [at, resources, getIn(resources, 'requests'), getIn(resources, 'limits')];
  if (!isListedContainer(at) || places.some((one) => one !== undefined && (isUnseen(one) || isIncomplete(one))))
    return false;
  return parts.every((part) => getIn(resources, part, resource) === undefined);
}

import { knownAccelerator } from '../catalog/index.ts';
import type { CrossReferences, Landing, LivePools } from '../model/cross-references.ts';
import type { NodeTaint } from '../model/node-pool.ts';
import { clusterWords, wantedLabels } from '../model/nodes-of-others.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';

/** Taints, and a description of the nodes that have them. */
export interface PoolTaints {
  readonly whose: string;
  readonly taints: readonly NodeTaint[];
  /** Whether they are described in sibling folders of the pod's folder, which may be unrelated. */
  readonly siblingFolder: boolean;
}

/**
 * The taints of the pools on which the pod can land: of each pool of the connected cluster, else those that all pools have that the project
 * describes. A pod that selects a pool's own label lands on that pool; a pod without selectors is assumed to land on the pools in the same folder.
 * The pod runs if it tolerates those of one of the alternatives. Always at least one.
 */
export function poolTaints(
  podSet: PodSet,
  { crossReferences }: { readonly crossReferences: CrossReferences },
): readonly PoolTaints[] {
  const { selectors, pod } = podSet;
  const live = livePoolsOf(podSet, crossReferences);
  if (live !== undefined) {
    const where = clusterWords(live.cluster, live.asOf);
    return live.pools.map((pool) => ({
      whose: `pool ${shorten(pool.name ?? '', 24)} (${where})`,
      taints: withoutTolerated(pool.taints ?? [], pool.toleratesRequested === true, podSet),
      siblingFolder: false,
    }));
  }
  const landing = crossReferences.landingOf(wantedLabels(selectors), selectors.length === 0 && !hasAffinity(pod));
  if (landing === undefined || landing.isElsewhere) return [{ whose: '', taints: [], siblingFolder: false }];
  const taints = withoutTolerated(landing.taints, landing.toleratesRequested, podSet);
  return [{ whose: describePools(landing), taints, siblingFolder: landing.siblingFolder }];
}

/** The pools of the connected cluster that offer what a pod requests and have the labels that it selects. */
export function livePoolsOf(podSet: PodSet, crossReferences: CrossReferences): LivePools | undefined {
  return crossReferences.livePools({
    labels: wantedLabels(podSet.selectors),
    resources: [...requestedBy(podSet)].sort(),
  });
}

function requestedBy({ accelerators }: PodSet): ReadonlySet<string> {
  return new Set(
    accelerators.flatMap(({ requested, perPod }) => (perPod === 0 ? [] : (resourceName(requested) ?? []))),
  );
}

/** The provider adds tolerations for the resources that a pod requests. */
function withoutTolerated(
  taints: readonly NodeTaint[],
  toleratesRequested: boolean,
  podSet: PodSet,
): readonly NodeTaint[] {
  const requested = requestedBy(podSet);
  return taints.filter(({ key }) => !(toleratesRequested && knownAccelerator(key) && requested.has(key)));
}

function hasAffinity(pod: PodSet['pod']): boolean {
  return pod.node.kind === 'map' && pod.node.entries.some(({ key }) => key === 'affinity');
}

/** `ClusterConfig train (infra/cluster.yaml)`, `NodePool gpu and 2 more`. */
export function describePools({ first: { kind, name, file }, others }: Landing): string {
  if (others > 0) return `${kind} ${shorten(name, 24)} and ${others} more`;
  return `${kind} ${shorten(name, 24)}${file === null ? '' : ` (${shorten(file, 30)})`}`;
}

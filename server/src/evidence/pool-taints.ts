import { acceleratorResource } from '../catalog/index.ts';
import type { CrossReferences, Landing } from '../model/cross-references.ts';
import type { NodeTaint } from '../model/node-pool.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';

/** Taints, and the nodes that have them, in words. */
export interface PoolTaints {
  readonly whose: string;
  readonly taints: readonly NodeTaint[];
  /** They are described in folders beside the pod's, which may know nothing of it. */
  readonly siblingFolder: boolean;
}

/**
 * The taints of the node pools that the project describes, where the pod can land on no other: each pool that it may land on has them. A
 * pod that selects a pool's own label can land on that pool; one that selects nothing is taken to land on the pools beside it.
 */
export function poolTaints(
  { selectors, accelerators, pod }: PodSet,
  { crossReferences }: { readonly crossReferences: CrossReferences },
): PoolTaints {
  const wanted = selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) }));
  const landing = crossReferences.landingOf(wanted, selectors.length === 0 && !hasAffinity(pod));
  if (landing === undefined) return { whose: '', taints: [], siblingFolder: false };
  const asked = new Set(accelerators.map(({ requested }) => resourceName(requested)));
  // The provider lets pods onto nodes of the resource that they ask for.
  const taints = landing.taints.filter(
    ({ key }) => !(landing.toleratesRequested && acceleratorResource(key) && asked.has(key)),
  );
  return { whose: words(landing), taints, siblingFolder: landing.siblingFolder };
}

function hasAffinity(pod: PodSet['pod']): boolean {
  return pod.node.kind === 'map' && pod.node.entries.some(({ key }) => key === 'affinity');
}

/** `ClusterConfig train (infra/cluster.yaml)`, `NodePool gpu and 2 more`. */
function words({ first: { kind, name, file }, others }: Landing): string {
  if (others > 0) return `${kind} ${shorten(name, 24)} and ${others} more`;
  return `${kind} ${shorten(name, 24)}${file === null ? '' : ` (${shorten(file, 30)})`}`;
}

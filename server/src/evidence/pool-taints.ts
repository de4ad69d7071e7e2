import { knownAccelerator } from '../catalog/index.ts';
import type { CrossReferences, Landing } from '../model/cross-references.ts';
import type { NodeTaint } from '../model/node-pool.ts';
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
 * The taints that all node pools have on which the pod can land, as far as the project describes them. A pod that selects a pool's own label
 * lands on that pool; a pod without selectors is assumed to land on the pools in the same folder.
 */
export function poolTaints(
  { selectors, accelerators, pod }: PodSet,
  { crossReferences }: { readonly crossReferences: CrossReferences },
): PoolTaints {
  const selected = selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) }));
  const landing = crossReferences.landingOf(selected, selectors.length === 0 && !hasAffinity(pod));
  if (landing === undefined) return { whose: '', taints: [], siblingFolder: false };
  const requested = new Set(accelerators.map((accelerator) => resourceName(accelerator.requested)));
  // The provider adds tolerations for the resources that a pod requests.
  const taints = landing.taints.filter(
    ({ key }) => !(landing.toleratesRequested && knownAccelerator(key) && requested.has(key)),
  );
  return { whose: describe(landing), taints, siblingFolder: landing.siblingFolder };
}

function hasAffinity(pod: PodSet['pod']): boolean {
  return pod.node.kind === 'map' && pod.node.entries.some(({ key }) => key === 'affinity');
}

/** `ClusterConfig train (infra/cluster.yaml)`, `NodePool gpu and 2 more`. */
function describe({ first: { kind, name, file }, others }: Landing): string {
  if (others > 0) return `${kind} ${shorten(name, 24)} and ${others} more`;
  return `${kind} ${shorten(name, 24)}${file === null ? '' : ` (${shorten(file, 30)})`}`;
}

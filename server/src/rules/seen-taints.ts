import { acceleratorResource } from '../catalog/index.ts';
import type { NodeTaint } from '../model/options.ts';
import type { PoolFacts, Seen } from '../model/surroundings.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import type { PodSetContext } from './rule.ts';
import { shorten } from './shorten.ts';

/** Taints, and the nodes that have them, in words. */
export interface SeenTaints {
  readonly whose: string;
  readonly taints: readonly NodeTaint[];
  /** They are described in folders beside the pod's, which may know nothing of it. */
  readonly apart: boolean;
}

/**
 * The taints of the node pools that the project describes, where the pod can land on no other: each pool that it may land on has them. A
 * pod that selects a pool's own label can land on that pool; one that selects nothing is taken to land on the pools beside it.
 */
export function seenTaints({ selectors, accelerators, pod }: PodSet, { surroundings }: PodSetContext): SeenTaints {
  const pools = surroundings.gpuPools();
  if (pools.length === 0) return none;
  const linked = pools.filter(
    ({ facts }) =>
      selectors.some((selector) => selects(selector, facts)) &&
      selectors.every(({ key, values }) =>
        mayHave(
          facts.labels[key],
          values.map(({ value }) => value),
        ),
      ),
  );
  const isFree = selectors.length === 0 && !hasAffinity(pod);
  const open = pools.filter(({ facts }) => !facts.chosen);
  const beside = isFree ? open.filter(({ file }) => file === null || !file.includes('/')) : [];
  const landing = linked.length > 0 ? linked : beside.length === open.length ? beside : [];
  const [first, ...others] = landing;
  if (first === undefined || landing.some(({ facts }) => facts.open)) return none;
  const asked = new Set(accelerators.map(({ resource }) => resource));
  const taints = first.facts.taints.filter(
    (taint) =>
      others.every(({ facts }) => facts.taints.some((other) => same(other, taint))) &&
      // The provider lets pods onto nodes of the resource that they ask for.
      !(
        acceleratorResource(taint.key) &&
        asked.has(taint.key) &&
        landing.some(({ facts }) => facts.toleratesRequested)
      ),
  );
  return { whose: words(first, others.length), taints, apart: landing.some((pool) => pool.apart) };
}

const none: SeenTaints = { whose: '', taints: [], apart: false };

/** A label that the pool gives its nodes itself; what kinds of nodes there are at all is told by others. */
function selects({ key, values }: Selector, { labels }: PoolFacts): boolean {
  const own = labels[key];
  return own !== undefined && isOwn(key) && values.length === 1 && values[0]?.value === own;
}

function mayHave(label: string | undefined, wanted: readonly string[]): boolean {
  return label === undefined || wanted.length === 0 || wanted.includes(label);
}

function isOwn(key: string): boolean {
  if (
    /^(?:karpenter\.sh\/(?:nodepool|provisioner-name)|(?:alpha\.eksctl\.io|eks\.amazonaws\.com)\/nodegroup)/.test(key)
  ) {
    return true;
  }
  return !/(?:^|\.)(?:kubernetes\.io|k8s\.io|k8s\.aws|azure\.com|karpenter\.sh|nvidia\.com|amd\.com|amazonaws\.com)\//.test(
    key,
  );
}

function hasAffinity(pod: PodSet['pod']): boolean {
  return pod.node.kind === 'map' && pod.node.entries.some(({ key }) => key === 'affinity');
}

function same(a: NodeTaint, b: NodeTaint): boolean {
  return a.key === b.key && a.value === b.value && a.effect === b.effect;
}

/** `ClusterConfig train (infra/cluster.yaml)`, `NodePool gpu and 2 other pools`. */
function words({ kind, name, file }: Seen<PoolFacts>, others: number): string {
  if (others > 0) return `${kind} ${shorten(name, 24)} and ${others} more`;
  return `${kind} ${shorten(name, 24)}${file === null ? '' : ` (${shorten(file, 30)})`}`;
}

import { gpus, instanceType, isGpuCountLabel, isInstanceTypeLabel } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { countIn } from '../model/count.ts';
import { knownResource, type RequestedResource } from '../model/requested-resource.ts';
import type { PodAccelerator, Selector } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';

/** The largest node, in devices, that all selectors of a pod allow; undefined if no selector bounds it. */
export function largestNode(selectors: readonly Selector[], { requested }: PodAccelerator): Node | undefined {
  let bound: Node | undefined;
  for (const selector of selectors) {
    const nodes = selector.values.map(({ value, at }) =>
      isTemplated(at) ? undefined : nodeOf(selector.key, value, requested),
    );
    // An unknown alternative may be larger.
    if (nodes.length === 0 || nodes.includes(undefined)) continue;
    const largest = nodes.reduce((most, node) => ((node?.count ?? 0) > (most?.count ?? 0) ? node : most));
    if (largest !== undefined && (bound === undefined || largest.count < bound.count)) bound = largest;
  }
  return bound;
}

interface Node {
  readonly name: string;
  readonly count: number;
}

function nodeOf(key: string, value: string, requested: RequestedResource): Node | undefined {
  const labeled = isGpuCountLabel(key) ? countIn(value) : null;
  if (labeled !== null) return { name: `a node with ${key.slice(key.indexOf('/') + 1)} ${value}`, count: labeled };
  if (key === 'cloud.google.com/gke-accelerator' && attachedInFours.has(value))
    return { name: `a GKE node with ${value}`, count: 4 };
  if (!isInstanceTypeLabel(key)) return undefined;
  const type = instanceType(value);
  const count = type?.gpuCount ?? null;
  if (type === undefined || count === null || !Number.isInteger(count)) return undefined;
  if (type.unsourced.includes('all') || type.unsourced.includes('gpuCount')) return undefined;
  const vendor = gpus.get(type.gpu ?? '')?.vendor;
  return vendor === knownResource(requested)?.vendor ? { name: value, count } : undefined;
}

/** The cards of which N1 machines take at most four. https://cloud.google.com/compute/docs/gpus#n1-gpus (2026-11-30) */
const attachedInFours = wordSet('nvidia-tesla-t4 nvidia-tesla-p4 nvidia-tesla-p100');

import { acceleratorResource } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { getIn } from '../../yaml/cursor.ts';
import { product } from '../count.ts';
import type { Referenced } from '../cross-references.ts';
import { lowerContainers, lowerCount } from '../pod.ts';
import type { PodsFacts, ReferencedContainer } from '../referenced-pods.ts';
import { byName } from '../requested-resource.ts';
import type { InheritedPods, PodSetSource } from './kind.ts';
import { exactly } from './pod-sets.ts';

/** What a predictor inherits from the ServingRuntime that it names. */
export interface InheritedRuntime extends InheritedPods {
  readonly from: Referenced<PodsFacts>;
}

/**
 * A multi-node predictor: the head and its workers. One replica has tensorParallelSize × pipelineParallelSize GPUs in total. Each worker takes
 * its request and the head takes the rest, which determines the number of nodes. If the tensor size is unknown, each stage of the pipeline is a
 * node with the GPUs that it requests.
 * https://github.com/kserve/kserve/blob/master/pkg/controller/v1beta1/inferenceservice/components/predictor.go
 * @param heads replicas of the predictor
 */
export function multiNode(
  head: PodSetSource,
  spec: Cursor,
  heads: number | null,
  runtime: InheritedRuntime | undefined,
): readonly PodSetSource[] {
  const seen = runtime?.from.facts.worker ?? undefined;
  const inheritedPods = runtime === undefined || seen === undefined ? undefined : { ...runtime, pods: seen };
  const worker: PodSetSource = {
    name: 'worker',
    pod: spec,
    metadata: undefined,
    replicas: getIn(spec, 'pipelineParallelSize'),
    pods: exactly(null),
    ...(inheritedPods && { inheritedPods }),
  };
  const stages = sizeOf(spec, 'pipelineParallelSize', seen?.pipeline ?? 2);
  const requested = { head: gpusOf(head), worker: gpusOf(worker) };
  const width = sizeOf(spec, 'tensorParallelSize', seen?.tensor);
  const nodes =
    width === undefined
      ? { count: stages, head: requested.head.count, worker: requested.worker.count }
      : split(product(stages, width), requested.head.count, requested.worker.count);
  const workers = product(heads, nodes.count === null ? null : Math.max(nodes.count - 1, 0));
  return [
    { ...head, ...overriddenDevices(head, spec, nodes.head, requested.head) },
    { ...worker, pods: exactly(workers), ...overriddenDevices(worker, spec, nodes.worker, requested.worker) },
  ];
}

/** null if templated, `unset` if not set. */
function sizeOf<T>(spec: Cursor, key: string, unset: T): number | null | T {
  const size = getIn(spec, key);
  return size === undefined ? unset : lowerCount(size, 1);
}

interface Nodes {
  readonly count: number | null;
  readonly head: number | null;
  readonly worker: number | null;
}

/** The distribution of a replica's GPUs over its nodes; `head` and `worker` are the requests of one node, 0 for none. */
function split(all: number | null, head: number | null, worker: number | null): Nodes {
  if (all === null || head === null || worker === null) return { count: null, head: null, worker: null };
  if (worker === 0 && head === 0) return { count: all, head: 1, worker: 1 };
  if (worker === 0) return { count: Math.max(all - head, 0) + 1, head, worker: 1 };
  const count = head >= all ? 1 : Math.ceil(all / worker);
  if (count <= 1) return { count: 1, head: all, worker: 0 };
  return { count, head: head > 0 ? head : all - worker * (count - 1), worker };
}

interface GpuRequest {
  readonly resource: string;
  /** 0 without a request, null if templated. */
  readonly count: number | null;
}

/** The request of a node's one container, its own or inherited from its runtime. */
function gpusOf({ pod, containers, inheritedPods }: PodSetSource): GpuRequest {
  const all: readonly Pick<ReferencedContainer, 'accelerators'>[] = [
    ...(containers ?? lowerContainers(pod)),
    ...(inheritedPods?.pods.containers ?? []),
  ];
  const [first] = all.flatMap(({ accelerators }) => accelerators);
  return first === undefined ? { resource: 'nvidia.com/gpu', count: 0 } : first;
}

/** The devices with which KServe overrides the request, if they differ. */
function overriddenDevices(
  source: PodSetSource,
  spec: Cursor,
  count: number | null,
  requested: GpuRequest,
): Pick<PodSetSource, 'implicitDevices'> {
  if (count === requested.count) return {};
  const known = acceleratorResource(requested.resource);
  const place = getIn(spec, 'tensorParallelSize') ?? source.inheritedPods?.at ?? spec;
  return {
    implicitDevices: [
      {
        requested: byName(requested.resource),
        at: place,
        form: known?.form ?? 'whole',
        vendor: known?.vendor ?? null,
        perPod: count,
        each: 1,
      },
    ],
  };
}

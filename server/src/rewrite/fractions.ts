import type { GpuModel } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import type { AcceleratorRequest, Container, PodSet } from '../model/workload.ts';
import { type Cursor, getIn } from '../yaml/cursor.ts';
import { insertKey, removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';
import { mountMemory } from './memory-volume.ts';
import { isOneWholeGpu } from './mig.ts';
import { addLimit, renameQuantities, replaceQuantities, writtenQuantities } from './quantities.ts';
import { selectNodes } from './select-nodes.ts';
import { setServerFlag } from './server-flag.ts';

// Requests for a part of a GPU in forms other than MIG. Each function returns the edits of one document, or undefined if the request cannot be
// written in this form without damage.

/** What is rewritten. */
export interface FractionPlace {
  readonly document: YamlDocument;
  readonly request: AcceleratorRequest;
  readonly container: Container;
  readonly podSet: PodSet;
  readonly gpu: GpuModel;
  readonly engine: Engine;
}

/** How nodes share a GPU without dividing its memory: GKE by labels, others under another resource name. */
export type SlicedForm = 'gke-time-sharing' | 'gke-mps' | 'shared-resource';

/** A GPU that several pods share by time slicing or MPS. Servers that reserve memory get a part of it by a flag. */
export function asTimeSlice(place: FractionPlace, pods: number, form: SlicedForm): Edits {
  const { document, request, podSet } = place;
  if (!isOneWholeGpu(request)) return undefined;
  const shared =
    form === 'shared-resource'
      ? renameQuantities(document, request, 'nvidia.com/gpu.shared')
      : selectNodes(document, podSet, {
          'cloud.google.com/gke-gpu-sharing-strategy': form === 'gke-mps' ? 'mps' : 'time-sharing',
          'cloud.google.com/gke-max-shared-clients-per-gpu': String(pods),
        });
  return joinEdits(shared, memoryPart(place, 1 / pods));
}

/** HAMi: the GPU's memory in MiB and its compute in percent next to the request. https://github.com/Project-HAMi/HAMi */
export function asHami({ document, request, container }: FractionPlace, mebibytes: number, percent: number): Edits {
  if (!isOneWholeGpu(request)) return undefined;
  return joinEdits(
    addLimit(document, container.resources, 'nvidia.com/gpumem', mebibytes),
    addLimit(document, container.resources, 'nvidia.com/gpucores', percent),
  );
}

/** Volcano's virtual GPUs. https://github.com/volcano-sh/volcano/blob/master/docs/user-guide/how_to_use_volcano_vgpu.md */
export function asVolcano({ document, request, container, podSet }: FractionPlace, mebibytes: number): Edits {
  if (!isOneWholeGpu(request)) return undefined;
  return joinEdits(
    renameQuantities(document, request, 'volcano.sh/vgpu-number'),
    addLimit(document, container.resources, 'volcano.sh/vgpu-memory', mebibytes),
    getIn(podSet.pod, 'schedulerName') === undefined ? insertKey(document, podSet.pod, 'schedulerName', 'volcano') : [],
  );
}

/**
 * KAI and Run:ai: an annotation in place of the request. They do not divide the memory. https://github.com/NVIDIA/KAI-Scheduler, docs/gpu-sharing
 */
export function asAnnotation(place: FractionPlace, share: number): Edits {
  const { document, request, podSet } = place;
  const metadata = podMetadata(podSet.pod);
  if (!isOneWholeGpu(request) || metadata === undefined) return undefined;
  const annotations = getIn(metadata, 'annotations');
  const value = String(share);
  return joinEdits(
    ...writtenQuantities(request).map(({ at }) => removeKey(document, at)),
    annotations === undefined
      ? insertKey(document, metadata, 'annotations', { 'gpu-fraction': value })
      : insertKey(document, annotations, 'gpu-fraction', value),
    memoryPart(place, share),
  );
}

/** The metadata of the pod's template, or of the pod. */
function podMetadata(pod: Cursor): Cursor | undefined {
  const { parent, step } = pod;
  const isPod = step === 'spec' && (parent?.step === 'template' || parent?.parent === undefined);
  return isPod ? getIn(parent, 'metadata') : undefined;
}

/** A partition of an AMD GPU that nodes offer under its own name. */
export function asAmdPartition({ document, request }: FractionPlace, resource: string): Edits {
  return renameQuantities(document, request, resource);
}

/** Another number of GPUs, with the server's tensor parallel size, and the memory that its processes share. */
export function asTensorParallel(
  {
    document,
    request,
    container,
    podSet,
    engine,
  }: Pick<FractionPlace, 'document' | 'request' | 'container' | 'podSet' | 'engine'>,
  count: number,
): Edits {
  // Processes of several GPUs share memory. A pod that had several has it already, or does without.
  const hasMemory =
    count === 1 || request.count !== 1 || container.volumeMounts.some(({ mountPath }) => mountPath === '/dev/shm');
  const name = engine === 'tgi' ? '--num-shard' : '--tensor-parallel-size';
  const flag = { means: 'tensor-parallel', flag: name, value: String(count) } as const;
  return joinEdits(
    replaceQuantities(document, writtenQuantities(request), count),
    setServerFlag(document, container, flag),
    ...(hasMemory ? [] : mountMemory(document, container, podSet)),
  );
}

/** Whether a server can share memory that nothing divides: it takes what it needs, or a flag limits it. */
export function sharesMemory(engine: Engine): boolean {
  return flags.has(engine) || engine === 'llama-cpp' || engine === 'ollama' || engine === 'embeddings';
}

const flags: ReadonlyMap<Engine, string> = new Map([
  ['vllm', '--gpu-memory-utilization'],
  ['sglang', '--mem-fraction-static'],
  ['tgi', '--cuda-memory-fraction'],
]);

/** The part of the memory that a server may reserve on a shared GPU; a twentieth of the share stays free. */
export function memoryPart(
  { document, container, engine }: Pick<FractionPlace, 'document' | 'container' | 'engine'>,
  share: number,
): Edits {
  const flag = flags.get(engine);
  if (flag === undefined) return [];
  const value = String(Math.floor(95 * share) / 100);
  return setServerFlag(document, container, { means: 'memory-fraction', flag, value });
}

import { acceleratorResource, type MigProfile } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import type { ServedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet } from '../model/workload.ts';
import { asText, type Cursor, getIn } from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';
import { memoryPart } from './fractions.ts';
import { rewriteToMig, type SliceForm } from './mig.ts';
import { addLimit, renameQuantities, replaceQuantities, writtenQuantities } from './quantities.ts';

// From a slice of a GPU to a larger one, or to the whole GPU. Undefined if the text cannot be edited without damage.

/** One slice of a GPU, requested by its resource or by the labels of nodes. */
export interface SlicePlace {
  readonly document: YamlDocument;
  readonly request: AcceleratorRequest;
  readonly container: Container;
  readonly podSet: PodSet;
}

/** The form in which a slice is requested; undefined if other text than the pod's own selects it. */
export function sliceFormOf(request: AcceleratorRequest, podSet: PodSet): SliceForm | undefined {
  if (request.form === 'mig') return 'resource';
  if (labelOf(podSet, partitionLabel) !== undefined) return 'gke-label';
  return labelOf(podSet, productLabel) === undefined ? undefined : 'product-label';
}

/** A larger slice in the form in which the present one is requested. */
export function toLargerSlice(place: SlicePlace, profile: MigProfile, form: SliceForm): Edits {
  const { document, request, container, podSet } = place;
  if (isShared(request)) return undefined;
  if (form === 'resource') return renameQuantities(document, request, profile.resource);
  if (form === 'gke-label')
    return rewriteToMig(document, request, { container, podSet, gpu: undefined }, profile, form)?.edits;
  const product = labelOf(podSet, productLabel);
  const value = wholeProduct(product);
  return product && value === undefined
    ? undefined
    : product && replaceScalar(document, product, `${value}-MIG-${profile.name}`);
}

/** GKE: the most pods that share a GPU. */
export const sharedClientsLabel = 'cloud.google.com/gke-max-shared-clients-per-gpu';

/** A larger share: its memory in MiB, and the part of the GPU. */
export interface Share {
  readonly share: number;
  readonly mebibytes: number;
  readonly engine: Engine;
}

/** A larger share of a GPU in the form in which the present one is requested: counters next to the request, or an annotation. */
export function toLargerShare(place: SlicePlace, { share, mebibytes, engine }: Share): Edits {
  const { document, request, container } = place;
  if (container.accelerators.some(isShared) || isShared(request)) return undefined;
  if (isAnnotation(request)) {
    // Rounded up, fewer pods would find room on the GPU.
    const value = request.resource === 'gpu-memory' ? mebibytes : Math.floor(share * 1000) / 1000;
    return joinEdits(
      replaceQuantities(document, writtenQuantities(request), String(value)),
      memoryPart({ document, container, engine }, share),
    );
  }
  return joinEdits(
    ...countersOf(container).map((counter) => {
      const unit = acceleratorResource(counter.resource)?.unit;
      if (unit === undefined) return undefined;
      const amount = 'mebibytes' in unit ? mebibytes / unit.mebibytes : share / unit.share;
      return replaceQuantities(document, writtenQuantities(counter), Math.floor(amount + 1e-9));
    }),
  );
}

/**
 * The whole GPU: under its own resource name, or without the labels of partitioned or shared nodes, counters or annotation.
 * @param server on a shared GPU, what it serves: a fraction of the memory that leaves room for others becomes the usual one; null on a slice
 */
export function toWholeGpu(
  place: SlicePlace & {
    readonly server: ServedModel | null;
    readonly part: 'mig' | 'shared' | 'counted' | 'annotated' | 'partition';
  },
): Edits {
  const { document, request, container, podSet, server, part } = place;
  if (isShared(request)) return undefined;
  const isLow = server !== null && server.fraction !== null && server.fraction < 0.8;
  const reserve = isLow && part !== 'counted' ? memoryPart({ document, container, engine: server.engine }, 0.95) : [];
  if (part === 'partition') return renameQuantities(document, request, 'amd.com/gpu');
  if (part === 'annotated')
    return joinEdits(
      ...writtenQuantities(request).map(({ at }) => removeKey(document, at)),
      addLimit(document, container.resources, 'nvidia.com/gpu', 1),
      reserve,
    );
  if (part === 'counted') {
    const counters = countersOf(container);
    const isKnown = request.resource === 'nvidia.com/gpu' || request.resource === 'volcano.sh/vgpu-number';
    if (!isKnown || counters.some(isShared)) return undefined;
    return joinEdits(
      request.resource === 'nvidia.com/gpu' ? [] : renameQuantities(document, request, 'nvidia.com/gpu'),
      ...counters.flatMap((counter) => writtenQuantities(counter).map(({ at }) => removeKey(document, at))),
    );
  }
  if (part === 'shared') {
    const labels = ['cloud.google.com/gke-gpu-sharing-strategy', sharedClientsLabel].flatMap(
      (key) => getIn(podSet.pod, 'nodeSelector', key) ?? [],
    );
    if (labels.some(({ shared }) => shared)) return undefined;
    return joinEdits(
      ...(request.form === 'whole'
        ? labels.map((at) => removeKey(document, at))
        : [renameQuantities(document, request, 'nvidia.com/gpu')]),
      reserve,
    );
  }
  if (request.form === 'mig') return renameQuantities(document, request, 'nvidia.com/gpu');
  const partition = labelOf(podSet, partitionLabel);
  if (partition !== undefined) return removeKey(document, partition);
  const product = labelOf(podSet, productLabel);
  const value = wholeProduct(product);
  return product && value !== undefined ? replaceScalar(document, product, value) : undefined;
}

const partitionLabel = 'cloud.google.com/gke-gpu-partition-size';
const productLabel = 'nvidia.com/gpu.product';

/** The label by which a pod selects divided nodes, if nothing else in the text repeats it. */
function labelOf({ pod }: PodSet, label: string): Cursor | undefined {
  const at = getIn(pod, 'nodeSelector', label);
  return at !== undefined && asText(at) !== undefined && !at.shared ? at : undefined;
}

/** The product of nodes before they were divided (strategy `single`). */
function wholeProduct(product: Cursor | undefined): string | undefined {
  return /^(.+)-MIG-[\w.]+$/.exec(asText(product) ?? '')?.[1];
}

/** The counters of memory or compute next to a request, which state its part of a GPU. */
export function countersOf({ accelerators }: Pick<Container, 'accelerators'>): readonly AcceleratorRequest[] {
  return accelerators.filter(({ form }) => form === 'memory' || form === 'percent');
}

/** Whether it is an annotation of KAI or Run:ai, written as a request. */
function isAnnotation({ resource }: AcceleratorRequest): boolean {
  return !resource.includes('/');
}

/** Whether other places of the file have the same text, through an alias. */
function isShared(request: AcceleratorRequest): boolean {
  return writtenQuantities(request).some(({ at }) => at.shared);
}

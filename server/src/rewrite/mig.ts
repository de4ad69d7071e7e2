import type { GpuModel, MigProfile } from '../catalog/index.ts';
import type { ModelOptions } from '../model/options.ts';
import { platformOf } from '../model/platform.ts';
import type { AcceleratorRequest, Container, PodSet } from '../model/workload.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, type Fix, fix, joinEdits } from './fix.ts';
import { replaceQuantities, writtenQuantities } from './quantities.ts';
import { selectNodes } from './select-nodes.ts';

/** Whether a request can become a part of a GPU: one whole NVIDIA GPU whose quantities are not shared with an alias. */
export function isOneWholeGpu(request: AcceleratorRequest): boolean {
  const written = writtenQuantities(request);
  const several = written.some(({ value }) => value !== null && value > 1);
  return (
    request.resource === 'nvidia.com/gpu' && written.length > 0 && !several && written.every(({ at }) => !at.shared)
  );
}

/**
 * How nodes offer slices: as separate resources (strategy `mixed`), or as `nvidia.com/gpu` on nodes that are divided into equal slices
 * and have a label for it (strategy `single`, and GKE).
 */
export type SliceForm = 'resource' | 'product-label' | 'gke-label';

/** How the nodes of a pod offer slices; undefined if the config turns MIG off. */
export function sliceForm(podSet: PodSet, options: ModelOptions): SliceForm | undefined {
  if (options.migStrategy === 'none') return undefined;
  // GKE divides all GPUs of a node alike and has a label for it.
  if (platformOf(podSet, options)?.facts.provider === 'gcp') return 'gke-label';
  return options.migStrategy === 'single' ? 'product-label' : 'resource';
}

/**
 * Requests one slice instead of the whole GPU, in limits and requests. Never safe: the pod gets less memory and compute, and needs nodes
 * with such slices. Undefined if the text cannot be edited without damage or the label of such nodes is unknown.
 */
export function rewriteToMig(
  document: YamlDocument,
  request: AcceleratorRequest,
  place: { readonly container: Container; readonly podSet: PodSet; readonly gpu: GpuModel | undefined },
  profile: MigProfile,
  form: SliceForm,
): Fix | undefined {
  if (!isOneWholeGpu(request)) return undefined;
  const { container, podSet, gpu } = place;
  const title = `Rewrite to MIG slice ${profile.name} (${profile.memoryGiB} GB)`;
  return fix(
    container.name === '' ? title : `${title} in ${container.name}`,
    'unsafe',
    form === 'resource'
      ? asResource(document, request, profile)
      : onNodes(document, request, { podSet, gpu }, profile, form),
  );
}

function asResource(document: YamlDocument, request: AcceleratorRequest, { resource }: MigProfile): Edits {
  const edits = writtenQuantities(request).flatMap(({ at, text }) => [
    renameKey(document, at, resource),
    text === '1' ? [] : replaceScalar(document, at, 1),
  ]);
  return joinEdits(...edits);
}

/** Keeps the request: on such nodes one `nvidia.com/gpu` is a slice. */
function onNodes(
  document: YamlDocument,
  request: AcceleratorRequest,
  { podSet, gpu }: { readonly podSet: PodSet; readonly gpu: GpuModel | undefined },
  { name }: MigProfile,
  form: 'product-label' | 'gke-label',
): Edits {
  const others = writtenQuantities(request).filter(({ text }) => text !== '1');
  const label =
    form === 'gke-label' ? { 'cloud.google.com/gke-gpu-partition-size': name } : sliceLabel(name, podSet, gpu);
  return label && joinEdits(replaceQuantities(document, others, 1), selectNodes(document, podSet, label));
}

function sliceLabel(profile: string, podSet: PodSet, gpu: GpuModel | undefined) {
  const selected = podSet.selectors.find(({ key }) => key === productLabel)?.values ?? [];
  const product = selected.length === 1 ? selected[0]?.value : gpu?.labels[productLabel]?.[0];
  if (product === undefined || /-(MIG-|SHARED)/.test(product)) return undefined;
  return { [productLabel]: `${product}-MIG-${profile}` };
}

const productLabel = 'nvidia.com/gpu.product';

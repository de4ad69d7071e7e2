import type { GpuModel, MigProfile } from '../catalog/index.ts';
import { migShare, migTable } from '../catalog/index.ts';
import type { Range } from '../cost/types.ts';
import type { ModelOptions } from '../model/options.ts';
import { platformOf } from '../model/platform.ts';
import type { AcceleratorRequest, Container, PodSet } from '../model/workload.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, type Fix, fix, joinEdits } from './fix.ts';
import { replaceQuantities, writtenQuantities } from './quantities.ts';
import { selectNodes } from './select-nodes.ts';

/** A legal slice of a GPU, with what it costs. */
export interface MigOption {
  readonly profile: MigProfile;
  /** Of a whole card: the larger of its compute and its memory share. */
  readonly share: number;
  /** Dollars an hour for one slice; null when the card has no known price. */
  readonly hourly: Range | null;
}

/**
 * What a GPU can be cut into, smallest first. Media-engine variants (`+me`, `+gfx`, `-me`) are left out: they fit one special case
 * each and differ in nothing that a compute workload sees.
 * @param perDeviceHourly dollars an hour for the whole card, or null
 */
export function migOptions(gpuId: string, perDeviceHourly: Range | null): readonly MigOption[] {
  const table = migTable(gpuId);
  if (table === undefined) return [];
  return table.profiles
    .filter((profile) => /^\d+g\.\d+gb$/.test(profile.name))
    .map((profile) => {
      const share = migShare(table, profile);
      const hourly = perDeviceHourly && { min: perDeviceHourly.min * share, max: perDeviceHourly.max * share };
      return { profile, share, hourly };
    })
    .sort((a, b) => a.share - b.share || a.profile.memoryGiB - b.profile.memoryGiB);
}

/** Whether a request can become a part of a card: one whole NVIDIA GPU of which nothing is written elsewhere. */
export function isOneWholeGpu(request: AcceleratorRequest): boolean {
  const written = writtenQuantities(request);
  const several = written.some(({ value }) => value !== null && value > 1);
  return (
    request.resource === 'nvidia.com/gpu' && written.length > 0 && !several && written.every(({ at }) => !at.shared)
  );
}

/**
 * How nodes offer slices: as a resource of their own (strategy `mixed`), or as `nvidia.com/gpu` on nodes that are cut into equal slices and
 * say so in a label (strategy `single`, and GKE).
 */
export type SliceForm = 'resource' | 'product-label' | 'gke-label';

/** How the nodes of a pod offer slices; undefined where the project says that they are not cut. */
export function sliceForm(podSet: PodSet, options: ModelOptions): SliceForm | undefined {
  // GKE cuts all GPUs of a node alike and has a label for it.
  if (platformOf(podSet, options)?.facts.provider === 'gcp') return 'gke-label';
  if (options.migStrategy === 'none') return undefined;
  return options.migStrategy === 'single' ? 'product-label' : 'resource';
}

/**
 * Asks for one slice instead of the whole GPU, in limits and requests alike. Never safe: the pod gets less memory and compute, and
 * needs nodes cut that way. Undefined where the text cannot be edited without damage, or no label of such nodes is known.
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

/** The request stays: on such nodes one `nvidia.com/gpu` is a slice. */
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

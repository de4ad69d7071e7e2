import type { GpuModel, Vendor } from '../catalog/index.ts';
import {
  acceleratorResource,
  instanceTypesOf,
  isInstanceTypeLabel,
  migByResource,
  offersDeviceFiles,
} from '../catalog/index.ts';
import { knownCount } from './count.ts';
import type { Resolved } from './gpu-model.ts';
import {
  namesExactly,
  noOtherNames,
  type OtherNames,
  resolveModel,
  type SelectedModels,
  selectedModels,
} from './gpu-model.ts';
import type { ImplicitDevices } from './implicit-devices.ts';
import { modelsInResource, type NamedModels } from './named-models.ts';
import type { ModelOptions } from './options.ts';
import { podPeak } from './pod-needs.ts';
import { byName, type RequestedResource } from './requested-resource.ts';
import {
  amdPartitionShare,
  cardsCutBy,
  memoryShare,
  nodeSharing,
  selectedSlice,
  slicePods,
  sliceShare,
  unitShare,
  virtualMiB,
  virtualShare,
} from './shares.ts';
import type {
  AcceleratorForm,
  AcceleratorRequest,
  Container,
  OpenModel,
  PodAccelerator,
  Selector,
} from './workload.ts';

/** The sources of one pod's accelerators. */
export interface AcceleratorSource {
  readonly containers: readonly RequestingContainer[];
  /** Counted instead of the containers' resources. */
  readonly replacing: readonly ImplicitDevices[] | undefined;
  /** Counted in addition to the containers' resources. */
  readonly additional: readonly ImplicitDevices[];
  /** The nodes are described, so words in the pod's own labels do not name the model. */
  readonly isDescribed?: boolean;
  /** The config names the model of the selected nodes. */
  readonly isStated?: boolean;
  /** Labels of the nodes that others describe. They decide only how nodes share their cards. */
  readonly nodeLabels?: readonly Selector[];
}

/**
 * What one pod takes of each accelerator resource, and the model according to selectors and config.
 * Devices are counted as the scheduler does: https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
 */
export function lowerPodAccelerators(
  source: AcceleratorSource,
  selectors: readonly Selector[],
  options: ModelOptions,
  otherNames: OtherNames = noOtherNames,
): readonly PodAccelerator[] {
  const { containers, replacing, additional } = source;
  const requests = replacing === undefined ? requestedResources(containers) : [];
  const others = [...(replacing ?? []), ...additional];
  if (requests.length === 0 && others.length === 0) return [];
  // What a pool is made of says more than its name.
  const found = selectedModels(source.isDescribed === true ? selectors.filter(namesExactly) : selectors);
  // The config says what the catalog does not know.
  const selected = source.isStated === true && found?.candidates.length === 0 ? undefined : found;
  const labels = [...selectors, ...(source.nodeLabels ?? [])];
  const sharing = nodeSharing(labels, options.sharing.replicas);
  const slice = selectedSlice(labels);
  const counters = requests.filter(({ form }) => form === 'memory' || form === 'percent');
  const [lead] = counters;
  const onlyCounters = counters.length === requests.length;
  // Each container states the size of its own virtual GPUs.
  const ofEach = counters.map((one) => ({
    ...one,
    perPod: one.perPod && one.perPod / usersOf(one.resource, containers),
  }));

  const fromResource = ({ resource, form, perPod }: NamedRequest): PodAccelerator => {
    const named = modelsInResource(resource);
    // A name that leaves the generation open, such as habana.ai/gaudi, only restricts the models.
    const cut = form === 'whole' && selected === undefined ? cardsCutBy(labels) : [];
    const slices =
      named.length > 1
        ? named.map(({ id }) => id)
        : cut.length === 1
          ? cut
          : migByResource(resource).map(({ gpu }) => gpu.id);
    const vendor = acceleratorResource(resource)?.vendor ?? null;
    const found = resolveModel(vendor, slices, selected, options, {
      ...otherNames,
      stated: () => [...(named.length === 1 ? [inName(named)] : []), ...otherNames.stated()],
    });
    const isByLabel = cut.length === 1 && found.modelFrom === 'resource-name';
    const resolved: Resolved = isByLabel ? { ...found, modelFrom: 'nodeSelector' } : found;
    const model = modelOf(resolved);
    const lowered = { requested: byName(resource), at: undefined, form, perPod, model, ...resolved };
    if (form === 'memory' || form === 'percent') {
      // Counters give the size of each virtual GPU; alone, they stand for one.
      const alone = onlyCounters && resource === lead?.resource;
      return { ...lowered, devices: alone ? virtualShare(counters, resolved.candidates) : 0 };
    }
    const each = (models: readonly string[]) =>
      counters.length > 0 && (form === 'whole' || form === 'shared')
        ? virtualShare(ofEach, models)
        : unitShare(resource, form, models, sharing, options.sharing.replicas, slicePods(labels));
    return {
      ...lowered,
      devices: devicesOf(perPod, each(resolved.candidates)),
      ...(form === 'whole' && slice !== undefined && { slice }),
      ...openModel(resolved, selected, vendorsOf(vendor), slices, virtualMiB(ofEach), (model) =>
        devicesOf(perPod, each([model])),
      ),
    };
  };

  const fromImplicit = (accelerator: ImplicitDevices): PodAccelerator => {
    const { requested, at, form, vendor, profile, memoryMiB } = accelerator;
    const perPod = accelerator.all ? devicesOnNode(labels) : accelerator.perPod;
    const slice = profile === undefined ? undefined : `nvidia.com/mig-${profile.replace('+', '.')}`;
    const slices = slice === undefined ? [] : migByResource(slice).map(({ gpu }) => gpu.id);
    const models = accelerator.models ?? [];
    const resolved: Resolved =
      models.length > 0
        ? { candidates: models.map(({ id }) => id), modelFrom: accelerator.modelFrom ?? null }
        : resolveModel(vendor, slices, selected, options, otherNames);
    const each = (among: readonly string[]) => {
      if (accelerator.each !== null) return accelerator.each;
      if (slice === undefined || profile === undefined) return memoryShare(memoryMiB, among);
      return vendor === 'amd' ? amdPartitionShare(`amd.com/${profile}`, among) : sliceShare(slice, among);
    };
    const { between, choices } = accelerator;
    const devices = between === undefined ? devicesOf(perPod, each(resolved.candidates)) : null;
    const part = { ...(profile !== undefined && { slice: profile }), ...(memoryMiB !== undefined && { memoryMiB }) };
    const found = { requested, at, form, perPod, devices, model: modelOf(resolved), ...part, ...resolved };
    if (between !== undefined) return { ...found, between, ...(choices && { choices }) };
    const devicesOn = (model: string) => devicesOf(perPod, each([model]));
    const vendors = vendor === null && saysGpu(requested) ? gpuVendors : vendorsOf(vendor);
    return { ...found, ...openModel(resolved, selected, vendors, slices, memoryMiB ?? 0, devicesOn) };
  };

  // Counts out of range are unknown.
  return [...requests.map(fromResource), ...others.map(fromImplicit)].map((one) => ({
    ...one,
    perPod: knownCount(one.perPod),
    devices: knownCount(one.devices),
  }));
}

/** How many containers request a resource at the same time. */
function usersOf(resource: string, containers: AcceleratorSource['containers']): number {
  const users = containers.filter(
    ({ type, accelerators }) => type !== 'init' && accelerators.some((one) => one.resource === resource),
  );
  return Math.max(1, users.length);
}

/** The devices of the machine that labels name; null if it is unknown, or if there are several with different numbers. */
function devicesOnNode(labels: readonly Selector[]): number | null {
  const machines = labels
    .filter(({ key }) => isInstanceTypeLabel(key))
    .flatMap(({ values }) => values.flatMap(({ value }) => instanceTypesOf(value)));
  const [count = null, ...others] = new Set(machines.map(({ gpuCount }) => gpuCount));
  return others.length > 0 ? null : count;
}

function vendorsOf(vendor: Vendor | null): readonly Vendor[] {
  return vendor === null ? [] : [vendor];
}

/** The vendors of what people call a GPU in a cluster. */
const gpuVendors: readonly Vendor[] = ['nvidia', 'amd'];

/** An operator's own field: `gpus`, `gpuCount`. */
function saysGpu(requested: RequestedResource): boolean {
  return requested.kind === 'field' && /gpu/i.test(requested.name);
}

/** A selector that no card of the catalog meets leaves nothing open. */
function openModel(
  { candidates, modelFrom }: Resolved,
  selected: SelectedModels | undefined,
  vendors: readonly Vendor[],
  among: readonly string[],
  memoryMiB: number,
  devicesOn: OpenModel['devicesOn'],
): { readonly open?: OpenModel } {
  const isOpen =
    selected === undefined && (modelFrom === null || (modelFrom === 'resource-name' && candidates.length > 1));
  return !isOpen || vendors.length === 0 ? {} : { open: { vendors, among, memoryMiB, devicesOn } };
}

function inName(candidates: readonly GpuModel[]): NamedModels {
  return { candidates, from: 'resource-name' };
}

interface NamedRequest {
  readonly resource: string;
  readonly form: AcceleratorForm;
  readonly perPod: number | null;
}

/** The parts of a container that matter here. */
export type RequestingContainer = Pick<Container, 'type' | 'accelerators'>;

function requestedResources(containers: readonly RequestingContainer[]): readonly NamedRequest[] {
  const byResource = new Map<string, Request[]>();
  for (const { type, accelerators } of containers) {
    for (const request of withoutAliases(accelerators)) {
      const same = byResource.get(request.resource) ?? [];
      byResource.set(request.resource, same);
      same.push({ type, request });
    }
  }
  return [...byResource].map(([resource, requests]) => {
    const form = requests.at(-1)?.request.form ?? 'whole';
    return { resource, form, perPod: podCount(requests) };
  });
}

/** One container's request for a resource. */
interface Request {
  readonly type: RequestingContainer['type'];
  readonly request: AcceleratorRequest;
}

/** Neuron's device plugin offers the same devices under three names; a container that requests several of them gets the devices once. */
const neuronNames = ['aws.amazon.com/neuron', 'aws.amazon.com/neurondevice', 'aws.amazon.com/neuroncore'];

function withoutAliases(accelerators: readonly AcceleratorRequest[]): readonly AcceleratorRequest[] {
  if (accelerators.length < 2) return accelerators;
  // Several groups of device files are for one card.
  const [files, ...more] = accelerators.filter(({ resource }) => offersDeviceFiles(resource));
  if (files !== undefined && more.length > 0) {
    const kept = [files, ...more].find(({ resource }) => acceleratorResource(resource)?.vendor !== null) ?? files;
    return accelerators.filter((one) => one === kept || !offersDeviceFiles(one.resource));
  }
  const meant = neuronNames.find((name) => accelerators.some(({ resource }) => resource === name));
  return accelerators.filter(({ resource }) => resource === meant || !neuronNames.includes(resource));
}

function podCount(requests: readonly Request[]): number | null {
  const needs = requests.flatMap(({ type, request }) => {
    const amount = effectiveCount(request);
    return amount === null ? [] : [{ type, amount }];
  });
  return needs.length < requests.length ? null : podPeak(needs);
}

/** The API server ignores an empty quantity, so it counts as 0. A templated or invalid one is unknown. */
function effectiveCount(request: AcceleratorRequest): number | null {
  if (request.count !== null) return request.count;
  const written = request.limit ?? request.request;
  return written?.empty === true && request.limit?.empty !== false ? 0 : null;
}

function modelOf({ candidates }: Resolved): string | null {
  return only(candidates);
}

function only(models: readonly string[]): string | null {
  return models.length === 1 ? (models[0] ?? null) : null;
}

function devicesOf(perPod: number | null, each: number | null): number | null {
  if (perPod === 0) return 0;
  return perPod === null || each === null ? null : perPod * each;
}

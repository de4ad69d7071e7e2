import type { GpuModel } from '../catalog/index.ts';
import {
  acceleratorResource,
  gpus,
  gpusByLabel,
  instanceType,
  migByResource,
  migShare,
  migTable,
} from '../catalog/index.ts';
import type { ModelOptions } from './options.ts';
import type { AcceleratorRequest, Container, ModelFrom, PodAccelerator, Selector } from './workload.ts';

/**
 * What one pod takes of each accelerator resource, and which model it will be, as far as selectors and config tell.
 * Devices are counted as the scheduler does: https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
 */
export function lowerPodAccelerators(
  containers: readonly Container[],
  selectors: readonly Selector[],
  options: ModelOptions,
): readonly PodAccelerator[] {
  const resources = new Set(containers.flatMap((container) => container.accelerators.map(({ resource }) => resource)));
  const told = toldModels(selectors);
  const sharing = toldSharing(selectors);
  // A memory or core counter beside the GPU key (HAMi, Volcano vGPU) turns whole GPUs into parts of unknown size.
  const virtual = [...resources].some((resource) => ['memory', 'percent', 'core'].includes(formOf(resource)));
  return [...resources].map((resource): PodAccelerator => {
    const form = formOf(resource);
    const perPod = podCount(containers, resource);
    const { candidates, modelFrom } = resolveModel(resource, told, options);
    const model = candidates.length === 1 ? (candidates[0] ?? null) : null;
    const each =
      form === 'whole' && !virtual ? sharing(model) : form === 'mig' ? sliceShare(resource, candidates) : null;
    const devices = perPod === null ? null : perPod === 0 ? 0 : each === null ? null : perPod * each;
    return { resource, form, perPod, devices, model, candidates, modelFrom };
  });
}

function formOf(resource: string): PodAccelerator['form'] {
  return acceleratorResource(resource)?.form ?? 'whole';
}

/** App containers and sidecars run together, so they add up; an init container runs before the apps, beside the sidecars declared above it. */
function podCount(containers: readonly Container[], resource: string): number | null {
  let running = 0;
  let sidecars = 0;
  let peak = 0;
  for (const container of containers) {
    const request = container.accelerators.find((candidate) => candidate.resource === resource);
    const count = request === undefined ? 0 : effectiveCount(request);
    if (count === null) return null;
    if (container.type === 'init') peak = Math.max(peak, sidecars + count);
    else running += count;
    if (container.type === 'sidecar') sidecars += count;
  }
  return Math.max(running, peak);
}

/** An empty quantity is dropped by the API server: no GPU. A templated or invalid one is unknown. */
function effectiveCount(request: AcceleratorRequest): number | null {
  if (request.count !== null) return request.count;
  const written = request.limit ?? request.request;
  return written?.empty === true && request.limit?.empty !== false ? 0 : null;
}

interface Told {
  readonly candidates: readonly GpuModel[];
  readonly from: ModelFrom;
}

/** The models that each selector allows, intersected. */
function toldModels(selectors: readonly Selector[]): Told | undefined {
  let told: Told | undefined;
  for (const selector of selectors) {
    const models = modelsOf(selector);
    if (models.length === 0) continue;
    const from: ModelFrom = /instance-(type|family)$/.test(selector.key) ? 'instance-type' : selector.from;
    const both = told?.candidates.filter((model) => models.includes(model));
    // Contradicting selectors are a rule's business; here the first one stands.
    if (both === undefined) told = { candidates: models, from };
    else if (both.length > 0 && told !== undefined) told = { candidates: both, from: told.from };
  }
  return told;
}

function modelsOf(selector: Selector): readonly GpuModel[] {
  const models = new Set<GpuModel>();
  for (const { value, at } of selector.values) {
    if (at.node.kind === 'scalar' && at.node.templated) return [];
    const found = isInstanceTypeLabel(selector.key)
      ? [gpus.get(instanceType(value)?.gpu ?? '')].filter((model) => model !== undefined)
      : gpusByLabel(selector.key, value);
    // One alternative that is not understood makes the whole list unknown.
    if (found.length === 0) return [];
    for (const model of found) models.add(model);
  }
  return [...models];
}

export function isInstanceTypeLabel(key: string): boolean {
  return key === 'node.kubernetes.io/instance-type' || key === 'beta.kubernetes.io/instance-type';
}

function resolveModel(
  resource: string,
  told: Told | undefined,
  options: ModelOptions,
): { candidates: readonly string[]; modelFrom: ModelFrom | null } {
  const vendor = acceleratorResource(resource)?.vendor;
  const cuttable = migByResource(resource).map(({ gpu }) => gpu.id);
  const fits = (model: GpuModel) => model.vendor === vendor && (cuttable.length === 0 || cuttable.includes(model.id));
  const candidates = told?.candidates.filter(fits) ?? [];
  if (told !== undefined && candidates.length > 0)
    return { candidates: candidates.map(({ id }) => id), modelFrom: told.from };
  // A selector that names another GPU than this resource can be on is a contradiction; the config must not paper over it.
  if (told !== undefined) return { candidates: [], modelFrom: null };
  const configured = options.gpu === null ? undefined : gpus.get(options.gpu);
  if (configured !== undefined && fits(configured)) return { candidates: [configured.id], modelFrom: 'config' };
  if (cuttable.length > 0) return { candidates: [...new Set(cuttable)], modelFrom: 'resource-name' };
  return { candidates: [], modelFrom: null };
}

/** The share of a card that a slice takes, where it is the same on every model that it can be on. */
function sliceShare(resource: string, candidates: readonly string[]): number | null {
  const shares = migByResource(resource)
    .filter(({ gpu }) => candidates.includes(gpu.id))
    .map(({ table, profile }) => migShare(table, profile));
  const [first] = shares;
  return first !== undefined && shares.every((share) => share === first) ? first : null;
}

/**
 * What one `nvidia.com/gpu` is of a card on the selected nodes: 1, the share of a time slice, the share of a MIG slice under the
 * single strategy, or null where the nodes share their cards in a way that is not told.
 */
function toldSharing(selectors: readonly Selector[]): (model: string | null) => number | null {
  const value = (key: string) => selectors.find((selector) => selector.key === key)?.values[0]?.value;
  const partition =
    value('cloud.google.com/gke-gpu-partition-size') ?? /-MIG-(\S+)$/.exec(value('nvidia.com/gpu.product') ?? '')?.[1];
  if (partition !== undefined) return (model) => partitionShare(model, partition);
  const clients = Number(value('cloud.google.com/gke-max-shared-clients-per-gpu'));
  if (clients >= 1) return () => 1 / clients;
  const replicas = Number(value('nvidia.com/gpu.replicas'));
  if (replicas >= 1) return () => 1 / replicas;
  const shared =
    /-SHARED$/.test(value('nvidia.com/gpu.product') ?? '') ||
    value('cloud.google.com/gke-gpu-sharing-strategy') !== undefined;
  return () => (shared ? null : 1);
}

function partitionShare(model: string | null, profileName: string): number | null {
  const table = model === null ? undefined : migTable(model);
  const profile = table?.profiles.find(({ name }) => name === profileName);
  return table === undefined || profile === undefined ? null : migShare(table, profile);
}

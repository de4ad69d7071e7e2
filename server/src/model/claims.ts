import type { GpuModel, Vendor } from '../catalog/index.ts';
import { gpus, gpusByLabel, gpusMentioned } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isNull, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { onOneCard } from './claimed-card.ts';
import type { Referenced } from './cross-references.ts';
import type { DeviceChoice } from './device-choices.ts';
import type { ImplicitDevices } from './implicit-devices.ts';
import { lowerCount } from './pod.ts';
import { parseQuantity } from './quantity.ts';
import { objectName } from './referenced.ts';
import type { ReferencedDevice } from './referenced-pods.ts';

// Dynamic resource allocation: pods name claims, claims name devices. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/

/**
 * The accelerators allocated to a pod through its claims.
 * @param pods the number of such pods, which share the devices of a named claim
 */
export function podClaims(
  references: readonly Cursor[],
  pods: number | null,
  { find, users }: Claims,
): readonly ImplicitDevices[] {
  return references.flatMap((reference): readonly ImplicitDevices[] => {
    // Before Kubernetes 1.31, both names were under `source`.
    const source = getIn(reference, 'source') ?? reference;
    const template = asText(getIn(source, 'resourceClaimTemplateName'));
    const claim = asText(getIn(source, 'resourceClaimName'));
    const name = template ?? claim ?? '';
    const found = find(template === undefined ? 'ResourceClaim' : 'ResourceClaimTemplate', name);
    if (found === undefined) return unknownClaim(name, asText(getIn(reference, 'name')) ?? '', reference);
    const devices = devicesOf(found, reference);
    if (template !== undefined) return devices;
    const sharers = pods === null ? null : pods * Math.max(users(name), 1);
    return devices.map((device) => sharedBy(device, sharers));
  });
}

/** What is left for each of several pods that use the same devices. */
function sharedBy(device: ImplicitDevices, pods: number | null): ImplicitDevices {
  const { each, between, choices, ...rest } = device;
  if (pods === null) return { ...rest, each: null };
  const by = Math.max(pods, 1);
  return {
    ...rest,
    each: each === null ? null : each / by,
    ...(between && { between: { min: between.min / by, max: between.max / by } }),
    ...(choices && { choices: choices.map((one) => ({ ...one, devices: one.devices / by })) }),
  };
}

/** The claims that a pod can reference. */
export interface Claims {
  /** The devices of a claim or of a template. */
  readonly find: (
    kind: 'ResourceClaim' | 'ResourceClaimTemplate',
    name: string,
  ) => Referenced<readonly ReferencedDevice[]> | undefined;
  /** How often a claim is referenced: pods that reference the same claim share its devices. */
  readonly users: (name: string) => number;
}

function devicesOf(found: Referenced<readonly ReferencedDevice[]>, at: Cursor): readonly ImplicitDevices[] {
  return found.facts.map(({ all, profile, models, vendor, between, choices, memoryMiB, ...device }) => ({
    ...device,
    vendor: vendors.find(([, known]) => known === vendor)?.[1] ?? null,
    at,
    ...(all && { all }),
    ...(between === null ? {} : { between }),
    ...(choices === null ? {} : { choices }),
    ...(memoryMiB === null ? {} : { memoryMiB }),
    // Devices in the same file need no source.
    ...(found.file === null ? {} : { from: objectName(found) }),
    ...(profile === null ? {} : { profile }),
    ...(models.length === 0
      ? {}
      : { models: models.flatMap((id) => gpus.get(id) ?? []), modelFrom: 'device-class' as const }),
  }));
}

/**
 * The unknown devices of a claim that no file defines; none if neither its name nor the pod's own name for it suggests accelerators, by a word or by a
 * model.
 */
function unknownClaim(name: string, ownName: string, at: Cursor): readonly ImplicitDevices[] {
  if (isOtherDevice(name)) return [];
  // Monitors claim all devices of their node for themselves and leave them to others.
  const isOwn = !isOtherDevice(ownName) && !/admin|monitor|exporter|dcgm/i.test(name) && suggestsAccelerators(ownName);
  if (!isOwn && !suggestsAccelerators(name)) return [];
  return [{ requested: { kind: 'claim', name }, at, form: 'whole', vendor: null, perPod: null, each: null }];
}

function suggestsAccelerators(name: string): boolean {
  return gpusMentioned(name).length > 0 || /gpu|\bmig|tpu|neuron|gaudi|accelerator|\b[nx]pu\b/i.test(name);
}

/** The accelerators of a claim's spec: under `exactly` in v1 and v1beta2, directly in the request before, by class alone in the first API. */
export function claimedDevices(spec: Cursor | undefined): readonly ImplicitDevices[] {
  const classic = asText(getIn(spec, 'resourceClassName'));
  if (classic !== undefined) return deviceOf(classic, 1, [], getIn(spec, 'resourceClassName'));
  const devices = getIn(spec, 'devices');
  const requests = items(getIn(devices, 'requests')).map((request) => {
    const alternatives = items(getIn(request, 'firstAvailable'));
    const name = asText(getIn(request, 'name'));
    if (alternatives.length === 0) return { name, devices: devicesInRequest(getIn(request, 'exactly') ?? request) };
    return { name, devices: oneOf(alternatives.map(devicesInRequest)) };
  });
  return onOneCard(requests, getIn(devices, 'constraints'));
}

/** The devices of a request with alternatives, of which the scheduler takes the first that is available. */
function oneOf(alternatives: readonly (readonly ImplicitDevices[])[]): readonly ImplicitDevices[] {
  const device = alternatives.flat()[0];
  if (device === undefined) return [];
  const counts = alternatives.map((devices) => totalOf(devices));
  const [first] = counts;
  const alike = counts.every((count) => count === first) && alternatives.every((devices) => devices.length > 0);
  const { models: _, modelFrom: __, all: ___, ...rest } = device;
  const all = alternatives.flat().every((one) => one.all === true);
  const models = alternatives.map((devices) => devices[0]?.models ?? []);
  const named = models.every((some) => some.length > 0)
    ? { models: [...new Set(models.flat())], modelFrom: 'device-class' as const }
    : {};
  if (alike) return [{ ...rest, ...named, ...(all && { all }) }];
  const choices = counts.flatMap((devices, index): readonly DeviceChoice[] =>
    devices === null ? [] : [{ models: (models[index] ?? []).map(({ id }) => id), devices }],
  );
  const known = choices.map(({ devices }) => devices);
  const between = { min: Math.min(...known), max: Math.max(...known) };
  return [{ ...rest, ...named, perPod: null, ...(known.length === counts.length ? { between, choices } : {}) }];
}

function totalOf(devices: readonly ImplicitDevices[]): number | null {
  return devices.reduce<number | null>(
    (sum, { perPod, each }) => (sum === null || perPod === null || each === null ? null : sum + perPod * each),
    0,
  );
}

function devicesInRequest(request: Cursor): readonly ImplicitDevices[] {
  const name = asText(getIn(request, 'deviceClassName'));
  // Admin access monitors devices that are allocated to other pods.
  if (name === undefined || asBoolean(getIn(request, 'adminAccess')) === true) return [];
  const all = asText(getIn(request, 'allocationMode')) === 'All';
  const expressions = items(getIn(request, 'selectors')).flatMap(
    (selector) => asText(getIn(selector, 'cel', 'expression')) ?? [],
  );
  const perPod = all ? null : lowerCount(getIn(request, 'count'), 1);
  if (isTemplated(getIn(request, 'deviceClassName'))) {
    const requested = { kind: 'deviceClass', name: '' } as const;
    return [{ requested, at: request, form: 'whole', vendor: null, perPod: null, each: null }];
  }
  const capacity = getIn(request, 'capacity', 'requests');
  return deviceOf(name, perPod, expressions, request).map((device) => {
    const taken = capacity === undefined || isNull(capacity) ? device : partOf(device, capacity);
    // How many parts the cards of a node have is unknown.
    return all && taken.form === 'whole' && expressions.every(matchesAlike) ? { ...taken, all } : taken;
  });
}

/** Whether an expression cannot tell the cards of one node apart, because it reads only what they have in common. */
function matchesAlike(expression: string): boolean {
  return [...expression.matchAll(/\]\s*\.\s*(\w+)/g)].every(([, name = '']) => common.has(name));
}

/** Attributes and capacities of a model. */
const common = wordSet(
  'architecture brand cudaComputeCapability cudaDriverVersion driverVersion memory productName type',
);

/**
 * A part of a device that several claims share: as much as the request names of its capacities.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#consumable-capacity
 */
function partOf(device: ImplicitDevices, capacity: Cursor): ImplicitDevices {
  const memory = entries(capacity).find((entry) => /(?:^|\/)memory$/i.test(keyOf(entry)));
  const bytes = memory === undefined || isTemplated(memory) ? null : parseQuantity(asText(memory) ?? '');
  const part = { ...device, form: 'shared' as const, each: null };
  return bytes === null || !(bytes > 0) ? part : { ...part, memoryMiB: bytes / 2 ** 20 };
}

/** The devices of a class; none if it is not a class of accelerators. */
export function deviceOf(
  deviceClass: string,
  perPod: number | null,
  expressions: readonly string[],
  place: Cursor | undefined,
): readonly ImplicitDevices[] {
  const vendor = vendorOfClass(deviceClass);
  if (vendor === undefined) return [];
  const expression = expressions.join('\n');
  const named = /^mig-(\d+g)-(\d+gb)/.exec(deviceClass);
  const profile = named
    ? `${named[1]}.${named[2]}`
    : (equalTo(expression, 'profile') ?? (vendor === 'amd' ? amdPartition(expression) : undefined));
  const product = equalTo(expression, 'productName')?.replaceAll(' ', '-') ?? '';
  const exact = gpusByLabel('nvidia.com/gpu.product', product);
  const models = exact.length > 0 ? exact : modelsInExpression(expression, vendor);
  const cut = /^mig\b/.test(deviceClass) || profile !== undefined || equalTo(expression, 'type') === 'amdgpu-partition';
  return [
    {
      requested: { kind: 'deviceClass', name: deviceClass },
      at: place,
      // Not 'mig': a class is not a profile's resource, so this is a partition of any kind.
      form: cut ? 'shared' : 'whole',
      // What the expression selects is unknown, so it may exclude any card of the vendor.
      vendor: models.length === 0 && namesModels.test(expression) ? null : vendor,
      perPod,
      each: cut ? null : 1,
      ...(cut && profile !== undefined ? { profile } : {}),
      ...(models.length > 0 ? { models, modelFrom: 'device-class' as const } : {}),
    },
  ];
}

/**
 * The mode of the AMD partition that an expression selects; undefined for whole GPUs.
 * https://github.com/ROCm/k8s-gpu-dra-driver/blob/main/docs/driver-attributes.md
 */
function amdPartition(expression: string): string | undefined {
  const compute = equalTo(expression, 'computePartition');
  const memory = equalTo(expression, 'memoryPartition') ?? 'nps';
  const mode = equalTo(expression, 'partitionProfile') ?? (compute === undefined ? undefined : `${compute}_${memory}`);
  return mode?.startsWith('spx') === true ? undefined : mode;
}

/** The vendor of a class or a driver of accelerators; null if it can be any, undefined if it is for other devices. */
export function vendorOfClass(name: string): Vendor | null | undefined {
  if (isOtherDevice(name)) return undefined;
  const vendor = vendors.find(([pattern]) => pattern.test(name))?.[1] ?? null;
  return vendor === null && !deviceWords.test(name) ? undefined : vendor;
}

/**
 * The models in the texts that a CEL expression compares attributes with: `productName.matches('.*a100.*')`, `['model'] == 'A100-80GB'`. None
 * if the expression also excludes devices.
 */
function modelsInExpression(expression: string, vendor: Vendor | null): readonly GpuModel[] {
  if (expression.length > 4_000 || /!/.test(expression)) return [];
  const texts = [...expression.matchAll(/["']([^"'\n]{2,80})["']/g)].map(([, text = '']) => text);
  const models = texts.flatMap((text) => {
    const machine = gpusByLabel('node.kubernetes.io/instance-type', text);
    return machine.length > 0 ? machine : gpusMentioned(text);
  });
  return [...new Set(models)].filter((model) => vendor === null || model.vendor === vendor);
}
/** Attributes of NVIDIA's driver that only some models have. https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu */
const namesModels = /\b(?:productName|architecture|brand|cudaComputeCapability)\b/;

/** A class with another name may be of any vendor, but its words say that it has accelerators. */
const deviceWords = /gpu|(?:^|[-_.])(?:[nx]pu|tpu|mlu|dcu|gcu|accelerators?|[abhl]\d{2,3}s?|rtx\w*)(?:$|[-_.])/i;

const vendors: readonly (readonly [pattern: RegExp, vendor: Vendor])[] = [
  [/nvidia\.com$|^nvidia\b|^hami-core-gpu\b/, 'nvidia'],
  [/gpu\.amd\.com$/, 'amd'],
  [/^gaudi\b/, 'habana'],
  [/gpu\.intel\.com$/, 'intel'],
  [/^neuron\b/, 'aws'],
  [/^tpu\b/, 'google'],
  [/\brebellions\.ai$/, 'rebellions'],
  [/\bfuriosa\.ai$/, 'furiosa'],
];

/** Whether a name is that of a GPU channel or a network card, which are also claimed. */
function isOtherDevice(name: string): boolean {
  return /imex|compute-domain|channel|netdev|network|rdma|efa\b|\bnic\b|dranet/i.test(name);
}

/** The value that a CEL expression compares an attribute with, in either notation for attributes. */
function equalTo(expression: string, attribute: string): string | undefined {
  return new RegExp(`\\b${attribute}["']?\\]?\\s*==\\s*["']([^"']{1,80})["']`).exec(expression)?.[1];
}

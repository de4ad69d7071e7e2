import type { GpuModel, Vendor } from '../catalog/index.ts';
import { gpus, gpusByLabel, gpusMentioned } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../yaml/cursor.ts';
import type { Referenced, ReferencedDevice } from './cross-references.ts';
import type { ImplicitDevices } from './implicit-devices.ts';
import { lowerCount } from './pod.ts';
import { objectName } from './referenced.ts';

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
    if (found === undefined) return unknownClaim(name, reference);
    const devices = devicesOf(found, reference);
    if (template !== undefined) return devices;
    const sharers = pods === null ? null : pods * Math.max(users(name), 1);
    return devices.map((device) => ({
      ...device,
      each: device.each === null || sharers === null ? null : device.each / Math.max(sharers, 1),
    }));
  });
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
  return found.facts.map(({ profile, models, vendor, ...device }) => ({
    ...device,
    vendor: vendors.find(([, known]) => known === vendor)?.[1] ?? null,
    at,
    // Devices in the same file need no source.
    ...(found.file === null ? {} : { from: objectName(found) }),
    ...(profile === null ? {} : { profile }),
    ...(models.length === 0
      ? {}
      : { models: models.flatMap((id) => gpus.get(id) ?? []), modelFrom: 'device-class' as const }),
  }));
}

/** The unknown devices of a claim that no file defines; none if its name does not suggest accelerators. */
function unknownClaim(name: string, at: Cursor): readonly ImplicitDevices[] {
  if (!/gpu|mig|tpu|neuron|gaudi|accelerator/i.test(name) || isOtherDevice(name)) return [];
  return [{ requested: { kind: 'claim', name }, at, form: 'whole', vendor: null, perPod: null, each: null }];
}

/** The accelerators of a claim's spec: under `exactly` in v1 and v1beta2, directly in the request before, by class alone in the first API. */
export function claimedDevices(spec: Cursor | undefined): readonly ImplicitDevices[] {
  const classic = asText(getIn(spec, 'resourceClassName'));
  if (classic !== undefined) return deviceOf(classic, 1, [], getIn(spec, 'resourceClassName'));
  return items(getIn(spec, 'devices', 'requests')).flatMap((request) => {
    const alternatives = items(getIn(request, 'firstAvailable'));
    const [first = [], ...others] = (
      alternatives.length > 0 ? alternatives : [getIn(request, 'exactly') ?? request]
    ).map(devicesInRequest);
    const alike = others.every((other) => other[0]?.perPod === first[0]?.perPod && other[0]?.each === first[0]?.each);
    return alike ? first : first.map((device) => ({ ...device, perPod: null }));
  });
}

function devicesInRequest(request: Cursor): readonly ImplicitDevices[] {
  const name = asText(getIn(request, 'deviceClassName'));
  // Admin access monitors devices that are allocated to other pods.
  if (name === undefined || asBoolean(getIn(request, 'adminAccess')) === true) return [];
  const all = asText(getIn(request, 'allocationMode')) === 'All';
  const expressions = items(getIn(request, 'selectors')).flatMap(
    (selector) => asText(getIn(selector, 'cel', 'expression')) ?? [],
  );
  if (isTemplated(getIn(request, 'deviceClassName')))
    return [
      {
        requested: { kind: 'deviceClass', name: '' },
        at: request,
        form: 'whole',
        vendor: null,
        perPod: null,
        each: null,
      },
    ];
  return deviceOf(name, all ? null : lowerCount(getIn(request, 'count'), 1), expressions, request);
}

/** The devices of a class; none if it is not a class of accelerators. */
export function deviceOf(
  deviceClass: string,
  perPod: number | null,
  expressions: readonly string[],
  place: Cursor | undefined,
): readonly ImplicitDevices[] {
  if (isOtherDevice(deviceClass)) return [];
  const vendor = vendors.find(([pattern]) => pattern.test(deviceClass))?.[1] ?? null;
  if (vendor === null && !/gpu/i.test(deviceClass)) return [];
  const expression = expressions.join('\n');
  const named = /^mig-(\d+g)-(\d+gb)/.exec(deviceClass);
  const profile = named ? `${named[1]}.${named[2]}` : equalTo(expression, 'profile');
  const product = equalTo(expression, 'productName')?.replaceAll(' ', '-') ?? '';
  const exact = gpusByLabel('nvidia.com/gpu.product', product);
  const models = exact.length > 0 ? exact : modelsInExpression(expression, vendor);
  const cut = /^mig\b/.test(deviceClass) || profile !== undefined;
  return [
    {
      requested: { kind: 'deviceClass', name: deviceClass },
      at: place,
      // Not 'mig': a class is not a profile's resource, so this is a partition of any kind.
      form: cut ? 'shared' : 'whole',
      vendor,
      perPod,
      each: cut ? null : 1,
      ...(cut && profile !== undefined ? { profile } : {}),
      ...(models.length > 0 ? { models, modelFrom: 'device-class' as const } : {}),
    },
  ];
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

const vendors: readonly (readonly [pattern: RegExp, vendor: Vendor])[] = [
  [/nvidia\.com$/, 'nvidia'],
  [/gpu\.amd\.com$/, 'amd'],
  [/^gaudi\b/, 'habana'],
  [/gpu\.intel\.com$/, 'intel'],
  [/^neuron\b/, 'aws'],
  [/^tpu\b/, 'google'],
];

/** Whether a name is that of a GPU channel or a network card, which are also claimed. */
function isOtherDevice(name: string): boolean {
  return /imex|compute-domain|channel|netdev|network|rdma|efa\b|\bnic\b|dranet/i.test(name);
}

/** The value that a CEL expression compares an attribute with, in either notation for attributes. */
function equalTo(expression: string, attribute: string): string | undefined {
  return new RegExp(`\\b${attribute}["']?\\]?\\s*==\\s*["']([^"']{1,80})["']`).exec(expression)?.[1];
}

import type { Vendor } from '../catalog/index.ts';
import { gpus, gpusByLabel } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../yaml/cursor.ts';
import type { Referenced, SeenDevice } from './cross-references.ts';
import type { ImplicitDevices } from './implicit-devices.ts';
import { lowerCount } from './pod.ts';
import { objectName } from './referenced.ts';

// Dynamic resource allocation: pods name claims, claims name devices. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/

/**
 * The accelerators that a pod's claims hold.
 * @param pods how many pods there are of it: they share a claim that has a name
 */
export function podClaims(
  references: readonly Cursor[],
  pods: number | null,
  { find, users }: Claims,
): readonly ImplicitDevices[] {
  return references.flatMap((reference): readonly ImplicitDevices[] => {
    // Before 1.31 the two names stood under `source`.
    const said = getIn(reference, 'source') ?? reference;
    const template = asText(getIn(said, 'resourceClaimTemplateName'));
    const claim = asText(getIn(said, 'resourceClaimName'));
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

/** What is known of claims where a pod stands. */
export interface Claims {
  /** The devices of a claim, or of a template. */
  readonly find: (
    kind: 'ResourceClaim' | 'ResourceClaimTemplate',
    name: string,
  ) => Referenced<readonly SeenDevice[]> | undefined;
  /** How many places name a claim: pods that name the same one share its devices. */
  readonly users: (name: string) => number;
}

function devicesOf(found: Referenced<readonly SeenDevice[]>, at: Cursor): readonly ImplicitDevices[] {
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

/** A claim that is nowhere to be seen. Most claims that are no accelerators (networks, channels) say so in their names. */
function unknownClaim(name: string, at: Cursor): readonly ImplicitDevices[] {
  if (!/gpu|mig|tpu|neuron|gaudi|accelerator/i.test(name) || isOther(name)) return [];
  return [{ requested: { kind: 'claim', name }, at, form: 'whole', vendor: null, perPod: null, each: null }];
}

/** The accelerators of a claim's spec: in v1 and v1beta2 under `exactly`, before straight in the request, at first by a class alone. */
export function claimedDevices(spec: Cursor | undefined): readonly ImplicitDevices[] {
  const classic = asText(getIn(spec, 'resourceClassName'));
  if (classic !== undefined) return deviceOf(classic, 1, [], getIn(spec, 'resourceClassName'));
  return items(getIn(spec, 'devices', 'requests')).flatMap((request) => {
    const alternatives = items(getIn(request, 'firstAvailable'));
    const [first = [], ...others] = (
      alternatives.length > 0 ? alternatives : [getIn(request, 'exactly') ?? request]
    ).map(ofRequest);
    const alike = others.every((other) => other[0]?.perPod === first[0]?.perPod && other[0]?.each === first[0]?.each);
    return alike ? first : first.map((device) => ({ ...device, perPod: null }));
  });
}

function ofRequest(request: Cursor): readonly ImplicitDevices[] {
  const name = asText(getIn(request, 'deviceClassName'));
  // Access for administrators watches devices that others hold.
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

/** What one device of a class is; nothing for classes of other things than accelerators. */
export function deviceOf(
  deviceClass: string,
  perPod: number | null,
  expressions: readonly string[],
  place: Cursor | undefined,
): readonly ImplicitDevices[] {
  if (isOther(deviceClass)) return [];
  const vendor = vendors.find(([pattern]) => pattern.test(deviceClass))?.[1] ?? null;
  if (vendor === null && !/gpu/i.test(deviceClass)) return [];
  const said = expressions.join('\n');
  const named = /^mig-(\d+g)-(\d+gb)/.exec(deviceClass);
  const profile = named ? `${named[1]}.${named[2]}` : equalTo(said, 'profile');
  const product = equalTo(said, 'productName')?.replaceAll(' ', '-');
  const models = product === undefined ? [] : gpusByLabel('nvidia.com/gpu.product', product);
  const cut = /^mig\b/.test(deviceClass) || profile !== undefined;
  return [
    {
      requested: { kind: 'deviceClass', name: deviceClass },
      at: place,
      // A class names no profile, so this is a part of a card like any other.
      form: cut ? 'shared' : 'whole',
      vendor,
      perPod,
      each: cut ? null : 1,
      ...(cut && profile !== undefined ? { profile } : {}),
      ...(models.length > 0 ? { models, modelFrom: 'device-class' as const } : {}),
    },
  ];
}

const vendors: readonly (readonly [pattern: RegExp, vendor: Vendor])[] = [
  [/nvidia\.com$/, 'nvidia'],
  [/gpu\.amd\.com$/, 'amd'],
  [/^gaudi\b/, 'habana'],
  [/gpu\.intel\.com$/, 'intel'],
  [/^neuron\b/, 'aws'],
  [/^tpu\b/, 'google'],
];

/** Channels between GPUs and network cards are handed out in the same way. */
function isOther(name: string): boolean {
  return /imex|compute-domain|channel|netdev|network|rdma|efa\b|\bnic\b|dranet/i.test(name);
}

/** The value that a CEL expression compares an attribute with, in either way to name one. */
function equalTo(expression: string, attribute: string): string | undefined {
  return new RegExp(`\\b${attribute}["']?\\]?\\s*==\\s*["']([^"']{1,80})["']`).exec(expression)?.[1];
}

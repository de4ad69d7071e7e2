import type { Vendor } from '../catalog/index.ts';
import { gpus, gpusByLabel } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated, items } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Referenced, ReferencedDevice } from './cross-references.ts';
import type { ImplicitDevices } from './implicit-devices.ts';
import { groupOf, lowerManifests } from './manifest.ts';
import { lowerCount } from './pod.ts';
import { objectName } from './referenced.ts';

// Dynamic resource allocation: pods name claims, claims name devices. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/

/** What the documents of one file say of claims, for the pods in it. */
export interface Claims {
  /** The devices of a claim, or of a template, that the file makes. */
  devices(kind: 'ResourceClaim' | 'ResourceClaimTemplate', name: string): readonly ImplicitDevices[] | undefined;
  /** How often the file names a claim: pods that name the same one share its devices. */
  users(name: string): number;
}

export const noClaims: Claims = { devices: () => undefined, users: () => 0 };

/** What one document says of claims. */
export interface DocumentClaims {
  readonly made: readonly {
    readonly kind: string;
    readonly name: string;
    readonly devices: readonly ImplicitDevices[];
  }[];
  /** The names of claims, once for each place. */
  readonly named: readonly string[];
}

const noDocumentClaims: DocumentClaims = { made: [], named: [] };

/** Most texts say nothing of claims, and are not parsed for it. */
export function claimsIn(text: string, document: () => YamlDocument): DocumentClaims {
  const makes = /\bkind:\s*["']?ResourceClaim/.test(text);
  if (!makes && !text.includes('resourceClaimName')) return noDocumentClaims;
  const manifests = makes ? lowerManifests(document()) : [];
  const made = manifests.flatMap(({ apiVersion, kind, name, root }) => {
    if (groupOf(apiVersion) !== 'resource.k8s.io' || name === null) return [];
    const spec = getIn(root, 'spec');
    return [{ kind, name, devices: claimedDevices(kind === 'ResourceClaim' ? spec : getIn(spec, 'spec')) }];
  });
  const named = [...text.matchAll(/^[^#\r\n]*\bresourceClaimName:\s*["']?([\w.-]+)/gm)].map(([, name = '']) => name);
  return { made, named };
}

/** What the documents of a file say together. Of several claims of one name the last counts. */
export function joinClaims(parts: readonly DocumentClaims[]): Claims {
  const made = new Map(
    parts.flatMap((part) => part.made.map(({ kind, name, devices }) => [`${kind} ${name}`, devices] as const)),
  );
  const users = new Map<string, number>();
  for (const name of parts.flatMap(({ named }) => named)) users.set(name, (users.get(name) ?? 0) + 1);
  return { devices: (kind, name) => made.get(`${kind} ${name}`), users: (name) => users.get(name) ?? 0 };
}

/**
 * The accelerators that a pod's claims hold.
 * @param pods how many pods there are of it: they share a claim that has a name
 * @param elsewhere claims of other files, and who names them
 */
export function podClaims(
  references: readonly Cursor[],
  claims: Claims,
  pods: number | null,
  elsewhere: ElsewhereClaims = { find: () => undefined, users: () => 0 },
): readonly ImplicitDevices[] {
  return references.flatMap((reference): readonly ImplicitDevices[] => {
    // Before 1.31 the two names stood under `source`.
    const source = getIn(reference, 'source') ?? reference;
    const template = asText(getIn(source, 'resourceClaimTemplateName'));
    const claim = asText(getIn(source, 'resourceClaimName'));
    const here =
      template === undefined
        ? claims.devices('ResourceClaim', claim ?? '')
        : claims.devices('ResourceClaimTemplate', template);
    const found = here ?? claimElsewhere(elsewhere.find, template, claim);
    if (found === undefined) return unknownClaim(template ?? claim ?? '', reference);
    if (template !== undefined) return found.map((device) => ({ ...device, at: reference }));
    const users = Math.max(here === undefined ? 1 : claims.users(claim ?? ''), elsewhere.users(claim ?? ''));
    const sharers = pods === null ? null : pods * users;
    return found.map((device) => ({
      ...device,
      at: reference,
      each: device.each === null || sharers === null ? null : device.each / Math.max(sharers, 1),
    }));
  });
}

/** What other files say of claims. */
export interface ElsewhereClaims {
  readonly find: FindClaim;
  /** How many places in all files name a claim. */
  readonly users: (name: string) => number;
}

/** How a claim of another file is found. */
export type FindClaim = (
  kind: 'ResourceClaim' | 'ResourceClaimTemplate',
  name: string,
) => Referenced<readonly ReferencedDevice[]> | undefined;

function claimElsewhere(
  find: FindClaim,
  template: string | undefined,
  claim: string | undefined,
): readonly ImplicitDevices[] | undefined {
  const name = template ?? claim;
  const seen =
    name === undefined ? undefined : find(template === undefined ? 'ResourceClaim' : 'ResourceClaimTemplate', name);
  if (seen === undefined) return undefined;
  return seen.facts.map(({ profile, models, vendor, ...device }) => ({
    ...device,
    vendor: vendors.find(([, known]) => known === vendor)?.[1] ?? null,
    at: undefined,
    from: objectName(seen),
    ...(profile === null ? {} : { profile }),
    ...(models.length === 0
      ? {}
      : { models: models.flatMap((id) => gpus.get(id) ?? []), modelFrom: 'device-class' as const }),
  }));
}

/** A claim that is nowhere to be seen. Most claims that are no accelerators (networks, channels) say so in their names. */
function unknownClaim(name: string, at: Cursor): readonly ImplicitDevices[] {
  if (!/gpu|mig|tpu|neuron|gaudi|accelerator/i.test(name) || isOtherDevice(name)) return [];
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
    ).map(devicesInRequest);
    const alike = others.every((other) => other[0]?.perPod === first[0]?.perPod && other[0]?.each === first[0]?.each);
    return alike ? first : first.map((device) => ({ ...device, perPod: null }));
  });
}

function devicesInRequest(request: Cursor): readonly ImplicitDevices[] {
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
  if (isOtherDevice(deviceClass)) return [];
  const vendor = vendors.find(([pattern]) => pattern.test(deviceClass))?.[1] ?? null;
  if (vendor === null && !/gpu/i.test(deviceClass)) return [];
  const expression = expressions.join('\n');
  const named = /^mig-(\d+g)-(\d+gb)/.exec(deviceClass);
  const profile = named ? `${named[1]}.${named[2]}` : equalTo(expression, 'profile');
  const product = equalTo(expression, 'productName')?.replaceAll(' ', '-');
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
function isOtherDevice(name: string): boolean {
  return /imex|compute-domain|channel|netdev|network|rdma|efa\b|\bnic\b|dranet/i.test(name);
}

/** The value that a CEL expression compares an attribute with, in either way to name one. */
function equalTo(expression: string, attribute: string): string | undefined {
  return new RegExp(`\\b${attribute}["']?\\]?\\s*==\\s*["']([^"']{1,80})["']`).exec(expression)?.[1];
}

import { at, fields, list, number, text } from './json.ts';
import { readNodeTerm, readTaint, readToleration } from './read.ts';
import type { NodeSelectorTerm, Taint, Toleration } from './types.ts';

// Dynamic resource allocation: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/

/** A device that a driver offers. */
export interface Device {
  readonly driver: string;
  readonly pool: string;
  readonly name: string;
  /** By qualified name; a name without a domain belongs to the driver. */
  readonly attributes: ReadonlyMap<string, Attribute>;
  /** Quantities by qualified name. */
  readonly capacity: ReadonlyMap<string, string>;
  readonly taints: readonly Taint[];
}

export type Attribute =
  | { readonly type: 'string' | 'version'; readonly value: string }
  | { readonly type: 'int'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean };

/** A part of a pool, and the nodes that can use it: one, all, or those that a selector matches. */
export interface DeviceSlice {
  readonly driver: string;
  readonly pool: string;
  readonly generation: number;
  /** How many slices of this generation the pool has. */
  readonly slices: number;
  readonly nodeName: string | null;
  readonly allNodes: boolean;
  readonly nodeTerms: readonly NodeSelectorTerm[] | null;
  readonly devices: readonly Device[];
}

export interface DeviceClass {
  readonly name: string;
  /** CEL expressions, of which all must hold. */
  readonly selectors: readonly string[];
  readonly extendedResourceName: string | null;
}

/** Devices of one class. */
export interface DeviceRequest {
  readonly name: string;
  readonly className: string;
  readonly selectors: readonly string[];
  /** Null asks for all that match. */
  readonly count: number | null;
  readonly tolerations: readonly Toleration[];
}

/** One request of a claim, or several of which the first that can be met counts. */
export interface ClaimRequest {
  readonly name: string;
  readonly alternatives: readonly DeviceRequest[];
}

/** Devices that must have the same value of an attribute. */
export interface MatchConstraint {
  readonly attribute: string;
  /** The requests that it is about; an empty list means all. */
  readonly requests: readonly string[];
}

export interface DeviceClaim {
  readonly name: string;
  readonly requests: readonly ClaimRequest[];
  readonly constraints: readonly MatchConstraint[];
  /** Devices that are already allocated to it, and the nodes that can reach them; null before. */
  readonly allocation: {
    readonly devices: readonly string[];
    readonly nodeTerms: readonly NodeSelectorTerm[] | null;
  } | null;
}

/** What the cluster knows of devices. */
export interface DeviceSupply {
  readonly classes: ReadonlyMap<string, DeviceClass>;
  readonly slices: readonly DeviceSlice[];
  /** Claims and templates of claims by `namespace/name`. */
  readonly claims: ReadonlyMap<string, DeviceClaim>;
  readonly templates: ReadonlyMap<string, DeviceClaim>;
}

/** A device's name in the cluster. */
export function deviceId({
  driver,
  pool,
  name,
}: {
  readonly driver: string;
  readonly pool: string;
  readonly name: string;
}): string {
  return `${driver}/${pool}/${name}`;
}

/** A ResourceSlice as the API server returns it. */
export function readSlice(slice: unknown): DeviceSlice {
  const spec = at(slice, 'spec');
  const driver = text(at(spec, 'driver')) ?? '';
  const pool = text(at(spec, 'pool', 'name')) ?? '';
  const terms = at(spec, 'nodeSelector', 'nodeSelectorTerms');
  return {
    driver,
    pool,
    generation: number(at(spec, 'pool', 'generation')) ?? 0,
    slices: number(at(spec, 'pool', 'resourceSliceCount')) ?? 1,
    nodeName: text(at(spec, 'nodeName')) ?? null,
    allNodes: at(spec, 'allNodes') === true,
    nodeTerms: terms === undefined ? null : list(terms).map(readNodeTerm),
    devices: list(at(spec, 'devices')).map((device) => readDevice(device, driver, pool)),
  };
}

function readDevice(device: unknown, driver: string, pool: string): Device {
  // The fields stood under `basic` until resource.k8s.io/v1beta1.
  const body = at(device, 'basic') ?? device;
  return {
    driver,
    pool,
    name: text(at(device, 'name')) ?? '',
    attributes: new Map(
      fields(at(body, 'attributes')).flatMap(([name, value]) => {
        const attribute = readAttribute(value);
        return attribute === undefined ? [] : [[qualified(name, driver), attribute] as const];
      }),
    ),
    capacity: new Map(
      fields(at(body, 'capacity')).map(([name, value]) => [
        qualified(name, driver),
        String(at(value, 'value') ?? value),
      ]),
    ),
    taints: list(at(body, 'taints')).map(readTaint),
  };
}

function readAttribute(value: unknown): Attribute | undefined {
  const [string, version, int, bool] = ['string', 'version', 'int', 'bool'].map((type) => at(value, type));
  if (typeof string === 'string') return { type: 'string', value: string };
  if (typeof version === 'string') return { type: 'version', value: version };
  if (typeof int === 'number') return { type: 'int', value: int };
  return typeof bool === 'boolean' ? { type: 'bool', value: bool } : undefined;
}

/** An attribute's name with its domain, `gpu.nvidia.com/type`. */
function qualified(name: string, driver: string): string {
  return name.includes('/') ? name : `${driver}/${name}`;
}

/** A DeviceClass as the API server returns it. */
export function readDeviceClass(deviceClass: unknown): DeviceClass {
  return {
    name: text(at(deviceClass, 'metadata', 'name')) ?? '',
    selectors: readSelectors(at(deviceClass, 'spec')),
    extendedResourceName: text(at(deviceClass, 'spec', 'extendedResourceName')) ?? null,
  };
}

function readSelectors(spec: unknown): readonly string[] {
  return list(at(spec, 'selectors')).flatMap((selector) => text(at(selector, 'cel', 'expression')) ?? []);
}

/**
 * A ResourceClaim, or the same spec in a template.
 * @param spec `spec` of a ResourceClaim, `spec.spec` of a ResourceClaimTemplate
 */
export function readClaim(name: string, spec: unknown, status: unknown): DeviceClaim {
  const allocation = at(status, 'allocation');
  const terms = at(allocation, 'nodeSelector', 'nodeSelectorTerms');
  return {
    name,
    requests: list(at(spec, 'devices', 'requests')).map(readRequest),
    constraints: list(at(spec, 'devices', 'constraints')).flatMap((constraint) => {
      const attribute = text(at(constraint, 'matchAttribute'));
      const requests = list(at(constraint, 'requests')).flatMap((request) => text(request) ?? []);
      return attribute === undefined ? [] : [{ attribute, requests }];
    }),
    allocation:
      allocation === undefined
        ? null
        : {
            devices: list(at(allocation, 'devices', 'results')).map((result) =>
              deviceId({
                driver: text(at(result, 'driver')) ?? '',
                pool: text(at(result, 'pool')) ?? '',
                name: text(at(result, 'device')) ?? '',
              }),
            ),
            nodeTerms: terms === undefined ? null : list(terms).map(readNodeTerm),
          },
  };
}

function readRequest(request: unknown): ClaimRequest {
  const name = text(at(request, 'name')) ?? '';
  const first = list(at(request, 'firstAvailable'));
  if (first.length === 0) return { name, alternatives: [readDeviceRequest(name, at(request, 'exactly') ?? request)] };
  const alternatives = first.map((each) => readDeviceRequest(`${name}/${text(at(each, 'name')) ?? ''}`, each));
  return { name, alternatives };
}

function readDeviceRequest(name: string, request: unknown): DeviceRequest {
  return {
    name,
    className: text(at(request, 'deviceClassName')) ?? '',
    selectors: readSelectors(request),
    count: at(request, 'allocationMode') === 'All' ? null : (number(at(request, 'count')) ?? 1),
    tolerations: list(at(request, 'tolerations')).map(readToleration),
  };
}

import type { ClaimRequest, Device, DeviceClaim, DeviceClass, DeviceRequest, DeviceSlice } from './devices.ts';
import { deviceId } from './devices.ts';
import { matchesTerm } from './labels.ts';
import { tolerates } from './tolerations.ts';
import type { FleetNode } from './types.ts';

// https://github.com/kubernetes/dynamic-resource-allocation/tree/master/structured

/** Whether a CEL expression holds for a device, or CEL's message if it cannot be evaluated. */
export type DeviceMatcher = (expression: string, device: Device) => boolean | { readonly error: string };

/** `error`: what a claim asks for cannot be decided, and the pod fails on every node. */
export type AllocationResult = 'possible' | 'impossible' | { readonly error: string };

/** What allocation needs to know of the cluster. */
export interface AllocationInput {
  readonly node: FleetNode;
  readonly slices: readonly DeviceSlice[];
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** Ids of devices that other claims hold. */
  readonly taken: ReadonlySet<string>;
  readonly matches: DeviceMatcher;
}

/** Kubernetes allocates at most so many devices to one claim. */
const maxDevices = 32;

/** Steps of the search for one node; more than any claim of a real cluster needs. */
const maxSteps = 20_000;

/** Whether the claims can be allocated together on a node. Selectors of a claim count only if the claims before it can be met. */
export function allocate(claims: readonly DeviceClaim[], input: AllocationInput): AllocationResult {
  const pools = poolsOf(input);
  const updated = pools.find(({ complete }) => !complete);
  const failed = updated === undefined ? undefined : claims.flatMap((claim) => requestOfAll(claim, updated) ?? [])[0];
  if (failed !== undefined) return failed;
  const wanted: Wanted[] = [];
  for (const claim of claims) {
    let least = 0;
    for (const request of claim.requests) {
      const each = want(request, claim, pools, input);
      if (isError(each)) return each;
      wanted.push(each);
      least += each.least;
    }
    // Infinity is more than any limit, too.
    if (least > maxDevices) return 'impossible';
  }
  return search(wanted, input.taken);
}

/** All devices cannot be requested while a driver still publishes a pool. */
function requestOfAll({ name, requests }: DeviceClaim, pool: Pool): Failure | undefined {
  const all = requests.flatMap(({ alternatives }) => alternatives).find(({ count }) => count === null);
  if (all === undefined) return undefined;
  const problem = `asks for all devices, but resource pool ${pool.name} is currently being updated`;
  return { error: `claim ${name}, request ${all.name}: ${problem}` };
}

interface Failure {
  readonly error: string;
}

function isError(value: object): value is Failure {
  return 'error' in value;
}

interface Pool {
  readonly name: string;
  readonly complete: boolean;
  readonly devices: readonly Device[];
}

/** The pools that the node can use, each in its newest generation. */
function poolsOf({ node, slices }: AllocationInput): readonly Pool[] {
  const byPool = new Map<string, DeviceSlice[]>();
  for (const slice of slices) {
    const name = `${slice.driver}/${slice.pool}`;
    byPool.set(name, [...(byPool.get(name) ?? []), slice]);
  }
  return [...byPool].flatMap(([name, all]) => {
    const newest = Math.max(...all.map(({ generation }) => generation));
    const current = all.filter(({ generation }) => generation === newest);
    const here = current.filter((slice) => reaches(slice, node));
    if (here.length === 0) return [];
    const complete = current.length === (current[0]?.slices ?? 1);
    return [{ name, complete, devices: here.flatMap(({ devices }) => devices) }];
  });
}

function reaches({ nodeName, allNodes, nodeTerms }: DeviceSlice, node: FleetNode): boolean {
  return allNodes || nodeName === node.name || (nodeTerms?.some((term) => matchesTerm(term, node)) ?? false);
}

/** A request with the devices that match it. */
interface Wanted {
  readonly claim: DeviceClaim;
  readonly name: string;
  readonly alternatives: readonly Alternative[];
  /** The fewest devices that it takes; infinite if no alternative is possible. */
  readonly least: number;
}

interface Alternative {
  readonly request: DeviceRequest;
  readonly count: number;
  /** Found when the search gets there: a selector that fails matters only then. */
  readonly devices: () => readonly Device[] | Failure;
}

function want(
  request: ClaimRequest,
  claim: DeviceClaim,
  pools: readonly Pool[],
  input: AllocationInput,
): Wanted | Failure {
  const alternatives: Alternative[] = [];
  for (const alternative of request.alternatives) {
    const devices = once(() => matching(alternative, claim, pools, input));
    let { count } = alternative;
    if (count === null) {
      const all = devices();
      if (isError(all)) return all;
      count = all.length;
    }
    if (count > 0) alternatives.push({ request: alternative, count, devices });
  }
  return { claim, name: request.name, alternatives, least: Math.min(...alternatives.map(({ count }) => count)) };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The devices of complete pools that a request's class and selectors match. */
function matching(
  { className, selectors }: DeviceRequest,
  claim: DeviceClaim,
  pools: readonly Pool[],
  { classes, matches }: AllocationInput,
): readonly Device[] | Failure {
  const expressions = [...(classes.get(className)?.selectors ?? []), ...selectors];
  const found: Device[] = [];
  for (const { complete, devices } of pools) {
    for (const device of complete ? devices : []) {
      let matched = true;
      for (const expression of expressions) {
        const result = matches(expression, device);
        if (typeof result === 'object') return { error: `claim ${claim.name}: ${result.error}` };
        matched = result;
        if (!matched) break;
      }
      if (matched) found.push(device);
    }
  }
  return found;
}

interface Choice {
  readonly wanted: Wanted;
  readonly request: DeviceRequest;
  readonly device: Device;
}

/** Tries the devices of each request in order, and goes back where a later request cannot be met. */
function search(all: readonly Wanted[], held: ReadonlySet<string>): AllocationResult {
  const taken = new Set(held);
  const chosen: Choice[] = [];
  let steps = 0;
  let failure: Failure | undefined;
  const meet = (index: number): boolean => {
    const wanted = all[index];
    return wanted?.alternatives.some((alternative) => choose(index, wanted, alternative, alternative.count, 0)) ?? true;
  };
  const choose = (index: number, wanted: Wanted, alternative: Alternative, count: number, from: number): boolean => {
    if (count === 0) return meet(index + 1);
    const { request } = alternative;
    const devices = alternative.devices();
    if (isError(devices)) {
      failure ??= devices;
      return false;
    }
    for (const [offset, device] of devices.slice(from).entries()) {
      if (++steps > maxSteps || failure !== undefined) return false;
      const id = deviceId(device);
      const choice = { wanted, request, device };
      if (taken.has(id) || !toleratesTaints(request, device) || !isConsistent(choice, chosen)) continue;
      taken.add(id);
      chosen.push(choice);
      if (choose(index, wanted, alternative, count - 1, from + offset + 1)) return true;
      chosen.pop();
      taken.delete(id);
    }
    return false;
  };
  const met = meet(0);
  return failure ?? (met ? 'possible' : 'impossible');
}

/** Whether a device has the attribute values of the others that the same constraints are about. */
function isConsistent(choice: Choice, chosen: readonly Choice[]): boolean {
  const { claim } = choice.wanted;
  return claim.constraints.every(({ attribute, requests }) => {
    const concerns = ({ wanted, request }: Choice) =>
      requests.length === 0 || requests.includes(wanted.name) || requests.includes(request.name);
    if (!concerns(choice)) return true;
    const value = choice.device.attributes.get(attribute)?.value;
    const others = chosen.filter((other) => other.wanted.claim === claim && concerns(other));
    return value !== undefined && others.every(({ device }) => device.attributes.get(attribute)?.value === value);
  });
}

function toleratesTaints({ tolerations }: DeviceRequest, { taints }: Device): boolean {
  return taints.every(
    (taint) => taint.effect === 'None' || tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

import { allInstanceTypes, instanceType, isInstanceTypeLabel } from '../catalog/index.ts';
import { isAllowed, modelsOfMachines } from '../model/machine-terms.ts';
import type { NodePool } from '../model/node-pool.ts';
import { allowedValues } from '../model/node-terms.ts';
import { neuronCoreShare } from '../model/shares.ts';
import type { Placement } from '../model/workload.ts';
import { pricesOfMachines } from './allowed-offers.ts';
import type { OwnPrices } from './custom-prices.ts';
import type { NoEstimate } from './no-estimate.ts';
import type { Pricing } from './pod-price.ts';
import type { PricedOffer } from './priced-offer.ts';
import { nothing, rangeOf, sumOf, timesCount } from './range.ts';
import type { Range } from './types.ts';

/** A machine at the price of one capacity type. */
export interface PricedMachine {
  readonly offer: PricedOffer;
  readonly pricing: Pricing;
  /** US dollars per hour. */
  readonly hourly: number;
}

/** What the nodes of a pool cost. */
export interface PoolCost {
  /** The machines that it may add, cheapest first. */
  readonly machines: readonly PricedMachine[];
  /** US dollars per hour for one node. */
  readonly node: Range;
  /** The number of nodes at the pool's limit; null: it has no limit, or it is unknown. */
  readonly nodes: Range | null;
  /** US dollars per hour at the limit; null without a limit. */
  readonly limit: Range | null;
  /** It adds nodes on spot and on demand. */
  readonly isEither: boolean;
  /** What it may also add, without a list price. */
  readonly unlisted: readonly ('reserved' | 'flex')[];
}

/** Why a pool has no price. `pool-cost-words.ts` has the wording. */
export type PoolProblem =
  | Extract<NoEstimate, { kind: 'capacityNotPriced' }>
  /** A cloud whose prices are not in the price sheet. */
  | { readonly kind: 'otherCloud'; readonly cloud: string }
  /** No machine of the catalog meets its requirements. */
  | { readonly kind: 'noMachine' }
  /** Machines without a price. `onDemand`: the price that they have, if only the spot price is missing. */
  | {
      readonly kind: 'unpriced';
      readonly machines: readonly string[];
      readonly region: string | null;
      readonly pricing: Pricing;
      readonly onDemand: Range | null;
    };

/**
 * The price of the nodes that a pool adds, and of all nodes at its limit: its maximum size, or the nodes that its limits of CPU, memory and devices
 * allow; or why it is unknown.
 * @param placement of a pod on the pool, without needs
 */
export function poolCost(pool: NodePool, placement: Placement, prices: OwnPrices): PoolCost | PoolProblem {
  const { terms = [] } = pool;
  const models = pool.gpus?.length ? pool.gpus : modelsOfMachines(terms).map(({ id }) => id);
  const { capacity, spotFirst, nodeGpus, otherCloud } = placement;
  if (otherCloud !== undefined) return { kind: 'otherCloud', cloud: otherCloud };
  if (capacity === 'reserved' || capacity === 'flex') return { kind: 'capacityNotPriced', capacity };
  if (placement.billing !== undefined && placement.billing !== 'premium')
    return { kind: 'capacityNotPriced', capacity: placement.billing };
  const at = (pricing: Pricing, allowed: Placement['terms']) =>
    pricesOfMachines(models, { ...placement, terms: allowed }, pricing, prices)
      // A node is not a part of a machine with more devices.
      .filter(({ gpuCount }) => nodeGpus.length === 0 || nodeGpus.includes(gpuCount))
      .map((offer) => ({ offer, pricing, hourly: (pricing === 'spot' ? offer.spot : offer.onDemand) ?? 0 }));
  const pricing = capacity === 'spot' ? 'spot' : 'on-demand';
  const machines =
    spotFirst === undefined
      ? at(pricing, placement.terms)
      : [...at('spot', spotFirst.spot), ...at('on-demand', spotFirst.onDemand)].sort((a, b) => a.hourly - b.hourly);
  // Azure's names are written in any case.
  const named = (allowedValues(placement.terms, isInstanceTypeLabel) ?? []).map(
    (name) => instanceType(name)?.name ?? name,
  );
  const known = new Set(machines.map(({ offer }) => offer.instanceType.split(' + ')[0]));
  const missing = named.filter((name) => !known.has(name));
  if (missing.length > 0 || machines.length === 0) {
    if (named.length === 0 && !allInstanceTypes().some((type) => type.gpu !== null && isAllowed(terms, type)))
      return { kind: 'noMachine' };
    const others = pricing === 'spot' ? at('on-demand', placement.terms) : [];
    const onDemand = rangeOf(others.map(({ hourly }) => hourly)) ?? null;
    const { region } = placement;
    // A machine that the catalog does not have leaves the provider of all unknown. If all lack a price, there is nothing to tell apart.
    const lacking = missing.length < named.length ? missing : named.filter((name) => instanceType(name) === undefined);
    const without = lacking.length < named.length ? lacking : [];
    return { kind: 'unpriced', machines: without, region, pricing: onDemand ? pricing : 'on-demand', onDemand };
  }
  // A pool never adds a machine that is larger than its limit.
  const within = machines.filter(({ offer }) => nodesAt(pool, offer) !== 0);
  const used = within.length > 0 ? within : machines;
  const node = rangeOf(used.map(({ hourly }) => hourly)) ?? nothing;
  const unlisted = placement.unlisted ?? [];
  const divided = divide(pool, used);
  const isEither = spotFirst !== undefined;
  if (divided !== undefined) return { machines: used, node, ...divided, isEither, unlisted };
  const counts = used.map(({ offer, hourly }) => ({ count: nodesAt(pool, offer), hourly }));
  const most = counts.flatMap(({ count }) => count ?? []);
  const isLimited = most.length === used.length;
  return {
    machines: used,
    node,
    nodes: isLimited ? (rangeOf(most) ?? null) : null,
    limit: isLimited ? limitOf(pool, used) : null,
    isEither,
    unlisted,
  };
}

/**
 * The limit of a pool that divides its nodes between on demand and spot; undefined for others.
 * https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_InstancesDistribution.html
 */
function divide(
  { size, onDemandShare }: NodePool,
  used: readonly PricedMachine[],
): Pick<PoolCost, 'nodes' | 'limit'> | undefined {
  const nodes = size?.max ?? null;
  const amounts = (wanted: Pricing) => rangeOf(used.flatMap((one) => (one.pricing === wanted ? one.hourly : [])));
  const [onDemand, spot] = [amounts('on-demand'), amounts('spot')];
  if (onDemandShare === undefined || nodes === null || onDemand === undefined || spot === undefined) return undefined;
  const { base, percent } = onDemandShare;
  const fixed = Math.min(nodes, base);
  const first = fixed + Math.ceil(((nodes - fixed) * percent) / 100);
  return {
    nodes: { min: nodes, max: nodes },
    limit: sumOf([timesCount(onDemand, first), timesCount(spot, nodes - first)]),
  };
}

/** How many nodes of one machine the pool may have; null: unknown. */
function nodesAt(pool: NodePool, offer: PricedOffer): number | null {
  if (pool.size !== undefined) return pool.size.max;
  const bounds = boundsOf(pool, offer).map(({ limit, each }) => limit / each);
  return bounds.length === 0 || bounds.some(Number.isNaN) ? null : Math.floor(Math.min(...bounds));
}

/** What the pool may have of each resource, and what a node takes of it. */
function boundsOf({ limits }: NodePool, { gpuCount, gpu, instanceType: name }: PricedOffer): readonly Bound[] {
  const { vcpu = null, memoryGiB = null } = instanceType(name) ?? {};
  // A machine with a part of a card reports it as one device.
  const devices = Math.max(1, gpuCount);
  return Object.entries(limits ?? {}).flatMap(([resource, limit]): Bound[] => {
    const of = (each: number | null, most = limit): Bound[] => (each ? [{ resource, limit: most, each }] : []);
    if (resource === 'cpu') return of(vcpu);
    if (resource === 'memory') return of(memoryGiB, limit / 2 ** 30);
    if (resource === 'nodes') return of(1);
    if (resource === 'aws.amazon.com/neuroncore') return of(devices, limit * (neuronCoreShare([gpu]) ?? Number.NaN));
    return /^(?:(?:nvidia|amd)\.com\/gpu|aws\.amazon\.com\/neuron)$/.test(resource) ? of(devices) : [];
  });
}

interface Bound {
  readonly resource: string;
  readonly limit: number;
  readonly each: number;
}

/** The price of all nodes at the limit: of one machine at least, and of the most expensive mix within each bound at most. */
function limitOf(pool: NodePool, used: readonly PricedMachine[]): Range | null {
  const alone = rangeOf(used.map(({ offer, hourly }) => (nodesAt(pool, offer) ?? 0) * hourly));
  if (alone === undefined || used.length === 1 || pool.size !== undefined) return alone ?? null;
  const machines = used.map(({ offer, hourly }) => ({ hourly, bounds: boundsOf(pool, offer) }));
  const mixes = Object.keys(pool.limits ?? {}).flatMap((resource) => {
    const each = machines.flatMap(({ hourly, bounds }) =>
      bounds.filter((bound) => bound.resource === resource).map((bound) => ({ hourly, ...bound })),
    );
    return each.length === used.length ? mostWithin(each) : [];
  });
  return mixes.length === 0 ? alone : { min: alone.min, max: Math.max(alone.max, Math.min(...mixes)) };
}

/** More steps are not worth the exact amount. */
const maxSteps = 100_000;

/** The price of the most expensive mix within a bound; of large bounds and parts of units, as if nodes could be divided. */
function mostWithin(machines: readonly (Bound & { readonly hourly: number })[]): number {
  const limit = Math.max(...machines.map((one) => one.limit));
  const isExact = machines.every(({ each, limit: own }) => Number.isInteger(each) && own === limit);
  if (!isExact || limit * machines.length > maxSteps)
    return Math.max(...machines.map(({ limit: own, each, hourly }) => (own / each) * hourly));
  const best = [0];
  for (let left = 1; left <= limit; left += 1)
    best[left] = Math.max(
      best[left - 1] ?? 0,
      ...machines.map(({ each, hourly }) => (each <= left ? (best[left - each] ?? 0) + hourly : 0)),
    );
  return best[Math.floor(limit)] ?? 0;
}

import { instanceType, type Provider, priceSource, providerName } from '../catalog/index.ts';
import type { LiveCapacity } from '../fleet/cluster-view.ts';
import type { Machine } from '../fleet/machine.ts';
import type { NodePrice, NodePricing } from '../fleet/node-cost.ts';
import type { NodeTerm } from '../model/node-terms.ts';
import { noNeeds, type Placement } from '../model/workload.ts';
import { type OwnPrices, ownInstancePrice } from './custom-prices.ts';
import { isPerDevice } from './machines.ts';
import { type Quote, quote } from './offers.ts';
import type { PodPrice } from './pod-price.ts';
import { rangeOf } from './range.ts';

/** The prices of the nodes of a cluster: the project's own prices, else those of the price sheet. Equal machines are priced once. */
export function nodePricing(prices: OwnPrices): NodePricing {
  const known = new Map<string, NodePrice>();
  return (machine) => {
    const { instanceType: name, provider, region, capacity, model, devices } = machine;
    const key = JSON.stringify([name, provider, region, capacity, model?.id, devices]);
    const price = known.get(key) ?? priceOf(machine, prices);
    known.set(key, price);
    return price;
  };
}

function priceOf(machine: Machine, prices: OwnPrices): NodePrice {
  const { instanceType: name, provider, region, capacity, model, devices } = machine;
  const own = name === null ? undefined : ownInstancePrice(prices, name);
  if (name !== null && own !== undefined)
    return { hourly: { min: own, max: own }, basis: `${name} at the price in the config` };
  if (capacity === 'reserved' || capacity === 'flex')
    return { hourly: null, because: `${capacityWords[capacity]} has no list price` };
  if (model === null) return { hourly: null, because: 'GPU model unknown' };
  if (model.id === null) return { hourly: null, because: `no price for ${model.name}` };
  const type = name === null ? undefined : instanceType(name);
  const count = type?.gpuCount ?? devices;
  if (count === null) return { hourly: null, because: 'number of devices unknown' };
  const placement: Placement = {
    capacity: capacity ?? 'unknown',
    capacityAt: undefined,
    provider,
    region,
    instanceType: type?.name ?? null,
    nodeGpus: [count],
    terms: name === null ? [[]] : [[onMachine(name)]],
    needs: noNeeds,
    nodePool: null,
    providerFrom: null,
  };
  const pricing = capacity === 'spot' ? 'spot' : 'on-demand';
  const found = quote(model.id, count, placement, pricing, prices);
  // A machine of nobody's cloud is not rented, so only a project's own price applies.
  const listed = provider === null ? found.prices.filter(({ offer }) => offer.own === 'gpu') : found.prices;
  const hourly = rangeOf(listed.map(wholeNode));
  if (hourly === undefined) return { hourly: null, because: noPrice(machine, pricing) };
  return { hourly, basis: basisOf(listed, found, machine, pricing) };
}

const capacityWords: Readonly<Record<Extract<LiveCapacity, 'reserved' | 'flex'>, string>> = {
  reserved: 'reserved capacity',
  flex: 'flex-start capacity',
};

function onMachine(name: string): NodeTerm[number] {
  return { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] };
}

/** A machine costs the same however much of it pods use. */
function wholeNode({ offer, hourly, share }: PodPrice): number {
  return isPerDevice(offer) || offer.own === 'gpu' || share === 0 ? hourly : hourly / share;
}

function noPrice({ instanceType: name, provider }: Machine, pricing: string): string {
  if (provider === null) return 'own machine, without a price in the config';
  const kind = pricing === 'spot' ? 'spot price' : 'price';
  return `no ${kind} of ${name ?? 'an unknown instance type'} at ${providerName(provider)}`;
}

/** `p5.48xlarge on demand in us-east-1 (2026-08-21)`. */
function basisOf(listed: readonly PodPrice[], found: Quote, machine: Machine, pricing: 'spot' | 'on-demand'): string {
  const [first] = listed;
  if (first === undefined) return '';
  const { offer } = first;
  const terms = pricing === 'spot' ? 'spot' : machine.capacity === null ? 'assumed on demand' : 'on demand';
  if (offer.own === 'gpu') return `${offer.instanceType} at the price in the config`;
  const { date } = priceSource(offer, pricing);
  const assumed = found.assumptions.some(({ kind }) => kind === 'region' || kind === 'otherRegion');
  const place = offer.region === '' ? providerName(offer.provider as Provider) : offer.region;
  const discount = offer.own === 'discount' ? ', with the discount in the config' : '';
  return `${offer.instanceType} ${terms} in ${place}${assumed ? ' (region assumed)' : ''}${discount} (${date ?? 'date unknown'})`;
}

import type { Offer } from '../catalog/index.ts';
import { maxGpusPerInstance, priceSource } from '../catalog/index.ts';
import type { PodNeeds } from '../model/workload.ts';
import { fits, isChip, isPerDevice, isTooLarge, machineOf, shareOf } from './machines.ts';
import type { PricedOffer } from './priced-offer.ts';

/** The capacity type at which an offer is priced. */
export type Pricing = 'on-demand' | 'spot';

/** The price of one pod's devices at one provider. */
export interface PodPrice {
  readonly offer: PricedOffer;
  readonly pricing: Pricing;
  /** The part of the instance that the pod takes: the largest of its shares of devices, CPU and memory. */
  readonly share: number;
  /** US dollars per hour for the pod. */
  readonly hourly: number;
}

/** What one pod asks of a machine. */
export interface Request {
  readonly devices: number;
  readonly needs: PodNeeds;
  /** Whether each instance type has its own price; otherwise the best one counts. */
  readonly each: boolean;
}

/** The prices of a pod on the machines that it fits, cheapest first: of each instance type, or of the best one. */
export function chosen(candidates: readonly PricedOffer[], request: Request, pricing: Pricing): readonly PodPrice[] {
  const all = candidates.flatMap((offer) => priceOn(offer, request, pricing) ?? []);
  const dated = all.filter(isCertain);
  const known = dated.length > 0 ? dated : all;
  const roomy = known.filter(({ offer }) => fits(request.needs, machineOf(offer as Offer)));
  const prices = roomy.length > 0 ? roomy : known;
  if (request.each) return [...prices].sort(byAmount);
  const cards = ({ offer }: PodPrice) => cardsOf(offer, request.devices);
  const fewest = Math.min(...prices.map(cards));
  const [best] = prices.filter((price) => cards(price) === fewest).sort(byMachine);
  return best === undefined ? [] : [best];
}

/** The price of a pod on a machine; undefined if the machine has too few devices, CPUs or memory, or no such price. */
export function priceOn(offer: PricedOffer, { devices, needs }: Request, pricing: Pricing): PodPrice | undefined {
  const instanceHourly = pricing === 'spot' ? offer.spot : offer.onDemand;
  // The node of a fractional machine reports its part of a card as one device.
  const cards = cardsOf(offer, devices);
  if (instanceHourly === null || cards < devices) return undefined;
  if (!isPerDevice(offer) && cards < (needs.cards ?? 0)) return undefined;
  const machine = machineOf(offer as Offer);
  if (isTooLarge(needs, machine)) return undefined;
  const share = isPerDevice(offer) ? devices : shareOf(devices, needs, machine, cards);
  return { offer, pricing, share, hourly: instanceHourly * share };
}

/** The devices of a machine; a price per device is for as many as the pod requests. */
function cardsOf(offer: PricedOffer, devices: number): number {
  if (!isPerDevice(offer)) return Math.max(1, offer.gpuCount);
  // A slice has the chips of many nodes.
  if (isChip(offer)) return devices;
  // No node has more of them than the largest known machine.
  return Math.min(Math.max(1, Math.ceil(devices)), maxGpusPerInstance(offer.gpu) ?? devices);
}

/** Whether the price has a date or is the project's own. */
export function isCertain({ offer, pricing }: Pick<PodPrice, 'offer' | 'pricing'>): boolean {
  return priceSource(offer, pricing).date !== null || offer.own === 'gpu' || offer.own === 'instance';
}

/** Compares by the whole machines, which an autoscaler buys, whatever part of them the pod takes. */
function byMachine(a: PodPrice, b: PodPrice): number {
  const whole = ({ offer, hourly, share }: PodPrice) => (isPerDevice(offer) ? hourly : hourly / share);
  return whole(a) - whole(b) || byAmount(a, b);
}

/** Compares by US dollars per hour. */
export function byAmount(a: PodPrice, b: PodPrice): number {
  return a.hourly - b.hourly;
}

import {
  gpus,
  hasNodes,
  isGpuLabel,
  isInstanceTypeLabel,
  offers,
  type PriceSheet,
  type Provider,
} from '../catalog/index.ts';
import { type Devices, wholeCards } from '../memory/fit.ts';
import { noNeeds, type Placement, type PodSet } from '../model/workload.ts';
import { commitments, listPrices, type OwnPrices } from './custom-prices.ts';
import { acceleratorsOf } from './estimate.ts';
import { isPerDevice, machineOf } from './machines.ts';
import { quote } from './offers.ts';
import { breakEvenMonths, type OwnMachine, ownedHourly } from './on-prem.ts';
import type { PodPrice } from './pod-price.ts';
import { pricedDevices } from './priced-devices.ts';

// Other ways to pay for the same pods. All amounts are for one pod, in US dollars per hour.

/** What the levers of a pod set compare. */
export interface Priced {
  readonly model: string;
  readonly devices: number;
  readonly placement: Placement;
  /** The on-demand price of one pod now. */
  readonly now: PodPrice;
}

/** The single on-demand price of a pod set; undefined if it is a range, on spot, or unknown. */
export function pricedPod(podSet: PodSet, prices: OwnPrices = listPrices): Priced | undefined {
  const [accelerator, ...others] = acceleratorsOf(podSet);
  const { placement } = podSet;
  const isOnDemand = placement.capacity === 'on-demand' || placement.capacity === 'unknown';
  if (accelerator === undefined || others.length > 0 || !isOnDemand) return undefined;
  const { model, devices } = accelerator;
  if (model === null || devices === null || devices === 0) return undefined;
  const counted = pricedDevices(model, accelerator);
  const [now, ...more] = quote(model, counted, placement, 'on-demand', prices).prices;
  return now === undefined || more.length > 0 ? undefined : { model, devices: counted, placement, now };
}

/**
 * The cheapest machine of the same provider and region on which the pod fits, with the same GPU, if it is cheaper than the one that the selectors
 * name. Other requirements of the selectors still apply.
 */
export function cheaperMachine({ model, devices, placement, now }: Priced, prices: OwnPrices): PodPrice | undefined {
  const { provider, region } = now.offer;
  if (provider === null) return undefined;
  const terms = placement.terms.map((term) => term.filter(({ key }) => !isInstanceTypeLabel(key)));
  const open: Placement = { ...placement, provider, region, instanceType: null, terms };
  const [best] = quote(model, devices, open, 'on-demand', prices).prices;
  if (best === undefined || best.offer.instanceType === now.offer.instanceType || isPerDevice(best.offer))
    return undefined;
  return best.offer.region === region && hasRoom(best, placement, 0) && isCheaper(best, now) ? best : undefined;
}

/**
 * Whether a machine leaves a fifth of its CPU and memory to the system and to the pods that run on each node.
 * @param unknown counts for an unknown size
 */
function hasRoom({ offer }: PodPrice, { needs }: Placement, unknown: number): boolean {
  if (offer.provider === null || isPerDevice(offer)) return true;
  const { vcpu, memoryGiB } = machineOf({ ...offer, provider: offer.provider });
  return needs.cpu <= 0.8 * (vcpu ?? unknown) && needs.memoryGiB <= 0.8 * (memoryGiB ?? unknown);
}

/** The same GPU at other providers and in other regions, if it is cheaper there: the cheapest place of each provider, cheapest first. */
export function sameGpuElsewhere({ model, devices, placement, now }: Priced, prices: OwnPrices): readonly PodPrice[] {
  // The one device of such a machine is a part of a card, and other places sell whole cards.
  if (now.offer.gpuCount < 1) return [];
  const best = new Map<Provider, PodPrice>();
  for (const [provider, region] of placesOf(model, prices.sheet)) {
    if (provider === now.offer.provider && region === now.offer.region) continue;
    // What a pod of Kubernetes runs on is a node.
    if (!hasNodes(provider)) continue;
    // The adapters exist only there.
    if (placement.needs.efa > 0 && provider !== now.offer.provider) continue;
    const open: Placement = { ...placement, provider, region, instanceType: null, nodeGpus: [], terms: [] };
    const [price] = quote(model, devices, open, 'on-demand', prices).prices;
    if (price?.offer.date == null || price.offer.region !== region || !isCheaper(price, now)) continue;
    if (!hasRoom(price, placement, Infinity)) continue;
    if (price.hourly < (best.get(provider)?.hourly ?? Infinity)) best.set(provider, price);
  }
  return [...best.values()].sort((a, b) => a.hourly - b.hourly);
}

/**
 * The cheapest machine of the same provider and region with another GPU of NVIDIA on which a served model fits, if it costs at least a fifth less.
 * @param fitsOn whether the model fits on GPUs
 */
export function cheaperCard(priced: Priced, prices: OwnPrices, fitsOn: FitsOn): PodPrice | undefined {
  const [best] = otherCards(priced, prices, fitsOn);
  return best !== undefined && best.hourly <= 0.8 * priced.now.hourly ? best : undefined;
}

/** Whether a model fits on devices. */
export type FitsOn = (devices: Devices) => boolean;

/**
 * The cheapest machine of the same provider and region with each other GPU of NVIDIA on which a served model fits, cheapest first. As many GPUs, from
 * Ampere on, which compute bf16, and with an x86 host, for which most images are built.
 */
export function otherCards(
  { model, devices, placement, now }: Priced,
  prices: OwnPrices,
  fitsOn: FitsOn,
): readonly PodPrice[] {
  const { provider, region } = now.offer;
  if (provider === null || !Number.isInteger(devices) || gpus.get(model)?.vendor !== 'nvidia') return [];
  const terms = placement.terms.map((term) => term.filter(({ key }) => !isInstanceTypeLabel(key) && !isGpuLabel(key)));
  const open: Placement = { ...placement, provider, region, instanceType: null, terms };
  const found = [...gpus.values()].flatMap((gpu): readonly PodPrice[] => {
    const cards = wholeCards(gpu, devices);
    const isUsual = gpu.vendor === 'nvidia' && Number(gpu.computeCapability) >= 8 && !/^g[bh]\d/.test(gpu.id);
    if (gpu.id === model || !isUsual || cards === null || !fitsOn(cards)) return [];
    const [price] = quote(gpu.id, devices, open, 'on-demand', prices).prices;
    const isHere = price?.offer.region === region && price.offer.date !== null && !isPerDevice(price.offer);
    return price !== undefined && isHere && hasRoom(price, placement, 0) ? [price] : [];
  });
  return found.sort((a, b) => a.hourly - b.hourly);
}

function placesOf(model: string, sheet: PriceSheet): readonly (readonly [Provider, string])[] {
  const found = offers({ gpu: model }, sheet).map(({ provider, region }) => [provider, region] as const);
  return [...new Map(found.map((place) => [place.join(' '), place])).values()];
}

/** A saving below half a percent is noise of rounding. */
function isCheaper(one: PodPrice, other: PodPrice): boolean {
  return one.hourly < 0.995 * other.hourly;
}

/** The price for committed use. */
export interface CommittedPrice {
  readonly term: (typeof commitments)[number];
  readonly hourly: number;
}

/** The committed-use prices of the machine that are lower than its price now. */
export function committedPrices({ now: { offer, share, hourly } }: Priced): readonly CommittedPrice[] {
  return commitments.flatMap((term, index) => {
    const machine = offer.committed?.[index];
    return machine === undefined || machine * share >= hourly ? [] : [{ term, hourly: machine * share }];
  });
}

/** An own machine compared with the cheapest cloud offer of its GPU. */
export interface BreakEven {
  readonly machine: OwnMachine;
  /** Per GPU and hour of work. */
  readonly owned: number;
  readonly rented: PodPrice;
  /** undefined: the machine is worn out before it pays off. */
  readonly months: number | undefined;
}

/** Compares the project's own machine with the cloud of the pods, or with the cheapest cloud if theirs is unknown. */
export function breakEven(podSet: PodSet, prices: OwnPrices): BreakEven | undefined {
  const [accelerator] = acceleratorsOf(podSet);
  const machine = prices.onPrem[accelerator?.model ?? ''];
  if (machine === undefined || accelerator?.model == null) return undefined;
  const { provider, region } = podSet.placement;
  const cloud: Placement = { ...anywhereOf(podSet.placement), provider, region };
  const offered = { ...prices, gpus: listPrices.gpus, rates: null, onPrem: listPrices.onPrem };
  const [rented] = quote(accelerator.model, machine.gpus, cloud, 'on-demand', offered).prices;
  if (rented === undefined) return undefined;
  const months = breakEvenMonths(machine, rented.hourly / machine.gpus);
  return { machine, owned: ownedHourly(machine), rented, months };
}

function anywhereOf(placement: Placement): Placement {
  return { ...placement, instanceType: null, nodeGpus: [], terms: [], needs: noNeeds };
}

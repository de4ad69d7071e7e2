import { type GpuModel, hasNodes, type Offer, soldModels } from '../catalog/index.ts';
import type { CloudSign } from '../model/cloud-sign.ts';
import { once } from '../model/once.ts';
import type { Placement, PodAccelerator, PodSet, Workload } from '../model/workload.ts';
import { listPrices, type OwnPrices, ownGpuPrice } from './custom-prices.ts';
import { acceleratorsOf, countedPods, maxHourly, pricedModels } from './estimate.ts';
import { coversPod, fits, isPerDevice, machineOf } from './machines.ts';
import { quote } from './offers.ts';
import { isCertain, type PodPrice, type Pricing } from './pod-price.ts';
import { cardsFor, holds, isOpen, leastGiB, type OpenAccelerator, overridesCard, termsOn } from './possible-cards.ts';
import { pricedDevices } from './priced-devices.ts';
import { isEverywhere } from './priced-offer.ts';
import { nothing, rangeOf, sumAtOnce, sumOf, timesCount } from './range.ts';
import { signedPlace } from './signed-place.ts';
import { billedPods } from './tpu-slices.ts';
import type { Range } from './types.ts';

/** What a workload costs on the cards that it can run on, if nothing names the card. */
export interface PossibleCost {
  /** From the cheapest card with replicas at their floor to the most expensive one with replicas at their ceiling. */
  readonly hourly: Range;
  readonly from: BoundCost;
  readonly to: BoundCost;
  /** null if any provider is possible. */
  readonly provider: string | null;
  readonly pricing: Pricing;
  /** What suggests the provider. */
  readonly sign?: CloudSign;
  /** Every card with a price, cheapest first. */
  readonly cards: readonly CardCost[];
}

/** One end of the range. */
export interface BoundCost extends ProviderCost {
  readonly model: string;
}

/** The cost of a workload on one card. */
export interface CardCost {
  readonly gpu: GpuModel;
  /** Cheapest first. */
  readonly byProvider: readonly ProviderCost[];
}

/** The cost of a workload on one card at one provider. */
export interface ProviderCost {
  /** null: the project's own price of the card. */
  readonly provider: string | null;
  readonly region: string;
  readonly instanceType: string;
  /** US dollars per hour, with replicas from floor to ceiling. */
  readonly hourly: Range;
}

/**
 * The cost of a workload on each card that it can run on: the card has the vendor, the slices and the labels that the pods require, the weights of a
 * known model fit, and some machine with it has room for the pod. All requests are for the same card. Undefined if the number of pods or devices is
 * unknown, if no card has a price, or if the capacity has no list price.
 */
export function possibleCost(workload: Workload, own: OwnPrices = listPrices): PossibleCost | undefined {
  const used = workload.podSets.filter((podSet) => acceleratorsOf(podSet).length > 0);
  const signed = used.map((podSet) => ({
    ...podSet,
    placement: signedPlace(podSet.placement, own.sheet) ?? podSet.placement,
  }));
  const [sign] = used.flatMap(({ placement }) => placement.sign?.() ?? []);
  const there = sign === undefined ? undefined : costOfPods(workload, signed, own);
  return sign === undefined || there === undefined ? costOfPods(workload, used, own) : { ...there, sign };
}

function costOfPods(workload: Workload, used: readonly PodSet[], own: OwnPrices): PossibleCost | undefined {
  const open = used.flatMap((podSet) =>
    acceleratorsOf(podSet)
      .filter(isOpen)
      .map((one) => ({ podSet, one })),
  );
  const [first, ...others] = open;
  if (workload.role === 'definition' || first === undefined) return undefined;
  if (used.some(({ placement }) => placement.capacity === 'reserved' || placement.capacity === 'flex'))
    return undefined;
  if (used.some(({ placement: { billing } }) => billing !== undefined && billing !== 'premium')) return undefined;
  const needed = new Map(used.map((podSet) => [podSet, leastGiB(podSet, workload)]));
  const suits = (gpu: GpuModel, one: OpenAccelerator, podSet: PodSet) =>
    holds(gpu, one, needed.get(podSet) ?? 0, workload);
  const isPriced = pricedCards(own);
  // Nobody rents these cards out, so only the project's own prices apply.
  const rented = used.some(overridesCard) ? soldModels(own.sheet) : undefined;
  const gpus = cardsFor(first.one).filter(
    (gpu) =>
      isPriced(gpu) &&
      rented?.has(gpu.id) !== true &&
      suits(gpu, first.one, first.podSet) &&
      others.every(({ one, podSet }) => cardsFor(one).includes(gpu) && suits(gpu, one, podSet)),
  );
  const isSingle =
    used.length === 1 && acceleratorsOf(first.podSet).length === 1 && !first.one.open.vendors.includes('google');
  if (!isSingle) return costOn(gpus, used, first.one, own);
  // Most workloads repeat a few requests.
  const {
    perPod,
    open: { vendors, devicesOn },
  } = first.one;
  const { min, max } = first.podSet.pods;
  const cards = gpus.map(({ id }) => `${id} ${devicesOn(id)}`).join();
  const key = `${placementKey(first.podSet.placement)} ${vendors.join()} ${perPod} ${min}-${max} ${cards}`;
  return recall(costsByKey, own, key, () => costOn(gpus, used, first.one, own));
}

/** Whether a card can have a price at all, which is known sooner than the price: half of all cards have none. */
const pricedCards = once((own: OwnPrices) => {
  const sold = soldModels(own.sheet);
  return ({ id }: GpuModel): boolean =>
    own.rates !== null || sold.has(id) || own.onPrem[id] !== undefined || ownGpuPrice(own, id) !== undefined;
});

/** The cost on cards that suit all requests. @param first one of the requests */
function costOn(
  gpus: readonly GpuModel[],
  used: readonly PodSet[],
  first: OpenAccelerator,
  own: OwnPrices,
): PossibleCost | undefined {
  const pricings: readonly Pricing[] = used.every(({ placement }) => placement.capacity === 'spot')
    ? ['spot', 'on-demand']
    : ['on-demand'];
  for (const pricing of pricings) {
    const found = gpus.map((gpu): CardCost => ({ gpu, byProvider: costsOn(gpu, used, pricing, own) }));
    const cards = nearby(found, used[0]?.placement.region ?? null);
    if (cards.length > 0) return between(cards, providerOf(used, first), pricing);
  }
  return undefined;
}

function between(cards: readonly CardCost[], provider: string | null, pricing: Pricing): PossibleCost | undefined {
  const all = cards.flatMap(({ gpu, byProvider }) => byProvider.map((one) => ({ ...one, model: gpu.id })));
  all.sort((a, b) => a.hourly.max - b.hourly.max);
  const [from] = all;
  const to = all.at(-1);
  if (from === undefined || to === undefined || !(to.hourly.max <= maxHourly)) return undefined;
  const order = [...cards].sort((a, b) => cheapest(a) - cheapest(b));
  return { hourly: { min: from.hourly.min, max: to.hourly.max }, from, to, provider, pricing, cards: order };
}

function cheapest({ byProvider }: CardCost): number {
  return byProvider[0]?.hourly.max ?? Infinity;
}

/** The cards with a price in the region, or all with a price if the region has none. */
function nearby(cards: readonly CardCost[], region: string | null): readonly CardCost[] {
  const priced = (isNear: (cost: ProviderCost) => boolean) =>
    cards
      .map((card) => ({ ...card, byProvider: card.byProvider.filter(isNear) }))
      .filter(({ byProvider }) => byProvider.length > 0);
  const near = region === null ? [] : priced((cost) => cost.region === region || isEverywhere(cost));
  return near.length > 0 ? near : priced(() => true);
}

/** Some vendors' accelerators, and AWS's network adapters, are at one provider only. */
function providerOf(podSets: readonly PodSet[], { open: { vendors } }: OpenAccelerator): string | null {
  const [provider, ...others] = new Set(podSets.map(({ placement }) => placement.provider));
  if (provider !== undefined && provider !== null && others.length === 0) return provider;
  if (vendors.includes('aws') || podSets.some(({ placement }) => placement.needs.efa > 0)) return 'aws';
  return vendors.includes('google') ? 'gcp' : null;
}

/** The cost of all pods on one card, at each provider that has machines for all of them. */
function costsOn(gpu: GpuModel, podSets: readonly PodSet[], pricing: Pricing, own: OwnPrices): readonly ProviderCost[] {
  const parts: { readonly pods: PodSet['pods']; readonly costs: readonly ProviderCost[] }[] = [];
  for (const podSet of podSets) {
    const pods = countedPods(podSet);
    if (pods === null) return [];
    let costs: readonly ProviderCost[] | undefined;
    for (const accelerator of acceleratorsOf(podSet)) {
      const each = pricesOn(gpu, podSet, accelerator, pricing, own);
      const here = each.map((one) => ({ ...one, hourly: timesCount(one.hourly, billedPods(podSet, pods)) }));
      costs = costs === undefined ? here : costs.flatMap((one) => added(one, here));
      if (costs.length === 0) return [];
    }
    if (costs !== undefined) parts.push({ pods: podSet.pods, costs });
  }
  const everywhere = (parts[0]?.costs ?? []).flatMap((first): readonly ProviderCost[] => {
    const all = parts.flatMap(({ pods, costs }) => {
      const here = costs.find(({ provider }) => provider === first.provider);
      return here === undefined ? [] : [{ pods, range: here.hourly }];
    });
    return all.length < parts.length ? [] : [{ ...first, hourly: sumAtOnce(all) }];
  });
  return everywhere.sort((a, b) => a.hourly.max - b.hourly.max);
}

function added(one: ProviderCost, others: readonly ProviderCost[]): readonly ProviderCost[] {
  const other = others.find(({ provider }) => provider === one.provider);
  return other === undefined ? [] : [{ ...one, hourly: sumOf([one.hourly, other.hourly]) }];
}

/** The price of one pod's devices at each provider with machines that the pod fits. Pods with the same needs share it. */
function pricesOn(
  gpu: GpuModel,
  podSet: PodSet,
  accelerator: PodAccelerator,
  pricing: Pricing,
  own: OwnPrices,
): readonly ProviderCost[] {
  if (!isOpen(accelerator)) return findPrices(gpu, podSet, accelerator, pricing, own);
  const { perPod, open } = accelerator;
  const key = `${gpu.id} ${pricing} ${perPod} ${open.devicesOn(gpu.id)} ${open.vendors.join()} ${placementKey(podSet.placement)}`;
  return recall(pricesByKey, own, key, () => findPrices(gpu, podSet, accelerator, pricing, own));
}

type Known<T> = WeakMap<OwnPrices, Map<string, T>>;
const pricesByKey: Known<readonly ProviderCost[]> = new WeakMap();
const costsByKey: Known<PossibleCost | undefined> = new WeakMap();

/** A workspace has few different pods; a session may see many. */
const maxKnown = 5000;

/** What is known by a key that has everything that decides it. */
function recall<T>(known: Known<T>, own: OwnPrices, key: string, find: () => T): T {
  const before = known.get(own);
  const here = before === undefined || before.size >= maxKnown ? new Map<string, T>() : before;
  known.set(own, here);
  if (here.has(key)) return here.get(key) as T;
  const found = find();
  here.set(key, found);
  return found;
}

const placementKeys = new WeakMap<Placement, number>();
const keyNumbers = new Map<string, number>();
let placementCount = 0;

/** A number for all of a placement that decides its price. Each is used once, whatever is forgotten. */
function placementKey(placement: Placement): number {
  const before = placementKeys.get(placement);
  if (before !== undefined) return before;
  const { capacityAt: _at, ...rest } = placement;
  const text = JSON.stringify({ ...rest, sign: placement.sign?.() });
  if (keyNumbers.size >= maxKnown) keyNumbers.clear();
  const key = keyNumbers.get(text) ?? placementCount++;
  keyNumbers.set(text, key);
  placementKeys.set(placement, key);
  return key;
}

function findPrices(
  gpu: GpuModel,
  podSet: PodSet,
  accelerator: PodAccelerator,
  pricing: Pricing,
  own: OwnPrices,
): readonly ProviderCost[] {
  const { placement } = podSet;
  const terms = isOpen(accelerator) ? termsOn(gpu, podSet) : placement.terms;
  const models = isOpen(accelerator) ? [gpu.id] : pricedModels(accelerator);
  const devices = isOpen(accelerator) ? accelerator.open.devicesOn(gpu.id) : accelerator.devices;
  if (accelerator.perPod === null || devices === null || terms.length === 0) return [];
  const provider = isOpen(accelerator) ? providerOf([podSet], accelerator) : placement.provider;
  const where = { ...placement, terms, provider };
  const prices = models.flatMap((model) =>
    quote(model, pricedDevices(model, { ...accelerator, devices }), where, pricing, own).prices.filter(
      ({ offer }) => offer.provider === null || isNode({ ...offer, provider: offer.provider }, devices, where),
    ),
  );
  const dated = prices.filter(isCertain);
  return byProvider(dated.length > 0 ? dated : prices);
}

/** Whether a pod with such a placement can run on the machine of an offer. A provider that the pod names is taken as it is. */
function isNode(offer: Offer, devices: number, { needs, provider }: Placement): boolean {
  if (provider === null && !hasNodes(offer.provider)) return false;
  return isPerDevice(offer) ? coversPod(offer, devices, needs) : fits(needs, machineOf(offer));
}

function byProvider(prices: readonly PodPrice[]): readonly ProviderCost[] {
  return [...new Set(prices.map(({ offer }) => offer.provider))].flatMap((provider) => {
    const here = prices.filter(({ offer }) => offer.provider === provider);
    const [best] = here;
    if (best === undefined) return [];
    const { region, instanceType } = best.offer;
    return [{ provider, region, instanceType, hourly: rangeOf(here.map(({ hourly }) => hourly)) ?? nothing }];
  });
}

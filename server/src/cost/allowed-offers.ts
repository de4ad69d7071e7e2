import type { Offer, PriceSheet, Provider } from '../catalog/index.ts';
import {
  allInstanceTypes,
  defaultRegion,
  isGpuCountLabel,
  isInstanceTypeLabel,
  machineChips,
  offers,
  physicalCount,
} from '../catalog/index.ts';
import { isAllowed } from '../model/machine-terms.ts';
import type { NodeTerm } from '../model/node-terms.ts';
import { once } from '../model/once.ts';
import type { Placement } from '../model/workload.ts';
import type { OwnPrices } from './custom-prices.ts';
import { isChip, isPerDevice, machineOf } from './machines.ts';
import { unlistedN1Offers } from './n1-offers.ts';
import type { Pricing } from './pod-price.ts';
import { atOwnPrices, isEverywhere, type PricedOffer } from './priced-offer.ts';

/** The offers of a provider for a model, on the machines that the placement allows. */
export function allowedOffers(
  model: string,
  { terms, nodeGpus }: Placement,
  provider: Provider,
  sheet: PriceSheet,
): readonly Offer[] {
  const all = withAllChips(offers({ gpu: model, provider }, sheet));
  if (terms.length === 0) return usualOffers(all);
  const unlisted = all[0]?.instanceType.startsWith('n1-')
    ? unlistedN1Offers(terms, all, () => offers({ gpu: 't4', provider }, sheet))
    : [];
  const offered = [...all.filter((offer) => isUsual(offer) || isNamed(terms, offer)), ...unlisted];
  const allowed = offered.filter((offer) =>
    isPerDevice(offer) || isOneChip(offer) ? isOnSome(offer, terms) : isAllowed(terms, machineOf(offer)),
  );
  const others = terms.map((term) => term.filter(({ key }) => !isGpuCountLabel(key) && key !== physicalCount));
  if (allowed.length > 0 || nodeGpus.length === 0) return allowed;
  // No known machine has exactly this number of devices: price it as a part of a larger one.
  const fewest = Math.min(...nodeGpus);
  return offered.filter((offer) => offer.gpuCount >= fewest && isAllowed(others, machineOf(offer)));
}

/** A machine with a part of a card, or in a few places only, is taken only by name. */
function isUsual({ gpuCount, instanceType }: Offer): boolean {
  return gpuCount >= 1 && !instanceType.startsWith('a3-edgegpu');
}

/** Whether the terms allow a machine with the device of an offer. The price of a chip is that of its machines. */
function isOnSome(offer: Offer, terms: readonly NodeTerm[]): boolean {
  if (isChip(offer) && !terms.some((term) => term.some(({ key }) => key === machineChips))) return true;
  const machines = allInstanceTypes().filter(({ provider, gpu }) => provider === offer.provider && gpu === offer.gpu);
  return machines.length === 0 || machines.some((machine) => isAllowed(terms, machine));
}

/** Whether the terms name the type of a machine or, on AWS, its family. */
function isNamed(terms: readonly NodeTerm[], offer: Offer): boolean {
  const named = terms.map((term) =>
    term.filter(
      ({ key, operator }) => operator === 'In' && (isInstanceTypeLabel(key) || key.endsWith('/instance-family')),
    ),
  );
  return named.some((term) => term.length > 0 && isAllowed([term], machineOf(offer)));
}

const usualOffers = once((all: readonly Offer[]): readonly Offer[] => all.filter(isUsual));

/** The machines that a placement allows, with their prices in its region or the default one, cheapest first. */
export function pricesOfMachines(
  models: readonly string[],
  placement: Placement,
  pricing: Pricing,
  prices: OwnPrices,
): readonly PricedOffer[] {
  const hourly = (offer: PricedOffer) => (pricing === 'spot' ? offer.spot : offer.onDemand);
  const { provider, region } = placement;
  if (provider === null) return [];
  const all = models.flatMap((model) => allowedOffers(model, placement, provider as Provider, prices.sheet));
  const at = (place: string) =>
    all
      // The chip has the same price.
      .filter((offer) => !isOneChip(offer) && (offer.region === place || isEverywhere(offer)))
      .flatMap((offer) => withDevices(offer, placement.terms))
      .map(atOwnPrices(prices));
  const usual = at(region ?? defaultRegion(provider as Provider));
  // Not all machines are sold in the default region.
  const other = region === null && usual.length === 0 ? all[0]?.region : undefined;
  const found = other === undefined ? usual : at(other);
  return found
    .filter((offer) => hourly(offer) !== null && !isPerDevice(offer))
    .sort((a, b) => (hourly(a) ?? 0) - (hourly(b) ?? 0));
}

/** `tpu-v6e-1`: the price of one chip, under a name that no node has. */
function isOneChip({ instanceType }: Offer): boolean {
  return instanceType.startsWith('tpu-');
}

/** The offers with the price of a chip also in regions where the sheet lists only one chip under that name. Any number of chips costs as many times. */
const withAllChips = once((all: readonly Offer[]): readonly Offer[] => {
  const [chip, ...others] = all.filter(isChip);
  if (chip === undefined) return all;
  const regions = new Set([chip, ...others].map(({ region }) => region));
  const added = all.filter((offer) => isOneChip(offer) && !regions.has(offer.region));
  return added.length === 0 ? all : [...all, ...added.map((offer) => ({ ...offer, instanceType: chip.instanceType }))];
});

/** For the price of one device, the machines with such devices that the terms allow. */
function withDevices(offer: Offer, terms: readonly NodeTerm[]): readonly Offer[] {
  if (!isPerDevice(offer)) return [offer];
  return allInstanceTypes().flatMap((machine) => {
    const { gpu, gpuCount, name, provider } = machine;
    if (provider !== offer.provider || gpu !== offer.gpu || !gpuCount || !isAllowed(terms, machine)) return [];
    const times = (price: number | null) => (price === null ? null : (price / offer.gpuCount) * gpuCount);
    const { committed: _, ...rest } = offer;
    return [{ ...rest, instanceType: name, gpuCount, onDemand: times(offer.onDemand), spot: times(offer.spot) }];
  });
}

import { isGpuCountLabel, isInstanceTypeLabel, type Offer } from '../catalog/index.ts';
import { countIn } from '../model/count.ts';
import { allowedValues, type NodeTerm } from '../model/node-terms.ts';

// Google's N1 machines have any number of cards, of which the price sheet lists some. A machine with cards costs the sum of its parts.
// https://cloud.google.com/compute/gpus-pricing, https://cloud.google.com/compute/vm-instance-pricing

/**
 * The offers for N1 machines that terms name and the sheet does not list, computed from those that it lists.
 * @param listed the offers for a card
 * @param withCards those for any card
 */
export function unlistedN1Offers(
  terms: readonly NodeTerm[],
  listed: readonly Offer[],
  withCards: () => readonly Offer[],
): readonly Offer[] {
  const sizes = (allowedValues(terms, isInstanceTypeLabel) ?? []).flatMap((name) => standardSize(name) ?? []);
  const attached = listed.filter(({ instanceType }) => partsOf(instanceType) !== undefined);
  if (sizes.length === 0 || attached.length === 0) return [];
  const most = Math.max(...attached.map(({ gpuCount }) => gpuCount));
  const named = (allowedValues(terms, isGpuCountLabel) ?? []).flatMap((count) => countIn(count) ?? []);
  const counts = (named.length > 0 ? named : [1, 2, 4, 8]).filter((count) => count > 0 && count <= most);
  const known = new Set(attached.map(({ instanceType, region }) => `${region} ${instanceType}`));
  return [...new Set(attached.map(({ region }) => region))].flatMap((place) => {
    const [here, others] = [attached, withCards()].map((some) => some.filter(({ region }) => region === place));
    return sizes
      .flatMap((cpus) => counts.flatMap((cards) => offerFor(cpus, cards, here ?? [], others ?? []) ?? []))
      .filter(({ instanceType }) => !known.has(`${place} ${instanceType}`));
  });
}

/** `n1-standard-8`; others have another price per CPU. */
function standardSize(name: string): number | undefined {
  const cpus = /^n1-standard-(\d{1,2})$/.exec(name)?.[1];
  return cpus === undefined ? undefined : Number(cpus);
}

interface Parts {
  readonly cpus: number;
  readonly cards: number;
  readonly card: string;
}

/** `n1-standard-8 + 1 x nvidia-tesla-t4`. */
function partsOf(name: string): Parts | undefined {
  const [, cpus, cards, card = ''] = /^n1-standard-(\d{1,2}) \+ (\d) x ([a-z\d-]+)$/.exec(name) ?? [];
  return cpus === undefined ? undefined : { cpus: Number(cpus), cards: Number(cards), card };
}

function offerFor(cpus: number, cards: number, listed: readonly Offer[], others: readonly Offer[]): Offer | undefined {
  const [first] = listed;
  const card = first && partsOf(first.instanceType)?.card;
  if (first === undefined || card === undefined) return undefined;
  const sum = (priceOf: (offer: Offer) => number | null) => {
    const perCpu = cpuPrice(others, priceOf);
    const perCard = perCpu === undefined ? [] : listed.flatMap((offer) => cardPrice(offer, perCpu, priceOf) ?? []);
    const [price] = perCard;
    // Prices that do not add up are not those of the parts.
    if (perCpu === undefined || price === undefined || perCard.some((one) => !isSame(one, price))) return null;
    return cpus * perCpu + cards * price;
  };
  const [onDemand, spot] = [sum((offer) => offer.onDemand), sum((offer) => offer.spot)];
  if (onDemand === null && spot === null) return undefined;
  const { committed: _, ...rest } = first;
  const instanceType = `n1-standard-${cpus} + ${cards} x ${card}`;
  return { ...rest, instanceType, gpuCount: cards, onDemand, spot, source: `${first.source} (sum of the parts)` };
}

/** From two machines of different sizes with the same cards. */
function cpuPrice(offers: readonly Offer[], priceOf: (offer: Offer) => number | null): number | undefined {
  for (const [place, one] of offers.entries()) {
    const [parts, price] = [partsOf(one.instanceType), priceOf(one)];
    const other = offers.slice(place + 1).find((next) => {
      const its = partsOf(next.instanceType);
      return next.gpu === one.gpu && its?.cards === parts?.cards && its?.cpus !== parts?.cpus && priceOf(next) !== null;
    });
    const its = other && partsOf(other.instanceType);
    if (!parts || !its || price === null) continue;
    const perCpu = ((priceOf(other) ?? 0) - price) / (its.cpus - parts.cpus);
    if (perCpu > 0) return perCpu;
  }
  return undefined;
}

function cardPrice(offer: Offer, perCpu: number, priceOf: (offer: Offer) => number | null): number | undefined {
  const [parts, price] = [partsOf(offer.instanceType), priceOf(offer)];
  if (parts === undefined || price === null) return undefined;
  const perCard = (price - parts.cpus * perCpu) / parts.cards;
  return perCard > 0 ? perCard : undefined;
}

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) < 0.005 * other;
}

import { isGpuCountLabel, isInstanceTypeLabel, type Offer } from '../catalog/index.ts';
import { allowedValues, type NodeTerm } from '../model/node-terms.ts';

// Google's N1 machines have any number of cards, of which the price sheet lists some. A machine with cards costs the sum of its parts.
// https://cloud.google.com/compute/gpus-pricing, https://cloud.google.com/compute/vm-instance-pricing

/**
 * The offers for N1 machines that terms name and the sheet does not list, computed from those that it lists.
 * @param listed the offers for a card
 * @param t4 those for a T4: their machines of two sizes have the price of a CPU
 */
export function unlistedN1Offers(
  terms: readonly NodeTerm[],
  listed: readonly Offer[],
  t4: () => readonly Offer[],
): readonly Offer[] {
  // Other series, such as n1-highmem, have another price per CPU.
  const named = new Set(allowedValues(terms, isInstanceTypeLabel));
  const sizes = [...named].filter((name) => /^n1-standard-(?:1|2|4|8|16|32|64|96)$/.test(name));
  if (sizes.length === 0) return [];
  const written = new Set(allowedValues(terms, isGpuCountLabel) ?? ['1', '2', '4']);
  // Four cards at most, except for the V100 with eight.
  const most = Math.max(4, ...listed.map(({ gpuCount }) => gpuCount));
  const counts = [1, 2, 4, 8].filter((count) => count <= most && written.has(String(count)));
  const first = new Map(listed.map((offer) => [offer.region, offer]));
  const known = new Set(listed.map(({ instanceType, region }) => instanceType + region));
  return [...first.values()]
    .flatMap((offer) => {
      const pair = t4().filter(({ region, gpuCount }) => region === offer.region && gpuCount === 1);
      return sizes.flatMap((size) => counts.flatMap((cards) => sumOfParts(offer, size, cards, pair)));
    })
    .filter(({ instanceType, region }) => !known.has(instanceType + region));
}

/** @param offer for another machine with the card */
function sumOfParts(offer: Offer, size: string, cards: number, [one, other]: readonly Offer[]): readonly Offer[] {
  const { instanceType: name, gpuCount } = offer;
  if (one === undefined || other === undefined) return [];
  const sum = (price: 'onDemand' | 'spot') => {
    const [base, small, large] = [offer[price], one[price], other[price]];
    if (base === null || small === null || large === null) return null;
    const perCpu = (large - small) / (cpusOf(other.instanceType) - cpusOf(one.instanceType));
    return cpusOf(size) * perCpu + (cards * (base - cpusOf(name) * perCpu)) / gpuCount;
  };
  const { committed: _, ...rest } = offer;
  const instanceType = `${size} + ${cards} x ${name.split(' x ')[1]}`;
  return [{ ...rest, instanceType, gpuCount: cards, onDemand: sum('onDemand'), spot: sum('spot') }];
}

/** `n1-standard-8 + 1 x nvidia-tesla-t4`. */
function cpusOf(name: string): number {
  return Number.parseInt(name.slice('n1-standard-'.length), 10);
}

import { type Offer, priceSource } from '../catalog/index.ts';
import type { PodNeeds } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import { isPerDevice, machineOf } from './machines.ts';
import type { Quote } from './offers.ts';
import type { PodPrice } from './pod-price.ts';

// What a price leaves open: devices that stay unused, and better spot prices.

/** Devices that no other pod of the same kind can use: those that do not fill another pod, or whose CPU and memory are taken. */
export function stranded({ offer, share }: PodPrice, devices: number): readonly Assumption[] {
  const { instanceType, gpuCount: cards } = offer;
  if (isPerDevice(offer) || devices < 1 || devices >= cards) return [];
  const unused = share === 1 ? cards - devices : cards % devices;
  return unused === 0 ? [] : [{ kind: 'stranded', instanceType, cards, devices, unused }];
}

/** What a pod requests of the host, if it takes a larger part of a machine for that than for its devices. */
export function shareOfHost({ offer, share }: PodPrice, devices: number, needs: PodNeeds): readonly Assumption[] {
  const { instanceType, gpuCount, own } = offer;
  if (isPerDevice(offer) || own === 'gpu' || share <= devices / Math.max(1, gpuCount) + 1e-9) return [];
  const { vcpu, memoryGiB } = machineOf(offer as Offer);
  const parts = [
    { of: 'CPUs', requested: needs.cpu, available: vcpu },
    { of: 'GiB of memory', requested: needs.memoryGiB, available: memoryGiB },
  ] as const;
  const partOf = ({ requested, available }: (typeof parts)[number]) => requested / (available ?? Infinity);
  const [cpu, memory] = parts;
  const { of, requested, available } = partOf(memory) > partOf(cpu) ? memory : cpu;
  // Network adapters may also set the share.
  if (available === null || (share < 1 && requested / available < share - 1e-9)) return [];
  return [{ kind: 'shareOfHost', instanceType, share, of, requested, available }];
}

/** The machines of the spot amount that the basis does not show, and a better spot price on another machine. */
export function spotElsewhere({ prices, spot, cheaperSpot }: Quote): readonly Assumption[] {
  const shown = ends(prices).map(({ offer }) => offer.instanceType);
  return [
    ...ends(spot).filter(({ offer }) => !shown.includes(offer.instanceType)),
    ...(cheaperSpot === undefined ? [] : [cheaperSpot]),
  ].map(({ offer }) => {
    const { provider, instanceType, gpuCount: cards, spot: hourly } = offer;
    const { date } = priceSource(offer, 'spot');
    return { kind: 'spotElsewhere', provider, instanceType, cards, hourly: hourly ?? 0, date };
  });
}

/** The lowest and the highest price of a quote; only one if they are the same. */
export function ends(prices: readonly PodPrice[]): readonly PodPrice[] {
  const [first] = prices;
  const last = prices.at(-1);
  return first === undefined || last === undefined ? [] : first === last ? [first] : [first, last];
}

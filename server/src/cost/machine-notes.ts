import { priceSource } from '../catalog/index.ts';
import type { Assumption } from './assumption.ts';
import { isPerDevice } from './machines.ts';
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

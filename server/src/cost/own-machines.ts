import type { Placement, PodAccelerator } from '../model/workload.ts';
import { type OwnPrices, ownInstancePrice } from './custom-prices.ts';
import type { Quote } from './offers.ts';

/**
 * The price of a pod on a machine that only the config knows. A machine of which the config does not state the devices is priced as a whole.
 * Undefined if the pod selects no such machine, or if it has no price.
 */
export function ownMachineQuote(
  { ownMachine, region }: Placement,
  { devices, perPod, model }: PodAccelerator,
  prices: OwnPrices,
): Quote | undefined {
  const hourly = ownMachine && ownInstancePrice(prices, ownMachine.name);
  const taken = devices ?? perPod;
  if (ownMachine === undefined || hourly === undefined || taken === null) return undefined;
  const cards = ownMachine.devices ?? taken;
  if (taken > cards) return undefined;
  const share = cards === 0 ? 0 : taken / cards;
  return {
    prices: [
      {
        offer: {
          own: 'instance',
          provider: null,
          instanceType: ownMachine.name,
          region: region ?? '',
          gpu: model ?? '',
          gpuCount: cards,
          onDemand: hourly,
          spot: null,
          spotBasis: null,
          date: null,
          source: '',
        },
        pricing: 'on-demand',
        share,
        hourly: hourly * share,
      },
    ],
    spot: [],
    cheaperSpot: undefined,
    assumptions: [],
  };
}

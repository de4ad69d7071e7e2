import type { GpuModel, Provider } from '../catalog/index.ts';
import { noNeeds, type Placement, type PodAccelerator } from '../model/workload.ts';
import { listPrices, type OwnPrices } from './custom-prices.ts';
import { quote } from './offers.ts';
import { rangeOf } from './range.ts';
import type { Range } from './types.ts';

/** The on-demand price of one whole device of a GPU model, or of several in one pod, by provider, cheapest first. Excludes offers without a date. */
export interface GpuPrices {
  readonly gpu: GpuModel;
  /** The project's own price at any provider; null if list prices apply. */
  readonly own: number | null;
  readonly byProvider: readonly { readonly provider: Provider; readonly hourly: number; readonly region: string }[];
}

/** The placement of pods about which nothing is known. */
export const anywhere: Placement = {
  capacity: 'unknown',
  capacityAt: undefined,
  provider: null,
  region: null,
  instanceType: null,
  nodeGpus: [],
  terms: [],
  needs: noNeeds,
  nodePool: null,
  providerFrom: null,
};

/**
 * The prices of a model for a placement; without a placement, one price for each provider.
 * @param devices in one pod: two devices can take a machine that costs more than twice the one with one device
 */
export function gpuPrices(
  gpu: GpuModel,
  placement: Placement = anywhere,
  own: OwnPrices = listPrices,
  devices = 1,
): GpuPrices {
  const { prices } = quote(gpu.id, devices, placement, 'on-demand', own);
  return {
    gpu,
    own: prices.find(({ offer }) => offer.own === 'gpu')?.hourly ?? null,
    byProvider: prices.flatMap(({ offer: { provider, region, date, own: ownPrice }, hourly }) =>
      provider === null || (date === null && ownPrice === null) ? [] : [{ provider, hourly, region }],
    ),
  };
}

/** The project's own price, or the range over all providers; null if no provider has the model. */
export function priceRange({ own, byProvider }: GpuPrices): Range | null {
  if (own !== null) return { min: own, max: own };
  return rangeOf(byProvider.map(({ hourly }) => hourly)) ?? null;
}

/** Whether a request without a model can mean this one. */
export function mayBe(gpu: GpuModel, { candidates, open }: PodAccelerator): boolean {
  if (open === undefined) return candidates.includes(gpu.id);
  return open.vendors.includes(gpu.vendor) && (open.among.length === 0 || open.among.includes(gpu.id));
}

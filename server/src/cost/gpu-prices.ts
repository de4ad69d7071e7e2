import type { GpuModel, Provider } from '../catalog/index.ts';
import { gpus, migByResource, migShare, offers } from '../catalog/index.ts';
import { knownResource, resourceName } from '../model/requested-resource.ts';
import type { Placement, PodAccelerator } from '../model/workload.ts';
import { listPrices, type OwnPrices } from './custom-prices.ts';
import { quote } from './offers.ts';
import { rangeOf } from './range.ts';
import type { Range } from './types.ts';

/** What one whole device of a GPU costs on demand, by provider, cheapest first. Offers without a date are left out. */
export interface GpuPrices {
  readonly gpu: GpuModel;
  /** What the project pays for it wherever it is; null where list prices count. */
  readonly own: number | null;
  readonly byProvider: readonly { readonly provider: Provider; readonly hourly: number; readonly region: string }[];
}

const anywhere: Placement = {
  capacity: 'unknown',
  capacityAt: undefined,
  provider: null,
  region: null,
  instanceType: null,
  nodeGpus: [],
  nodePool: null,
  providerFrom: null,
};

/** The prices of a model where a placement allows; without one, one for each provider. */
export function gpuPrices(gpu: GpuModel, placement: Placement = anywhere, own: OwnPrices = listPrices): GpuPrices {
  const { prices } = quote(gpu.id, 1, placement, 'on-demand', own);
  return {
    gpu,
    own: prices.find(({ offer }) => offer.own === 'gpu')?.hourly ?? null,
    byProvider: prices.flatMap(({ offer: { provider, region, date, own: ofProject }, hourly }) =>
      provider === null || (date === null && ofProject === null) ? [] : [{ provider, hourly, region }],
    ),
  };
}

/** What the project pays, or the cheapest and the dearest provider; null where none has the model. */
export function priceRange({ own, byProvider }: GpuPrices): Range | null {
  if (own !== null) return { min: own, max: own };
  return rangeOf(byProvider.map(({ hourly }) => hourly)) ?? null;
}

let priced: readonly GpuPrices[] | undefined;

/** Every model that some provider sells, cheapest first. The catalogue does not change, so this is worked out once. */
export function pricedGpus(): readonly GpuPrices[] {
  priced ??= [...gpus.values()]
    .filter(({ id }) => offers({ gpu: id }).length > 0)
    .map((gpu) => gpuPrices(gpu))
    .filter(({ byProvider }) => byProvider.length > 0)
    .sort((a, b) => (priceRange(a)?.min ?? 0) - (priceRange(b)?.min ?? 0));
  return priced;
}

/** Whether a request that names no model may mean this one. */
export function mayBe(gpu: GpuModel, { requested, candidates }: PodAccelerator): boolean {
  return candidates.length > 0 ? candidates.includes(gpu.id) : knownResource(requested)?.vendor === gpu.vendor;
}

/** What one of a requested resource costs, if it is of a model. */
export interface PossiblePrice {
  readonly gpu: GpuModel;
  readonly hourly: Range;
  /** Cheapest first. */
  readonly byProvider: GpuPrices['byProvider'];
}

/** The prices of the models that a request can mean, the cheapest first; a slice costs its share of the card. */
export function possiblePrices(accelerator: PodAccelerator): readonly PossiblePrice[] {
  const slices = migByResource(resourceName(accelerator.requested) ?? '');
  return pricedGpus()
    .flatMap(({ gpu, byProvider }): PossiblePrice[] => {
      if (!mayBe(gpu, accelerator)) return [];
      const slice = slices.find((one) => one.gpu.id === gpu.id);
      const share = slice === undefined ? 1 : migShare(slice.table, slice.profile);
      const scaled = byProvider.map((one) => ({ ...one, hourly: one.hourly * share }));
      const hourly = rangeOf(scaled.map((one) => one.hourly));
      return hourly === undefined ? [] : [{ gpu, hourly, byProvider: scaled }];
    })
    .sort((a, b) => a.hourly.min - b.hourly.min);
}

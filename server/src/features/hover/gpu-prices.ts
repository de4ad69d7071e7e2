import type { FileAnalysis } from '../../analysis.ts';
import type { GpuModel, Provider } from '../../catalog/index.ts';
import { acceleratorResource, gpus, offers } from '../../catalog/index.ts';
import { listPrices, type OwnPrices } from '../../cost/custom-prices.ts';
import { quote } from '../../cost/offers.ts';
import type { Range } from '../../cost/types.ts';
import type { Placement } from '../../model/workload.ts';
import { acceleratedWorkloads, askedFor } from './gpu-words.ts';

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

/** The prices of a model where a placement allows; where nothing is told, one for each provider. */
export function gpuPrices(gpu: GpuModel, placement: Placement = anywhere, own: OwnPrices = listPrices): GpuPrices {
  const { prices } = quote(gpu.id, 1, placement, 'on-demand', own);
  return {
    gpu,
    own: prices.find(({ offer }) => offer.own === 'gpu')?.hourly ?? null,
    byProvider: prices.flatMap(({ offer: { provider, region, date, own: told }, hourly }) =>
      provider === null || (date === null && told === null) ? [] : [{ provider, hourly, region }],
    ),
  };
}

/** What the project pays, or the cheapest and the dearest provider; null where none has the model. */
export function priceRange({ own, byProvider }: GpuPrices): Range | null {
  if (own !== null) return { min: own, max: own };
  const amounts = byProvider.map(({ hourly }) => hourly);
  return amounts.length === 0 ? null : { min: Math.min(...amounts), max: Math.max(...amounts) };
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

/** The models that an accelerator request of a file can stand for where the file tells none; all where it asks for none. */
export function possibleGpus(file: FileAnalysis): readonly GpuModel[] {
  const asked = acceleratedWorkloads(file).flatMap(({ workload }) => workload.podSets.flatMap(askedFor));
  const unknown = asked.filter(({ model }) => model === null);
  const fits = (gpu: GpuModel) =>
    unknown.some(({ resource, candidates }) =>
      candidates.length > 0 ? candidates.includes(gpu.id) : acceleratorResource(resource)?.vendor === gpu.vendor,
    );
  const found = [...gpus.values()].filter(fits);
  return found.length > 0 ? found : [...gpus.values()];
}

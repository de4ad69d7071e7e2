import { acceleratorResource, type GpuModel, migByResource, migShare, providerName } from '../../catalog/index.ts';
import { formatHourly } from '../../cost/format.ts';
import type { PodAccelerator, Workload } from '../../model/workload.ts';
import { type GpuPrices, pricedGpus } from './gpu-prices.ts';
import { askedFor } from './gpu-words.ts';
import type { Block } from './markdown.ts';

/** For people who have not said which GPU they mean: what one of the resource costs over the catalogue, and how to say it. */
export function whatItWouldCost(workload: Workload): readonly Block[] {
  const advice: Block = {
    kind: 'text',
    text: 'To get a price, name the GPU in a nodeSelector, for instance nvidia.com/gpu.product, or set gpu in .gpulint.yaml.',
  };
  const unknown = workload.podSets.flatMap(askedFor).find(({ model }) => model === null);
  const prices = unknown === undefined ? [] : possiblePrices(unknown);
  const [cheapest] = prices;
  const dearest = [...prices].sort((a, b) => b.max - a.max)[0];
  if (unknown === undefined || cheapest === undefined || dearest === undefined) return [advice];
  const range = formatHourly({ min: cheapest.min, max: dearest.max });
  const text = `One ${unknown.resource} costs ${range} on demand, from ${cheapest.gpu.name} to ${dearest.gpu.name}.`;
  return [{ kind: 'text', text }, priceTable(prices), advice];
}

interface Price {
  readonly gpu: GpuModel;
  readonly min: number;
  readonly max: number;
  readonly byProvider: GpuPrices['byProvider'];
}

/** The models that the resource can stand for, cheapest first. */
function possiblePrices({ resource, candidates }: PodAccelerator): readonly Price[] {
  const vendor = acceleratorResource(resource)?.vendor;
  const slices = migByResource(resource);
  return pricedGpus()
    .flatMap(({ gpu, byProvider }): Price[] => {
      if (candidates.length > 0 ? !candidates.includes(gpu.id) : gpu.vendor !== vendor) return [];
      const slice = slices.find((one) => one.gpu.id === gpu.id);
      const share = slice === undefined ? 1 : migShare(slice.table, slice.profile);
      const scaled = byProvider.map((one) => ({ ...one, hourly: one.hourly * share }));
      const amounts = scaled.map(({ hourly }) => hourly);
      return [{ gpu, min: Math.min(...amounts), max: Math.max(...amounts), byProvider: scaled }];
    })
    .sort((a, b) => a.min - b.min);
}

const shownProviders = ['aws', 'azure', 'gcp'] as const;
const shownRows = 8;

/** The models that most people can buy, of those that are possible. */
function priceTable(prices: readonly Price[]): Block {
  const shown = new Set([...prices].sort((a, b) => reach(b) - reach(a)).slice(0, shownRows));
  return {
    kind: 'table',
    head: ['GPU', ...shownProviders.map(providerName), 'Cheapest'],
    rows: prices
      .filter((price) => shown.has(price))
      .map(({ gpu, byProvider }) => [
        gpu.name,
        ...shownProviders.map((provider) => priceAt(byProvider, provider)),
        byProvider[0] === undefined
          ? '–'
          : `${formatHourly(byProvider[0].hourly)} ${providerName(byProvider[0].provider)}`,
      ]),
  };
}

/** The large clouds count twice: they are where most clusters run. */
function reach({ byProvider }: Price): number {
  const large = byProvider.filter(({ provider }) => shownProviders.some((shown) => shown === provider));
  return byProvider.length + large.length;
}

function priceAt(byProvider: GpuPrices['byProvider'], provider: string): string {
  const found = byProvider.find((one) => one.provider === provider);
  return found === undefined ? '–' : formatHourly(found.hourly);
}

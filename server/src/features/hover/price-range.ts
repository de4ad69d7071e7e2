import { providerName } from '../../catalog/index.ts';
import { formatHourly } from '../../cost/format.ts';
import { type PossiblePrice, possiblePrices } from '../../cost/gpu-prices.ts';
import { resourceName } from '../../model/requested-resource.ts';
import type { Workload } from '../../model/workload.ts';
import { requestedDevices } from './gpu-words.ts';
import type { Block } from './markdown.ts';

/** For people who have not said which GPU they mean: what one of the resource costs over the catalogue, and how to say it. */
export function whatItWouldCost(workload: Workload): readonly Block[] {
  const advice: Block = {
    kind: 'text',
    text: 'To get a price, name the GPU in a nodeSelector, for instance nvidia.com/gpu.product, or set gpu in .gpulint.yaml.',
  };
  const unknown = workload.podSets.flatMap(requestedDevices).find(({ model }) => model === null);
  const prices = unknown === undefined ? [] : possiblePrices(unknown);
  const [cheapest] = prices;
  const dearest = [...prices].sort((a, b) => b.hourly.max - a.hourly.max)[0];
  if (unknown === undefined || cheapest === undefined || dearest === undefined) return [advice];
  const range = formatHourly({ min: cheapest.hourly.min, max: dearest.hourly.max });
  const one = resourceName(unknown.requested) ?? 'device';
  const text = `One ${one} costs ${range} on demand, from ${cheapest.gpu.name} to ${dearest.gpu.name}.`;
  return [{ kind: 'text', text }, priceTable(prices), advice];
}

const shownProviders = ['aws', 'azure', 'gcp'] as const;
const shownRows = 8;

/** The models that most people can buy, of those that are possible. */
function priceTable(prices: readonly PossiblePrice[]): Block {
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
function reach({ byProvider }: PossiblePrice): number {
  const large = byProvider.filter(({ provider }) => shownProviders.some((shown) => shown === provider));
  return byProvider.length + large.length;
}

function priceAt(byProvider: PossiblePrice['byProvider'], provider: string): string {
  const found = byProvider.find((one) => one.provider === provider);
  return found === undefined ? '–' : formatHourly(found.hourly);
}

import { providerName } from '../../catalog/index.ts';
import type { OwnPrices } from '../../cost/custom-prices.ts';
import { type PossiblePrice, possiblePrices } from '../../cost/gpu-prices.ts';
import { formatHourly } from '../../cost/money.ts';
import { resourceName } from '../../model/requested-resource.ts';
import type { Workload } from '../../model/workload.ts';
import { requestedDevices } from './gpu-words.ts';
import type { Block } from './render.ts';

/** If the GPU model is unknown: the price range of one unit of the resource over the catalog. */
export function whatItWouldCost(workload: Workload, { sheet }: OwnPrices): readonly Block[] {
  const unknown = workload.podSets.flatMap(requestedDevices).find(({ model }) => model === null);
  const prices = unknown === undefined ? [] : possiblePrices(unknown, sheet);
  const [cheapest] = prices;
  const mostExpensive = [...prices].sort((a, b) => b.hourly.max - a.hourly.max)[0];
  if (unknown === undefined || cheapest === undefined || mostExpensive === undefined) return [];
  const range = formatHourly({ min: cheapest.hourly.min, max: mostExpensive.hourly.max });
  const one = resourceName(unknown.requested) ?? 'device';
  const text = `One ${one} costs ${range} on demand, from ${cheapest.gpu.name} to ${mostExpensive.gpu.name}.`;
  return [{ kind: 'text', text }, priceTable(prices)];
}

const largeProviders = ['aws', 'azure', 'gcp'] as const;
const maxRows = 8;

/** The most widely available of the possible models. */
function priceTable(prices: readonly PossiblePrice[]): Block {
  const shown = new Set([...prices].sort((a, b) => availability(b) - availability(a)).slice(0, maxRows));
  return {
    kind: 'table',
    head: ['GPU', ...largeProviders.map(providerName), 'Cheapest'],
    rows: prices
      .filter((price) => shown.has(price))
      .map(({ gpu, byProvider }) => [
        gpu.name,
        ...largeProviders.map((provider) => priceAt(byProvider, provider)),
        byProvider[0] === undefined
          ? '–'
          : `${formatHourly(byProvider[0].hourly)} ${providerName(byProvider[0].provider)}`,
      ]),
  };
}

/** How many providers sell a model. Large clouds count twice, because most clusters run there. */
function availability({ byProvider }: PossiblePrice): number {
  const large = byProvider.filter(({ provider }) => largeProviders.some((shown) => shown === provider));
  return byProvider.length + large.length;
}

function priceAt(byProvider: PossiblePrice['byProvider'], provider: string): string {
  const found = byProvider.find((one) => one.provider === provider);
  return found === undefined ? '–' : formatHourly(found.hourly);
}

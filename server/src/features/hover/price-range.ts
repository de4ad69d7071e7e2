import { providerName } from '../../catalog/index.ts';
import { formatAmount, formatHourly, plural } from '../../cost/money.ts';
import type { CardCost, PossibleCost, ProviderCost } from '../../cost/possible-cost.ts';
import { boundLines } from '../../cost/possible-cost-words.ts';
import type { Block } from './render.ts';

/** If nothing names the GPU model: the price of the workload on the models on which it can run. */
export function whatItWouldCost(range: PossibleCost | undefined): readonly Block[] {
  if (range === undefined) return [];
  const { cards, provider, pricing, sign } = range;
  const models = cards.length === 1 ? 'the only model' : `the ${plural(cards.length, 'model')}`;
  const where = provider === null ? 'any provider' : providerName(provider);
  const text = `The range covers ${models} with a known price that can run the pods, ${pricing === 'spot' ? 'on spot' : 'on demand'} at ${where}${sign === undefined ? '' : `, inferred from ${sign.text}`}.`;
  return [
    { kind: 'text', text },
    { kind: 'list', title: 'Ends of the range', items: boundLines(range) },
    ...(cards.length < 2 ? [] : [provider === null ? priceTable(cards) : machineTable(cards)]),
  ];
}

/** The prices at the only provider, with the machines. */
function machineTable(cards: readonly CardCost[]): Block {
  return {
    kind: 'table',
    head: ['GPU', 'Instance', '$/h'],
    rows: mostAvailable(cards).map(({ gpu, byProvider: [price] }) => [
      gpu.name,
      price?.instanceType ?? '–',
      price === undefined ? '–' : formatAmount(price.hourly),
    ]),
  };
}

const largeProviders = ['aws', 'azure', 'gcp'] as const;
const maxRows = 8;

/** The most widely available of the possible models, with the price of the whole workload. */
function priceTable(cards: readonly CardCost[]): Block {
  return {
    kind: 'table',
    head: ['GPU', ...largeProviders.map(providerName), 'Cheapest'],
    rows: mostAvailable(cards).map(({ gpu, byProvider }) => [
      gpu.name,
      ...largeProviders.map((provider) => priceAt(byProvider, provider)),
      cheapest(byProvider),
    ]),
  };
}

function mostAvailable(cards: readonly CardCost[]): readonly CardCost[] {
  const shown = new Set([...cards].sort((a, b) => availability(b) - availability(a)).slice(0, maxRows));
  return cards.filter((card) => shown.has(card));
}

/** How many providers sell a model. Large clouds count twice, because most clusters run there. */
function availability({ byProvider }: CardCost): number {
  const large = byProvider.filter(({ provider }) => largeProviders.some((shown) => shown === provider));
  return byProvider.length + large.length;
}

function priceAt(byProvider: readonly ProviderCost[], provider: string): string {
  const found = byProvider.find((one) => one.provider === provider);
  return found === undefined ? '–' : formatHourly(found.hourly);
}

function cheapest([first]: readonly ProviderCost[]): string {
  if (first === undefined) return '–';
  return `${formatHourly(first.hourly)} ${first.provider === null ? 'your price' : providerName(first.provider)}`;
}

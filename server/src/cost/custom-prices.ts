import type { Provider } from '../catalog/index.ts';
import { gpus as catalog, catalogPrices, gpusNamed, type Offer, type PriceSheet } from '../catalog/index.ts';
import type { Placement } from '../model/workload.ts';
import { type Table, table } from '../yaml/table.ts';
import { type OwnMachine, ownedHourly } from './on-prem.ts';

/** A project's own prices, and the list prices that apply otherwise. US dollars per hour. */
export interface OwnPrices {
  /** Discount on on-demand list prices; 0 if there is none. */
  readonly discountPercent: number;
  /** Discounts of single providers and instance types, instead of the general one. */
  readonly discounts: Table<number | undefined>;
  /** The committed-use price applies where the sheet has one. */
  readonly commitment: Commitment | null;
  /** For one GPU, by catalog id. */
  readonly gpus: Table<number | undefined>;
  /** For a whole instance. */
  readonly instanceTypes: Table<number | undefined>;
  /** The project's own machines, by the catalog id of their GPU. */
  readonly onPrem: Table<OwnMachine | undefined>;
  /** Prices of GPUs, CPUs and memory wherever a pod runs; null if there are none. */
  readonly rates: UnitRates | null;
  /** The list prices in use. */
  readonly sheet: PriceSheet;
  /** Age in days above which list prices are old; 0: never. */
  readonly maxAgeDays: number;
  /** The current date, YYYY-MM-DD; null if it is unknown, so that no price is old. */
  readonly today: string | null;
}

/** How long a project commits to pay for a machine. */
export type Commitment = (typeof commitments)[number];
export const commitments = ['1-year', '3-years'] as const;

/** US dollars per hour for one GPU, one CPU and one GiB of memory. */
export interface UnitRates {
  readonly onDemand: Rates;
  /** null: no spot price of a GPU. */
  readonly spot: Rates | null;
}

/** US dollars per hour for one GPU, one CPU and one GiB. */
export interface Rates {
  readonly gpu: number;
  readonly cpu: number;
  readonly memoryGiB: number;
}

/** The prices of a project without its own: those of the catalog. */
export const listPrices: OwnPrices = {
  discountPercent: 0,
  discounts: table(),
  commitment: null,
  gpus: table(),
  instanceTypes: table(),
  onPrem: table(),
  rates: null,
  sheet: catalogPrices,
  maxAgeDays: 90,
  today: null,
};

/** The price of one GPU of a model, by its id or else by a name that stands for it; undefined if list prices apply. */
export function ownGpuPrice({ gpus }: OwnPrices, model: string): number | undefined {
  const exact = gpus[model];
  if (exact !== undefined) return exact;
  const name = Object.keys(gpus).find((one) => !catalog.has(one) && gpusNamed(one).some(({ id }) => id === model));
  return name === undefined ? undefined : gpus[name];
}

/** The price of an instance type; undefined if list prices apply. */
export function ownInstancePrice({ instanceTypes }: OwnPrices, name: string): number | undefined {
  return instanceTypes[name];
}

/** The discount on an instance type, in percent: its own, its provider's, or the general one. */
export function discountOn({ discounts, discountPercent }: OwnPrices, provider: Provider, name: string): number {
  return discounts[name] ?? discounts[provider] ?? discountPercent;
}

/** The committed-use price of an offer, if the project commits itself and the sheet has one. */
export function committedPrice({ commitment }: OwnPrices, { committed }: Offer): number | undefined {
  return commitment === null ? undefined : committed?.[commitments.indexOf(commitment)];
}

/** What the project pays for the devices of one pod. */
export interface OwnPodPrice {
  readonly kind: 'gpu' | 'rates' | 'onPrem';
  /** What the price is for. */
  readonly name: string;
  /** US dollars per hour for one of it. */
  readonly hourly: number;
  readonly share: number;
}

/**
 * The project's own price for the devices of one pod, wherever it runs: for the GPU, from the rates of GPU, CPU and memory, or of an own machine, on
 * which pods run whose cloud is unknown. Undefined if list prices apply, or a price for the instance type of the pod.
 */
export function ownPodPrice(
  prices: OwnPrices,
  model: string,
  devices: number,
  { instanceType, provider, needs }: Placement,
  pricing: 'on-demand' | 'spot',
): OwnPodPrice | undefined {
  if (instanceType !== null && ownInstancePrice(prices, instanceType) !== undefined) return undefined;
  const name = catalog.get(model)?.name ?? model;
  const gpu = pricing === 'on-demand' ? ownGpuPrice(prices, model) : undefined;
  if (gpu !== undefined) return { kind: 'gpu', name, hourly: gpu, share: devices };
  const rates = pricing === 'spot' ? prices.rates?.spot : prices.rates?.onDemand;
  if (rates) {
    const host = rates.cpu * needs.cpu + rates.memoryGiB * needs.memoryGiB;
    const hourly = rates.gpu * devices + host * (needs.ofHost?.part ?? 1);
    return { kind: 'rates', name: 'GPU, CPU and memory', hourly, share: 1 };
  }
  const machine = pricing === 'on-demand' && provider === null ? prices.onPrem[model] : undefined;
  return machine && { kind: 'onPrem', name: `own ${name}`, hourly: ownedHourly(machine), share: devices };
}

import { catalogPrices, type PriceSheet } from '../catalog/index.ts';
import { type Table, table } from '../yaml/table.ts';

/** A project's own prices, and the list prices that apply otherwise. US dollars per hour. */
export interface OwnPrices {
  /** Discount on on-demand list prices; 0 if there is none. */
  readonly discountPercent: number;
  /** For one GPU, by catalog id. */
  readonly gpus: Table<number | undefined>;
  /** For a whole instance. */
  readonly instanceTypes: Table<number | undefined>;
  /** The list prices in use. */
  readonly sheet: PriceSheet;
  /** Age in days above which list prices are old; 0: never. */
  readonly maxAgeDays: number;
  /** The current date, YYYY-MM-DD; null if it is unknown, so that no price is old. */
  readonly today: string | null;
}

export const listPrices: OwnPrices = {
  discountPercent: 0,
  gpus: table(),
  instanceTypes: table(),
  sheet: catalogPrices,
  maxAgeDays: 90,
  today: null,
};

/** The price of one GPU of a model; undefined if list prices apply. */
export function ownGpuPrice({ gpus }: OwnPrices, model: string): number | undefined {
  return gpus[model];
}

/** The price of an instance type; undefined if list prices apply. */
export function ownInstancePrice({ instanceTypes }: OwnPrices, name: string): number | undefined {
  return instanceTypes[name];
}

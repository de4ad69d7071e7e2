import { type Table, table } from '../yaml/table.ts';

/** What a project pays where that is not the list price. US dollars an hour. */
export interface OwnPrices {
  /** Off on-demand list prices; 0 where nothing is. */
  readonly discountPercent: number;
  /** For one GPU, by catalogue id. */
  readonly gpus: Table<number | undefined>;
  /** For a whole instance. */
  readonly instanceTypes: Table<number | undefined>;
}

export const listPrices: OwnPrices = { discountPercent: 0, gpus: table(), instanceTypes: table() };

/** The price of one GPU of a model; undefined where list prices count. */
export function ownGpuPrice({ gpus }: OwnPrices, model: string): number | undefined {
  return gpus[model];
}

/** The price of an instance type; undefined where list prices count. */
export function ownInstancePrice({ instanceTypes }: OwnPrices, name: string): number | undefined {
  return instanceTypes[name];
}

import { gpus as catalog, gpusNamed } from '../catalog/index.ts';
import { type Table, table } from '../yaml/table.ts';

/** A project's own prices instead of list prices. US dollars per hour. */
export interface OwnPrices {
  /** Discount on on-demand list prices; 0 if there is none. */
  readonly discountPercent: number;
  /** For one GPU, by catalog id. */
  readonly gpus: Table<number | undefined>;
  /** For a whole instance. */
  readonly instanceTypes: Table<number | undefined>;
}

export const listPrices: OwnPrices = { discountPercent: 0, gpus: table(), instanceTypes: table() };

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

/** What a project pays where that is not the list price. US dollars an hour. */
export interface OwnPrices {
  /** Off on-demand list prices; 0 where nothing is. */
  readonly discountPercent: number;
  /** For one GPU, by catalogue id. */
  readonly gpus: Readonly<Record<string, number | undefined>>;
  /** For a whole instance. */
  readonly instanceTypes: Readonly<Record<string, number | undefined>>;
}

export const listPrices: OwnPrices = { discountPercent: 0, gpus: {}, instanceTypes: {} };

/** The price of one GPU of a model; undefined where list prices count. */
export function ownGpuPrice({ gpus }: OwnPrices, model: string): number | undefined {
  return Object.hasOwn(gpus, model) ? gpus[model] : undefined;
}

/** The price of an instance type; undefined where list prices count. */
export function ownInstancePrice({ instanceTypes }: OwnPrices, name: string): number | undefined {
  return Object.hasOwn(instanceTypes, name) ? instanceTypes[name] : undefined;
}

import type { Placement } from '../model/workload.ts';
import type { Quote } from './offers.ts';

/** The models that are sold in the region of the pods; all if none is, or without a region: a price of another region stands in only then. */
export function soldInRegion(
  models: readonly string[],
  { region }: Pick<Placement, 'region'>,
  quoteOf: (model: string) => Quote,
): readonly string[] {
  if (region === null || models.length < 2) return models;
  const isElsewhere = (model: string) => quoteOf(model).assumptions.some(({ kind }) => kind === 'otherRegion');
  const here = models.filter((model) => !isElsewhere(model));
  return here.length === 0 ? models : here;
}

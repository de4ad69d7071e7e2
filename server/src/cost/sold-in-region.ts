import type { Placement } from '../model/workload.ts';
import type { Quote } from './offers.ts';

/** The models sold in the region of the pods. Without a region, or if none is sold there, all models: another region then lends its price. */
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

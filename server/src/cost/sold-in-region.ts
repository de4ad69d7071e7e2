import { gpus } from '../catalog/index.ts';
import { isOneCard } from '../model/named-models.ts';
import type { Placement } from '../model/workload.ts';
import type { Quote } from './offers.ts';

/** Of the forms of one card at one provider, those with a machine of its size, if there are some: then a part of a larger one is no choice. */
export function onWholeMachines(
  models: readonly string[],
  devices: number,
  { provider }: Placement,
  quoteOn: (model: string) => Quote,
): readonly string[] {
  if (provider === null || models.length < 2 || !isOneCard(models.flatMap((model) => gpus.get(model) ?? [])))
    return models;
  const whole = models.filter((model) =>
    quoteOn(model).prices.some(({ offer }) => offer.gpuCount <= Math.ceil(devices)),
  );
  return whole.length === 0 ? models : whole;
}

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

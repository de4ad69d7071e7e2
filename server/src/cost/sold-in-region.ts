import { gpus, hasNodes, offers, type PriceSheet } from '../catalog/index.ts';
import { isOneCard } from '../model/named-models.ts';
import type { Placement, PodAccelerator } from '../model/workload.ts';
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

/** The models of which no machine is sold to such pods; none if no model has a price. */
export function unsold(models: readonly string[], isSold: (model: string) => boolean): readonly string[] {
  if (models.length < 2) return [];
  const without = models.filter((model) => !isSold(model));
  return without.length === models.length ? [] : without;
}

/** Whether the other labels or the size of the pod exclude a model without a price: its machines are sold to others, or no label names it. */
export function isExcluded({ modelFrom }: PodAccelerator, isSoldToOthers: () => boolean): boolean {
  return modelFrom === 'instance-type' || modelFrom === 'node-pool' || isSoldToOthers();
}

/** The only providers with a price of some models, if none of them has nodes for the pods; empty if the placement says where they run. */
export function sellersWithoutNodes(
  models: readonly string[],
  { provider, providers, otherCloud, ownMachine }: Placement,
  sheet: PriceSheet,
): readonly string[] {
  if ((provider ?? providers ?? otherCloud ?? ownMachine) !== undefined) return [];
  const sellers = new Set(models.flatMap((gpu) => offers({ gpu }, sheet).map((offer) => offer.provider)));
  return [...sellers].some(hasNodes) ? [] : [...sellers];
}

import { migPriceShare, migShare, migTable } from '../catalog/index.ts';
import { isRequested } from '../model/accelerators.ts';
import { plus, product } from '../model/count.ts';
import { isValues } from '../model/values.ts';
import type { PodAccelerator, PodSet, Workload } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import { listPrices, type OwnPrices } from './custom-prices.ts';
import { isPerDevice } from './machines.ts';
import { HOURS_PER_MONTH } from './money.ts';
import type { NoEstimate } from './no-estimate.ts';
import type { PodPrice, Pricing, Quote } from './offers.ts';
import { quote } from './offers.ts';
import { nothing, sumOf, timesCount } from './range.ts';
import { billedPods, tpuSlice } from './tpu-slices.ts';
import type { CostBasis, CostEstimate, CostResult, Range } from './types.ts';
import { whatIsUnknown, whoSetsPods } from './what-is-unknown.ts';

/**
 * The cost of a workload's accelerators: instance price × the pod's share of the instance × pods. The instance price includes the node's
 * CPU, memory and local disks; network disks, traffic and control planes are excluded.
 * @param prices the project's own prices
 */
export function estimateCost(workload: Workload, prices: OwnPrices = listPrices): CostResult {
  if (workload.role === 'definition') return without({ kind: isValues(workload) ? 'chartValues' : 'definition' });
  const used = workload.podSets.filter((podSet) => acceleratorsOf(podSet).length > 0);
  if (used.length === 0) {
    const part = workload.podSets.flatMap(({ accelerators }) => accelerators).find(isRequested);
    return without(part ? { kind: 'partOfGpu', requested: part.requested } : { kind: 'noAccelerator' });
  }
  const parts: PodSetCost[] = [];
  for (const podSet of used) {
    const part = priceOfPods(podSet, prices);
    if (isUnknown(part))
      return without(part.kind === 'podsUnknown' ? { ...part, set: whoSetsPods(workload, podSet) } : part);
    parts.push(part);
  }
  const hourly = sumOf(parts.map((part) => part.hourly));
  if (!(hourly.max <= maxHourly)) return without({ kind: 'tooManyPods' });
  return {
    unknown: null,
    podSets: parts.map(({ name, hourly: amount, idle }) => ({ name, hourly: amount, idleHourly: idle })),
    cost: total(parts, hourly, [...readWith(workload), ...inheritedBy(used)]),
  };
}

function without(unknown: NoEstimate): CostResult {
  return { cost: null, unknown, podSets: [] };
}

function total(parts: readonly PodSetCost[], hourly: Range, assumptions: readonly Assumption[]): CostEstimate {
  const spot = parts.flatMap((part) => part.spot ?? []);
  return {
    currency: 'USD',
    hourly,
    monthly: { min: hourly.min * HOURS_PER_MONTH, max: hourly.max * HOURS_PER_MONTH },
    idleHourly: parts.reduce((sum, part) => sum + part.idle, 0),
    spotHourly: spot.length === parts.length ? sumOf(spot) : null,
    basis: parts.flatMap((part) => part.basis),
    assumptions: [...assumptions, ...parts.flatMap((part) => part.assumptions)],
  };
}

/** More than the world economy produces in an hour: the counts are a typo, and so would be the amount. */
const maxHourly = 1e11;

function readWith({ readWith: file }: Workload): readonly Assumption[] {
  return file === undefined ? [] : [{ kind: 'readWith', file }];
}

/** The facts that pods inherit from other objects. */
export function inheritedBy(podSets: readonly PodSet[]): readonly Assumption[] {
  return podSets.flatMap(({ inherited }) => inherited.map((one) => ({ kind: 'inherited', ...one }) as const));
}

/** The accelerators that a pod uses. Excludes an explicit 0, and counters of memory and percent, which only refine others. */
export function acceleratorsOf(podSet: PodSet): readonly PodAccelerator[] {
  return podSet.accelerators.filter(
    (one) => isRequested(one) && one.devices !== 0 && one.form !== 'memory' && one.form !== 'percent',
  );
}

/** Devices of all pods; null if a count or a share is unknown. */
export function gpusOf(workload: Workload): { readonly min: number | null; readonly max: number | null } {
  let min: number | null = 0;
  let max: number | null = 0;
  for (const podSet of workload.podSets) {
    for (const { devices, between } of podSet.accelerators) {
      min = plus(min, product(devices ?? between?.min ?? null, podSet.pods.min));
      max = plus(max, product(devices ?? between?.max ?? null, podSet.pods.max));
    }
  }
  return { min, max };
}

interface PodSetCost {
  readonly name: string;
  readonly hourly: Range;
  readonly spot: Range | null;
  readonly idle: number;
  readonly basis: readonly CostBasis[];
  readonly assumptions: readonly Assumption[];
}

function isUnknown(cost: PodSetCost | NoEstimate): cost is NoEstimate {
  return 'kind' in cost;
}

function priceOfPods(podSet: PodSet, prices: OwnPrices): PodSetCost | NoEstimate {
  const { name } = podSet;
  const counted = countedPods(podSet);
  if (counted === null) return { kind: 'podsUnknown', podSet: name };
  const pods = billedPods(podSet, counted);
  const costs = acceleratorsOf(podSet).map((accelerator) => priceOfDevices(podSet, accelerator, prices));
  const failed = costs.find(isUnknown);
  // No pods cost nothing on any card.
  if (failed?.kind === 'modelUnknown' && counted.max === 0)
    return { name, hourly: nothing, spot: null, idle: 0, basis: [], assumptions: [] };
  if (failed !== undefined) return failed;
  const each = costs.filter((cost): cost is PodSetCost => !isUnknown(cost));
  const pod = sumOf(each.map(({ hourly }) => hourly));
  const spot = each.flatMap((cost) => cost.spot ?? []);
  return {
    name,
    hourly: timesCount(pod, pods),
    spot: spot.length === each.length ? timesCount(sumOf(spot), pods) : null,
    idle: pods.min * pod.min,
    basis: each.flatMap(({ basis }) => basis),
    assumptions: [
      ...each.flatMap((cost) => cost.assumptions),
      ...wholeSlices(podSet, counted, pods),
      ...unbounded(podSet),
    ],
  };
}

/** The pods that an estimate counts: without an upper bound, those at the floor, and at least one. Null if the floor is unknown. */
export function countedPods({ pods: { min, max } }: PodSet): Range | null {
  return min === null ? null : { min, max: max ?? Math.max(min, 1) };
}

/** The assumption behind the ceiling of replicas without an upper bound. */
export function unbounded(podSet: PodSet): readonly Assumption[] {
  const counted = podSet.pods.max === null && acceleratorsOf(podSet).length > 0 ? countedPods(podSet) : null;
  return counted === null ? [] : [{ kind: 'unbounded', podSet: podSet.name, pods: counted.max }];
}

/** The cost of the devices of one basis in all pods of their set. */
export function amountOf({ instanceHourly, share }: CostBasis, podSet: PodSet): Range {
  const perPod = instanceHourly * share;
  return timesCount({ min: perPod, max: perPod }, billedPods(podSet, countedPods(podSet) ?? nothing));
}

function wholeSlices(podSet: PodSet, counted: Range, billed: Range): readonly Assumption[] {
  const slice = tpuSlice(podSet);
  const isSame = billed.min === counted.min && billed.max === counted.max;
  return slice === undefined || isSame ? [] : [{ kind: 'slice', ...slice }];
}

function priceOfDevices(podSet: PodSet, accelerator: PodAccelerator, own: OwnPrices): PodSetCost | NoEstimate {
  const { devices } = accelerator;
  const { placement } = podSet;
  const models = pricedModels(accelerator);
  if (accelerator.perPod === null || models.length === 0 || devices === null) return whatIsUnknown(podSet, accelerator);
  const spotOnly = placement.capacity === 'spot';
  const { capacity } = placement;
  const quotes = (pricing: Pricing) =>
    models.map((model) => quote(model, pricedDevices(model, accelerator), placement, pricing, own));
  const onDemand = quotes('on-demand');
  const spot = spotOnly ? quotes('spot') : onDemand.map((one) => ({ ...one, prices: one.spot }));
  const spotKnown = spot.every(({ prices }) => prices.length > 0);
  const selected = spotOnly && spotKnown ? spot : onDemand;
  const isOwn = selected.every(({ prices }) =>
    prices.every(({ offer: { own: paid } }) => paid === 'gpu' || paid === 'instance'),
  );
  if ((capacity === 'reserved' || capacity === 'flex') && !isOwn) return { kind: 'capacityNotPriced', capacity };
  if (selected.some(({ prices }) => prices.length === 0)) {
    const { instanceType, provider } = placement;
    return { kind: 'priceUnknown', models, devices, instanceType, provider };
  }
  return {
    name: podSet.name,
    hourly: rangeOfQuotes(selected),
    spot: spotKnown ? rangeOfQuotes(spot) : null,
    idle: rangeOfQuotes(selected).min,
    basis: selected.flatMap((one) => ends(one.prices).map((price) => basisOf(podSet, price))),
    assumptions: [
      ...assumptionsOf(accelerator, models, podSet, spotOnly && !spotKnown),
      ...selected.flatMap((one) => one.assumptions),
      ...selected.flatMap(({ prices }) => ends(prices).flatMap((price) => stranded(price, devices))),
      ...(spotOnly && spotKnown ? spot : onDemand).flatMap(spotElsewhere),
    ],
  };
}

/** Devices that no other pod of the same kind can use: those that do not fill another pod, or whose CPU and memory are taken. */
function stranded({ offer, share }: PodPrice, devices: number): readonly Assumption[] {
  const { instanceType, gpuCount: cards } = offer;
  if (isPerDevice(offer) || devices < 1 || devices >= cards) return [];
  const unused = share === 1 ? cards - devices : cards % devices;
  return unused === 0 ? [] : [{ kind: 'stranded', instanceType, cards, devices, unused }];
}

/** The devices that the price counts: those of the request, or more if its slices do not fill a card. */
export function pricedDevices(model: string, { devices, perPod }: Pick<PodAccelerator, 'devices' | 'perPod'>): number {
  const table = migTable(model);
  if (table === undefined || devices === null || !perPod || devices >= perPod) return devices ?? 0;
  const share = devices / perPod;
  const profile = table.profiles.find((one) => Math.abs(migShare(table, one) - share) < 1e-9);
  return profile === undefined ? devices : migPriceShare(table, profile) * perPod;
}

/** The machines of the spot amount that the basis does not show, and a better spot price on another machine. */
function spotElsewhere({ prices, spot, cheaperSpot }: Quote): readonly Assumption[] {
  const shown = ends(prices).map(({ offer }) => offer.instanceType);
  return [
    ...ends(spot).filter(({ offer }) => !shown.includes(offer.instanceType)),
    ...(cheaperSpot === undefined ? [] : [cheaperSpot]),
  ].map(({ offer: { provider, instanceType, gpuCount: cards, spot: hourly, date } }) => {
    return { kind: 'spotElsewhere', provider, instanceType, cards, hourly: hourly ?? 0, date };
  });
}

/** One model, or the alternatives that a selector leaves; a bare MIG resource name leaves too many to be useful. */
export function pricedModels({ model, candidates, modelFrom }: PodAccelerator): readonly string[] {
  if (model !== null) return [model];
  return modelFrom === 'resource-name' ? [] : candidates;
}

function assumptionsOf(
  { form, devices, perPod, modelFrom, modelHint, requested }: PodAccelerator,
  models: readonly string[],
  { placement: { capacity, nodePool, provider, providerFrom } }: PodSet,
  noSpot: boolean,
): readonly Assumption[] {
  const found: Assumption[] = [];
  const [model = ''] = models;
  if (modelFrom === 'config') found.push({ kind: 'gpu', model, nodePool, from: 'config' });
  if (modelHint !== undefined) found.push({ kind: 'hint', models, hint: modelHint });
  if (models.length > 1 && modelHint === undefined) found.push({ kind: 'models', models });
  if (providerFrom === 'config') found.push({ kind: 'provider', provider: provider ?? '', from: 'config' });
  if (devices !== null && perPod && (form === 'mig' || devices < perPod)) {
    const share = pricedDevices(model, { devices, perPod }) / perPod;
    if (form === 'mig' || form === 'whole' || form === 'shared') found.push({ kind: 'share', requested, form, share });
  }
  if (capacity === 'unknown') found.push({ kind: 'capacity', capacity: 'on-demand', from: 'default' });
  if (noSpot) found.push({ kind: 'onDemand', capacity: 'spot' });
  return found;
}

/** The lowest and the highest price of a quote; only one if they are the same. */
function ends(prices: readonly PodPrice[]): readonly PodPrice[] {
  const [first] = prices;
  const last = prices.at(-1);
  return first === undefined || last === undefined ? [] : first === last ? [first] : [first, last];
}

function basisOf(podSet: PodSet, { offer, pricing, share }: PodPrice): CostBasis {
  // The project's own prices are on-demand prices; spot prices are the market's.
  const isOwn = offer.own === 'gpu' || (offer.own === 'instance' && pricing === 'on-demand');
  return {
    podSet: podSet.name,
    provider: offer.provider,
    region: offer.region,
    instanceType: offer.instanceType,
    pricing,
    instanceHourly: (pricing === 'spot' ? offer.spot : offer.onDemand) ?? 0,
    ...(pricing === 'on-demand' && { spotInstanceHourly: offer.spot }),
    share,
    asOf: isOwn ? null : offer.date,
    source: isOwn ? null : offer.source,
  };
}

function rangeOfQuotes(quotes: readonly Quote[]): Range {
  const amounts = quotes.flatMap(({ prices }) => prices.map(({ hourly }) => hourly));
  return { min: Math.min(...amounts), max: Math.max(...amounts) };
}

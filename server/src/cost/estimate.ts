import { gpus, priceSource } from '../catalog/index.ts';
import { isCounter, isRequested } from '../model/accelerators.ts';
import { plus, product } from '../model/count.ts';
import { isOneCard } from '../model/named-models.ts';
import { runLength } from '../model/run-length.ts';
import { isValues } from '../model/values.ts';
import { noNeeds, type Placement, type PodAccelerator, type PodSet, type Workload } from '../model/workload.ts';
import { alternativesOf } from './alternatives.ts';
import type { Assumption } from './assumption.ts';
import { listPrices, type OwnPrices } from './custom-prices.ts';
import { withPartOfHost } from './host-part.ts';
import { ends, shareOfHost, spotElsewhere, stranded } from './machine-notes.ts';
import { HOURS_PER_MONTH } from './money.ts';
import type { NoEstimate } from './no-estimate.ts';
import type { Quote } from './offers.ts';
import { quote } from './offers.ts';
import { ownMachineQuote } from './own-machines.ts';
import type { PodPrice, Pricing } from './pod-price.ts';
import { eitherOf, isUnknown, onSpotOnly, type PodSetCost } from './pod-set-cost.ts';
import { pricedDevices } from './priced-devices.ts';
import { mostAtOnce, noPods, nothing, rangeOf, sumAtOnce, sumOf, timesCount } from './range.ts';
import { atRest, onAverage, runCost } from './run-cost.ts';
import { billingOf } from './signed-place.ts';
import { isExcluded, onWholeMachines, soldInRegion, unsold } from './sold-in-region.ts';
import { rangeOfQuotes, spotFirstNotes, spotFirstQuotes } from './spot-first.ts';
import { billedPods, billedSlice } from './tpu-slices.ts';
import type { CostBasis, CostEstimate, CostResult, Range } from './types.ts';
import { whatIsUnknown, whoSetsPods } from './what-is-unknown.ts';
import { whyNoPrice } from './why-no-price.ts';
import { notesOnWorkload } from './workload-notes.ts';

/**
 * The cost of a workload's accelerators: instance price × the pod's share of the instance × pods. The instance price includes the node's
 * CPU, memory and local disks; network disks, traffic and control planes are excluded.
 * @param prices the project's own prices
 * @param stepSeconds duration of a training step, if the config states it
 */
export function estimateCost(
  workload: Workload,
  prices: OwnPrices = listPrices,
  stepSeconds: number | null = null,
): CostResult {
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
  const hourly = together(parts, (part) => part.hourly);
  if (!(hourly.max <= maxHourly)) return without({ kind: 'tooManyPods' });
  const isListed = parts.some((part) => part.basis.some(({ source }) => source !== null));
  return {
    unknown: null,
    podSets: parts.map(({ name, hourly: amount, idle }) => ({ name, hourly: amount, idleHourly: idle.min })),
    cost: atRest({
      ...onAverage(
        workload,
        total(parts, hourly, [...readWith(workload), ...notesOnWorkload(workload, isListed), ...inheritedBy(used)]),
      ),
      ...runCost(runLength(workload, stepSeconds), hourly, parts),
    }),
  };
}

/** The sum of all pod sets; at most, of those that run at once. */
function together(parts: readonly PodSetCost[], rangeOfPart: (part: PodSetCost) => Range): Range {
  return sumAtOnce(parts.map((part) => ({ range: rangeOfPart(part), pods: part.pods })));
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
    idleHourly: parts.reduce((sum, part) => sum + part.idle.min, 0),
    idle: sumOf(parts.map(({ idle }) => idle)),
    isOpen: parts.some(({ isOpen }) => isOpen),
    spotHourly: spot.length === parts.length ? together(parts, (part) => part.spot ?? nothing) : null,
    basis: parts.flatMap((part) => part.basis),
    assumptions: [...assumptions, ...parts.flatMap((part) => part.assumptions)],
  };
}

/** US dollars, more than the world economy produces in an hour: the counts are a typo, and so would be the amount. */
export const maxHourly = 1e11;

function readWith({ readWith: file }: Workload): readonly Assumption[] {
  return file === undefined ? [] : [{ kind: 'readWith', file }];
}

/** The facts that pods inherit from other objects. */
export function inheritedBy(podSets: readonly PodSet[]): readonly Assumption[] {
  return podSets.flatMap(({ inherited }) => inherited.map((one) => ({ kind: 'inherited', ...one }) as const));
}

/** The accelerators that a pod uses. Excludes an explicit 0, and counters, which only refine others, unless they state the share of a card. */
export function acceleratorsOf(podSet: PodSet): readonly PodAccelerator[] {
  return podSet.accelerators.filter(
    (one) => isRequested(one) && one.devices !== 0 && (one.devices !== null || !isCounter(one)),
  );
}

/** Devices of all pods; null if a count or a share is unknown. */
export function gpusOf(workload: Workload): { readonly min: number | null; readonly max: number | null } {
  const counts = (bound: 'min' | 'max') =>
    workload.podSets.map(({ accelerators, pods }) =>
      accelerators.reduce<number | null>(
        (sum, { devices, between }) => plus(sum, product(devices ?? between?.[bound] ?? null, pods[bound])),
        0,
      ),
    );
  const most = counts('max').map((amount, index) => ({ amount, pods: workload.podSets[index]?.pods ?? noPods }));
  const min = counts('min').reduce<number | null>(plus, 0);
  const known = most.flatMap(({ amount, pods }) => (amount === null ? [] : [{ amount, pods }]));
  return { min, max: known.length < most.length ? null : mostAtOnce(known) };
}

function priceOfPods(podSet: PodSet, prices: OwnPrices): PodSetCost | NoEstimate {
  const { name } = podSet;
  const counted = countedPods(podSet);
  if (counted === null) return { kind: 'podsUnknown', podSet: name };
  const pods = billedPods(podSet, counted);
  const costs = acceleratorsOf(podSet).map((accelerator, _, all) =>
    priceOfDevices(withPartOfHost(podSet, accelerator, all), accelerator, prices),
  );
  const failed = costs.find(isUnknown);
  // No pods cost nothing on any card.
  if (failed?.kind === 'modelUnknown' && counted.max === 0)
    return {
      name,
      pods: podSet.pods,
      hourly: nothing,
      spot: null,
      idle: nothing,
      isOpen: false,
      basis: [],
      assumptions: [],
    };
  if (failed !== undefined) return failed;
  const each = costs.filter((cost): cost is PodSetCost => !isUnknown(cost));
  const pod = sumOf(each.map(({ hourly }) => hourly));
  const spot = each.flatMap((cost) => cost.spot ?? []);
  return {
    name,
    pods: podSet.pods,
    hourly: timesCount(pod, pods),
    ...(billedSlice(podSet) === undefined && { pod }),
    spot: spot.length === each.length ? timesCount(sumOf(spot), pods) : null,
    idle: timesCount(pod, pods.min),
    isOpen: podSet.pods.max === null,
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
  const slice = billedSlice(podSet);
  const isSame = billed.min === counted.min && billed.max === counted.max;
  return slice === undefined || isSame ? [] : [{ kind: 'slice', ...slice }];
}

function priceOfDevices(podSet: PodSet, accelerator: PodAccelerator, own: OwnPrices): PodSetCost | NoEstimate {
  const { devices } = accelerator;
  const { placement } = podSet;
  const { storage } = placement;
  if (storage?.kind === 'too-small')
    return { kind: 'storageTooSmall', neededGiB: placement.needs.storageGiB, largestGiB: storage.largestGiB };
  const alternatives = alternativesOf(podSet, accelerator).map((one) => ({
    models: pricedModels(one.accelerator),
    cost: priceOfDevices(one.podSet, one.accelerator, own),
  }));
  const either = eitherOf(...onSpotOnly(alternatives), placement.either !== undefined);
  if (either !== undefined) return either;
  const onOwn = ownMachineQuote(placement, accelerator, own);
  if (onOwn !== undefined) return costOf(podSet, accelerator, onOwn);
  const allowed = pricedModels(accelerator);
  if (accelerator.perPod === null || allowed.length === 0 || devices === null)
    return whatIsUnknown(podSet, accelerator, own.sheet);
  const spotOnly = placement.capacity === 'spot';
  const { capacity } = placement;
  const quoteAt = (model: string, pricing: Pricing) =>
    quote(model, pricedDevices(model, accelerator), placement, pricing, own);
  const quoteOn = (model: string) => {
    const spot = spotOnly ? quoteAt(model, 'spot') : undefined;
    return spot !== undefined && spot.prices.length > 0 ? spot : quoteAt(model, 'on-demand');
  };
  const unpriced = unsold(allowed, (model) => quoteOn(model).prices.length > 0);
  const missing = unpriced.filter(
    (model) =>
      accelerator.requested.kind === 'field' ||
      !isExcluded(
        accelerator,
        () => quote(model, 1, { ...placement, terms: [], needs: noNeeds }, 'on-demand', own).prices.length > 0,
      ),
  );
  const sold = allowed.filter((model) => !unpriced.includes(model));
  const offered = onWholeMachines(soldInRegion(sold, placement, quoteOn), devices, placement, quoteOn);
  // Where some models have a spot price, the on-demand price of the others is not what a spot node costs.
  const onSpot = spotOnly ? offered.filter((model) => quoteAt(model, 'spot').prices.length > 0) : [];
  const models = onSpot.length > 0 ? onSpot : offered;
  if (onSpot.length > 0) missing.push(...offered.filter((model) => !onSpot.includes(model)));
  const quotes = (pricing: Pricing) => models.map((model) => quoteAt(model, pricing));
  const onDemand = quotes('on-demand');
  const spot = spotOnly ? quotes('spot') : onDemand.map((one) => ({ ...one, prices: one.spot }));
  const spotKnown = spot.every(({ prices }) => prices.length > 0);
  const preferred = spotFirstQuotes(models, (model) => pricedDevices(model, accelerator), placement, own);
  const selected = preferred?.quotes ?? (spotOnly && spotKnown ? spot : onDemand);
  const isOwn = selected.every(({ prices }) =>
    prices.every(({ offer: { own: paid } }) => paid === 'gpu' || paid === 'instance'),
  );
  const isCommitted = selected.every(({ prices }) => prices.every(({ offer }) => offer.own === 'commitment'));
  if ((capacity === 'reserved' || capacity === 'flex') && !isOwn) return { kind: 'capacityNotPriced', capacity };
  const billing = billingOf(placement);
  const sign = placement.billing === undefined ? placement.sign?.()?.text : undefined;
  if (billing !== undefined && billing !== 'premium' && !isOwn)
    return { kind: 'capacityNotPriced', capacity: billing, ...(sign !== undefined && { sign }) };
  if (selected.some(({ prices }) => prices.length === 0)) {
    const on = (place: Placement, pricing: Pricing) =>
      models.map((model) => quote(model, pricedDevices(model, accelerator), place, pricing, own));
    return whyNoPrice(models, devices, placement, on, own);
  }
  const hourly = rangeOfQuotes(selected) ?? nothing;
  return {
    name: podSet.name,
    pods: podSet.pods,
    hourly,
    spot: preferred?.spot ?? (spotKnown ? (rangeOfQuotes(spot) ?? null) : null),
    idle: hourly,
    isOpen: false,
    basis: selected.flatMap((one) => ends(one.prices).map((price) => basisOf(podSet, price))),
    assumptions: [
      ...assumptionsOf(accelerator, models, podSet, spotOnly && !spotKnown).filter(
        ({ kind }) => kind !== 'capacity' || !(isCommitted || preferred),
      ),
      ...spotFirstNotes(preferred),
      ...(missing.length > 0 && !isOneCard(allowed.flatMap((model) => gpus.get(model) ?? []))
        ? [{ kind: 'unpriced', models: missing } as const]
        : []),
      ...selected.flatMap((one) => one.assumptions),
      ...selected.flatMap(({ prices }) =>
        ends(prices).flatMap((price) => [
          ...stranded(price, devices),
          ...shareOfHost(price, pricedDevices(price.offer.gpu, accelerator), placement.needs),
        ]),
      ),
      // A better spot price of one model is not that of the others.
      ...(models.length > 1 ? [] : (spotOnly && spotKnown ? spot : onDemand).flatMap(spotElsewhere)),
    ],
  };
}

/** The cost of devices on a machine of the user's own. */
function costOf(podSet: PodSet, { devices }: PodAccelerator, { prices }: Quote): PodSetCost {
  const hourly = rangeOf(prices.map((price) => price.hourly)) ?? nothing;
  const basis = prices.map((price) => basisOf(podSet, price));
  const assumptions = prices.flatMap((price) => stranded(price, devices ?? 0));
  const { name, pods } = podSet;
  return { name, pods, hourly, spot: null, idle: hourly, isOpen: false, basis, assumptions };
}

/** GiB. Node groups of EKS and Karpenter have it by default, other nodes more, so each node has less than it for pods. */
const smallestDisk = 20;

/** One model, or the alternatives that a selector leaves; a bare MIG resource name leaves too many to be useful. */
export function pricedModels({ model, candidates, modelFrom }: PodAccelerator): readonly string[] {
  if (model !== null) return [model];
  return modelFrom === 'resource-name' ? [] : candidates;
}

function assumptionsOf(
  { form, devices, perPod, modelFrom, modelHint, requested }: PodAccelerator,
  models: readonly string[],
  { placement }: PodSet,
  noSpot: boolean,
): readonly Assumption[] {
  const { capacity, nodePool, provider, providerFrom, billing, edgeZone, region, needs, storage, unlisted } = placement;
  const found: Assumption[] = [];
  const [model = ''] = models;
  if (modelFrom === 'config') found.push({ kind: 'gpu', model, nodePool, from: 'config' });
  if (modelHint !== undefined) found.push({ kind: 'hint', models, hint: modelHint });
  if (models.length > 1 && modelHint === undefined) found.push({ kind: 'models', models });
  if (providerFrom === 'config') found.push({ kind: 'provider', provider: provider ?? '', from: 'config' });
  if (devices !== null && perPod && (form === 'mig' || devices < perPod)) {
    const share = pricedDevices(model, { devices, perPod, requested }) / perPod;
    if (form === 'mig' || form === 'whole' || form === 'shared') found.push({ kind: 'share', requested, form, share });
  }
  if (edgeZone !== undefined && region !== null) found.push({ kind: 'edgeZone', zone: edgeZone, region });
  if (capacity === 'unknown') found.push({ kind: 'capacity', capacity: 'on-demand', from: 'default' });
  if (needs.storageGiB >= smallestDisk && storage?.kind === 'unchecked') found.push({ kind: 'storage' });
  if (unlisted !== undefined) found.push({ kind: 'unlisted', capacities: unlisted });
  if (billing === 'premium') found.push({ kind: 'premium' });
  if (noSpot) found.push({ kind: 'onDemand', capacity: 'spot' });
  return found;
}

/** One price behind an amount. */
export function basisOf(podSet: Pick<PodSet, 'name'>, { offer, pricing, share }: Omit<PodPrice, 'hourly'>): CostBasis {
  // The project's own prices are on-demand prices; spot prices are the market's.
  const isOwn = offer.own === 'gpu' || (offer.own === 'instance' && pricing === 'on-demand');
  const from = priceSource(offer, pricing);
  return {
    podSet: podSet.name,
    provider: offer.provider,
    region: offer.region,
    instanceType: offer.instanceType,
    pricing: pricing === 'on-demand' && offer.own === 'commitment' ? 'reserved' : pricing,
    instanceHourly: (pricing === 'spot' ? offer.spot : offer.onDemand) ?? 0,
    ...(pricing === 'on-demand' && { spotInstanceHourly: offer.spot }),
    share,
    asOf: isOwn ? null : from.date,
    source: isOwn ? null : from.source,
  };
}

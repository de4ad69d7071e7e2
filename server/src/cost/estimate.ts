import { gpus, migByResource, providerName } from '../catalog/index.ts';
import { isRequested } from '../model/accelerators.ts';
import { plus, product } from '../model/count.ts';
import { resourceWords } from '../model/implicit-devices.ts';
import { isValues } from '../model/values.ts';
import type { PodAccelerator, PodSet, Workload } from '../model/workload.ts';
import { listPrices, type OwnPrices } from './custom-prices.ts';
import { formatHourly, HOURS_PER_MONTH, plural } from './format.ts';
import type { PodPrice, Pricing, Quote } from './offers.ts';
import { ownSource, quote } from './offers.ts';
import type { CostBasis, CostResult, Range } from './types.ts';

/**
 * What the accelerators of a workload cost: price of the instance x share of it that a pod takes x pods. What else a node holds
 * (CPU, memory, local disks) is in the instance's price; disks, traffic and control planes are not counted.
 * @param prices what the project pays where that is not the list price
 */
export function estimateCost(workload: Workload, prices: OwnPrices = listPrices): CostResult {
  if (workload.role === 'definition') {
    const problem = isValues(workload)
      ? 'How many replicas run of these values is for the chart to say'
      : 'Nothing runs from a definition by itself';
    return { cost: null, problem, missing: null, podSets: [] };
  }
  const used = workload.podSets.filter((podSet) => acceleratorsOf(podSet).length > 0);
  if (used.length === 0) {
    const part = workload.podSets.flatMap(({ accelerators }) => accelerators).find(isRequested);
    const problem = part
      ? `${resourceWords(part.resource)} is a part of a GPU, with no price`
      : 'No accelerator is requested';
    return { cost: null, problem, missing: null, podSets: [] };
  }
  const parts: PodSetCost[] = [];
  for (const podSet of used) {
    const part = priceOfPods(podSet, prices);
    if (isMissing(part)) return { cost: null, ...part, podSets: [] };
    parts.push(part);
  }
  const hourly = sum(parts.map((part) => part.hourly));
  if (!(hourly.max <= mostHourly)) {
    const problem = 'The number of pods is more than any cluster runs';
    return { cost: null, problem, missing: 'count', podSets: [] };
  }
  const spot = parts.flatMap((part) => part.spot ?? []);
  return {
    problem: null,
    missing: null,
    podSets: parts.map(({ name, hourly: amount, idle }) => ({ name, hourly: amount, idleHourly: idle })),
    cost: {
      currency: 'USD',
      hourly,
      monthly: { min: hourly.min * HOURS_PER_MONTH, max: hourly.max * HOURS_PER_MONTH },
      idleHourly: parts.reduce((total, part) => total + part.idle, 0),
      spotHourly: spot.length === parts.length ? sum(spot) : null,
      basis: parts.flatMap((part) => part.basis),
      assumptions: [
        ...new Set([
          ...readWith(workload),
          ...used.flatMap(({ told }) => told),
          ...parts.flatMap((part) => part.assumptions),
        ]),
      ],
    },
  };
}

/** More than the world makes in an hour: the counts under it are a slip, and an amount would be one, too. */
const mostHourly = 1e11;

function readWith({ readWith: file }: Workload): readonly string[] {
  return file === undefined ? [] : [`What this file leaves open is from ${file}`];
}

/** The accelerators that a pod takes; an explicit 0 takes none, and counters of memory and percent only refine others. */
export function acceleratorsOf(podSet: PodSet): readonly PodAccelerator[] {
  return podSet.accelerators.filter(
    (one) => isRequested(one) && one.devices !== 0 && one.form !== 'memory' && one.form !== 'percent',
  );
}

/** Devices of all pods; null where a count or a share is not known. */
export function gpusOf(workload: Workload): { readonly min: number | null; readonly max: number | null } {
  let min: number | null = 0;
  let max: number | null = 0;
  for (const podSet of workload.podSets) {
    for (const { devices } of podSet.accelerators) {
      min = plus(min, product(devices, podSet.pods.min));
      max = plus(max, product(devices, podSet.pods.max));
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
  readonly assumptions: readonly string[];
}

type Missing = { readonly problem: string; readonly missing: CostResult['missing'] };

function isMissing(cost: PodSetCost | Missing): cost is Missing {
  return 'missing' in cost;
}

function priceOfPods(podSet: PodSet, prices: OwnPrices): PodSetCost | Missing {
  const assumptions: string[] = [];
  const { min } = podSet.pods;
  if (min === null)
    return {
      problem: `The number of ${podSet.name === 'pod' ? '' : `${podSet.name} `}pods is not told`,
      missing: 'count',
    };
  const max = podSet.pods.max ?? Math.max(min, 1);
  if (podSet.pods.max === null) assumptions.push(`No upper bound on ${podSet.name} replicas: counted at ${max}`);
  const costs = acceleratorsOf(podSet).map((accelerator) => priceOfDevices(podSet, accelerator, prices));
  const failed = costs.find(isMissing);
  if (failed !== undefined) return failed;
  const each = costs.filter((cost): cost is PodSetCost => !isMissing(cost));
  const pod = sum(each.map(({ hourly }) => hourly));
  const spot = each.flatMap((cost) => cost.spot ?? []);
  return {
    name: podSet.name,
    hourly: { min: min * pod.min, max: max * pod.max },
    spot: spot.length === each.length ? scale(sum(spot), min, max) : null,
    idle: min * pod.min,
    basis: each.flatMap(({ basis }) => basis),
    assumptions: [...each.flatMap((cost) => cost.assumptions), ...assumptions],
  };
}

function priceOfDevices(podSet: PodSet, accelerator: PodAccelerator, own: OwnPrices): PodSetCost | Missing {
  const { devices } = accelerator;
  const models = pricedModels(accelerator);
  if (accelerator.perPod === null || models.length === 0 || devices === null) return whatIsMissing(podSet, accelerator);
  const spotOnly = podSet.placement.capacity === 'spot';
  const quotes = (pricing: Pricing) => models.map((model) => quote(model, devices, podSet.placement, pricing, own));
  const onDemand = quotes('on-demand');
  const spot = spotOnly ? quotes('spot') : onDemand.map((one) => ({ ...one, prices: one.spot }));
  const spotKnown = spot.every(({ prices }) => prices.length > 0);
  const taken = spotOnly && spotKnown ? spot : onDemand;
  if (taken.some(({ prices }) => prices.length === 0)) {
    return { problem: `The catalogue has no price for ${wanted(models, devices, podSet)}`, missing: 'price' };
  }
  return {
    name: podSet.name,
    hourly: rangeOf(taken),
    spot: spotKnown ? rangeOf(spot) : null,
    idle: rangeOf(taken).min,
    basis: taken.flatMap((one) => ends(one.prices).map((price) => basisOf(podSet, price))),
    assumptions: [
      ...assumptionsOf(accelerator, models, podSet, spotOnly && !spotKnown),
      ...taken.flatMap((one) => one.assumptions),
      ...(spotKnown && !spotOnly ? onDemand.flatMap(spotElsewhere) : []),
    ],
  };
}

/** What the spot amount rests on where that is another machine than the ones in the basis. */
function spotElsewhere(onDemand: Quote): readonly string[] {
  const shown = ends(onDemand.prices).map(({ offer }) => offer.instanceType);
  return ends(onDemand.spot)
    .filter(({ offer }) => !shown.includes(offer.instanceType))
    .map(({ offer: { provider, instanceType, gpuCount, spot, date } }) => {
      const cards = gpuCount === 1 ? '' : ` for ${plural(gpuCount, 'card')}`;
      const price = `${formatHourly(spot ?? 0)}${cards}, ${date === null ? 'date unknown' : `as of ${date}`}`;
      return `Spot at ${providerName(provider ?? '')} is cheapest on ${instanceType}: ${price}`;
    });
}

/** Says what was seen, where something was: a count that is none is not the same as a count that a template will fill in. */
function whatIsMissing(podSet: PodSet, { resource, form, perPod, devices, candidates }: PodAccelerator): Missing {
  if (perPod === null) {
    const written = podSet.containers
      .flatMap(({ accelerators }) => accelerators.filter((request) => request.resource === resource))
      .map(({ limit, request }) => limit ?? request)
      .find((quantity) => quantity !== undefined && !quantity.templated && !quantity.empty);
    const words = resourceWords(resource);
    const of = words === resource ? resource : `devices behind ${words}`;
    const beyond = (written?.value ?? 0) >= 2 ** 31 ? 'more than any node has' : 'no count';
    const problem = written ? `${written.text} is ${beyond} of ${resource}` : `The number of ${of} is not told`;
    return { problem, missing: 'count' };
  }
  const known = migByResource(resource).length > 0;
  const profile = /^nvidia\.com\/mig-(.+?)(\.shared)?$/.exec(resource)?.[1];
  if (profile !== undefined && (candidates.length === 0 || !known)) {
    const problem = known ? `The selected GPU has no MIG profile ${profile}` : `No GPU has a MIG profile ${profile}`;
    return { problem, missing: null };
  }
  if (devices === null && candidates.length > 0 && form !== 'mig') {
    return { problem: `How the selected nodes share their GPUs is not told`, missing: 'count' };
  }
  return { problem: `The model behind ${resourceWords(resource)} is not told`, missing: 'gpu' };
}

/** One model, or the alternatives that a selector leaves; a bare MIG resource name leaves too many to be of use. */
function pricedModels({ model, candidates, modelFrom }: PodAccelerator): readonly string[] {
  if (model !== null) return [model];
  return modelFrom === 'resource-name' ? [] : candidates;
}

function assumptionsOf(
  accelerator: PodAccelerator,
  models: readonly string[],
  podSet: PodSet,
  noSpot: boolean,
): string[] {
  const said: string[] = [];
  const { form, devices, perPod, modelFrom, resource } = accelerator;
  const { placement } = podSet;
  if (placement.nodePool !== null && modelFrom === 'config') {
    said.push(`Node pool ${placement.nodePool}: ${nameOf(models[0])} from the config`);
  } else if (modelFrom === 'config') said.push(`GPU not named: ${nameOf(models[0])} from the config`);
  if (models.length > 1)
    said.push(
      `The selector fits ${models.map(nameOf).join(' and ')}: ${models.length > 2 ? 'all' : 'both'} are counted in the range`,
    );
  if (placement.providerFrom === 'config')
    said.push(`Provider ${providerName(placement.provider ?? '')} from the config`);
  if (form === 'mig' && devices !== null && perPod) {
    said.push(`${resource.replace('nvidia.com/mig-', 'MIG ')} counted as ${fraction(devices / perPod)} of a card`);
  }
  if (form === 'whole' && devices !== null && perPod && devices < perPod) {
    said.push(`Shared card: each ${resource} counted as ${fraction(devices / perPod)} of it`);
  }
  if (form === 'shared' && devices !== null && perPod && devices < perPod) {
    said.push(`Shared card: ${resourceWords(resource)} counted as ${fraction(devices / perPod)} of it`);
  }
  if (placement.capacity === 'unknown') said.push('Capacity not told: on-demand');
  if (placement.capacity === 'reserved' || placement.capacity === 'flex')
    said.push(`No ${placement.capacity} price: on-demand instead`);
  if (noSpot) said.push('No spot price known: on-demand instead');
  return said;
}

/** `1/7`, `2/8` would be reduced; shares that are no unit fraction are written in percent. */
function fraction(share: number): string {
  const parts = 1 / share;
  return Math.abs(parts - Math.round(parts)) < 1e-6 ? `1/${Math.round(parts)}` : `${Math.round(share * 100)}%`;
}

function wanted(models: readonly string[], devices: number, podSet: PodSet): string {
  const { provider, instanceType } = podSet.placement;
  const on = instanceType ?? (provider === null ? null : providerName(provider));
  return `${devices} × ${models.map(nameOf).join(' or ')}${on === null ? '' : ` on ${on}`}`;
}

export function nameOf(model: string | undefined): string {
  return gpus.get(model ?? '')?.name ?? model ?? '';
}

/** The cheapest and the dearest of a quote's prices; one where they are the same. */
function ends(prices: readonly PodPrice[]): readonly PodPrice[] {
  const [first] = prices;
  const last = prices.at(-1);
  return first === undefined || last === undefined ? [] : first === last ? [first] : [first, last];
}

function basisOf(podSet: PodSet, { offer, pricing, share }: PodPrice): CostBasis {
  // What the project pays is on demand; on spot it pays what the market asks.
  const isOwn = offer.own === 'gpu' || (offer.own === 'instance' && pricing === 'on-demand');
  return {
    podSet: podSet.name,
    provider: offer.provider ?? 'own',
    region: offer.region,
    instanceType: offer.instanceType,
    pricing,
    instanceHourly: (pricing === 'spot' ? offer.spot : offer.onDemand) ?? 0,
    ...(pricing === 'on-demand' && { spotInstanceHourly: offer.spot }),
    share,
    asOf: isOwn ? null : offer.date,
    source: isOwn ? ownSource : offer.source,
  };
}

function rangeOf(quotes: readonly Quote[]): Range {
  const amounts = quotes.flatMap(({ prices }) => prices.map(({ hourly }) => hourly));
  return { min: Math.min(...amounts), max: Math.max(...amounts) };
}

function sum(ranges: readonly Range[]): Range {
  return ranges.reduce((total, range) => ({ min: total.min + range.min, max: total.max + range.max }), {
    min: 0,
    max: 0,
  });
}

function scale(range: Range, min: number, max: number): Range {
  return { min: range.min * min, max: range.max * max };
}

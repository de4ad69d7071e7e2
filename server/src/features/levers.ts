import type { DocumentAnalysis } from '../analysis.ts';
import { gpus, isGpuLabel, isInstanceTypeLabel, type Provider, providerName } from '../catalog/index.ts';
import type { ProjectConfig } from '../config.ts';
import type { OwnPrices } from '../cost/custom-prices.ts';
import {
  breakEven,
  cheaperCard,
  cheaperMachine,
  committedPrices,
  type Priced,
  pricedPod,
  sameGpuElsewhere,
} from '../cost/levers.ts';
import { formatHourly, formatNumber } from '../cost/money.ts';
import type { PodPrice } from '../cost/pod-price.ts';
import { isEnough } from '../memory/fit.ts';
import { isWhole, servedModel } from '../model/served-model.ts';
import type { PodSet, Selector, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { machineSelectors, selectCard, selectMachine, selectRegion } from '../rewrite/select-machine.ts';
import { spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { isRegion } from './hover/gpu-words.ts';

/** Another way to pay for the pods of a set. */
export interface Lever {
  /** `Smallest machine: g6.xlarge`, `Same GPU at Crusoe`. */
  readonly name: string;
  /** US dollars per hour for one pod. */
  readonly hourly: number;
  /** The share that it saves, from 0 to 1. */
  readonly saved: number;
  readonly date: string | null;
  /** How to use it, where the selectors name the machine or the region. */
  readonly step?: Step;
}

/** A change of selectors. */
interface Step {
  /** `Select g6.xlarge`. */
  readonly title: string;
  readonly fix: Fix;
  /** The value that the fix changes, in the document. */
  readonly at: Span;
  /**
   * Whether the hover's second line advises it: not without requests of CPU and memory, because the pod may need more than the scheduler knows, and not
   * for another region, because of the data there.
   */
  readonly advised: boolean;
}

/** The most places that a hover lists. */
const maxPlaces = 3;

/**
 * The levers of a pod set: a smaller machine, another GPU with enough memory for the model, the same GPU elsewhere, committed use. Empty if the price is
 * unknown or a range.
 */
export function leversOf(
  workload: Workload,
  podSet: PodSet,
  document: DocumentAnalysis,
  config: ProjectConfig,
): readonly Lever[] {
  const { prices } = config;
  const priced = pricedPod(podSet, prices);
  if (priced === undefined) return [];
  const best = cheaperMachine(priced, prices);
  return [
    ...(best === undefined ? [] : smallerMachine(podSet, priced, best, document)),
    ...otherCard(workload, podSet, priced, document, config),
    ...elsewhere(podSet, priced, best ?? priced.now, document, prices),
    ...committedPrices(priced).map(({ term, hourly }) =>
      lever(
        priced,
        `Committed use, ${term.replace('-', ' ')}`,
        hourly,
        (priced.now.offer.committedFrom ?? priced.now.offer).date,
      ),
    ),
  ];
}

function lever({ now }: Priced, name: string, hourly: number, date: string | null): Lever {
  return { name, hourly, saved: 1 - hourly / now.hourly, date };
}

function smallerMachine(
  podSet: PodSet,
  priced: Priced,
  best: PodPrice,
  { document }: DocumentAnalysis,
): readonly Lever[] {
  const { instanceType, provider, date } = best.offer;
  if (provider === null) return [];
  const title = `Select ${instanceType}`;
  const change = fix(
    titleOf(`${title} instead of ${priced.now.offer.instanceType}`, priced, best),
    'unsafe',
    selectMachine(document, podSet, provider, instanceType),
  );
  const { cpu, memoryGiB } = podSet.placement.needs;
  const needsKnown = cpu > 0 && memoryGiB > 0;
  const missing = cpu > 0 ? 'memory' : memoryGiB > 0 ? 'CPU' : 'CPU or memory';
  const name = `Cheapest machine that fits the pod: ${instanceType}${needsKnown ? '' : ` (no ${missing} requested)`}`;
  const step = change && placed(title, change, machineSelectors(podSet)[0], needsKnown);
  return [{ ...lever(priced, name, best.hourly, date), ...step }];
}

/** Other GPUs differ in speed, so this is never advised. */
function otherCard(
  workload: Workload,
  podSet: PodSet,
  priced: Priced,
  { document }: DocumentAnalysis,
  { prices, headroom }: ProjectConfig,
): readonly Lever[] {
  const [container, ...others] = podSet.containers.filter(({ accelerators }) => accelerators.length > 0);
  const served = container && others.length === 0 ? servedModel(container, workload) : null;
  const model = served?.model ?? null;
  if (model === null || !isWhole(model)) return [];
  const best = cheaperCard(priced, prices, (devices) => isEnough(model, devices, headroom));
  const gpu = best && gpus.get(best.offer.gpu);
  if (best === undefined || gpu === undefined || best.offer.provider === null) return [];
  const { instanceType, provider, date } = best.offer;
  const title = `Select the ${gpu.name}`;
  const machines = machineSelectors(podSet);
  const cards = podSet.selectors.filter(({ key }) => isGpuLabel(key));
  const change = fix(
    titleOf(`${title} instead of the ${gpus.get(priced.model)?.name ?? priced.model}`, priced, best),
    'unsafe',
    cards.length === 0 && machines.length > 0 ? [] : selectCard(document, podSet, gpu),
    podSet.selectors.some(({ key }) => isInstanceTypeLabel(key))
      ? selectMachine(document, podSet, provider, instanceType)
      : [],
  );
  const name = `${gpu.name} on ${instanceType}, with enough memory for ${shorten(model.name.slice(model.name.lastIndexOf('/') + 1))}`;
  return [
    { ...lever(priced, name, best.hourly, date), ...(change && placed(title, change, cards[0] ?? machines[0], false)) },
  ];
}

function elsewhere(
  podSet: PodSet,
  priced: Priced,
  here: PodPrice,
  { document }: DocumentAnalysis,
  prices: OwnPrices,
): readonly Lever[] {
  return sameGpuElsewhere({ ...priced, now: here }, prices)
    .slice(0, maxPlaces)
    .map((price): Lever => {
      const { provider, region, date } = price.offer;
      const name = `Same GPU at ${placeWords(provider, region)}`;
      // A pod moves to another region of its provider by its selector; another provider is another cluster.
      const isNear = provider === priced.now.offer.provider;
      const title = `Select region ${region}`;
      const change = isNear
        ? fix(titleOf(title, priced, price), 'unsafe', selectRegion(document, podSet, region))
        : undefined;
      const selector = podSet.selectors.find(({ key }) => key === 'topology.kubernetes.io/region');
      return { ...lever(priced, name, price.hourly, date), ...(change && placed(title, change, selector, false)) };
    });
}

function placed(title: string, change: Fix, selector: Selector | undefined, advised: boolean): Pick<Lever, 'step'> {
  const at = selector?.values[0]?.at;
  return at === undefined ? {} : { step: { title, fix: change, at: spanOf(at), advised } };
}

function titleOf(change: string, { now }: Priced, { hourly }: PodPrice): string {
  return `${change}: ${formatHourly(hourly)} per pod instead of ${formatHourly(now.hourly)}`;
}

function placeWords(provider: Provider | null, region: string): string {
  return `${providerName(provider ?? '')}${isRegion(region) ? ` ${region}` : ''}`;
}

/** `Own H100 80GB SXM: $2.54 per hour of work; break-even with AWS p5.48xlarge on demand after 14 months at 60% utilization`. */
export function breakEvenLines({ podSets }: Workload, { prices }: ProjectConfig): readonly string[] {
  const lines = podSets.flatMap((podSet) => {
    const found = breakEven(podSet, prices);
    if (found === undefined) return [];
    const { machine, owned, rented, months } = found;
    const { gpu, provider, instanceType } = rented.offer;
    const own = `Own ${gpus.get(gpu)?.name ?? gpu}: ${formatHourly(owned)} per GPU at ${formatNumber(machine.utilizationPercent)}% utilization`;
    const cloud = `${providerName(provider ?? '')} ${instanceType} on demand`;
    const when =
      months === undefined
        ? `no break-even with ${cloud} within ${formatNumber(machine.years)} years`
        : `break-even with ${cloud} after ${formatNumber(Math.ceil(months))} months`;
    return [`${own}; ${when}`];
  });
  return [...new Set(lines)];
}

import type { DocumentAnalysis } from '../../analysis.ts';
import { instanceType, providerName } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import type { Assumption } from '../../cost/assumption.ts';
import { assumptionLines, dateWords, ownPriceWords } from '../../cost/assumption-words.ts';
import { acceleratorsOf, amountOf, inheritedBy, unbounded } from '../../cost/estimate.ts';
import {
  formatAmount,
  formatCount,
  formatDollars,
  formatHourly,
  formatNumber,
  fromWords,
  HOURS_PER_MONTH,
  plural,
  pricingWords,
} from '../../cost/money.ts';
import { missingFor } from '../../cost/no-estimate.ts';
import { noEstimateWords } from '../../cost/no-estimate-words.ts';
import { oldPriceAge, oldPriceWords } from '../../cost/price-age.ts';
import { timesCount } from '../../cost/range.ts';
import { hoursPerMonth, runBasis } from '../../cost/run-cost.ts';
import type { CostBasis, CostEstimate, Range, RunCost } from '../../cost/types.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { shiftSpan } from '../../yaml/span.ts';
import { costWords } from '../code-lens.ts';
import { breakEvenLines } from '../levers.ts';
import {
  describeAccelerators,
  detailsAt,
  deviceNoun,
  formatShare,
  isRegion,
  nounOfDevices,
  perPodOf,
  requestedDevices,
} from './gpu-words.ts';
import { leverBlocks, leversOfWorkload } from './lever-blocks.ts';
import { nextStep, setGpu } from './next-step.ts';
import { whatItWouldCost } from './price-range.ts';
import type { Block } from './render.ts';

/** The parts of a hover about money, in the order in which it shows them. */
export interface CostBlocks {
  /** The amounts, in one line. */
  readonly lead: readonly Block[];
  readonly action: readonly Block[];
  /** The amounts of each pod set; without a price, the possible prices. */
  readonly table: readonly Block[];
  readonly levers: readonly Block[];
  /** What the amounts rest on, one line each. */
  readonly basis: readonly string[];
}

/** The amounts, the next step, other ways to pay, and the basis; without a price, the missing fact and the possible prices. */
export function costBlocks(workload: Workload, document: DocumentAnalysis, config: ProjectConfig): CostBlocks {
  const result = document.costOf(workload);
  const range = document.rangeOf(workload);
  const { cost, unknown } = result;
  const lead: readonly Block[] = [
    { kind: 'lead', text: `${describeAccelerators(workload)} · ${costWords(workload, result, range)}` },
  ];
  // Without a price, only the assumptions behind the counts apply.
  const others = [
    ...inheritedBy(workload.podSets),
    ...(range === undefined ? [] : workload.podSets.flatMap(unbounded)),
  ];
  const assumptions = [...(cost?.assumptions ?? others), ...fromConfig(workload, config)];
  const runs = cost?.run === undefined ? undefined : runBasis(cost.run);
  const basis = [...assumptionLines(assumptions, config.origins ?? {}), ...(runs === undefined ? [] : [runs])];
  const target = shiftSpan(detailsAt(workload), document.base);
  if (cost === null) {
    const isGpuMissing = missingFor(unknown) === 'gpu';
    const why: Block = { kind: 'text', text: `${noEstimateWords(unknown)}.` };
    const table = [why, ...(isGpuMissing ? whatItWouldCost(range) : [])];
    return { lead, action: isGpuMissing ? [setGpu(target)] : [], table, levers: [], basis };
  }
  const levers = leversOfWorkload(workload, document, config);
  return {
    lead,
    action: nextStep(levers, cost, { document, workload, target }),
    table: [costTable(workload, cost)],
    levers: leverBlocks(levers, breakEvenLines(workload, config)),
    basis: [...priceLines(cost, config), ...basis],
  };
}

/** Values that come from the config, not from the manifest, and affect the price. */
function fromConfig({ podSets }: Workload, config: ProjectConfig): readonly Assumption[] {
  const { origins = {}, region, capacity, sharing } = config;
  const { replicas } = sharing;
  const isPlaced = ({ selectors }: PodSet) => selectors.some(({ key }) => key.startsWith('topology.kubernetes.io/'));
  const isRegion = podSets.some((podSet) => podSet.placement.region === region && !isPlaced(podSet));
  const isCapacity = podSets.some(
    ({ placement }) => placement.capacityAt === undefined && placement.capacity === capacity,
  );
  const isShared = podSets.some(
    ({ accelerators, selectors }) =>
      accelerators.some(({ devices, perPod }) => replicas !== null && perPod && devices === perPod / replicas) &&
      !selectors.some(({ key }) => /gpu\.replicas$|max-shared-clients/.test(key)),
  );
  const found: Assumption[] = [];
  if (isShared && replicas !== null && origins['sharing.replicas'])
    found.push({ kind: 'podsPerGpu', pods: replicas, from: 'config' });
  if (isRegion && region !== null && origins.region) found.push({ kind: 'region', region, from: 'config' });
  if (isCapacity && capacity !== null && origins.capacity) found.push({ kind: 'capacity', capacity, from: 'config' });
  return found;
}

/** Hovers are narrow: one column combines pods and devices. */
function costTable(workload: Workload, cost: CostEstimate): Block {
  const priced = workload.podSets.flatMap((podSet) => {
    const bases = cost.basis.filter((basis) => basis.podSet === podSet.name);
    if (acceleratorsOf(podSet).length > 1) return bases.map((basis) => ({ podSet, basis, isOther: false }));
    // Several prices of one request are alternatives.
    const sorted = [...bases].sort((a, b) => a.instanceHourly * a.share - b.instanceHourly * b.share);
    return sorted.map((basis, index) => ({ podSet, basis, isOther: index > 0 }));
  });
  const requested = priced.flatMap(({ podSet }) => requestedDevices(podSet));
  const devices = requested.every(({ form }) => form === 'whole') ? `${nounOfDevices(requested)}s` : 'devices';
  const providers = new Set(cost.basis.map(({ provider }) => provider)).size;
  const isInRegions = ({ instanceType: name, region }: CostBasis) =>
    cost.basis.some((other) => other.instanceType === name && other.region !== region);
  const isMixed = new Set(cost.basis.map(({ pricing }) => pricing)).size > 1;
  const long = longAmounts(cost.run);
  const amounts = (hourly: Range, isOpen: boolean) => [
    fromWords(hourly, isOpen, formatAmount),
    ...(long === undefined ? [] : [fromWords(timesCount(hourly, long.hours), isOpen, long.format)]),
  ];
  const parts = priced.filter(({ isOther }) => !isOther).length;
  const total = parts > 1 ? [['Total', '', '', ...amounts(cost.hourly, cost.isOpen)]] : [];
  return {
    kind: 'table',
    head: ['Pod set', 'Instance', `Pods × ${devices}`, '$/h', ...(long === undefined ? [] : [long.title])],
    rows: [
      ...priced.map(({ podSet, basis, isOther }) => {
        const region = isInRegions(basis) && isRegion(basis.region) ? `, ${basis.region}` : '';
        // Without it, one machine would have two prices.
        const capacity = isMixed ? `, ${pricingWords(basis.pricing)}` : '';
        const instance = `${instanceWords(basis, providers)}${region}${capacity}`;
        return [isOther ? 'or' : podSet.name, instance, ...costCells(podSet, basis, amounts)];
      }),
      ...total,
    ],
  };
}

function costCells(
  podSet: PodSet,
  basis: CostBasis,
  amounts: (hourly: Range, isOpen: boolean) => readonly string[],
): readonly string[] {
  const hourly = amountOf(basis, podSet);
  const devices = requestedDevices(podSet).map((accelerator) => formatCount(perPodOf(accelerator)));
  const each = devices.length > 1 ? `(${devices.join(' + ')})` : (devices[0] ?? '?');
  return [`${formatCount(podSet.pods)} × ${each}`, ...amounts(hourly, podSet.pods.max === null)];
}

/** `1/4 of p5.48xlarge`. Names the provider only if there are several; the price list names it anyway. */
function instanceWords({ provider, instanceType: type, share }: CostBasis, providers: number): string {
  const name = providers === 1 || provider === null ? type : `${providerName(provider)} ${type}`;
  if (share === 1) return name;
  return share > 1 ? `${formatNumber(share)} × ${name}` : `${formatShare(share, maxParts)} of ${name}`;
}

/** Shares of an instance are fractions up to 16 devices with 8 slices each. */
const maxParts = 128;

/** The column with the price of a month, of one run, or of the runs of a month; undefined if a workload ends and nobody knows when. */
function longAmounts(run: RunCost | undefined) {
  if (run === undefined) return { title: '$/month', hours: HOURS_PER_MONTH, format: formatDollars };
  const isOnce = run.perMonth === undefined;
  const hours = isOnce ? run.hours : hoursPerMonth(run);
  return hours === null ? undefined : { title: isOnce ? '$/run' : '$/month', hours, format: formatAmount };
}

function priceLines({ basis }: CostEstimate, { origins, prices }: ProjectConfig): readonly string[] {
  const paid = `${ownPriceWords} from ${origins?.prices ?? 'the config'}`;
  const age = oldPriceAge(basis, prices);
  return [...new Set(basis.map((one) => priceLine(one, paid))), ...(age === null ? [] : [oldPriceWords(age)])];
}

function priceLine(basis: CostBasis, paid: string): string {
  const { provider, asOf, source, spotInstanceHourly } = basis;
  const date = source === null ? paid : dateWords(asOf);
  const spot = spotInstanceHourly && source !== null ? `, ${formatHourly(spotInstanceHourly)} spot` : '';
  const region = isRegion(basis.region) ? ` ${basis.region}` : '';
  const name = provider === null ? basis.instanceType : `${providerName(provider)}${region} ${basis.instanceType}`;
  return `${name}${devicesOf(basis)}: ${formatHourly(basis.instanceHourly)} ${pricingWords(basis.pricing)}${spot}, ${date}`;
}

/** The devices of an instance of which the pod uses a share. */
function devicesOf({ provider, instanceType: name, share }: CostBasis): string {
  const type = provider === null || share === 1 ? undefined : instanceType(name);
  if (!type?.gpuCount || type.gpuCount === 1) return '';
  return ` (${plural(type.gpuCount, deviceNoun([{ resource: '', model: type.gpu }]))})`;
}

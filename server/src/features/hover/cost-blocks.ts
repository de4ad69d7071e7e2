import { instanceType, providerName } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import type { Assumption } from '../../cost/assumption.ts';
import { assumptionLines, dateWords, ownPriceWords } from '../../cost/assumption-words.ts';
import { amountOf, inheritedBy, unbounded } from '../../cost/estimate.ts';
import {
  formatAmount,
  formatCount,
  formatHourly,
  formatMonthlyAmount,
  formatNumber,
  plural,
} from '../../cost/money.ts';
import { missingFor } from '../../cost/no-estimate.ts';
import { noEstimateWords } from '../../cost/no-estimate-words.ts';
import type { PossibleCost } from '../../cost/possible-cost.ts';
import type { CostBasis, CostEstimate, CostResult, Range } from '../../cost/types.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { costWords } from '../code-lens.ts';
import {
  describeAccelerators,
  deviceNoun,
  formatShare,
  isRegion,
  nounOfDevices,
  requestedDevices,
} from './gpu-words.ts';
import { whatItWouldCost } from './price-range.ts';
import type { Block } from './render.ts';

/**
 * The amounts first, then their basis; without a price, the missing fact and the possible prices.
 * @param range the cost on possible models, if nothing names the model
 * @param between blocks between the amounts and their basis
 */
export function costBlocks(
  workload: Workload,
  result: CostResult,
  range: PossibleCost | undefined,
  config: ProjectConfig,
  between: readonly Block[] = [],
): readonly Block[] {
  const { cost, unknown } = result;
  const lead: Block = {
    kind: 'lead',
    text: `${describeAccelerators(workload)} · ${costWords(workload, result, range)}`,
  };
  // Without a price, only the assumptions behind the counts apply.
  const others = [
    ...inheritedBy(workload.podSets),
    ...(range === undefined ? [] : workload.podSets.flatMap(unbounded)),
  ];
  const assumptions = [...(cost?.assumptions ?? others), ...fromConfig(workload, config)];
  const items = assumptionLines(assumptions, config.origins ?? {});
  const rest: readonly Block[] = items.length === 0 ? [] : [{ kind: 'list', title: 'Assumptions', items }];
  if (cost !== null) return [lead, costTable(workload, cost), ...between, priceList(cost, config), ...rest];
  const why: Block = { kind: 'text', text: `${noEstimateWords(unknown)}.` };
  const instead = missingFor(unknown) === 'gpu' ? [why, ...whatItWouldCost(range)] : [why];
  return [lead, ...instead, ...between, ...rest];
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
  const priced = cost.basis.flatMap((basis) => {
    const podSet = workload.podSets.find(({ name }) => name === basis.podSet);
    return podSet === undefined ? [] : [{ podSet, basis }];
  });
  const requested = priced.flatMap(({ podSet }) => requestedDevices(podSet));
  const devices = requested.every(({ form }) => form === 'whole') ? `${nounOfDevices(requested)}s` : 'devices';
  const providers = new Set(cost.basis.map(({ provider }) => provider)).size;
  const total =
    new Set(cost.basis.map(({ podSet }) => podSet)).size > 1 ? [['Total', '', '', ...amounts(cost.hourly)]] : [];
  return {
    kind: 'table',
    head: ['Pod set', 'Instance', `Pods × ${devices}`, '$/h', '$/month'],
    rows: [...priced.map(({ podSet, basis }) => costRow(podSet, basis, providers)), ...total],
  };
}

function costRow(podSet: PodSet, basis: CostBasis, providers: number): readonly string[] {
  const hourly = amountOf(basis, podSet);
  const devices = requestedDevices(podSet).map(({ perPod: count }) => count ?? '?');
  const each = devices.length > 1 ? `(${devices.join(' + ')})` : (devices[0] ?? '?');
  return [podSet.name, instanceWords(basis, providers), `${formatCount(podSet.pods)} × ${each}`, ...amounts(hourly)];
}

/** `1/4 of p5.48xlarge`. Names the provider only if there are several; the price list names it anyway. */
function instanceWords({ provider, instanceType: type, share }: CostBasis, providers: number): string {
  const name = providers === 1 || provider === null ? type : `${providerName(provider)} ${type}`;
  if (share === 1) return name;
  return share > 1 ? `${formatNumber(share)} × ${name}` : `${formatShare(share, maxParts)} of ${name}`;
}

/** Shares of an instance are fractions up to 16 devices with 8 slices each. */
const maxParts = 128;

/** The table header has the units. */
function amounts(hourly: Range): readonly string[] {
  return [formatAmount(hourly), formatMonthlyAmount(hourly)];
}

function priceList({ basis }: CostEstimate, { origins }: ProjectConfig): Block {
  const paid = `${ownPriceWords} from ${origins?.prices ?? 'the config'}`;
  return { kind: 'list', title: 'Prices', items: [...new Set(basis.map((one) => priceLine(one, paid)))] };
}

function priceLine(basis: CostBasis, paid: string): string {
  const { provider, asOf, pricing, source, spotInstanceHourly } = basis;
  const date = source === null ? paid : dateWords(asOf);
  const spot = spotInstanceHourly && source !== null ? `, ${formatHourly(spotInstanceHourly)} spot` : '';
  const region = isRegion(basis.region) ? ` ${basis.region}` : '';
  const name = provider === null ? basis.instanceType : `${providerName(provider)}${region} ${basis.instanceType}`;
  return `${name}${devicesOf(basis)}: ${formatHourly(basis.instanceHourly)} ${pricing === 'on-demand' ? 'on demand' : pricing}${spot}, ${date}`;
}

/** The devices of an instance of which the pod uses a share. */
function devicesOf({ provider, instanceType: name, share }: CostBasis): string {
  const type = provider === null || share === 1 ? undefined : instanceType(name);
  if (!type?.gpuCount || type.gpuCount === 1) return '';
  return ` (${plural(type.gpuCount, deviceNoun([{ resource: '', model: type.gpu }]))})`;
}

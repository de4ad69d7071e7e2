import { instanceType, providerName } from '../../catalog/index.ts';
import { formatCount, formatHourly, formatMonthly, formatNumber } from '../../cost/format.ts';
import { ownSource } from '../../cost/offers.ts';
import type { CostBasis, CostEstimate, CostResult, Range } from '../../cost/types.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { costWords } from '../code-lens.ts';
import { askedFor, describeAccelerators, deviceNoun, formatShare, isRegion } from './gpu-words.ts';
import type { Block } from './markdown.ts';
import { whatItWouldCost } from './price-range.ts';

/** The numbers first, then what they rest on; without a price, what is missing and what it would be. */
export function costBlocks(workload: Workload, result: CostResult): readonly Block[] {
  const { cost, problem, missing } = result;
  const lead: Block = { kind: 'lead', text: `${describeAccelerators(workload)} · ${costWords(workload, result)}` };
  if (cost !== null) return [lead, costTable(workload, cost), ...reasons(cost)];
  const why: readonly Block[] = problem === null ? [] : [{ kind: 'text', text: `${problem}.` }];
  const rest = missing === 'gpu' ? whatItWouldCost(workload) : why;
  return [lead, ...rest, ...toldElsewhere(workload)];
}

/** What the counts rest on; with a price it is among the assumptions. */
function toldElsewhere({ podSets }: Workload): readonly Block[] {
  const told = [...new Set(podSets.flatMap((podSet) => podSet.told))];
  return told.length === 0 ? [] : [{ kind: 'list', title: 'Assumptions', items: told }];
}

/** A hover is narrow: what runs where comes first, and one column says how much of it. */
function costTable(workload: Workload, cost: CostEstimate): Block {
  const priced = cost.basis.flatMap((basis) => {
    const podSet = workload.podSets.find(({ name }) => name === basis.podSet);
    return podSet === undefined ? [] : [{ podSet, basis }];
  });
  const asked = priced.flatMap(({ podSet }) => askedFor(podSet));
  const devices = asked.every(({ form }) => form === 'whole') ? `${deviceNoun(asked)}s` : 'devices';
  const providers = new Set(cost.basis.map(({ provider }) => provider)).size;
  const total =
    new Set(cost.basis.map(({ podSet }) => podSet)).size > 1 ? [['all', '', '', ...amounts(cost.hourly)]] : [];
  return {
    kind: 'table',
    head: ['Pod set', 'Instance', `Pods × ${devices}`, '$/h', '$/month'],
    rows: [...priced.map(({ podSet, basis }) => costRow(podSet, basis, providers)), ...total],
  };
}

function costRow(podSet: PodSet, basis: CostBasis, providers: number): readonly string[] {
  const min = podSet.pods.min ?? 0;
  // As the estimate counts it where nothing bounds the replicas.
  const max = podSet.pods.max ?? Math.max(min, 1);
  const perPod = basis.instanceHourly * basis.share;
  const hourly: Range = { min: perPod * min, max: perPod * max };
  const devices = askedFor(podSet).map(({ perPod: count }) => count ?? '?');
  const each = devices.length > 1 ? `(${devices.join(' + ')})` : (devices[0] ?? '?');
  return [podSet.name, machine(basis, providers), `${formatCount(podSet.pods)} × ${each}`, ...amounts(hourly)];
}

/** `1/4 of p5.48xlarge`; the provider is said in the list of prices, and here only where there are several. */
function machine({ provider, instanceType: type, share }: CostBasis, providers: number): string {
  const name = providers === 1 || provider === 'own' ? type : `${providerName(provider)} ${type}`;
  if (share === 1) return name;
  return share > 1 ? `${formatNumber(share)} × ${name}` : `${formatShare(share, mostDevices)} of ${name}`;
}

/** Parts of a machine are told as a fraction up to 16 cards in 8 slices each. */
const mostDevices = 128;

/** The table's head says what they are per. */
function amounts(hourly: Range): readonly string[] {
  return [formatHourly(hourly).replace(/\/h$/, ''), formatMonthly(hourly).replace(/\/month$/, '')];
}

function reasons({ basis, assumptions }: CostEstimate): readonly Block[] {
  const prices: Block = { kind: 'list', title: 'Prices', items: [...new Set(basis.map(priceLine))] };
  return assumptions.length === 0 ? [prices] : [prices, { kind: 'list', title: 'Assumptions', items: assumptions }];
}

function priceLine(basis: CostBasis): string {
  const { asOf, pricing, source, spotInstanceHourly } = basis;
  const isOwn = source === ownSource;
  const region = isRegion(basis.region) && basis.provider !== 'own' ? ` ${basis.region}` : '';
  const date = isOwn ? ownSource : asOf === null ? 'date unknown' : `as of ${asOf}`;
  const spot = spotInstanceHourly && !isOwn ? `, ${formatHourly(spotInstanceHourly)} spot` : '';
  const name =
    basis.provider === 'own' ? basis.instanceType : `${providerName(basis.provider)}${region} ${basis.instanceType}`;
  return `${name}${partsOf(basis)}: ${formatHourly(basis.instanceHourly)} ${pricing}${spot}, ${date}`;
}

/** What a share of the machine is counted by. */
function partsOf({ provider, instanceType: name, share }: CostBasis): string {
  const count = provider === 'own' || share === 1 ? null : (instanceType(name)?.gpuCount ?? null);
  return count === null || count === 1 ? '' : ` (${formatNumber(count)} cards)`;
}

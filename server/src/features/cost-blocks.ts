import { providerName } from '../catalog/index.ts';
import { formatCount, formatHourly, formatMonthly } from '../cost/format.ts';
import { ownSource } from '../cost/offers.ts';
import type { CostBasis, CostEstimate, CostResult, Range } from '../cost/types.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { costWords } from './code-lens.ts';
import { askedFor, describeAccelerators, formatShare, isRegion } from './gpu-words.ts';
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

function costTable(workload: Workload, cost: CostEstimate): Block {
  const rows = cost.basis.flatMap((basis) => {
    const podSet = workload.podSets.find(({ name }) => name === basis.podSet);
    return podSet === undefined ? [] : [costRow(podSet, basis)];
  });
  const total =
    new Set(cost.basis.map(({ podSet }) => podSet)).size > 1 ? [['all', '', '', '', ...amounts(cost.hourly)]] : [];
  return {
    kind: 'table',
    head: ['Pod set', 'Pods', 'Devices a pod', 'Instance', '$/h', '$/month'],
    rows: [...rows, ...total],
  };
}

function costRow(podSet: PodSet, basis: CostBasis): readonly string[] {
  const min = podSet.pods.min ?? 0;
  // As the estimate counts it where nothing bounds the replicas.
  const max = podSet.pods.max ?? Math.max(min, 1);
  const perPod = basis.instanceHourly * basis.share;
  const hourly: Range = { min: perPod * min, max: perPod * max };
  const devices = askedFor(podSet).map(({ perPod: count }) => count ?? '?');
  const share = basis.share === 1 ? '' : ` × ${formatShare(basis.share)}`;
  return [podSet.name, formatCount(podSet.pods), devices.join(' + '), `${machine(basis)}${share}`, ...amounts(hourly)];
}

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
  return `${name}: ${formatHourly(basis.instanceHourly)} ${pricing}${spot}, ${date}`;
}

/** A price for the GPU itself names no machine. */
function machine({ provider, instanceType }: CostBasis): string {
  return provider === 'own' ? instanceType : `${providerName(provider)} ${instanceType}`;
}

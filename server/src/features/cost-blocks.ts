import { formatCount, formatHourly, formatMonthly } from '../cost/format.ts';
import type { CostBasis, CostEstimate, CostResult, Range } from '../cost/types.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { costWords } from './code-lens.ts';
import { askedFor, describeAccelerators, formatShare, providerName } from './gpu-words.ts';
import type { Block } from './markdown.ts';
import { commonGpus, pricedGpus, priceRange } from './prices.ts';

/** The numbers first, then what they rest on; without a price, what is missing and what it would be. */
export function costBlocks(workload: Workload, result: CostResult): readonly Block[] {
  const { cost, problem, missing } = result;
  const lead: Block = { kind: 'lead', text: `${describeAccelerators(workload)} · ${costWords(workload, result)}` };
  if (cost !== null) return [lead, costTable(workload, cost), ...reasons(cost)];
  const why: readonly Block[] = problem === null ? [] : [{ kind: 'text', text: `${problem}.` }];
  return missing === 'gpu' ? [lead, ...whatGpusCost()] : [lead, ...why];
}

function costTable(workload: Workload, cost: CostEstimate): Block {
  const rows = cost.basis.flatMap((basis) => {
    const podSet = workload.podSets.find(({ name }) => name === basis.podSet);
    return podSet === undefined ? [] : [costRow(podSet, basis)];
  });
  const total =
    new Set(cost.basis.map(({ podSet }) => podSet)).size > 1
      ? [['all', '', '', '', formatHourly(cost.hourly), formatMonthly(cost.hourly)]]
      : [];
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
  return [
    podSet.name,
    formatCount(podSet.pods),
    devices.join(' + '),
    `${providerName(basis.provider)} ${basis.instanceType}${share}`,
    formatHourly(hourly),
    formatMonthly(hourly),
  ];
}

function reasons({ basis, assumptions, idleHourly }: CostEstimate): readonly Block[] {
  const prices = [...new Set(basis.map(priceLine))];
  const blocks: Block[] = [{ kind: 'list', title: 'Prices', items: prices }];
  const said = [...assumptions];
  if (idleHourly > 0) said.push(`Without traffic or work: ${formatHourly(idleHourly)}, ${formatMonthly(idleHourly)}`);
  if (said.length > 0) blocks.push({ kind: 'list', title: 'Assumptions', items: said });
  return blocks;
}

function priceLine(basis: CostBasis): string {
  const region = basis.region === '' ? '' : ` ${basis.region}`;
  const date = basis.asOf === null ? 'date unknown' : `as of ${basis.asOf}`;
  return `${providerName(basis.provider)}${region} ${basis.instanceType}: ${formatHourly(basis.instanceHourly)} ${basis.pricing}, ${date}`;
}

const shownProviders = ['aws', 'azure', 'gcp'] as const;

/** The catalogue's range, for people who have not said which GPU they mean. */
function whatGpusCost(): readonly Block[] {
  const all = pricedGpus().map((one) => ({ name: one.gpu.name, range: priceRange(one) ?? { min: 0, max: 0 } }));
  const [cheapest] = all;
  const dearest = [...all].sort((a, b) => b.range.max - a.range.max)[0];
  const advice: Block = {
    kind: 'text',
    text: 'To get a price, name the GPU in a nodeSelector, for instance nvidia.com/gpu.product, or set gpu in .gpulint.yaml.',
  };
  if (cheapest === undefined || dearest === undefined) return [advice];
  const range = formatHourly({ min: cheapest.range.min, max: dearest.range.max });
  const text = `One GPU costs ${range} on demand, from ${cheapest.name} to ${dearest.name}.`;
  return [{ kind: 'text', text }, commonTable(), advice];
}

function commonTable(): Block {
  return {
    kind: 'table',
    head: ['GPU', ...shownProviders.map(providerName), 'Cheapest'],
    rows: commonGpus(8).map(({ gpu, byProvider }) => {
      const price = (provider: string) => byProvider.find((one) => one.provider === provider)?.hourly;
      const cell = (hourly: number | undefined) => (hourly === undefined ? '–' : formatHourly(hourly));
      const [first] = byProvider;
      const cheapest = first === undefined ? '–' : `${formatHourly(first.hourly)} ${providerName(first.provider)}`;
      return [gpu.name, ...shownProviders.map((provider) => cell(price(provider))), cheapest];
    }),
  };
}

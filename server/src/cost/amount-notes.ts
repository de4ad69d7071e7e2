import { providerName } from '../catalog/index.ts';
import { isRequested } from '../model/accelerators.ts';
import type { Workload } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import { formatHourly } from './money.ts';
import { modelName } from './requested-words.ts';
import type { CostEstimate } from './types.ts';

/** What an amount alone would hide: `, spot price unknown`, ` (node p5.48xlarge $55.04/h)`, ` (0 pods; $55.04/h on demand per pod)`. Empty if it says all. */
export function amountNotes(cost: CostEstimate, workload: Workload): string {
  if (runsNoPods(workload)) return ` (${noPodsWords(cost)})`;
  const node = nodeWords(cost);
  return `${amountCaveat(cost, workload)}${node === undefined ? '' : ` (${node})`}`;
}

/** The part of the notes that says what the amount is not: `, spot price unknown`, ` in us-east-1, eu-west-1 unknown`. */
export function amountCaveat(cost: CostEstimate, workload: Workload): string {
  return cost.assumptions.map((one) => caveat(one, workload)).find((one) => one !== undefined) ?? '';
}

/** Whether the workload requests accelerators, but all of its pods that do are scaled to 0. */
export function runsNoPods({ podSets }: Workload): boolean {
  const using = podSets.filter(({ accelerators }) => accelerators.some(isRequested));
  return using.length > 0 && using.every(({ pods }) => pods.max === 0);
}

/** `0 pods; $55.04/h on demand per pod`: what the next pod costs, if there is one price. */
function noPodsWords({ basis }: CostEstimate): string {
  const [first, ...others] = basis;
  if (first === undefined || others.length > 0) return '0 pods';
  return `0 pods; ${formatHourly(first.instanceHourly * first.share)} ${first.pricing.replace('-', ' ')} per pod`;
}

function caveat(assumption: Assumption, { podSets }: Workload): string | undefined {
  // A price on demand is only the most that a pod on spot nodes costs.
  if (assumption.kind === 'onDemand') return ', spot price unknown';
  if (assumption.kind === 'otherRegion' && podSets.some(({ placement }) => placement.region === assumption.region))
    return ` in ${assumption.pricedRegion}, ${assumption.region} unknown`;
  if (assumption.kind === 'unpriced')
    return `, without ${withoutWords(assumption.models)}${assumption.provider == null ? '' : ` at ${providerName(assumption.provider)}`}`;
  if (assumption.kind === 'sageMaker') return " on EC2, SageMaker's price unknown";
  return assumption.kind === 'premium' ? ' without the premium of Autopilot' : undefined;
}

function withoutWords(models: readonly string[]): string {
  const [first = '', second, ...others] = models.map(modelName);
  if (second === undefined) return first;
  return others.length === 0 ? `${first} and ${second}` : `${models.length} models that have no price`;
}

/** If the pods take a part of one machine: the node costs that much, whoever uses the rest. */
function nodeWords({ basis }: CostEstimate): string | undefined {
  const [first, ...others] = basis;
  if (first === undefined || first.share >= 1 || first.provider === null) return undefined;
  if (others.some((one) => one.instanceType !== first.instanceType || one.pricing !== first.pricing)) return undefined;
  return `node ${first.instanceType} ${formatHourly(first.instanceHourly)}`;
}

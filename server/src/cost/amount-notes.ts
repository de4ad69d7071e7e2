import { providerName } from '../catalog/index.ts';
import type { Workload } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import { formatHourly } from './money.ts';
import { modelName } from './requested-words.ts';
import type { CostEstimate } from './types.ts';

/** What an amount alone would hide: `, spot price unknown`, ` (node p5.48xlarge $55.04/h)`. Empty if it says all. */
export function amountNotes(cost: CostEstimate, workload: Workload): string {
  const hidden = cost.assumptions.map((one) => caveat(one, workload)).find((one) => one !== undefined);
  const node = nodeWords(cost);
  return `${hidden ?? ''}${node === undefined ? '' : ` (${node})`}`;
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

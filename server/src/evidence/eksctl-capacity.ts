import { countIn } from '../model/count.ts';
import type { NodePool } from '../model/node-pool.ts';
import { asText, type Cursor, getIn } from '../yaml/cursor.ts';

// Spot and on-demand nodes of eksctl's node groups. https://eksctl.io/usage/spot-instances/

/** The capacity types of a group; none for on demand: all nodes are, unless the distribution leaves a part of them to spot. */
export function eksctlCapacities(group: Cursor): readonly string[] {
  if (asText(getIn(group, 'spot')) === 'true') return ['spot'];
  if (asText(getIn(group, 'instanceMarketOptions', 'marketType')) === 'capacity-block') return ['reserved'];
  const { base, percent } = distributionOf(group);
  if (percent === null || percent >= 100) return [];
  return percent === 0 && base === 0 ? ['spot'] : ['spot', 'on-demand'];
}

/** How a group divides its nodes, if that is known. */
export function onDemandShareOf(group: Cursor): Pick<NodePool, 'onDemandShare'> {
  const { base, percent } = distributionOf(group);
  return base === null || percent === null || percent > 100 ? {} : { onDemandShare: { base, percent } };
}

function distributionOf(group: Cursor): { readonly base: number | null; readonly percent: number | null } {
  const number = (key: string, unset: number) => {
    const written = getIn(group, 'instancesDistribution', key);
    return written === undefined ? unset : countIn(asText(written));
  };
  return { base: number('onDemandBaseCapacity', 0), percent: number('onDemandPercentageAboveBaseCapacity', 100) };
}

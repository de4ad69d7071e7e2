import type { PricesInUse } from '../config.ts';
import { nodePricing } from '../cost/node-price.ts';
import type { ClusterObjects } from '../fleet/cluster-objects.ts';
import type { Coverage } from '../fleet/cluster-view.ts';
import { answerFit } from '../fleet/fit.ts';
import { viewMaker } from '../fleet/view.ts';
import type { Engine } from './engine.ts';
import { ownPricesOf } from './own-prices.ts';

/**
 * Computes views with the prices of a project.
 * @param prices as `ownPricesText` writes them
 * @param inUse the list prices
 */
export function liveEngine(prices: string, inUse: PricesInUse): Engine {
  const make = viewMaker(nodePricing(ownPricesOf(prices, inUse)));
  let known: ClusterObjects | undefined;
  return {
    compute(objects, moment) {
      known = objects;
      return make(objects, moment);
    },
    answer(question, { context, asOf, coverage }) {
      if (known === undefined) throw new Error('a question comes before the objects');
      return answerFit(question, known, { context, asOf, gaps: gapsOf(coverage) });
    },
  };
}

/** What an answer cannot take into account. Groups that the cluster does not serve limit no pod. */
function gapsOf(coverage: readonly Coverage[]): readonly string[] {
  return coverage.flatMap(({ resource, state, namespaces }) => {
    const name = gapNames.get(resource);
    if (name === undefined) return [];
    if (state === 'namespaces' && resource === 'pods')
      return [`pods outside the namespace ${namespaces.join(', ')} are not readable`];
    return state === 'forbidden' ? [`${name} are not readable`] : [];
  });
}

const gapNames: ReadonlyMap<string, string> = new Map([
  ['pods', 'pods'],
  ['resourcequotas', 'quotas'],
  ['resourceclaims.resource.k8s.io', 'resource claims'],
  ['resourceslices.resource.k8s.io', 'devices of dynamic resource allocation'],
  ['clusterqueues.kueue.x-k8s.io', 'Kueue queues'],
  ['localqueues.kueue.x-k8s.io', 'Kueue local queues'],
  ['nodepools.karpenter.sh', 'Karpenter node pools'],
  ['computeclasses.cloud.google.com', 'GKE ComputeClasses'],
]);

import { instanceType } from '../catalog/index.ts';
import type { NodePool, NodeTaint } from './node-pool.ts';
import type { ModelOptions } from './options.ts';
import type { Selector } from './workload.ts';

/**
 * The configured node pool that selectors match: it has at least one of the labels that they name, and none that they contradict. Undefined if
 * no pool or several pools fit.
 */
export function nodePoolOf(selectors: readonly Selector[], pools: readonly NodePool[]): NodePool | undefined {
  if (pools.length === 0) return undefined;
  const [only, ...others] = pools.filter((pool) => fits(selectors, pool));
  return others.length === 0 ? only : undefined;
}

/** The options for pods in a pool: the pool's own values take precedence over those for all GPU nodes. */
export function optionsInPool(options: ModelOptions, pool: NodePool | undefined): ModelOptions {
  if (pool === undefined) return options;
  return {
    ...options,
    gpu: pool.gpu ?? instanceType(pool.instanceType ?? '')?.gpu ?? options.gpu,
    capacity: pool.capacity ?? options.capacity,
  };
}

/** The taints of the nodes that selectors match. */
export function nodeTaints(selectors: readonly Selector[], options: ModelOptions): readonly NodeTaint[] {
  return nodePoolOf(selectors, options.nodePools)?.taints ?? options.taints;
}

function fits(selectors: readonly Selector[], { labels }: NodePool): boolean {
  const named = selectors.filter(({ key }) => Object.hasOwn(labels, key));
  return named.length > 0 && named.every(({ key, values }) => values.some(({ value }) => value === labels[key]));
}

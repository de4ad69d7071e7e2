import { instanceType } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { modelsOfMachines } from './machine-terms.ts';
import { onDisk } from './node-disk.ts';
import type { NodePool, NodeTaint } from './node-pool.ts';
import type { NodeTerm } from './node-terms.ts';
import { type DescribedPod, type OtherNodes, selectorsOfTerms, unknownNodes } from './nodes-of-others.ts';
import type { ModelOptions } from './options.ts';
import { mayTolerate } from './tolerations.ts';
import type { Selector } from './workload.ts';

/**
 * The configured node pools that selectors match: they have at least one of the labels that these name, and none that they contradict. If there
 * are several, those whose taints the pod tolerates. If it tolerates none, all of them: the pod lacks a toleration then.
 */
export function nodePoolsOf(
  selectors: readonly Selector[],
  { nodePools, taints: ofAll }: Pick<ModelOptions, 'nodePools' | 'taints'>,
  { tolerations, resources }: Pick<DescribedPod, 'tolerations' | 'resources'>,
): readonly NodePool[] {
  const fitting = nodePools.filter((pool) => fits(selectors, pool));
  if (fitting.length < 2) return fitting;
  const admits = (taint: NodeTaint) =>
    taint.effect === 'PreferNoSchedule' ||
    resources.includes(taint.key) ||
    tolerations.some((one) => mayTolerate(one, taint));
  const open = fitting.filter(({ taints }) => (taints ?? ofAll).every(admits));
  return open.length === 0 ? fitting : open;
}

/** The nodes of several configured pools; undefined for fewer, and if the catalog lacks the machines of one. */
export function nodesOfPools(
  pools: readonly NodePool[],
  selectors: readonly Selector[],
  at: Cursor,
): OtherNodes | undefined {
  const [first, ...others] = pools;
  if (first === undefined || others.length === 0) return undefined;
  const terms = pools.flatMap(({ labels, instanceType: name, capacity, diskGiB }): NodeTerm[] => {
    const type = instanceType(name ?? '');
    if (type === undefined) return [];
    const stated = [
      ...Object.entries(labels),
      ['node.kubernetes.io/instance-type', type.name] as const,
      ...(capacity == null ? [] : [['karpenter.sh/capacity-type', capacity] as const]),
    ];
    const disk = onDisk(diskGiB == null ? null : { giB: diskGiB, local: 'no' });
    return [[...stated.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })), ...disk]];
  });
  const candidates = modelsOfMachines(terms);
  if (terms.length < pools.length || candidates.length === 0) return undefined;
  const machines = pools.flatMap(({ instanceType: name }) => name ?? []);
  const from = { kind: 'node pool', name: first.name ?? '', file: '.gpulint.yaml' };
  return {
    ...unknownNodes,
    terms,
    labels: selectorsOfTerms(terms, selectors, at),
    models: [{ candidates, from: 'node-pool' }],
    inherited: [{ fact: 'nodes', from, machines: [...new Set(machines)], others: others.length }],
  };
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
  const [only, ...others] = options.nodePools.filter((pool) => fits(selectors, pool));
  return (others.length === 0 ? only?.taints : undefined) ?? options.taints;
}

function fits(selectors: readonly Selector[], { labels }: NodePool): boolean {
  const named = selectors.filter(({ key }) => Object.hasOwn(labels, key));
  return named.length > 0 && named.every(({ key, values }) => values.some(({ value }) => value === labels[key]));
}

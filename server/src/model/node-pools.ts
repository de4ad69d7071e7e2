import { gpus, instanceType, isInstanceTypeLabel } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import type { FlavorFacts } from './cross-references.ts';
import { modelsOfMachines } from './machine-terms.ts';
import { onDisk, withStorage } from './node-disk.ts';
import type { NodePool, NodeTaint } from './node-pool.ts';
import { inBoth, type NodeTerm } from './node-terms.ts';
import { type DescribedPod, type OtherNodes, selectorsOfTerms, unknownNodes } from './nodes-of-others.ts';
import type { ModelOptions } from './options.ts';
import { mayTolerate } from './tolerations.ts';
import type { OwnMachine, Placement, Selector } from './workload.ts';

/**
 * The configured node pools that selectors match: they have at least one of the labels that these name, and none that they contradict. If there
 * are several, those whose taints the pod tolerates. If it tolerates none, all of them: the pod lacks a toleration then.
 */
export function nodePoolsOf(
  selectors: readonly Selector[],
  { nodePools, taints: ofAll }: Pick<ModelOptions, 'nodePools' | 'taints'>,
  { tolerations, resources }: Pick<DescribedPod, 'tolerations' | 'resources'>,
): readonly NodePool[] {
  const labeled = nodePools.filter((pool) => fits(selectors, pool));
  const fitting = labeled.length > 0 ? labeled : poolsOfTypes(selectors, nodePools);
  if (fitting.length < 2) return fitting;
  const admits = (taint: NodeTaint) =>
    taint.effect === 'PreferNoSchedule' ||
    resources.includes(taint.key) ||
    tolerations.some((one) => mayTolerate(one, taint));
  const open = fitting.filter(({ taints }) => (taints ?? ofAll).every(admits));
  return open.length === 0 ? fitting : open;
}

/** The configured pools with the labels of a queue's flavors; none if a flavor has labels that no pool has. */
export function poolsOfFlavors(flavors: readonly FlavorFacts[], pools: readonly NodePool[]): readonly NodePool[] {
  const found = flavors.flatMap(({ labels }) => {
    const wanted = Object.entries(labels ?? {});
    return wanted.length === 0
      ? []
      : [pools.filter((pool) => wanted.every(([key, value]) => pool.labels[key] === value))];
  });
  return found.every((some) => some.length > 0) ? [...new Set(found.flat())] : [];
}

/** The pools of several selected instance types, of which at least one is the user's own; none if one of them is unknown. */
function poolsOfTypes(selectors: readonly Selector[], pools: readonly NodePool[]): readonly NodePool[] {
  const names = selectors.filter(({ key }) => isInstanceTypeLabel(key)).flatMap(({ values }) => values);
  const found = names.flatMap(({ value }): readonly NodePool[] => {
    const known = instanceType(value);
    if (known !== undefined) return [{ name: null, labels: table({}), taints: null, instanceType: known.name }];
    return pools.filter(({ instanceType: name }) => name === value).slice(0, 1);
  });
  const isMixed =
    names.length > 1 && found.length === names.length && found.some((pool) => ownMachineOf(pool).length > 0);
  return isMixed ? found : [];
}

/** The nodes of several configured pools; undefined for fewer, and if nothing is known of the machines of one. */
export function nodesOfPools(
  pools: readonly NodePool[],
  selectors: readonly Selector[],
  at: Cursor,
): OtherNodes | undefined {
  const [first, ...others] = pools;
  if (first === undefined || others.length === 0) return undefined;
  const own = pools.flatMap(ownMachineOf);
  const terms = pools.flatMap(termsOf);
  const cloud = modelsOfMachines(terms);
  if (terms.length + own.length < pools.length || (terms.length > 0 && cloud.length === 0)) return undefined;
  const machines = pools.flatMap(({ instanceType: name }) => name ?? []);
  const from = { kind: 'node pool', name: first.name ?? '', file: '.gpulint.yaml' };
  const inherited = [{ fact: 'nodes' as const, from, machines: [...new Set(machines)], others: others.length }];
  const known = own.flatMap(({ gpu }) => gpus.get(gpu ?? '') ?? []);
  // The lens names either all models or none.
  const candidates = known.length < own.length ? [] : [...new Set([...known, ...cloud])];
  const models = candidates.length === 0 ? [] : [{ candidates, from: 'node-pool' as const }];
  const labels = selectorsOfTerms(terms, own.length > 0 ? [] : selectors, at);
  if (own.length === 0) return { ...unknownNodes, terms, labels, models, inherited };
  return { ...unknownNodes, models, inherited, choices: { own, terms, labels, models: cloud.map(({ id }) => id) } };
}

/** The nodes of a pool of the catalog's machines. */
function termsOf({ labels, instanceType: name, capacity, diskGiB }: NodePool): readonly NodeTerm[] {
  const type = instanceType(name ?? '');
  if (type === undefined) return [];
  const stated = [
    ...Object.entries(labels),
    ['node.kubernetes.io/instance-type', type.name] as const,
    ...(capacity == null ? [] : [['karpenter.sh/capacity-type', capacity] as const]),
  ];
  const disk = onDisk(diskGiB == null ? null : { giB: diskGiB, local: 'no' });
  return [[...stated.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })), ...disk]];
}

function ownMachineOf({ instanceType: name, gpu = null, devices = null }: NodePool): readonly OwnMachine[] {
  return name == null || instanceType(name) !== undefined ? [] : [{ name, gpu, devices }];
}

/** The nodes of several pools, of which some are the user's own machines, as a part of the placement. */
export function choicesOn(
  choices: OtherNodes['choices'],
  terms: readonly NodeTerm[],
  neededGiB: number,
  placementOn: (labels: readonly Selector[], stored: ReturnType<typeof withStorage>) => Placement,
): Pick<Placement, 'choices'> {
  if (choices === undefined) return {};
  const { own, labels, models } = choices;
  const stored = withStorage(inBoth(terms, choices.terms), neededGiB);
  return { choices: { own, cloud: models.length === 0 ? null : { placement: placementOn(labels, stored), models } } };
}

/** The options for pods in a pool: the pool's own values take precedence over those for all GPU nodes. */
export function optionsInPool(options: ModelOptions, pool: NodePool | undefined): ModelOptions {
  if (pool === undefined) return options;
  return {
    ...options,
    gpu: gpuOfPool(pool) ?? options.gpu,
    capacity: pool.capacity ?? options.capacity,
  };
}

/** The GPU that a pool of the config states, or that its machine has; undefined if it is unknown. */
export function gpuOfPool({ gpu, instanceType: name }: NodePool): string | undefined {
  return gpu ?? instanceType(name ?? '')?.gpu ?? undefined;
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

import {
  instanceType,
  isCardLabel,
  isGpuCountLabel,
  isGpuLabel,
  isInstanceTypeLabel,
  isMachineLabel,
  providerOfLabel,
  spotSelector,
} from '../catalog/index.ts';
import { countIn } from './count.ts';
import type { NodePool } from './node-pool.ts';
import type { NodeTerm } from './node-terms.ts';
import type { ModelOptions } from './options.ts';
import { type Capacity, noNeeds, type Placement, type Selector } from './workload.ts';

/**
 * Capacity, provider, region and instance type, from the selectors or else from the config.
 * @param pool the configured node pool that the selectors match
 */
export function lowerPlacement(
  selectors: readonly Selector[],
  options: ModelOptions,
  avoided: readonly Selector[] = [],
  pool: NodePool | undefined = undefined,
  { terms, needs }: Pick<Placement, 'terms' | 'needs'> = { terms: [], needs: noNeeds },
): Placement {
  const typed = selectors.filter((selector) => isInstanceTypeLabel(selector.key));
  const named = typed.flatMap(({ values }) => values.map(({ value }) => value));
  const instances = (typed.length === 0 ? [pool?.instanceType ?? ''] : named).map((name) => instanceType(name));
  const [instance] = new Set(instances.map((one) => one?.name)).size === 1 ? instances : [];
  const owner = new Set(instances.map((one) => one?.provider)).size === 1 ? instances[0]?.provider : undefined;
  const byLabel = selectors.find((selector) => typeof providerOfLabel(selector.key) === 'string');
  const provider = (byLabel && providerOfLabel(byLabel.key)) ?? owner ?? options.provider;
  const providerFrom = byLabel?.from ?? (owner ? 'instance-type' : options.provider === null ? null : 'config');
  return {
    ...lowerCapacity(selectors, options, avoided),
    provider,
    // The config's region belongs to the config's provider, not to another cloud.
    region: lowerRegion(selectors) ?? (provider === options.provider ? options.region : null),
    instanceType: instance?.name ?? null,
    nodeGpus: lowerNodeGpus(selectors),
    terms: withMachine(priceTerms(terms), typed.length === 0 ? (instance?.name ?? undefined) : undefined),
    needs,
    ...ownMachine(typed.length === 0 ? [pool?.instanceType ?? ''] : named, options, pool),
    ...billing(selectors, options),
    nodePool: pool?.name ?? null,
    providerFrom,
  };
}

function ownMachine(
  names: readonly string[],
  { nodePools }: ModelOptions,
  pool: NodePool | undefined,
): Pick<Placement, 'ownMachine'> {
  const [name = '', ...others] = new Set(names);
  if (name === '' || others.length > 0 || instanceType(name) !== undefined) return {};
  const stated = pool ?? nodePools.find((one) => one.instanceType === name);
  return { ownMachine: { name, devices: stated?.devices ?? null } };
}

/** The classes of Autopilot whose pods pay for their nodes. https://cloud.google.com/kubernetes-engine/pricing */
const nodeClasses: ReadonlySet<string> = new Set(['Accelerator', 'Performance']);

/** How Autopilot charges: for the pods, or, in some classes, for their nodes and a premium. */
function billing(selectors: readonly Selector[], { platform }: ModelOptions): Pick<Placement, 'autopilot'> {
  const chosen = selectors.find(({ key }) => key === 'cloud.google.com/compute-class')?.values ?? [];
  if (chosen.some(({ value }) => nodeClasses.has(value))) return { autopilot: 'nodes' };
  return platform === 'gke-autopilot' ? { autopilot: 'pods' } : {};
}

/** Only selectors count: a toleration allows pods on spot nodes but does not place them there. */
function lowerCapacity(
  selectors: readonly Selector[],
  options: ModelOptions,
  avoided: readonly Selector[],
): Pick<Placement, 'capacity' | 'capacityAt'> {
  for (const selector of selectors) {
    const capacities = new Set(selector.values.map(({ value }) => spotSelector(selector.key, value)));
    const [only] = capacities;
    if (capacities.size === 1 && only !== undefined) return { capacity: only as Capacity, capacityAt: selector.at };
  }
  // A pod that avoids spot nodes is on demand: AKS labels only its spot nodes.
  const offSpot = avoided.find(({ key, values }) => values.some(({ value }) => spotSelector(key, value) === 'spot'));
  if (offSpot !== undefined) return { capacity: 'on-demand', capacityAt: offSpot.at };
  return { capacity: options.capacity ?? 'unknown', capacityAt: undefined };
}

/**
 * The terms as far as they decide the price: labels of the machine, and those of its card that the selectors do not resolve. They are short, so equal
 * ones are easy to recognize.
 */
function priceTerms(terms: readonly NodeTerm[]): readonly NodeTerm[] {
  return terms.map((term) =>
    term.filter(
      ({ key, operator }) => isMachineLabel(key) || (isCardLabel(key) && !(operator === 'In' && isGpuLabel(key))),
    ),
  );
}

function withMachine(terms: readonly NodeTerm[], name: string | undefined): readonly NodeTerm[] {
  if (name === undefined) return terms;
  const own: NodeTerm = [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] }];
  return terms.map((term) => [...term, ...own]);
}

/** Zones of one region name it. Several regions are not one: each has its own prices. */
function lowerRegion(selectors: readonly Selector[]): string | null {
  for (const { key, values } of selectors) {
    const regions = values.map(({ value }) =>
      key === 'topology.kubernetes.io/region'
        ? value
        : key === 'topology.kubernetes.io/zone'
          ? regionOfZone(value)
          : null,
    );
    const [region = null] = regions;
    if (region !== null && regions.every((other) => other === region)) return region;
  }
  return null;
}

function lowerNodeGpus(selectors: readonly Selector[]): readonly number[] {
  const counts =
    selectors.find(({ key }) => isGpuCountLabel(key))?.values.flatMap(({ value }) => countIn(value) ?? []) ?? [];
  return counts.every((count) => count > 0) ? counts : [];
}

/** us-east-1a (AWS), us-central1-a (Google), eastus-1 (Azure). */
function regionOfZone(zone: string): string | null {
  return (
    /^([a-z]+-[a-z]+-\d+)[a-z]$/.exec(zone)?.[1] ??
    /^([a-z]+-[a-z]+\d+)-[a-z]$/.exec(zone)?.[1] ??
    /^([a-z]+\d?)-\d$/.exec(zone)?.[1] ??
    null
  );
}

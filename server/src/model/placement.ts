import {
  allowsReserved,
  capacityLeft,
  instanceType,
  instanceTypesOf,
  isCardLabel,
  isGpuCountLabel,
  isGpuLabel,
  isInstanceTypeLabel,
  isMachineLabel,
  nodeLabelMeaning,
  otherCloudOfLabel,
  providerOfLabel,
  spotSelector,
} from '../catalog/index.ts';
import type { Located } from '../yaml/cursor.ts';
import { countIn } from './count.ts';
import type { RequiredLabel } from './cross-references.ts';
import { lookUp } from './manifest.ts';
import type { NodePool } from './node-pool.ts';
import { type NodeRequirement, type NodeTerm, otherCloudOf } from './node-terms.ts';
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
  { terms: all, needs, storage, ...described }: Pick<Placement, 'terms' | 'needs' | 'storage'> & Partial<Placement> = {
    terms: [],
    needs: noNeeds,
  },
): Placement {
  const { terms, ...unlisted } = withListPrice(all);
  const typed = selectors.filter((selector) => isInstanceTypeLabel(selector.key));
  const named = typed.flatMap(({ values }) => values.map(({ value }) => value));
  const instances = (typed.length === 0 ? [pool?.instanceType ?? ''] : named).flatMap(
    (name): readonly ReturnType<typeof instanceType>[] => {
      const known = instanceTypesOf(name);
      return known.length === 0 ? [undefined] : known;
    },
  );
  const [first] = instances;
  const instance = instances.every((one) => one?.name === first?.name) ? first : undefined;
  const owner = instances.every((one) => one?.provider === first?.provider) ? first?.provider : undefined;
  const byLabel = selectors.find((selector) => typeof providerOfLabel(selector.key) === 'string');
  const byDevice = needs.efa > 0 ? 'aws' : undefined;
  const byOther = selectors.flatMap(({ key }) => otherCloudOfLabel(key) ?? [])[0] ?? otherCloudOf(terms);
  const otherCloud = byLabel || owner ? undefined : byOther;
  const stated = otherCloud === undefined ? options.provider : null;
  const byTerms = otherCloud || owner ? null : providerOfTerms(terms);
  const provider = (byLabel && providerOfLabel(byLabel.key)) ?? owner ?? byTerms ?? byDevice ?? stated;
  const providerFrom =
    byLabel?.from ?? (byTerms ? 'affinity' : owner ? 'instance-type' : byDevice || stated === null ? null : 'config');
  const common = lowerRegions(selectors);
  const [region, ...regions] = common.length > 0 ? common : regionsOfTerms(terms);
  const capacity = lowerCapacity(selectors, options, avoided, terms);
  return {
    ...capacity,
    ...unlisted,
    ...(capacity.capacity === 'unknown' && spotFirst(terms, regions.length > 0)),
    provider,
    // The config's region belongs to the config's provider, not to another cloud.
    region: regions.length > 0 ? null : (region ?? (provider === options.provider ? options.region : null)),
    ...edgeZoneIn(selectors),
    ...topologyIn(selectors),
    ...(regions.length > 0 && { regions: [region ?? '', ...regions] }),
    instanceType: instance?.name ?? null,
    nodeGpus: lowerNodeGpus(selectors),
    terms: withMachine(
      priceTerms(terms, regions.length > 0),
      typed.length === 0 ? (instance?.name ?? undefined) : undefined,
    ),
    needs,
    ...(storage && { storage }),
    ...ownMachine(typed.length === 0 ? [pool?.instanceType ?? ''] : named, options, pool),
    ...(otherCloud !== undefined && { otherCloud }),
    ...billing(selectors, options),
    nodePool: pool?.name ?? null,
    providerFrom,
    ...described,
  };
}

/**
 * The terms whose capacity has a list price. Others of a priority list, such as reservations, set no price. If none has one, those of the first kind of
 * capacity.
 */
function withListPrice(terms: readonly NodeTerm[]): Pick<Placement, 'terms' | 'unlisted'> {
  if (terms.every(isAnyNode)) return { terms };
  const each = terms.map(unlistedCapacity);
  const also = terms.some((term) => term.some(allowsReserved)) ? (['reserved'] as const) : [];
  const [first, ...others] = new Set([...each.flatMap((one) => one ?? []), ...also]);
  if (first === undefined) return { terms };
  const isListed = each.includes(undefined);
  const kept = terms.filter((_, index) => each[index] === (isListed ? undefined : first));
  return isListed ? { terms: kept, unlisted: [first, ...others] } : { terms: kept };
}

function isAnyNode(term: NodeTerm): boolean {
  return term.length === 0;
}

function unlistedCapacity(term: NodeTerm): 'reserved' | 'flex' | undefined {
  const found = term.flatMap(({ key, operator, values }) => capacityLeft(key, operator, values) ?? []);
  return found.find((one) => one === 'reserved' || one === 'flex');
}

/** The provider that every term names: by a label that its nodes have, whatever its values, or by their machines. */
export function providerOfTerms(terms: readonly NodeTerm[]): string | null {
  const [provider = null, ...others] = new Set(terms.map(providerOfTerm));
  return others.length === 0 ? provider : null;
}

function providerOfTerm(term: NodeTerm): string | null {
  const required = term.filter(({ operator }) => operator !== 'NotIn' && operator !== 'DoesNotExist');
  const [byLabel] = required.flatMap(({ key }) => providerOfLabel(key) ?? []);
  if (byLabel !== undefined) return byLabel;
  const machines = required.find(({ key, operator }) => operator === 'In' && isInstanceTypeLabel(key))?.values ?? [];
  const [owner = null, ...others] = new Set(
    machines.flatMap((name): readonly (string | null)[] => {
      const known = instanceTypesOf(name).map((one) => one.provider);
      return known.length === 0 ? [null] : known;
    }),
  );
  return others.length === 0 ? owner : null;
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

/** Cloud Run and Autopilot charge for the pods; in some classes, Autopilot charges for their nodes and a premium. */
function billing(selectors: readonly Selector[], { platform }: ModelOptions): Pick<Placement, 'billing'> {
  // https://cloud.google.com/run/docs/configuring/services/gpu
  if (selectors.some(({ key }) => key === 'run.googleapis.com/accelerator')) return { billing: 'cloud-run' };
  const chosen = selectors.find(({ key }) => key === 'cloud.google.com/compute-class')?.values ?? [];
  if (chosen.some(({ value }) => nodeClasses.has(value))) return { billing: 'premium' };
  return platform === 'gke-autopilot' ? { billing: 'autopilot' } : {};
}

/**
 * GKE creates the nodes of a ProvisioningRequest of this class with flex-start.
 * https://cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest
 */
export function queuedCapacity(annotations: readonly Located<string>[]): Partial<Pick<Placement, 'capacity'>> {
  const isQueued = queuedBy.some((key) => lookUp(annotations, key)?.value === 'queued-provisioning.gke.io');
  return isQueued ? { capacity: 'flex' } : {};
}

const queuedBy = ['autoscaling.x-k8s.io', 'cluster-autoscaler.kubernetes.io'].map(
  (group) => `${group}/provisioning-class-name`,
);

/** Only selectors count: a toleration allows pods on spot nodes but does not place them there. */
function lowerCapacity(
  selectors: readonly Selector[],
  options: ModelOptions,
  avoided: readonly Selector[],
  terms: readonly NodeTerm[],
): Pick<Placement, 'capacity' | 'capacityAt'> {
  for (const selector of selectors) {
    const capacities = new Set(selector.values.map(({ value }) => spotSelector(selector.key, value)));
    const [only] = capacities;
    if (capacities.size === 1 && only !== undefined) return { capacity: only as Capacity, capacityAt: selector.at };
  }
  const left = (term: NodeTerm) =>
    term.flatMap(({ key, operator, values }) => capacityLeft(key, operator, values) ?? []);
  const [capacity, ...others] = new Set(terms.flatMap((term) => left(term)[0] ?? 'unknown'));
  if (capacity !== undefined && capacity !== 'unknown' && others.length === 0)
    return { capacity, capacityAt: avoided.find(({ key }) => nodeLabelMeaning(key) === 'capacity')?.at };
  return { capacity: options.capacity ?? 'unknown', capacityAt: undefined };
}

/**
 * The terms on spot and those on demand, if pods may run on both. Spot comes first if a Karpenter pool allows both, and if a ComputeClass names it in
 * its first priority. Several pools or flavors have no such order.
 * https://karpenter.sh/docs/concepts/nodepools/#capacity-type-labels
 * https://cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes#choose-priorities
 */
function spotFirst(terms: readonly NodeTerm[], inRegions: boolean): Pick<Placement, 'spotFirst'> {
  if (terms.every(isAnyNode)) return {};
  const capacities = terms.map(capacitiesOf);
  const has = (capacity: (typeof capacities)[number]) => capacities.includes(capacity);
  const isEither = capacities.length > 0 && capacities.every((one) => one === 'either');
  const isFirst = capacities[0] === 'spot';
  const isMixed = has('spot') && !has('either') && (isFirst ? has('on-demand') || has('unknown') : !has('unknown'));
  if (!isEither && (!isMixed || capacities.every((one) => one === 'spot'))) return {};
  const on = (capacity: 'spot' | 'on-demand') =>
    priceTerms(
      terms.filter((term) => ['either', capacity].includes(capacitiesOf(term))),
      inRegions,
      terms,
    );
  return { spotFirst: { spot: on('spot'), onDemand: on('on-demand'), isFirst: isFirst || isEither } };
}

function capacitiesOf(term: NodeTerm): 'spot' | 'on-demand' | 'either' | 'unknown' {
  const found = term.flatMap(({ key, operator, values }) => {
    const all = values.map((value) => spotSelector(key, value));
    if (key === 'karpenter.sh/capacity-type' && all.includes('spot') && all.includes('on-demand')) return 'either';
    return capacityLeft(key, operator, values) ?? [];
  });
  // The other priorities of a ComputeClass are on demand unless they name something else.
  const [capacity = 'on-demand', ...more] = new Set(found);
  return more.length > 0 || capacity === 'reserved' || capacity === 'flex' ? 'unknown' : capacity;
}

/**
 * The terms as far as they decide the price: labels of the machine, and those of its card that the selectors do not resolve. They are short, so equal
 * ones are easy to recognize.
 * @param inRegions whether each term keeps its regions, because there are several
 * @param all the terms among which they are: with other cards, each keeps its own
 */
function priceTerms(terms: readonly NodeTerm[], inRegions: boolean, all = terms): readonly NodeTerm[] {
  const hasOwn = all.length > 1 && new Set(all.map((term) => JSON.stringify(term.filter(namesCard)))).size > 1;
  return terms.map((term) => [
    ...term.filter((one) => isMachineLabel(one.key) || (isCardLabel(one.key) && (hasOwn || !namesCard(one)))),
    ...(inRegions ? regionsOfTerm(term) : []),
  ]);
}

function namesCard({ key, operator }: NodeRequirement): boolean {
  return operator === 'In' && isGpuLabel(key);
}

/** The regions of terms of which one names a zone and another one a region; empty if a term names neither. */
export function regionsOfTerms(terms: readonly NodeTerm[]): readonly string[] {
  if (terms.some(isAnyNode)) return [];
  const each = terms.map((term) => regionsOfTerm(term)[0]?.values ?? []);
  return each.some((regions) => regions.length === 0) ? [] : [...new Set(each.flat())];
}

/** The regions of a term as one requirement. */
function regionsOfTerm(term: NodeTerm): NodeTerm {
  const values = regionsOf(term.filter(({ operator }) => operator === 'In'));
  return values.length === 0 ? [] : [{ key: regionKey, operator: 'In', values }];
}

/** The label of a node's region. In `Placement.terms`, it is there only if the pods may run in several regions. */
export const regionKey = 'topology.kubernetes.io/region';

function withMachine(terms: readonly NodeTerm[], name: string | undefined): readonly NodeTerm[] {
  if (name === undefined) return terms;
  const own: NodeTerm = [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] }];
  return terms.map((term) => [...term, ...own]);
}

const regionLabel = /^(?:topology|failure-domain\.beta)\.kubernetes\.io\/(region|zone)$/;

/** The regions that a selector of regions or zones allows; empty for other labels and unknown values. */
export function selectedRegions(selector: Selector): readonly string[] {
  return lowerRegions([selector]);
}

/** The regions of the selected regions and zones; empty if one of a selector's values is unknown. */
function lowerRegions(selectors: readonly Selector[]): readonly string[] {
  return regionsOf(selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) })));
}

function regionsOf(labels: readonly RequiredLabel[]): readonly string[] {
  if (labels.length === 0) return [];
  const lists = labels.flatMap(({ key, values }): (readonly string[])[] => {
    const label = regionLabel.exec(key)?.[1];
    if (label === undefined) return [];
    const found = values.flatMap((value) => (label === 'region' ? value : (regionOfZone(value) ?? [])));
    return found.length === values.length ? [found] : [];
  });
  const [first = [], ...others] = lists;
  const common = first.filter((region) => others.every((list) => list.includes(region)));
  return [...new Set(common.length > 0 ? common : first)];
}

function lowerNodeGpus(selectors: readonly Selector[]): readonly number[] {
  const counts =
    selectors.find(({ key }) => isGpuCountLabel(key))?.values.flatMap(({ value }) => countIn(value) ?? []) ?? [];
  return counts.every((count) => count > 0) ? counts : [];
}

/**
 * us-west-2-lax-1a (AWS Local Zone), us-east-1-wl1-bos-wlz-1 (AWS Wavelength), us-central1-ai1a (Google AI zone).
 * https://docs.aws.amazon.com/local-zones/latest/ug/available-local-zones.html
 * https://cloud.google.com/compute/docs/regions-zones/ai-zones
 */
const edgeZone = /^([a-z]+(?:-[a-z]+)+-\d+)(?:-wl\d+)?-[a-z]{3}(?:-wlz)?-\d+[a-z]?$|^([a-z]+-[a-z]+\d+)-ai\d+[a-z]$/;

/** GKE's label of the shape of a TPU slice. https://cloud.google.com/kubernetes-engine/docs/concepts/tpus */
export const topologyLabel = 'cloud.google.com/gke-tpu-topology';

function topologyIn(selectors: readonly Selector[]): Pick<Placement, 'tpuTopology'> {
  const [topology, ...others] = selectors.find(({ key }) => key === topologyLabel)?.values ?? [];
  return topology === undefined || others.length > 0 ? {} : { tpuTopology: topology.value };
}

function edgeZoneIn(selectors: readonly Selector[]): Pick<Placement, 'edgeZone'> {
  const zones = selectors.filter(({ key }) => regionLabel.exec(key)?.[1] === 'zone').flatMap(({ values }) => values);
  const found = zones.find(({ value }) => edgeZone.test(value));
  return found === undefined ? {} : { edgeZone: found.value };
}

/** us-east-1a, us-gov-west-1a (AWS), us-central1-a (Google), eastus-1 (Azure); of an edge zone the region that it belongs to. */
function regionOfZone(zone: string): string | null {
  const [, aws, google] = edgeZone.exec(zone) ?? [];
  return (
    aws ??
    google ??
    /^([a-z]+(?:-[a-z]+)+-\d+)[a-z]$/.exec(zone)?.[1] ??
    /^([a-z]+-[a-z]+\d+)-[a-z]$/.exec(zone)?.[1] ??
    /^([a-z]+\d?)-\d$/.exec(zone)?.[1] ??
    null
  );
}

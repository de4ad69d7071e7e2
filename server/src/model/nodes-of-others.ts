import { acceleratorResource, type GpuModel, gpus, isInstanceTypeLabel } from '../catalog/index.ts';
import { capacityLeft } from '../catalog/node-labels.ts';
import {
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
  type Located,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { countIn } from './count.ts';
import type { CrossReferences, FlavorFacts, Landing, LivePools, RequiredLabel } from './cross-references.ts';
import { modelsOfMachines } from './machine-terms.ts';
import { modelsMentioned, modelsOfNodeLabel, type NamedModels } from './named-models.ts';
import type { NodePool, Tolerated } from './node-pool.ts';
import { allowedValues, inBoth, type NodeTerm } from './node-terms.ts';
import { type Inherited, objectName } from './referenced.ts';
import { mayTolerate, toleratedText } from './tolerations.ts';
import type { OwnMachine, Selector, Toleration } from './workload.ts';

/** The nodes that other objects describe: the pool on which a pod lands, or the flavors of its queue. */
export interface OtherNodes {
  /** Their labels; empty if nothing describes them. */
  readonly terms: readonly NodeTerm[];
  /** The labels that every term requires, as selectors of the pod. */
  readonly labels: readonly Selector[];
  /** A label that says how the device plugin shares the GPUs. */
  readonly sharing: readonly Selector[];
  readonly models: readonly NamedModels[];
  readonly hints: readonly NamedModels[];
  readonly inherited: readonly Inherited[];
  /** Some of them are the user's own machines: those, and the terms and labels of the others with their models. */
  readonly choices?: {
    readonly own: readonly OwnMachine[];
    readonly terms: readonly NodeTerm[];
    readonly labels: readonly Selector[];
    readonly models: readonly string[];
  };
  /** They exist in the connected cluster, which also answers whether pods fit them. */
  readonly isLive?: true;
}

export const unknownNodes: OtherNodes = { terms: [], labels: [], sharing: [], models: [], hints: [], inherited: [] };

type Described = Omit<OtherNodes, 'labels' | 'sharing'>;

/**
 * The nodes of the connected cluster on which a pod can run, else of the pool that it selects, else of the flavors of its queue, else of all GPU pools of the project, for pods that select no
 * nodes.
 */
export function nodesOfOthers(
  selectors: readonly Selector[],
  described: DescribedPod,
  crossReferences: CrossReferences,
): OtherNodes {
  const { pod, tolerations, resources } = described;
  const live = crossReferences.livePools({ labels: wantedLabels(selectors), resources });
  const found =
    live === undefined ? nodesInFiles(selectors, described, crossReferences) : ofCluster(live, tolerations, resources);
  const labels = selectorsOfTerms(found.terms, selectors, pod);
  const sharing = sharingOfOthers([...selectors, ...labels], pod, resources, crossReferences);
  return { ...found, labels, sharing: sharing.labels, inherited: [...found.inherited, ...sharing.inherited] };
}

/** What is known of a pod before its nodes are. */
export interface DescribedPod {
  readonly pod: Cursor;
  /** The nodes that it allows. */
  readonly terms: readonly NodeTerm[];
  readonly marks: readonly Located<string>[];
  readonly namespace: string | null;
  readonly tolerations: readonly Toleration[];
  /** The accelerator resources that it requests. */
  readonly resources: readonly string[];
}

function nodesInFiles(
  selectors: readonly Selector[],
  described: DescribedPod,
  crossReferences: CrossReferences,
): Described {
  const found = describedNodes(selectors, described, crossReferences);
  return found === unknownNodes ? { ...found, terms: capacitiesOfQueue(described, crossReferences) } : found;
}

function describedNodes(
  selectors: readonly Selector[],
  described: DescribedPod,
  crossReferences: CrossReferences,
): Described {
  const { pod, terms: own, marks, namespace, resources } = described;
  const wanted = wantedLabels(selectors);
  if (!crossReferences.knowsPools()) return ofQueue(wanted, marks, namespace, crossReferences) ?? unknownNodes;
  const tolerated = toleratedBy(described);
  const selected = selectors.length === 0 ? undefined : crossReferences.landingOf(wanted, false, tolerated);
  if (selected !== undefined && isKnown(selected))
    return { ...ofLanding(selected), models: named(modelsOf(selected), 'node-pool'), hints: [] };
  const queued = ofQueue(wanted, marks, namespace, crossReferences);
  if (queued !== undefined) return queued;
  const isFree =
    selectors.length === 0 && getIn(pod, 'affinity') === undefined && own.every((term) => term.length === 0);
  if (!isFree && mayRequireMore(selectors, pod)) return unknownNodes;
  const landing = isFree
    ? crossReferences.landingOf([], true, tolerated)
    : crossReferences.poolsFor(own, cardsOf(described), tolerated);
  const isNear = landing !== undefined && (landing.isElsewhere === true || !landing.siblingFolder);
  const models = isNear ? modelsOf({ ...landing, startable: inBoth(isFree ? [[]] : own, landing.startable) }) : [];
  if (!isNear || models.length === 0 || models.length > maxHints) return unknownNodes;
  // What a kind requests without a resource is a GPU.
  const vendors = resources.length === 0 ? ['nvidia'] : resources.map((name) => acceleratorResource(name)?.vendor);
  if (!vendors.some((vendor) => vendor == null || models.some((model) => model.vendor === vendor))) return unknownNodes;
  const hint = { basis: 'pool', text: landing.first.name } as const;
  // The pods may have other nodes, with other disks.
  const startable = landing.startable.map((term) => term.filter(({ disk }) => disk === undefined));
  return { ...ofLanding({ ...landing, startable }), models: [], hints: [{ candidates: models, from: 'hint', hint }] };
}

/** How many whole cards the containers of a pod request together. */
function cardsOf({ pod, resources }: DescribedPod): number {
  const whole = resources.filter((name) => acceleratorResource(name)?.form === 'whole');
  const written = items(getIn(pod, 'containers')).flatMap((one) =>
    whole.map((name) => getIn(one, 'resources', 'limits', name) ?? getIn(one, 'resources', 'requests', name)),
  );
  return written.reduce((sum, at) => sum + (countIn(asText(at)) ?? 0), 0);
}

/** Whether a template may require more of the nodes. */
function mayRequireMore(selectors: readonly Selector[], pod: Cursor): boolean {
  const affinity = getIn(pod, 'affinity');
  const parts = [getIn(pod, 'nodeSelector'), affinity, getIn(affinity, 'nodeAffinity')];
  return parts.some(isUnseen) || selectors.some(({ values }) => values.some(({ at }) => isTemplated(at)));
}

/**
 * What a pod tolerates; undefined if a part is unknown, or if a controller may add more. A provider may add a toleration for a requested resource.
 */
function toleratedBy({ pod, marks, tolerations, resources }: DescribedPod): readonly Tolerated[] | undefined {
  const [list, runtime] = [getIn(pod, 'tolerations'), getIn(pod, 'runtimeClassName')];
  const isQueued = marks.some(({ at }) => keyOf(at).startsWith('kueue.x-k8s.io/'));
  if (isQueued || (runtime !== undefined && asText(runtime) !== 'nvidia')) return undefined;
  // Kinds with their own pod format may have tolerations elsewhere.
  if (isIncomplete(pod) || isIncomplete(list) || items(getIn(pod, 'containers')).length === 0) return undefined;
  const texts = tolerations.map(({ key, operator, value, effect }) => [key, operator, value, effect]);
  if (texts.flat().some((one) => one !== undefined && isTemplated(one.at))) return undefined;
  const requested = resources.map((key) => ({ key, operator: 'Exists', value: '', effect: '' }));
  return [...tolerations.map(toleratedText), ...requested];
}

/** The labels that selectors require. */
export function wantedLabels(selectors: readonly Selector[]): readonly RequiredLabel[] {
  return selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) }));
}

/** The card is known only if it is known of each pool. */
function ofCluster(
  { cluster, asOf, pools: all }: LivePools,
  tolerations: readonly Toleration[],
  resources: readonly string[],
): Described {
  const admits = ({ taints, toleratesRequested }: NodePool) =>
    taints?.every(
      (taint) =>
        taint.effect === 'PreferNoSchedule' ||
        (toleratesRequested === true && resources.includes(taint.key)) ||
        tolerations.some((toleration) => mayTolerate(toleration, taint)),
    ) ?? true;
  const open = all.filter(admits);
  // Without any, the tolerations are still missing, which is for a rule to say.
  const pools = open.length > 0 ? open : all;
  const [first] = pools;
  const ids = pools.map((pool) => pool.gpus?.[0]);
  const models = ids.includes(undefined) ? [] : [...new Set(ids)].flatMap((id) => gpus.get(id ?? '') ?? []);
  const terms = pools.flatMap((pool) => pool.terms ?? []);
  const machines = allowedValues(terms, isInstanceTypeLabel) ?? [];
  const from = { kind: 'pool', name: first?.name ?? '', file: clusterWords(cluster, asOf) };
  return {
    terms,
    models: named(models, 'node-pool'),
    hints: [],
    inherited: [{ fact: 'nodes', from, machines, others: pools.length - 1 }],
    isLive: true,
  };
}

/** `cluster prod, as of 14:02`, in local time. */
export function clusterWords(cluster: string, asOf: number): string {
  const time = new Date(asOf);
  const two = (part: number) => String(part).padStart(2, '0');
  return `cluster ${shorten(cluster, 40)}, as of ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** More models say nothing about the price. */
const maxHints = 4;

function isKnown(landing: Landing): boolean {
  return landing.startable.length > 0 || landing.gpus.length > 0;
}

/** The cards that the pool names, as far as its other labels allow a machine with them: `A100` with two cards is not an ND96asr_v4. */
function modelsOf({ gpus: ids, startable: terms }: Landing): readonly GpuModel[] {
  const named = ids.flatMap((id) => gpus.get(id) ?? []);
  if (named.length === 1) return named;
  const allowed = modelsOfMachines(terms);
  const both = named.filter((model) => allowed.includes(model));
  return named.length === 0 ? allowed : both.length > 0 ? both : named;
}

function named(candidates: readonly GpuModel[], from: 'node-pool' | 'queue'): readonly NamedModels[] {
  return candidates.length === 0 ? [] : [{ candidates, from }];
}

function ofLanding({ startable: terms, first, others }: Landing): Pick<OtherNodes, 'terms' | 'inherited'> {
  const machines = allowedValues(terms, isInstanceTypeLabel) ?? [];
  return { terms, inherited: [{ fact: 'nodes', from: objectName(first), machines, others }] };
}

/** The labels that every term requires, as selectors of the pod: they decide its provider, region, capacity and sharing. */
export function selectorsOfTerms(
  terms: readonly NodeTerm[],
  own: readonly Selector[],
  at: Cursor,
): readonly Selector[] {
  const keys = new Set((terms[0] ?? []).map(({ key }) => key).filter((key) => !own.some((one) => one.key === key)));
  return [...keys].flatMap((key): Selector[] => {
    const values = allowedValues(terms, (other) => other === key) ?? [];
    return values.length === 0
      ? []
      : [{ key, values: values.map((value) => ({ value, at })), from: 'nodeSelector', at }];
  });
}

function isSlice(resource: string): boolean {
  return resource.startsWith('nvidia.com/mig-');
}

const noSharing = { labels: [], inherited: [] } as const;

/**
 * How the device plugin shares the GPUs of the nodes, as the label that it adds to them. Labels of the nodes that say it already take precedence.
 */
function sharingOfOthers(
  labels: readonly Selector[],
  at: Cursor,
  resources: readonly string[],
  crossReferences: CrossReferences,
): { readonly labels: readonly Selector[]; readonly inherited: readonly Inherited[] } {
  const isSaid = labels.some(({ key }) =>
    /^nvidia\.com\/(?:gpu\.(?:replicas|sharing-strategy)|mig\.config|mig-.+\.replicas)$|gke-/.test(key),
  );
  const chosen = labels.find(({ key }) => key === 'nvidia.com/device-plugin.config')?.values ?? [];
  const isShared = resources.some((name) => /^nvidia\.com\/(?:gpu|mig-.+)\.shared$/.test(name));
  const sharing =
    isSaid || chosen.length > 1 ? undefined : crossReferences.deviceSharing(chosen[0]?.value ?? null, isShared);
  if (sharing === undefined) return noSharing;
  const { replicas, slices = [] } = sharing.facts;
  const requested = resources.map((name) => name.replace(/\.shared$/, ''));
  const all = [...(replicas > 1 ? [{ resource: 'nvidia.com/gpu', pods: replicas }] : []), ...slices].filter(
    // What a kind requests without a resource is a GPU.
    ({ resource }) => requested.includes(resource) || (resource === 'nvidia.com/gpu' && !requested.some(isSlice)),
  );
  if (all.length === 0) return noSharing;
  return {
    labels: all.map(({ resource, pods }) => ({
      key: `${resource}.replicas`,
      values: [{ value: String(pods), at }],
      from: 'nodeSelector',
      at,
    })),
    inherited: [{ fact: 'sharing', from: objectName(sharing) }],
  };
}

/** The flavors of the queue that a pod names. */
export function flavorsOfQueue(
  { marks, namespace }: Pick<DescribedPod, 'marks' | 'namespace'>,
  crossReferences: CrossReferences,
): readonly FlavorFacts[] {
  const queue = marks.find(({ at }) => keyOf(at) === 'kueue.x-k8s.io/queue-name');
  return queue === undefined || isTemplated(queue.at) ? [] : crossReferences.flavorsOf(namespace, queue.value);
}

function ofQueue(
  wanted: readonly RequiredLabel[],
  marks: readonly Located<string>[],
  namespace: string | null,
  crossReferences: CrossReferences,
): Described | undefined {
  const flavors = flavorsOfQueue({ marks, namespace }, crossReferences)
    .map((flavor) => ofFlavor(flavor, wanted, crossReferences))
    .filter(({ candidates }) => candidates.length > 0);
  const models = [...new Set(flavors.flatMap(({ candidates }) => candidates))];
  if (models.length === 0) return undefined;
  const isDescribed = flavors.every(({ terms }) => terms.length > 0);
  return {
    terms: isDescribed ? flavors.flatMap(({ terms }) => terms) : [],
    models: named(models, 'queue'),
    hints: [],
    inherited: isDescribed ? flavors.flatMap(({ inherited }) => inherited) : [],
  };
}

/** The capacity types of the flavors of a pod's queue, if all of those with devices state one: the pod itself may name its machine. */
function capacitiesOfQueue(described: DescribedPod, crossReferences: CrossReferences): readonly NodeTerm[] {
  const flavors = flavorsOfQueue(described, crossReferences).filter(({ hasDevices }) => hasDevices);
  const terms = flavors.map(({ labels }) =>
    Object.entries(labels ?? {}).flatMap(([key, value]) =>
      capacityLeft(key, 'In', [value]) === undefined ? [] : [{ key, operator: 'In' as const, values: [value] }],
    ),
  );
  return terms.some((term) => term.length === 0) ? [] : terms;
}

/** Flavors of CPU nodes name no model. */
function ofFlavor(
  { name, labels }: FlavorFacts,
  wanted: readonly RequiredLabel[],
  crossReferences: CrossReferences,
): Pick<OtherNodes, 'terms' | 'inherited'> & { readonly candidates: readonly GpuModel[] } {
  const written = Object.entries(labels ?? {});
  const own = written.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }));
  const labeled = written.flatMap(([key, value]) => modelsOfNodeLabel(key, value));
  const landing =
    own.length === 0
      ? undefined
      : crossReferences.landingOf([...wanted, ...own.map(({ key, values }) => ({ key, values }))], false);
  if (landing !== undefined && isKnown(landing)) {
    const { terms, inherited } = ofLanding(landing);
    return { candidates: modelsOf(landing), terms: inBoth([own], terms), inherited };
  }
  const machines = allowedValues([own], isInstanceTypeLabel) ?? [];
  const inherited: Inherited = { fact: 'nodes', from: { kind: 'ResourceFlavor', name, file: null }, machines };
  return {
    candidates: labeled.length > 0 ? labeled : modelsMentioned(name),
    terms: own.length === 0 ? [] : [own],
    inherited: machines.length === 0 ? [] : [inherited],
  };
}

import { wordSet } from '../catalog/word-patterns.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asText, entries, getIn, items, keyOf } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { namesAccelerators } from './accelerators.ts';
import { type ChartBlock, chartOf } from './charts/index.ts';
import type { PodCount, PodSetSource } from './kinds/kind.ts';
import { namedCards, namedResource } from './named-cards.ts';
import { lowerContainer, lowerContainers } from './pod.ts';
import { withReleaseSets } from './set-values.ts';
import { undeclaredType } from './undeclared-objects.ts';
import { directRequests, imageAt, isComponent, partsAbove, plainGpus, switchedGpus } from './values-component.ts';
import { countedPods } from './values-counts.ts';
import { containerOf, extraResources, isMap, joined, podSetOf, replicasOf, requestOf } from './values-parts.ts';
import type { AcceleratorRequest, Container, Workload } from './workload.ts';

/** A mapping in a values file that describes a part of a pod. */
export interface ValuesBlock extends ChartBlock {
  /** Its path in the notation of Helm's `--set`, with the names of list items: `servingEngineSpec.modelSpec[llama]`. */
  readonly path: string;
  /** The chart decides the number of pods in a known way; otherwise the block is a definition. */
  readonly counted: boolean;
  /** The pods of a release of these values, for a definition that is not one of several to choose from. */
  readonly released?: PodCount;
}

/** The kind shown for workloads in values files. */
export const valuesKind = 'Values';

/** Whether a workload is from a chart's values instead of an object. */
export function isValues({ apiVersion }: Pick<Workload, 'apiVersion'>): boolean {
  return apiVersion === '';
}

/**
 * Whether a document may be a chart's values: it has neither `apiVersion` nor `kind`, and is not a test of helm-unittest, which has values
 * under `set` and the expected objects under `asserts`.
 */
export function mayBeValues(root: Cursor): boolean {
  if (root.node.kind !== 'map' || getIn(root, 'apiVersion') !== undefined || getIn(root, 'kind') !== undefined)
    return false;
  if (undeclaredType(root) !== undefined) return false;
  const tests = items(getIn(root, 'tests'));
  return !tests.some((test) => getIn(test, 'asserts') !== undefined || getIn(test, 'it') !== undefined);
}

/**
 * The mappings in a chart's values that describe which accelerators pods take and where they run. Values of well-known charts are read as
 * their templates read them. Other charts may do anything with their values, so only two forms are read: fields that charts pass to Kubernetes
 * unchanged (`resources`, `nodeSelector`, `tolerations`, lists of containers), and unambiguous keys. Their pods count if nothing else may.
 * @param release for values that an object carries: the chart that it installs, if its name is known
 */
export function valuesBlocks(root: Cursor, release?: { readonly chart: string | undefined }): readonly ValuesBlock[] {
  const found: ValuesBlock[] = [];
  walk(root, { path: '', depth: 0, made: new Map(), chart: release?.chart, installed: release && root }, found);
  return found;
}

/** The blocks of a whole document. A named template makes no pods itself: the templates that include it do. */
export function blocksOf({ text }: YamlDocument, root: Cursor): readonly ValuesBlock[] {
  const found = valuesBlocks(withReleaseSets(root));
  return namedTemplate.test(text) ? found.map(({ released: _, ...block }) => ({ ...block, counted: false })) : found;
}

const namedTemplate = /\{\{-?\s{0,9}define\s/;

/** Umbrella charts nest about six mappings deep. */
const maxDepth = 12;

interface Place {
  readonly path: string;
  readonly depth: number;
  /** What a chart above makes of mappings, by node. */
  readonly made: ReadonlyMap<YamlNode, ChartBlock>;
  readonly chart: string | undefined;
  /** The values of a release: a chart of the project is counted in its own templates. */
  readonly installed: Cursor | undefined;
}

function walk(cursor: Cursor, { path, depth, made, chart, installed }: Place, found: ValuesBlock[]): void {
  if (depth > maxDepth) return;
  const below = (key: string) => ({ path: key, depth: depth + 1, made, chart: undefined, installed });
  if (cursor.node.kind === 'seq') {
    for (const item of items(cursor)) {
      if (item.node.kind === 'scalar') continue;
      walk(item, below(`${path}[${asText(getIn(item, 'name')) ?? item.step}]`), found);
    }
    return;
  }
  // Skip whole objects that a chart passes on.
  if (getIn(cursor, 'apiVersion') !== undefined && getIn(cursor, 'kind') !== undefined) return;
  const own = made.get(cursor.node);
  if (own !== undefined) {
    found.push({ path, counted: own.uncounted !== true, ...own });
    // Other blocks of the same chart can be below this one.
    if (![...made.values()].some((other) => other !== own && isBelow(other.root, cursor))) return;
  }
  const known = own === undefined ? chartOf(cursor, chart) : undefined;
  const blocks = known?.blocks(cursor) ?? [];
  if (blocks.length > 0) {
    const byNode = new Map(blocks.map((block) => [block.root.node, block]));
    const atRoot = byNode.get(cursor.node);
    if (atRoot !== undefined) found.push({ path, counted: atRoot.uncounted !== true, ...atRoot });
    for (const child of entries(cursor)) {
      if (child.node.kind === 'scalar' || (atRoot !== undefined && isRead(child))) continue;
      if (known?.shared?.includes(keyOf(child))) continue;
      walk(child, { ...below(joined(path, keyOf(child))), made: byNode }, found);
    }
    return;
  }
  for (const podSet of own === undefined ? podSetsOf(cursor) : []) {
    const { pod } = podSet;
    const place = { path: pod === cursor ? path : joined(path, keyOf(pod)), root: pod };
    const { released } = isComponent(pod) ? { released: replicasOf(cursor) } : releasedPods(cursor, pod);
    const block = { ...place, ...countedPods(cursor, podSet, released) };
    const isScaffold = pod === cursor && depth === 0 && isScaffoldValues(cursor);
    if (!isScaffold) found.push(block);
    else if (cursor !== installed) found.push({ ...block, wholeResources: true });
    else found.push({ ...block, podSet: { ...podSet, pods: replicasOf(cursor) }, counted: true, wholeResources: true });
  }
  for (const child of entries(cursor)) {
    if (child.node.kind === 'scalar' || isRead(child)) continue;
    walk(child, below(joined(path, keyOf(child))), found);
  }
}

function isBelow(cursor: Cursor, above: Cursor): boolean {
  for (let here = cursor.parent; here !== undefined; here = here.parent) if (here.node === above.node) return true;
  return false;
}

/**
 * The pods that a release makes of a mapping with its own `resources` or containers: one or more if no number is written. Mappings that only
 * list limits are profiles to choose from.
 */
function releasedPods(block: Cursor, pod: Cursor): Pick<ValuesBlock, 'released'> {
  const isPart = pod !== block;
  const isSized =
    hasAmounts(getIn(block, 'resources')) || directRequests(block).length > 0 || switchedGpus(block) !== undefined;
  if (!isPart && !isSized && listedContainers(block).length === 0) return {};
  const pods = replicasOf(block);
  // The replicas of one component say nothing about the others.
  const isWritten = replicasOf(block, null).min !== null && (!isPart || pods.max === 0);
  return { released: isWritten || pods.min === null ? pods : { min: 1, max: null } };
}

/** The layout of `helm create`: one Deployment, with its replicas, image and resources next to each other at the top. */
function isScaffoldValues(values: Cursor): boolean {
  return getIn(values, 'replicaCount') !== undefined && isMap(getIn(values, 'image'));
}

/** Whether a child is a part of its block and has no blocks itself. */
function isRead(child: Cursor): boolean {
  const key = keyOf(child);
  return (
    readKeys.has(key) ||
    componentResources.test(key) ||
    (/^(?:init)?containers$/i.test(key) && child.node.kind === 'seq') ||
    (key === 'containers' && child.parent !== undefined && listedContainers(child.parent).length > 0)
  );
}

/** Keys in charts with several components in one mapping. */
const componentResources = /[a-z](?:Resources|_resources)$/;

const readKeys = wordSet(
  'resources nodeSelector node_selector tolerations affinity limits requests extra_resource_limits',
  'extra_resource_guarantees extraResource',
);

/** The pod sets of a mapping: one for the mapping as a whole, and one for each `…Resources` in it. */
function podSetsOf(block: Cursor): readonly PodSetSource[] {
  const containers = [...listedContainers(block), ...blockContainer(block)];
  const placed =
    ['tolerations', 'resourceClaims'].some((key) => isList(getIn(block, key))) ||
    ['nodeSelector', 'affinity'].some((key) => isMap(getIn(block, key)));
  const plain = containers.some(namesAccelerators) ? undefined : plainGpus(block);
  const name = asText(getIn(block, 'name')) ?? keyOf(block);
  const own =
    plain && containers.length === 0
      ? [containerOf({ at: block, name, image: imageAt(block), ownChart: true })]
      : containers;
  const whole = placedAbove({ ...podSetOf(block, own), ...(plain && { implicitDevices: [plain] }) });
  const sets: PodSetSource[] = own.length > 0 || placed ? [whole] : [];
  const others = entries(block).filter((entry) => componentResources.test(keyOf(entry)) && hasAmounts(entry));
  for (const resources of others) {
    const container = lowerContainer(resources, 'app', keyOf(resources), resources);
    if (namesAccelerators(container))
      sets.push({ ...podSetOf(block, [container]), pod: resources, replicas: undefined });
  }
  return sets;
}

/** A component without its own node labels takes those next to it in the mapping above. */
function placedAbove(podSet: PodSetSource): PodSetSource {
  const { pod, containers = [] } = podSet;
  // Dask has the fields of the container and those of its pod next to each other.
  const sibling =
    keyOf(pod) === 'extraContainerConfig' ? getIn(pod.parent, 'extraPodConfig', 'nodeSelector') : undefined;
  const above = sibling ?? getIn(partsAbove(pod), 'nodeSelector');
  const isPlaced = podSet.nodeSelector !== undefined || getIn(pod, 'nodeSelector') !== undefined;
  if (isPlaced || above === undefined || !containers.some(namesAccelerators)) return podSet;
  return { ...podSet, nodeSelector: above };
}

/** The containers in a `containers` list, or in a mapping of them by name. */
function listedContainers(block: Cursor): readonly Container[] {
  const isContainer = (item: Cursor) => getIn(item, 'image') !== undefined || getIn(item, 'resources') !== undefined;
  const at = getIn(block, 'containers');
  const named = entries(at);
  if (named.length > 0)
    return named.every(isContainer)
      ? named.map((one) => containerOf({ at: one, name: keyOf(one), ownChart: true }))
      : [];
  const all = items(at);
  return all.length > 0 && all.every(isContainer) ? lowerContainers(block) : [];
}

/** The container that a mapping stands for, if it has resources. */
function blockContainer(block: Cursor): readonly Container[] {
  const name = asText(getIn(block, 'name')) ?? keyOf(block);
  const requests = [...requestedGpus(block), ...extraResources(block), ...directRequests(block)];
  const image = imageAt(block);
  if (hasAmounts(getIn(block, 'resources')) || requests.length > 0) {
    const container = containerOf({ at: block, name, image, requests, ownChart: true });
    return [namesAccelerators(container) ? withCard(container) : { ...container, accelerators: namedCards(block) }];
  }
  // KubeAI profiles have limits and requests without `resources`; elsewhere these keys have other meanings.
  if (keyOf(block) !== 'resources' && namesVendorResource(block))
    return [containerOf({ at: block, name, resources: block })];
  const cards = namedCards(block);
  return cards.length === 0 ? [] : [containerOf({ at: block, name, image, requests: cards, ownChart: true })];
}

/** A request by a plain word (`gpu: 1`) is for the card that the values name. */
function withCard(container: Container): Container {
  const card = container.accelerators.every(({ resource }) => resource.includes('/'))
    ? undefined
    : namedResource(container.at);
  if (card === undefined) return container;
  const named = ({ resource }: AcceleratorRequest) => (resource.includes('/') ? resource : card);
  return { ...container, accelerators: container.accelerators.map((one) => ({ ...one, resource: named(one) })) };
}

/** Whether limits or requests name a vendor's resource (with a domain). Rules report misspelled ones. */
function namesVendorResource(block: Cursor): boolean {
  return [...entries(getIn(block, 'limits')), ...entries(getIn(block, 'requests'))].some((entry) =>
    keyOf(entry).includes('/'),
  );
}

function hasAmounts(resources: Cursor | undefined): boolean {
  return isMap(getIn(resources, 'limits')) || isMap(getIn(resources, 'requests'));
}

/** A block of vLLM's production stack outside its chart. https://github.com/vllm-project/production-stack/blob/main/helm/values.yaml */
function requestedGpus(block: Cursor): readonly AcceleratorRequest[] {
  const count = getIn(block, 'requestGPU');
  return count === undefined ? [] : requestOf(asText(getIn(block, 'requestGPUType')) ?? 'nvidia.com/gpu', count);
}

function isList(cursor: Cursor | undefined): boolean {
  return items(cursor).some(({ node }) => node.kind === 'map');
}

import { acceleratorResource, instanceType } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isNull, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { namesAccelerators } from './accelerators.ts';
import type { PodSetSource } from './kinds/kind.ts';
import { exactly } from './kinds/pod-sets.ts';
import { countOf, lowerContainer, lowerContainers, text } from './pod.ts';
import { lowerQuantity } from './quantity.ts';
import type { AcceleratorRequest, Container, Workload } from './workload.ts';

/** A mapping of a values file that says a part of a pod, and what it says of it. */
export interface ValuesBlock {
  /** The way to it, as Helm's `--set` writes it, with the names of list items: `servingEngineSpec.modelSpec[llama]`. */
  readonly path: string;
  readonly root: Cursor;
  readonly podSet: PodSetSource;
}

/** What workloads of values are called in place of a kind. */
export const valuesKind = 'Values';

/** Whether a workload is read from a chart's values and no object. */
export function isValues({ apiVersion }: Pick<Workload, 'apiVersion'>): boolean {
  return apiVersion === '';
}

/** Whether a document may be a chart's values: it says of no object what it is. */
export function mayBeValues(root: Cursor): boolean {
  return root.node.kind === 'map' && getIn(root, 'apiVersion') === undefined && getIn(root, 'kind') === undefined;
}

/**
 * The mappings of a Helm values file that say which accelerators pods take and where they run. A chart may do anything with its values, so
 * only shapes are read that charts hand to Kubernetes as they are (`resources`, `nodeSelector`, `tolerations`, lists of containers), and
 * those of single charts whose keys mean nothing else. All others stay unread.
 */
export function valuesBlocks(root: Cursor): readonly ValuesBlock[] {
  const found: ValuesBlock[] = [];
  walk(root, '', 0, found);
  return found;
}

/** Charts of charts nest some six mappings deep. */
const maxDepth = 12;

function walk(cursor: Cursor, path: string, depth: number, found: ValuesBlock[]): void {
  if (depth > maxDepth) return;
  if (cursor.node.kind === 'seq') {
    for (const item of items(cursor)) {
      if (item.node.kind === 'scalar') continue;
      walk(item, `${path}[${asText(getIn(item, 'name')) ?? item.step}]`, depth + 1, found);
    }
    return;
  }
  // Whole objects that a chart passes on are objects, and what is said of them holds for their kind.
  if (getIn(cursor, 'apiVersion') !== undefined && getIn(cursor, 'kind') !== undefined) return;
  for (const podSet of podSetsOf(cursor)) {
    const { pod } = podSet;
    found.push({ path: pod === cursor ? path : joined(path, keyOf(pod)), root: pod, podSet });
  }
  for (const child of entries(cursor)) {
    if (child.node.kind === 'scalar' || isRead(child)) continue;
    walk(child, joined(path, keyOf(child)), depth + 1, found);
  }
}

/** What a block is made of is not looked into for further blocks. */
function isRead(child: Cursor): boolean {
  const key = keyOf(child);
  return (
    readKeys.has(key) || ownResources.test(key) || (/^(?:init)?containers$/i.test(key) && child.node.kind === 'seq')
  );
}

/** Keys of charts that have several components in one mapping. */
const ownResources = /[a-z](?:Resources|_resources)$/;

const readKeys: ReadonlySet<string> = new Set([
  'resources',
  'nodeSelector',
  'tolerations',
  'affinity',
  'limits',
  'requests',
  'extra_resource_limits',
  'extra_resource_guarantees',
]);

/** The pods of a mapping: one set for the mapping as a whole, and one for each further `…Resources` in it. */
function podSetsOf(block: Cursor): readonly PodSetSource[] {
  const containers = [...listedContainers(block), ...blockContainer(block)];
  const placed =
    isList(getIn(block, 'tolerations')) || isMap(getIn(block, 'nodeSelector')) || isMap(getIn(block, 'affinity'));
  const sets: PodSetSource[] = containers.length > 0 || placed ? [podSet(block, containers)] : [];
  const others = entries(block).filter((entry) => ownResources.test(keyOf(entry)) && hasAmounts(entry));
  for (const resources of others) {
    const container = lowerContainer(resources, 'app', keyOf(resources), resources);
    if (namesAccelerators(container)) sets.push({ ...podSet(block, [container]), pod: resources, replicas: undefined });
  }
  return sets;
}

function podSet(block: Cursor, containers: readonly Container[]): PodSetSource {
  const type = instanceTypeOf(block);
  return {
    name: 'replica',
    pod: block,
    metadata: undefined,
    replicas: getIn(block, 'replicaCount') ?? getIn(block, 'replicas'),
    pods: exactly(null),
    containers,
    ...(type === undefined ? {} : { instanceType: type }),
  };
}

/** Lists of containers as a pod has them. */
function listedContainers(block: Cursor): readonly Container[] {
  const isContainer = (item: Cursor) => getIn(item, 'image') !== undefined || getIn(item, 'resources') !== undefined;
  const all = items(getIn(block, 'containers'));
  return all.length > 0 && all.every(isContainer) ? lowerContainers(block) : [];
}

/** The container that a mapping stands for, where it says what one takes. */
function blockContainer(block: Cursor): readonly Container[] {
  const name = asText(getIn(block, 'name')) ?? keyOf(block);
  const resources = getIn(block, 'resources');
  const image = imageOf(getIn(block, 'image'));
  const extra = [...requestedGpus(block), ...enabledGpus(block), ...extraResources(block)];
  if (hasAmounts(resources) || extra.length > 0) {
    const container = lowerContainer(block, 'app', name);
    return [{ ...container, ...image, env: variables(block), accelerators: [...container.accelerators, ...extra] }];
  }
  // Profiles (KubeAI's) say limits and requests without a `resources` around them; under other keys these words mean other things.
  if (keyOf(block) === 'resources' || !namesExtended(block)) return [];
  return [{ ...lowerContainer(block, 'app', name, block), ...image, env: variables(block) }];
}

/** Lists as a container has them, or mappings of names to values. */
function variables(block: Cursor): Container['env'] {
  return ['env', 'extraEnv', 'extraEnvVars', 'envVars'].flatMap((key) => {
    const list = getIn(block, key);
    const listed = items(list).map((env) => ({
      name: asText(getIn(env, 'name')) ?? '',
      value: text(getIn(env, 'value')),
      at: env,
    }));
    const mapped = entries(list).map((env) => ({ name: keyOf(env), value: text(env), at: env }));
    return [...listed, ...mapped];
  });
}

/** Resources of a vendor have a domain in their names; that one of them is misspelt is for rules to say. */
function namesExtended(block: Cursor): boolean {
  return [...entries(getIn(block, 'limits')), ...entries(getIn(block, 'requests'))].some((entry) =>
    keyOf(entry).includes('/'),
  );
}

function hasAmounts(resources: Cursor | undefined): boolean {
  return isMap(getIn(resources, 'limits')) || isMap(getIn(resources, 'requests'));
}

/** vLLM's production stack. https://github.com/vllm-project/production-stack/blob/main/helm/values.yaml */
function requestedGpus(block: Cursor): readonly AcceleratorRequest[] {
  const count = getIn(block, 'requestGPU');
  return count === undefined ? [] : requestOf(asText(getIn(block, 'requestGPUType')) ?? 'nvidia.com/gpu', count);
}

/** Ollama's chart. https://github.com/otwld/ollama-helm/blob/main/values.yaml */
function enabledGpus(block: Cursor): readonly AcceleratorRequest[] {
  const gpu = getIn(block, 'gpu');
  const count = getIn(gpu, 'number');
  if (
    count === undefined ||
    asBoolean(getIn(gpu, 'enabled')) !== true ||
    asBoolean(getIn(gpu, 'mig', 'enabled')) === true
  )
    return [];
  const unset = asText(getIn(gpu, 'type')) === 'amd' ? 'amd.com/gpu' : 'nvidia.com/gpu';
  return requestOf(asText(getIn(gpu, 'nvidiaResource')) ?? unset, count);
}

function requestOf(resource: string, count: Cursor): readonly AcceleratorRequest[] {
  const known = acceleratorResource(resource);
  if (known === undefined || count.node.kind !== 'scalar' || isNull(count)) return [];
  const limit = lowerQuantity(count);
  return [{ resource, form: known.form, limit, request: undefined, count: countOf(limit) }];
}

/** JupyterHub's, of KubeSpawner. https://jupyterhub-kubespawner.readthedocs.io/en/latest/spawner.html */
function extraResources(block: Cursor): readonly AcceleratorRequest[] {
  const limits = getIn(block, 'extra_resource_limits');
  const requests = getIn(block, 'extra_resource_guarantees');
  const names = new Set([...entries(limits), ...entries(requests)].map(keyOf));
  return [...names].flatMap((resource): readonly AcceleratorRequest[] => {
    const known = acceleratorResource(resource);
    if (known === undefined) return [];
    const [limit, request] = [getIn(limits, resource), getIn(requests, resource)].map(
      (quantity) => quantity && lowerQuantity(quantity),
    );
    return [{ resource, form: known.form, limit, request, count: countOf(limit ?? request) }];
  });
}

/** The image where its parts are complete: what a chart takes for a missing tag is the chart's to say. */
function imageOf(image: Cursor | undefined): { readonly image?: Located<string> | undefined } {
  if (!isMap(image)) return {};
  const repository = asText(getIn(image, 'repository'));
  const tag = getIn(image, 'tag');
  const complete = repository !== undefined && repository !== '' && tag !== undefined && !isTemplated(tag);
  const pinned = ['digest', 'sha', 'sha256'].some((key) => (asText(getIn(image, key)) ?? '') !== '');
  const name = asText(tag) ?? '';
  return { image: complete && !pinned && name !== '' ? { value: `${repository}:${name}`, at: tag } : undefined };
}

/** Charts that name the instance type do it under their own keys; only a type that the catalogue knows is one for sure. */
function instanceTypeOf(block: Cursor): Located<string> | undefined {
  const holders = [block, getIn(block, 'resources')];
  return holders
    .flatMap((holder) =>
      ['instanceType', 'instance_type', 'nodeType', 'node_type'].map((key) => text(getIn(holder, key))),
    )
    .find((type) => type !== undefined && instanceType(type.value) !== undefined);
}

function isMap(cursor: Cursor | undefined): boolean {
  return cursor?.node.kind === 'map' && cursor.node.entries.length > 0;
}

function isList(cursor: Cursor | undefined): boolean {
  return items(cursor).some(({ node }) => node.kind === 'map');
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

import { acceleratorResource, instanceType } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isNull, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { namesAccelerators } from './accelerators.ts';
import type { PodSetSource } from './kinds/kind.ts';
import { exactly } from './kinds/pod-sets.ts';
import { countOf, lowerContainer, lowerContainers, text } from './pod.ts';
import { lowerQuantity } from './quantity.ts';
import type { AcceleratorRequest, Container, Workload } from './workload.ts';

/** A mapping in a values file that describes a part of a pod. */
export interface ValuesBlock {
  /** Its path in the notation of Helm's `--set`, with the names of list items: `servingEngineSpec.modelSpec[llama]`. */
  readonly path: string;
  readonly root: Cursor;
  readonly podSet: PodSetSource;
}

/** The kind shown for workloads in values files. */
export const valuesKind = 'Values';

/** Whether a workload is from a chart's values instead of an object. */
export function isValues({ apiVersion }: Pick<Workload, 'apiVersion'>): boolean {
  return apiVersion === '';
}

/** Whether a document may be a chart's values: it has neither `apiVersion` nor `kind`. */
export function mayBeValues(root: Cursor): boolean {
  return root.node.kind === 'map' && getIn(root, 'apiVersion') === undefined && getIn(root, 'kind') === undefined;
}

/**
 * The mappings in a Helm values file that describe which accelerators pods take and where they run. A chart may do anything with its values,
 * so only two forms are read: fields that charts pass to Kubernetes unchanged (`resources`, `nodeSelector`, `tolerations`, lists of
 * containers), and unambiguous keys of known charts.
 */
export function valuesBlocks(root: Cursor): readonly ValuesBlock[] {
  const found: ValuesBlock[] = [];
  walk(root, '', 0, found);
  return found;
}

/** Umbrella charts nest about six mappings deep. */
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
  // Skip whole objects that a chart passes on.
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

/** Whether a child is a part of its block and has no blocks itself. */
function isRead(child: Cursor): boolean {
  const key = keyOf(child);
  return (
    readKeys.has(key) ||
    componentResources.test(key) ||
    (/^(?:init)?containers$/i.test(key) && child.node.kind === 'seq')
  );
}

/** Keys in charts with several components in one mapping. */
const componentResources = /[a-z](?:Resources|_resources)$/;

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

/** The pod sets of a mapping: one for the mapping as a whole, and one for each `…Resources` in it. */
function podSetsOf(block: Cursor): readonly PodSetSource[] {
  const containers = [...listedContainers(block), ...blockContainer(block)];
  const placed =
    isList(getIn(block, 'tolerations')) || isMap(getIn(block, 'nodeSelector')) || isMap(getIn(block, 'affinity'));
  const sets: PodSetSource[] = containers.length > 0 || placed ? [podSet(block, containers)] : [];
  const others = entries(block).filter((entry) => componentResources.test(keyOf(entry)) && hasAmounts(entry));
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

/** The containers in a `containers` list. */
function listedContainers(block: Cursor): readonly Container[] {
  const isContainer = (item: Cursor) => getIn(item, 'image') !== undefined || getIn(item, 'resources') !== undefined;
  const all = items(getIn(block, 'containers'));
  return all.length > 0 && all.every(isContainer) ? lowerContainers(block) : [];
}

/** The container that a mapping stands for, if it has resources. */
function blockContainer(block: Cursor): readonly Container[] {
  const name = asText(getIn(block, 'name')) ?? keyOf(block);
  const resources = getIn(block, 'resources');
  const image = imageOf(getIn(block, 'image'));
  const extra = [...requestedGpus(block), ...enabledGpus(block), ...extraResources(block)];
  if (hasAmounts(resources) || extra.length > 0) {
    const container = lowerContainer(block, 'app', name);
    return [{ ...container, ...image, env: variables(block), accelerators: [...container.accelerators, ...extra] }];
  }
  // KubeAI profiles have limits and requests without `resources`; elsewhere these keys have other meanings.
  if (keyOf(block) === 'resources' || !namesVendorResource(block)) return [];
  return [{ ...lowerContainer(block, 'app', name, block), ...image, env: variables(block) }];
}

/** Environment variables, as a list or as a mapping of names to values. */
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

/** Whether limits or requests name a vendor's resource (with a domain). Rules report misspelled ones. */
function namesVendorResource(block: Cursor): boolean {
  return [...entries(getIn(block, 'limits')), ...entries(getIn(block, 'requests'))].some((entry) =>
    keyOf(entry).includes('/'),
  );
}

function hasAmounts(resources: Cursor | undefined): boolean {
  return isMap(getIn(resources, 'limits')) || isMap(getIn(resources, 'requests'));
}

/** The chart of vLLM's production stack. https://github.com/vllm-project/production-stack/blob/main/helm/values.yaml */
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

/** JupyterHub (KubeSpawner). https://jupyterhub-kubespawner.readthedocs.io/en/latest/spawner.html */
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

/** The image if both repository and tag are set: only the chart knows its default tag. */
function imageOf(image: Cursor | undefined): { readonly image?: Located<string> | undefined } {
  if (!isMap(image)) return {};
  const repository = asText(getIn(image, 'repository'));
  const tag = getIn(image, 'tag');
  const complete = repository !== undefined && repository !== '' && tag !== undefined && !isTemplated(tag);
  const pinned = ['digest', 'sha', 'sha256'].some((key) => (asText(getIn(image, key)) ?? '') !== '');
  const name = asText(tag) ?? '';
  return { image: complete && !pinned && name !== '' ? { value: `${repository}:${name}`, at: tag } : undefined };
}

/** The instance type, for which each chart has its own key; only a type in the catalog is certain. */
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

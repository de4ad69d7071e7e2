import { acceleratorResource } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asString, asText, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { namesAccelerators } from '../accelerators.ts';
import { countIn } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lowerContainer, lowerContainers, text } from '../pod.ts';
import { byName } from '../requested-resource.ts';
import type { Container } from '../workload.ts';
import { type ShapePlace, singularsOf } from './shape-counts.ts';

// The pods in an object of an unknown kind: pod specs, mappings that have `resources` next to an image, and mappings that state a number of
// GPUs in their own words.

/** The pods at one place of an object. */
export interface ShapePods extends ShapePlace {
  readonly name: string;
  readonly pod: Cursor;
  readonly containers: readonly Container[];
  readonly implicitDevices?: readonly ImplicitDevices[];
}

/** An object inside another one. */
export interface EmbeddedObject extends ShapePlace {
  readonly object: Cursor;
}

export interface Shapes {
  readonly pods: readonly ShapePods[];
  readonly objects: readonly EmbeddedObject[];
}

/** The pods and objects below the root of an object's fields. */
export function findShapes(root: Cursor): Shapes {
  return walk(root, [], 0);
}

const maxDepth = 14;
const none: Shapes = { pods: [], objects: [] };

/** @param path the mappings and lists from the root to here, outermost first */
function walk(cursor: Cursor, path: readonly Cursor[], depth: number): Shapes {
  if (depth > maxDepth || asBoolean(getIn(cursor, 'enabled')) === false) return none;
  const here = [...path, cursor];
  if (depth > 0 && isObject(cursor)) return { pods: [], objects: [{ object: cursor, ...placeOf(here) }] };
  if (isPodSpec(cursor)) {
    const containers = lowerContainers(cursor);
    return { pods: [{ name: nameOf(here), pod: cursor, containers, ...placeOf(here) }], objects: [] };
  }
  const found = [...entries(cursor), ...items(cursor)]
    .filter((child) => child.node.kind !== 'scalar' && !isUnread(child))
    .map((child) => walk(child, here, depth + 1));
  const below: Shapes = {
    pods: found.flatMap(({ pods }) => pods),
    objects: found.flatMap(({ objects }) => objects),
  };
  return { ...below, pods: withBlock(below.pods, cursor, here) };
}

/** Keys that do not contain pods: metadata, storage, placement, and amounts that nobody runs. */
const unread: ReadonlySet<string> = new Set([
  ...['status', 'metadata', 'resources', 'nodeSelector', 'affinity', 'tolerations', 'env', 'volumes', 'labels'],
  ...[
    'annotations',
    'selector',
    'volumeClaimTemplates',
    'volumeMounts',
    'limits',
    'requests',
    'quota',
    'resourceQuota',
  ],
]);

/** A list of `resources` has objects, not amounts. */
function isUnread(child: Cursor): boolean {
  return unread.has(keyOf(child)) && !(keyOf(child) === 'resources' && child.node.kind === 'seq');
}

function isObject(cursor: Cursor): boolean {
  return asString(getIn(cursor, 'apiVersion')) !== undefined && asString(getIn(cursor, 'kind')) !== undefined;
}

/** Whether a mapping has a list of containers, each with a name or an image and at least one with an image or resources. */
function isPodSpec(cursor: Cursor): boolean {
  const containers = items(getIn(cursor, 'containers'));
  const has = (container: Cursor, ...keys: readonly string[]) =>
    keys.some((key) => getIn(container, key) !== undefined);
  return (
    containers.length > 0 &&
    containers.every((container) => has(container, 'name', 'image')) &&
    containers.some((container) => has(container, 'image', 'resources'))
  );
}

/** The pods below a mapping, and the devices that the mapping itself requests: for the pods below it if these request none. */
function withBlock(below: readonly ShapePods[], block: Cursor, here: readonly Cursor[]): readonly ShapePods[] {
  if (block.node.kind !== 'map' || below.some(requests)) return below;
  const devices = blockDevices(block, here);
  if (devices === undefined) return below;
  const [only, ...others] = below;
  const own: ShapePods = { name: nameOf(here), pod: block, ...devices, ...placeOf(here, true) };
  if (only === undefined) return [own];
  // With several templates below, any of them may get the devices.
  if (others.length > 0) return below;
  const { implicitDevices } = devices;
  const containers = [...devices.containers.map((one) => ({ ...one, image: undefined })), ...only.containers];
  return [{ ...only, ...(implicitDevices === undefined ? { containers } : { implicitDevices }) }];
}

function requests({ containers, implicitDevices }: ShapePods): boolean {
  return implicitDevices !== undefined || containers.some(namesAccelerators);
}

type BlockDevices = Pick<ShapePods, 'containers' | 'implicitDevices'>;

function blockDevices(block: Cursor, here: readonly Cursor[]): BlockDevices | undefined {
  const image = imageOf(block);
  const container = { ...lowerContainer(block, 'app', 'main', resourcesOf(block)), image };
  if (container.accelerators.length > 0) return here.some(runsSomething) ? { containers: [container] } : undefined;
  const count = plainCount(block);
  if (count === undefined || !isOfProgram(block, here)) return undefined;
  return { containers: [{ ...container, image }], implicitDevices: [count] };
}

/** `resources`, or `limits` and `requests` without it. */
function resourcesOf(block: Cursor): Cursor | undefined {
  const resources = getIn(block, 'resources') ?? getIn(block, 'computeResources') ?? getIn(block, 'resource');
  if (resources !== undefined) return resources;
  return (getIn(block, 'limits') ?? getIn(block, 'requests')) ? block : undefined;
}

function imageOf(block: Cursor): Container['image'] {
  const image = getIn(block, 'image');
  const repository = text(getIn(image, 'repository')) ?? text(getIn(image, 'name'));
  const tag = text(getIn(image, 'tag'));
  if (image?.node.kind !== 'map') return text(image);
  return repository && (tag ? { value: `${repository.value}:${tag.value}`, at: tag.at } : repository);
}

/** Signs that an object runs programs: what is run, with what, or how often. */
const programKeys =
  /^(?:image|imageName|containerImage|dockerImage|imageUri|imageRef|images|command|args|entry-?point|script|container|env|envs|envVars|model|models|modelName|modelId|modelRef|modelUri|modelSource|model_name|modelPath|engine|runtime|framework|server|serving|inference|worker|trainer|notebook)$/i;
const runKeys = /^(?:replicas|replicaCount|instances|numWorkers|workers|parallelism|port|ports|podTemplate|template)$/;

/** Whether a mapping describes a program, or the hardware of the one that the mapping above it describes. */
function isOfProgram(block: Cursor, here: readonly Cursor[]): boolean {
  if (
    here.some((step) =>
      /node-?(?:pool|group|s$)|machine|host|hyper|param|config|option|default|profile/i.test(keyOf(step)),
    )
  )
    return false;
  if (runsProgram(block)) return true;
  return hardwareKeys.test(keyOf(block)) && here.some(runsProgram);
}

const hardwareKeys =
  /^(?:spec|template|compute|hardware|accelerators?|scheduling|deploy(?:ment)?|instance(?:Spec)?|workers?|servers?|predictor|runner|replicas?)$/i;

function runsProgram(mapping: Cursor): boolean {
  return entries(mapping).some((entry) => programKeys.test(keyOf(entry)));
}

function runsSomething(mapping: Cursor): boolean {
  return runsProgram(mapping) || entries(mapping).some((entry) => runKeys.test(keyOf(entry)));
}

/** GPUs by a plain word: `gpu: 1`, `gpuCount: 2`, `gpu: {count: 4}`, `resources: {gpu: 1}`, `resources: {limits: {gpu: 1}}`. */
function plainCount(block: Cursor): ImplicitDevices | undefined {
  const resources = resourcesOf(block);
  const owners = [block, resources, getIn(resources, 'limits'), getIn(resources, 'requests')];
  for (const owner of owners) {
    for (const entry of entries(owner)) {
      const count = countedGpus(entry);
      if (count !== undefined) return devicesIn(count, entry, owner);
    }
  }
  return undefined;
}

/** The scalar with the number of GPUs of one pod; undefined if the field is about something else. */
function countedGpus(entry: Cursor): Cursor | undefined {
  const words = singularsOf(keyOf(entry)).filter(
    (word) => !/^(?:num|number|of|n|count|request|limit|nvidia)$/.test(word),
  );
  const [subject, per, unit, ...rest] = words;
  if (subject !== 'gpu' && subject !== 'accelerator') return undefined;
  if (
    rest.length > 0 ||
    (per !== undefined && (per !== 'per' || !/^(?:pod|replica|node|worker|instance|container)$/.test(unit ?? '')))
  )
    return undefined;
  if (entry.node.kind === 'scalar') return isCount(entry) ? entry : undefined;
  if (entry.node.kind !== 'map' || asBoolean(getIn(entry, 'enabled')) === false) return undefined;
  const named = ['count', 'num', 'number', 'quantity', 'limit', 'limits', 'request', 'value', 'amount', 'units'];
  return named.map((key) => getIn(entry, key)).find((value) => value !== undefined && isCount(value));
}

function isCount(scalar: Cursor): boolean {
  return scalar.node.kind === 'scalar' && (isTemplated(scalar) || countIn(asText(scalar)) !== null);
}

/** The vendor is known only from the type, because the word GPU names none. */
function devicesIn(count: Cursor, entry: Cursor, owner: Cursor | undefined): ImplicitDevices {
  const near = [...entries(entry), ...entries(owner)].filter(({ node }) => node.kind === 'scalar');
  const types = near
    .filter((one) => /type|vendor|product|model|resource/i.test(keyOf(one)))
    .map((one) => asText(one) ?? '');
  const known = types.map((type) => acceleratorResource(type)).find((one) => one !== undefined);
  const vendor =
    known?.vendor ??
    (types.some((type) => /nvidia/i.test(type))
      ? 'nvidia'
      : types.some((type) => /\bamd\b/i.test(type))
        ? 'amd'
        : null);
  const resource = types.find((type) => acceleratorResource(type) !== undefined);
  return {
    requested: resource === undefined ? { kind: 'field', system: 'field', name: keyOf(entry) } : byName(resource),
    at: count,
    form: known?.form ?? 'whole',
    vendor,
    perPod: isTemplated(count) ? null : countIn(asText(count)),
    each: 1,
  };
}

/** @param withSelf whether the last mapping may also have counts: it is not a pod spec */
function placeOf(here: readonly Cursor[], withSelf = false): ShapePlace {
  const above = (withSelf ? here : here.slice(0, -1)).filter(({ node }) => node.kind === 'map').reverse();
  const wordsBelow = (mapping: Cursor) => {
    const from = here.findIndex(({ node }) => node === mapping.node);
    return here.slice(from + 1).flatMap((step) => [...singularsOf(keyOf(step)), ...roleWords(step)]);
  };
  return { path: here, above, wordsBelow };
}

/** The words of the name of a role, which may be a field of a list's item. */
function roleWords(step: Cursor): readonly string[] {
  if (step.node.kind !== 'map') return [];
  return ['name', 'role', 'type', 'replicaType', 'groupName', 'componentType'].flatMap((key) =>
    singularsOf(asText(getIn(step, key)) ?? ''),
  );
}

const plainKeys = /^(?:spec|template|podTemplate|podSpec|podTemplateSpec|pod)$/;

/** The nearest name or key above pods that is more specific than `template` and `spec`. */
function nameOf(here: readonly Cursor[]): string {
  for (const [index, step] of [...here].reverse().entries()) {
    const named = index > 0 || getIn(step, 'containers') === undefined ? asText(getIn(step, 'name')) : undefined;
    if (named !== undefined && keyOf(step) !== 'metadata') return named;
    const key = keyOf(step);
    if (key !== '' && !plainKeys.test(key)) return key;
  }
  return 'pod';
}

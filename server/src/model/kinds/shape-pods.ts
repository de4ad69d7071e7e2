import { wordSet } from '../../catalog/word-patterns.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asString, asText, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import { namesAccelerators } from '../accelerators.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { once } from '../once.ts';
import { lowerContainers } from '../pod.ts';
import type { Container } from '../workload.ts';
import type { ShapePlace } from './shape-counts.ts';
import { blockDevices, resourcesOf } from './shape-devices.ts';
import { singularsOf } from './shape-words.ts';

// The pods in an object of an unknown kind: pod specs, mappings that have `resources` next to an image, and mappings that state a number of
// GPUs in their own words.

/** The pods at one place of an object. */
export interface ShapePods extends ShapePlace {
  readonly name: string;
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
  if (depth > 0 && isObject(cursor)) return { pods: [], objects: [{ object: cursor, ...placeOf(cursor, here) }] };
  if (isPodSpec(cursor)) {
    const containers = lowerContainers(cursor);
    return { pods: [{ name: nameOf(here), containers, ...placeOf(cursor, here) }], objects: [] };
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
const unread = wordSet(
  'status metadata resources nodeSelector affinity tolerations env volumes labels annotations selector',
  'volumeClaimTemplates volumeMounts limits requests quota resourceQuota',
);

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
  const own: ShapePods = { name: nameOf(here), ...devices, ...placeOf(block, here, true) };
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

/** @param isBlock whether the pods are those of a mapping, which may have counts itself and in its resources, unlike a pod spec */
function placeOf(pod: Cursor, here: readonly Cursor[], isBlock = false): ShapePlace {
  const resources = isBlock ? resourcesOf(pod) : undefined;
  const path = resources === undefined || resources.node === pod.node ? here : [...here, resources];
  const above = (isBlock ? path : path.slice(0, -1)).filter(({ node }) => node.kind === 'map').reverse();
  const wordsBelow = (mapping: Cursor) => {
    const from = path.findIndex(({ node }) => node === mapping.node);
    return path.slice(from + 1).flatMap((step) => [...singularsOf(keyOf(step)), ...roleWords(step)]);
  };
  return { pod, path, above, wordsBelow };
}

/** The words of the name of a role, which may be a field of a list's item. */
const roleWords = once((step: Cursor): readonly string[] => {
  if (step.node.kind !== 'map') return [];
  return ['name', 'role', 'type', 'replicaType', 'groupName', 'componentType'].flatMap((key) =>
    singularsOf(asText(getIn(step, key)) ?? ''),
  );
});

const plainKeys = wordSet('spec template pod podSpec podTemplate podTemplateSpec');

/** The nearest name or key above pods that is more specific than `template` and `spec`. */
function nameOf(here: readonly Cursor[]): string {
  for (const [index, step] of [...here].reverse().entries()) {
    const named = index > 0 || getIn(step, 'containers') === undefined ? asText(getIn(step, 'name')) : undefined;
    if (named !== undefined && keyOf(step) !== 'metadata') return named;
    const key = keyOf(step);
    if (key !== '' && !plainKeys.has(key)) return key;
  }
  return 'pod';
}

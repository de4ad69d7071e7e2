import { acceleratorResource } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asBoolean, entries, getIn, items, keyOf } from '../yaml/cursor.ts';
import type { ImplicitDevices } from './implicit-devices.ts';
import { plainCount } from './kinds/shape-devices.ts';
import { once } from './once.ts';
import { firstOf, requestOf } from './values-parts.ts';
import type { AcceleratorRequest } from './workload.ts';

// The image and the GPUs of a component in the values of any chart.

/**
 * GPUs by a plain word in a component with its image and replicas (`gpu: {count: 1}`, `gpus: 2`, `model: {gpus: 1}`), or in a block that turns
 * them on for the pods of the values around it.
 */
export function plainGpus(block: Cursor): ImplicitDevices | undefined {
  if (!isComponent(block)) return switchedGpus(block);
  const model = getIn(block, 'model');
  return plainCount(block) ?? (model && plainCount(model));
}

/** Whether a mapping has both the image and the number of its pods. */
export function isComponent(block: Cursor): boolean {
  return imageAt(block) !== undefined && firstOf(block, ['replicaCount', 'replicas']) !== undefined;
}

/**
 * `gpu: {enabled: true, count: 1}` in values with the parts of pods: their templates turn it into a request. Undefined if a request is written
 * anywhere in the values, which may be the same one.
 */
export const switchedGpus = once((block: Cursor): ImplicitDevices | undefined => {
  const isSwitch = (entry: Cursor) =>
    /^(?:gpus?|accelerators?)$/i.test(keyOf(entry)) && asBoolean(getIn(entry, 'enabled')) === true;
  const parts = [
    'resources',
    'nodeSelector',
    'tolerations',
    'affinity',
    'service',
    'image',
    'replicaCount',
    'replicas',
  ];
  if (!entries(block).some(isSwitch) || parts.filter((part) => getIn(block, part) !== undefined).length < 2)
    return undefined;
  const devices = namesResource(block) ? undefined : plainCount(block);
  return devices?.at?.parent !== undefined && isSwitch(devices.at.parent) ? devices : undefined;
});

/**
 * Accelerators directly under the `resources` of a component, whose template puts them into `limits`. Empty if limits or requests are written: then
 * they do not belong there.
 */
export function directRequests(block: Cursor): readonly AcceleratorRequest[] {
  const resources = getIn(block, 'resources');
  if (getIn(resources, 'limits') !== undefined || getIn(resources, 'requests') !== undefined) return [];
  if (imageAt(block) === undefined && firstOf(block, ['replicaCount', 'replicas', 'args', 'command']) === undefined)
    return [];
  return entries(resources).flatMap((entry) => (keyOf(entry).includes('/') ? requestOf(keyOf(entry), entry) : []));
}

/** Whether a mapping names an accelerator resource anywhere but in the labels of nodes. */
function namesResource(cursor: Cursor): boolean {
  return [...entries(cursor), ...items(cursor)].some(
    (child) =>
      acceleratorResource(keyOf(child)) !== undefined || (keyOf(child) !== 'nodeSelector' && namesResource(child)),
  );
}

/** The mapping above a component, if its image and node labels are for its components: it has no pods itself. */
export function partsAbove({ parent }: Cursor): Cursor | undefined {
  return getIn(parent, 'resources') === undefined ? parent : undefined;
}

/** The image of a component, which may be next to it, or in a mapping for the rest of its container: `deployment: {image: …}`. */
export function imageAt(block: Cursor): Cursor | undefined {
  const parts = entries(block).filter(
    (part) => containerKeys.has(keyOf(part).toLowerCase()) && getIn(part, 'resources') === undefined,
  );
  const [inPart, ...others] = parts.flatMap((part) => getIn(part, 'image') ?? []);
  const within = others.length === 0 ? inPart : undefined;
  return getIn(block, 'image') ?? within ?? namedImage(block) ?? getIn(partsAbove(block), 'image');
}

/** An image as a text under a longer key (`containerImage: …`), or under the component's own key in a mapping of images next to it. */
function namedImage(block: Cursor): Cursor | undefined {
  const named = firstOf(block, ['containerImage', 'dockerImage', 'imageName', 'imageRepository']);
  if (named?.node.kind === 'scalar') return named;
  const listed = ['images', 'image'].map((key) => getIn(block.parent, key, keyOf(block)));
  return listed.find((image) => image?.node.kind === 'scalar' || getIn(image, 'repository') !== undefined);
}

/** In lower case. */
const containerKeys = wordSet('deploy deployment statefulset app main server container pod');

import { partOf } from '../catalog/word-patterns.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asBoolean, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';
import { namesAccelerators } from './accelerators.ts';
import type { PodCount, PodSetSource } from './kinds/kind.ts';
import { exactly } from './kinds/pod-sets.ts';
import { countsElsewhere, countsIn } from './kinds/shape-words.ts';
import { once } from './once.ts';

// Whether the pods of a mapping in the values of any chart count.

/**
 * The pods of a mapping in the values of any chart. They count if the mapping describes a program with everything that a pod of it needs, and
 * nothing above turns it off or makes it one of several to choose from.
 * @param released the pods that a release would make of it, if they are known
 */
export function countedPods(
  block: Cursor,
  podSet: PodSetSource,
  released: PodCount | undefined,
): { readonly podSet: PodSetSource; readonly counted: boolean; readonly released?: PodCount } {
  const uncounted = { podSet, counted: false, ...(released && { released }) };
  if (released === undefined || released.min === null || podSet.pod !== block) return uncounted;
  const hasDevices = podSet.implicitDevices !== undefined || (podSet.containers ?? []).some(namesAccelerators);
  if (!hasDevices || !describesPods(block)) return uncounted;
  if (released.max === null && mayBeCountedElsewhere(block)) return uncounted;
  const above = withParents(block);
  if (above.some((one) => choiceKeys.test(keyOf(one)) || isTurnedOff(one) !== false)) {
    const isOff = above.some((one) => asBoolean(getIn(one, 'enabled')) === false);
    return isOff ? { podSet: { ...podSet, pods: exactly(0) }, counted: true } : uncounted;
  }
  return { podSet: { ...podSet, pods: released }, counted: true };
}

/** A mapping and those above it, innermost first. */
function withParents(block: Cursor): readonly Cursor[] {
  const found: Cursor[] = [];
  for (let here: Cursor | undefined = block; here !== undefined; here = here.parent) found.push(here);
  return found;
}

/** Keys of mappings that are offered, not installed. */
const choiceKeys = partOf('profile preset example sample template', 'tier flavou?r option choice default');

/** Keys next to `resources` that only a component has. */
const podKeys: ReadonlySet<string> = new Set([
  ...['replicas', 'replicaCount', 'repository', 'command', 'args', 'extraArgs', 'runtimeClassName'],
  ...['nodeSelector', 'tolerations', 'affinity', 'persistence', 'volumes', 'scaling', 'autoscaling'],
]);

function isPodKey(key: string): boolean {
  return podKeys.has(key) || /^(?:image|service|model)\w*$|^\w*(?:[eE]nv|\wProbe)$/.test(key);
}

/** Whether another number may count the pods of a mapping without replicas: `resources.nnodes: 8`, or `workers: {replicas: 4}` below it. */
function mayBeCountedElsewhere(block: Cursor): boolean {
  const devices = entries(block).filter((entry) => deviceKeys.test(keyOf(entry)));
  const none = new Set<YamlNode>(devices.map(({ node }) => node));
  return (
    [block, getIn(block, 'resources')].some((mapping) => {
      if (mapping === undefined) return false;
      const { written, bounds, members } = countsIn(mapping, none);
      return bounds !== undefined || members !== undefined || written.some(({ value }) => value !== 1);
    }) || countsElsewhere(block, none)
  );
}

function describesPods(block: Cursor): boolean {
  return entries(block).some((entry) => isPodKey(keyOf(entry)));
}

const deviceKeys = /^(?:gpu|gpus|cuda|nvidia|accelerators?)$/i;

/** Whether a mapping turns the components in it, or their GPUs, off; null if a template decides. */
const isTurnedOff = once((mapping: Cursor): boolean | null => {
  const switches = entries(mapping).flatMap((entry) => {
    if (keyOf(entry) === 'enabled') return [entry];
    if (!deviceKeys.test(keyOf(entry))) return [];
    return [getIn(entry, 'enabled') ?? (entry.node.kind === 'scalar' ? entry : undefined)];
  });
  if (switches.some((one) => asBoolean(one) === false)) return true;
  return switches.some(isTemplated) ? null : false;
});

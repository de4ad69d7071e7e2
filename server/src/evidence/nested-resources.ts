import { knownAccelerator } from '../catalog/index.ts';
import { type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';

/**
 * The `resources` that are all that other `resources` have, with a request for accelerators: charts hand the outer ones to a container, which has no
 * such field.
 */
export function nestedResources(values: Cursor, depth = 0): readonly Cursor[] {
  if (depth > 12) return [];
  return entries(values).flatMap((child) => {
    if (child.node.kind !== 'map') return [];
    const inner = keyOf(child) === 'resources' ? getIn(child, 'resources') : undefined;
    if (inner === undefined) return nestedResources(child, depth + 1);
    const isAlone = entries(child).length === 1 && !isIncomplete(child);
    return isAlone && requestsAny(inner) ? [inner] : [];
  });
}

function requestsAny(resources: Cursor): boolean {
  return ['limits', 'requests'].some((list) =>
    entries(getIn(resources, list)).some((one) => knownAccelerator(keyOf(one)) !== undefined),
  );
}

/** A name of an accelerator that is written as two keys, one below the other. */
export interface SplitName {
  readonly at: Cursor;
  readonly name: string;
}

/** Names in the limits and requests of values that are split at a dot or at the slash: `nvidia.com: {gpu: 1}`, `nvidia: {com/gpu: 1}`. */
export function splitNames(values: Cursor, depth = 0): readonly SplitName[] {
  if (depth > 12) return [];
  return entries(values).flatMap((child) => {
    if (child.node.kind !== 'map') return [];
    if (keyOf(child) !== 'limits' && keyOf(child) !== 'requests') return splitNames(child, depth + 1);
    // What a parameter sets is reported at its path.
    const written = entries(child).filter((at) => !at.shared);
    return written.flatMap((at) =>
      entries(at).flatMap((inner): readonly SplitName[] => {
        const name = `${keyOf(at)}${keyOf(inner).includes('/') ? '.' : '/'}${keyOf(inner)}`;
        return inner.node.kind === 'scalar' && knownAccelerator(name) !== undefined ? [{ at, name }] : [];
      }),
    );
  });
}

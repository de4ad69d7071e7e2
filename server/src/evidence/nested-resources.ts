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

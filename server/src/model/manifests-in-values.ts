import { asString, type Cursor, entries, getIn, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { inlineValues } from './inline-values.ts';
import { manifestsAt } from './manifest.ts';
import { mayBeValues } from './values.ts';
import type { Manifest } from './workload.ts';

/**
 * The whole objects in a chart's values, which the chart adds to its own unchanged: `extraObjects`, `extraDeploy`, `resources` of the charts called
 * raw. The chart may be installed any number of times, so the number of their pods is unknown.
 * @param own the document's own objects, some of which carry values
 */
export function manifestsInValues(document: YamlDocument, own: readonly Manifest[]): readonly Manifest[] {
  if (document.root === null || !innerObject.test(document.text)) return [];
  const root = rootCursor(document.root);
  const values = mayBeValues(root) ? [root] : own.flatMap((one) => inlineValues(one).map((carried) => carried.values));
  return values
    .flatMap((one) => objectsIn(one, 0))
    .flatMap((object) => manifestsAt(document, object))
    .map((manifest) => ({ ...manifest, created: 'later' }));
}

/** A field of an object that is not at the top of the document. */
const innerObject = /^[ \t-]+["']?apiVersion["']?:/m;

/** Charts have such lists at the top or in a component, umbrella charts one level deeper. */
const maxDepth = 4;

function objectsIn(values: Cursor, depth: number): readonly Cursor[] {
  if (depth > maxDepth) return [];
  return entries(values).flatMap((entry): readonly Cursor[] => {
    if (entry.node.kind === 'scalar') return [];
    if (!objectKeys.test(keyOf(entry))) return entry.node.kind === 'map' ? objectsIn(entry, depth + 1) : [];
    const objects = [...items(entry), ...entries(entry)].filter(isObject);
    return objects.length === 0 ? objectsIn(entry, depth + 1) : objects;
  });
}

const objectKeys =
  /^(?:extra|additional|custom|raw|other)?[-_]?(?:k8s|kubernetes|kube)?[-_]?(?:objects?|manifests?|deploy(?:ments?)?|resources?|templates?)$/i;

/**
 * Whether a mapping is an object with a name. References to objects have no metadata, and a chart that reads a switch next to the fields of an object
 * makes another object of it.
 */
function isObject(at: Cursor): boolean {
  return (
    getIn(at, 'enabled') === undefined &&
    asString(getIn(at, 'apiVersion')) !== undefined &&
    asString(getIn(at, 'kind')) !== undefined &&
    getIn(at, 'metadata')?.node.kind === 'map'
  );
}

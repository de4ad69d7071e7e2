import { asString, getIn, rootCursor } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import type { Referenced, ScalerFacts } from '../cross-references.ts';
import { lowerStrings } from '../manifest.ts';
import { once } from '../once.ts';
import { replicaKinds, type ScalerOf, scalerOf } from '../scalers.ts';
import { type BuiltObject, mayBeIn } from './built-object.ts';

/** A scaler of a kustomization; without facts if a patch deletes it. */
interface BuiltScaler {
  readonly object: BuiltObject;
  readonly target: ScalerOf['target'];
  readonly facts: ScalerFacts | null;
}

/**
 * The scalers of an object with all patches of the kustomization; undefined if it builds none for it.
 * @param group the target's API group; null if unknown
 */
export function scalersAmong(
  objects: readonly BuiltObject[],
  group: string | null,
  kind: string,
  namespace: string | null,
  name: string,
): readonly Referenced<ScalerFacts>[] | undefined {
  const found = (scalersIn(objects).get(JSON.stringify([kind, name])) ?? []).filter(
    ({ object, target }) =>
      mayBeIn(object, namespace) && (group === null || target.group === null || target.group === group),
  );
  if (found.length === 0) return undefined;
  return found.flatMap(({ object, facts }) => {
    const named = { kind: object.kind, name: object.names[0] ?? '', file: object.file };
    return facts === null ? [] : { ...named, siblingFolder: false, facts };
  });
}

/** By the kinds and names of their targets. */
const scalersIn = once((objects: readonly BuiltObject[]): ReadonlyMap<string, readonly BuiltScaler[]> => {
  const found = new Map<string, BuiltScaler[]>();
  for (const object of objects) {
    if (!replicaKinds.includes(object.kind)) continue;
    const now = scalerAt(object.root);
    const scaler = now ?? (object.before && scalerAt(object.before));
    if (scaler == null) continue;
    const { kind, name } = scaler.target;
    const key = JSON.stringify([kind, name]);
    const facts = now === null ? null : now.facts;
    found.set(key, [...(found.get(key) ?? []), { object, target: scaler.target, facts }]);
  }
  return found;
});

const scalerAt = once((node: YamlNode): ScalerOf | null => {
  const root = rootCursor(node);
  const [apiVersion, kind] = [asString(getIn(root, 'apiVersion')), asString(getIn(root, 'kind'))];
  if (apiVersion === undefined || kind === undefined) return null;
  return scalerOf({ root, apiVersion, kind, annotations: lowerStrings(getIn(root, 'metadata', 'annotations')) });
});

import { rootCursor } from '../../yaml/cursor.ts';
import { smallFiles } from '../config-env.ts';
import { type CrossReferences, withAnswers } from '../cross-references.ts';
import { once } from '../once.ts';
import { type BuiltObject, mayBeIn } from './built-object.ts';
import { scalersAmong } from './scalers.ts';

/**
 * What the objects of a kustomization reference: its ConfigMaps and scalers have all its patches.
 * @param isPatch the objects still lack the patches of the file from which the lookup starts
 */
export function amongBuilt(
  objects: readonly BuiltObject[],
  others: CrossReferences,
  isPatch: boolean,
): CrossReferences {
  const maps = configMapsIn(objects);
  return withAnswers(others, {
    scalersOf: (group, kind, namespace, name) =>
      scalersAmong(objects, group, kind, namespace, name) ?? others.scalersOf(group, kind, namespace, name),
    configMap(namespace, name) {
      const found = (maps.get(name) ?? []).filter((one) => mayBeIn(one, namespace));
      const [first, second] = found;
      if (first === undefined) return others.configMap(namespace, name);
      if (second !== undefined || (isPatch && others.configMap(namespace, name)?.file === null)) return undefined;
      return { kind: 'ConfigMap', name, file: first.file, siblingFolder: false, facts: filesIn(first) };
    },
  });
}

/** By all their names: references may use any of them. */
const configMapsIn = once((objects: readonly BuiltObject[]): ReadonlyMap<string, readonly BuiltObject[]> => {
  const found = new Map<string, BuiltObject[]>();
  for (const object of objects) {
    if (object.kind !== 'ConfigMap' || object.group !== '') continue;
    for (const name of new Set(object.names)) found.set(name, [...(found.get(name) ?? []), object]);
  }
  return found;
});

const filesIn = once(({ root }: BuiltObject) => smallFiles(rootCursor(root)));

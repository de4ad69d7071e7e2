import { asText, getIn, rootCursor } from '../../yaml/cursor.ts';
import { smallFiles } from '../config-env.ts';
import type { CrossReferences } from '../cross-references.ts';
import { once } from '../once.ts';
import type { BuiltObject } from './built-object.ts';

/**
 * What the objects of a kustomization reference: its ConfigMaps have all its patches.
 * @param isPatch the objects still lack the patches of the file from which the lookup starts
 */
export function amongBuilt(
  objects: readonly BuiltObject[],
  others: CrossReferences,
  isPatch: boolean,
): CrossReferences {
  const maps = configMapsIn(objects);
  if (maps.size === 0) return others;
  return {
    ...others,
    configMap(namespace, name) {
      const found = (maps.get(name) ?? []).filter((one) => mayBeIn(one, namespace));
      const [first, second] = found;
      if (first === undefined) return others.configMap(namespace, name);
      if (second !== undefined || (isPatch && others.configMap(namespace, name)?.file === null)) return undefined;
      return { kind: 'ConfigMap', name, file: first.file, siblingFolder: false, facts: filesIn(first) };
    },
  };
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

function mayBeIn({ root }: BuiltObject, namespace: string | null): boolean {
  const own = asText(getIn(rootCursor(root), 'metadata', 'namespace'));
  return own === undefined || namespace === null || own === namespace;
}

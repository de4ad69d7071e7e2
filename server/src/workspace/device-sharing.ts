import { wordSet } from '../catalog/word-patterns.ts';
import type { DeviceSharing } from '../model/cross-references.ts';
import type { Referenced } from '../model/referenced.ts';
import { sharingKind } from './kinds.ts';
import { factsAs, referenced, type Scope } from './named.ts';
import { isInNodesFolder } from './nodes-folder.ts';
import { anyObject } from './workspace.ts';

/** The names of configs that nodes without the label have: of the operator, and of a plugin with a single file. */
const usual: readonly string[] = ['any', 'default', 'config', 'config.yaml', 'config.yml'];

/**
 * The config that nodes have: the one with a name, else the usual one in the folder of the file or above, or in the one folder of the project that
 * installs the device plugin. Undefined if several differ.
 * @param isShared the pod requests a resource that only shared GPUs have, so any config may apply
 */
export function deviceSharing(
  scope: Scope,
  config: string | null,
  isShared: boolean,
): Referenced<DeviceSharing> | undefined {
  const places = scope.workspace.objects(sharingKind, anyObject, '');
  const isElsewhere = places.countAbove(scope) === 0 && isInNodesFolder(places.all, scope, installerWords);
  const all = (config === null && !isElsewhere ? places.above(scope) : places.all).flatMap((one) =>
    (factsAs(one.object, 'sharing') ?? []).map((facts) => ({ one, facts })),
  );
  const defaults = new Map(
    all.flatMap(({ facts }) => (facts.configMap === undefined ? [] : [[facts.configMap, facts]])),
  );
  const isUsual = ({ one, facts }: (typeof all)[number]) =>
    facts.isDefault ??
    ((defaults.get(one.object.name)?.config ?? facts.config) === facts.config &&
      (defaults.has(one.object.name) || usual.includes(facts.config)));
  const found = all.filter(
    (each) =>
      each.facts.configMap === undefined &&
      (config === null ? isShared || isUsual(each) : each.facts.config === config),
  );
  const [first, ...others] = found;
  const sharedBy = ({ replicas, slices = [] }: DeviceSharing) => JSON.stringify([replicas, slices]);
  if (first === undefined || others.some(({ facts }) => sharedBy(facts) !== sharedBy(first.facts))) return undefined;
  const shown = referenced(scope, first.one, first.facts);
  // Values have no name.
  return shown.name === '' ? { ...shown, kind: 'config', name: first.facts.config } : { ...shown, kind: 'ConfigMap' };
}

/** Words in names of folders that install the device plugin. */
const installerWords = wordSet('operator operators nvidia device plugin plugins');

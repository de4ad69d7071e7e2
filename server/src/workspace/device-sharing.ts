import type { DeviceSharing } from '../model/cross-references.ts';
import type { Referenced } from '../model/referenced.ts';
import { sharingKind } from './kinds.ts';
import { factsAs, referenced, type Scope } from './named.ts';
import { anyObject } from './workspace.ts';

/** The names of configs that nodes without the label have: of the operator, and of a plugin with a single file. */
const usual: readonly string[] = ['any', 'default', 'config', 'config.yaml', 'config.yml'];

/**
 * The config that nodes have: the one with a name, else the usual one in the folder of the file or above. Undefined if several differ.
 * @param isShared the pod requests a resource that only shared GPUs have, so any config may apply
 */
export function deviceSharing(
  scope: Scope,
  config: string | null,
  isShared: boolean,
): Referenced<DeviceSharing> | undefined {
  const all = scope.workspace.objects(sharingKind, anyObject, '');
  const found = (config === null ? all.above(scope) : all.all).flatMap((one) =>
    (factsAs(one.object, 'sharing') ?? [])
      .filter((facts) => (config === null ? isShared || usual.includes(facts.config) : facts.config === config))
      .map((facts) => ({ one, facts })),
  );
  const [first, ...others] = found;
  if (first === undefined || others.some(({ facts }) => facts.replicas !== first.facts.replicas)) return undefined;
  return { ...referenced(scope, first.one, first.facts), kind: 'ConfigMap' };
}

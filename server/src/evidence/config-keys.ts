import type { Manifest } from '../model/workload.ts';
import { asBoolean, type Cursor, getIn, isUnseen, items } from '../yaml/cursor.ts';
import { writtenText } from './written.ts';

/** A key of a ConfigMap or a Secret that a controller reads for an object, other than for its pods. */
export interface ControllerKey {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key: string;
  /** The key, or the name of the object if the key is a default. */
  readonly at: Cursor;
  /** What happens without the key. */
  readonly effect: string;
}

/** The keys that Flux reads. */
export function controllerKeys(manifest: Manifest): readonly ControllerKey[] {
  return manifest.kind === 'HelmRelease' ? items(getIn(manifest.root, 'spec', 'valuesFrom')).flatMap(valuesSource) : [];
}

/** https://fluxcd.io/flux/components/helm/helmreleases/#values-references */
function valuesSource(source: Cursor): readonly ControllerKey[] {
  const [nameAt, keyAt] = [getIn(source, 'name'), getIn(source, 'valuesKey')];
  const kind = writtenText(getIn(source, 'kind'));
  const name = writtenText(nameAt);
  const key = keyAt === undefined ? 'values.yaml' : writtenText(keyAt);
  const isOptional = asBoolean(getIn(source, 'optional')) === true;
  if (nameAt === undefined || name === undefined || key === undefined || isOptional || isUnseen(source)) return [];
  if (kind !== 'ConfigMap' && kind !== 'Secret') return [];
  return [{ kind, name, key, at: keyAt ?? nameAt, effect: 'Flux does not install the release' }];
}

import { inlineValues } from '../model/inline-values.ts';
import { groupOf } from '../model/manifest.ts';
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
  /** Undefined: that of the object. */
  readonly namespace?: string;
  /** What happens without the key. */
  readonly effect: string;
}

/** The keys that Flux and NVIDIA's device plugin read. */
export function controllerKeys(manifest: Manifest): readonly ControllerKey[] {
  const spec = getIn(manifest.root, 'spec');
  if (manifest.kind === 'ClusterPolicy' && groupOf(manifest.apiVersion) === 'nvidia.com')
    return pluginConfig(getIn(spec, 'devicePlugin', 'config')).map((one) => ({ ...one, namespace: 'gpu-operator' }));
  if (manifest.kind !== 'HelmRelease') return [];
  const own = inlineValues(manifest).flatMap(({ values, chart }) => {
    if (chart === 'gpu-operator') return pluginConfig(getIn(values, 'devicePlugin', 'config'));
    return chart === 'nvidia-device-plugin' ? pluginConfig(getIn(values, 'config')) : [];
  });
  return [...items(getIn(spec, 'valuesFrom')).flatMap(valuesSource), ...own];
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

/** https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html */
function pluginConfig(config: Cursor | undefined): readonly ControllerKey[] {
  const at = getIn(config, 'default');
  const [name, key] = [writtenText(getIn(config, 'name')), writtenText(at)];
  if (at === undefined || name === undefined || key === undefined || getIn(config, 'map') !== undefined) return [];
  return [{ kind: 'ConfigMap', name, key, at, effect: 'the device plugin does not start' }];
}

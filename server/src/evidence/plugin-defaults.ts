import { inlineValues } from '../model/inline-values.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';
import { isUnknown } from './written.ts';

/** The default configuration of NVIDIA's operator or device plugin, with a name that none of the known ones has. */
export interface UnknownDefault {
  readonly at: Cursor;
  readonly value: string;
  readonly known: readonly string[];
}

/**
 * The defaults of a ClusterPolicy, or of values that an object carries.
 * https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
 * @param keysOf the keys of a ConfigMap
 */
export function unknownDefaults(
  manifest: Manifest,
  keysOf: (configMap: string) => readonly string[] | undefined,
): readonly UnknownDefault[] {
  const isPolicy = manifest.kind === 'ClusterPolicy' && groupOf(manifest.apiVersion) === 'nvidia.com';
  const carried = inlineValues(manifest).filter(({ chart }) => /gpu-operator|nvidia-device-plugin/.test(chart ?? ''));
  const spec = getIn(manifest.root, 'spec');
  const holders = isPolicy && spec !== undefined ? [spec] : carried.map(({ values }) => values);
  return holders.flatMap((holder) => unknownDefaultsIn(holder, keysOf));
}

/** The same for a values file of these charts. */
export function unknownDefaultsIn(
  holder: Cursor,
  keysOf: (configMap: string) => readonly string[] | undefined,
): readonly UnknownDefault[] {
  const configs = [getIn(holder, 'devicePlugin', 'config'), getIn(holder, 'config')];
  return configs.flatMap((config) => defaultOf(config, keysOf));
}

function defaultOf(
  config: Cursor | undefined,
  keysOf: (configMap: string) => readonly string[] | undefined,
): readonly UnknownDefault[] {
  const [at, name] = [getIn(config, 'default'), getIn(config, 'name')];
  const value = asText(at) ?? '';
  const data = getIn(config, 'data') ?? getIn(config, 'map');
  if (at === undefined || value === '' || [at, name].some(isUnknown) || [config, data].some(isIncomplete)) return [];
  const own = isTemplated(data) ? [] : entries(data).map(keyOf);
  const known = own.length > 0 ? own : (keysOf(asText(name) ?? '') ?? []);
  return known.length === 0 || known.includes(value) || known.some((key) => /[{$<]/.test(key))
    ? []
    : [{ at, value, known }];
}

import { inlineValues } from '../model/inline-values.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';
import { isUnknown } from './written.ts';

/** A setting of NVIDIA's operator or device plugin with a value that it does not have. */
export interface OperatorSetting {
  readonly at: Cursor;
  readonly value: string;
  readonly known: readonly string[];
  readonly of: 'config' | 'MIG strategy';
}

/**
 * The settings of a ClusterPolicy, of values that an object carries, or of a values file, that name no config of theirs and no MIG strategy.
 * https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
 * @param keysOf the keys of a ConfigMap
 */
export function unknownSettings(
  manifest: Manifest,
  keysOf: (configMap: string) => readonly string[] | undefined,
): readonly OperatorSetting[] {
  const isPolicy = manifest.kind === 'ClusterPolicy' && groupOf(manifest.apiVersion) === 'nvidia.com';
  const carried = inlineValues(manifest).filter(({ chart }) => /gpu-operator|nvidia-device-plugin/.test(chart ?? ''));
  const spec = getIn(manifest.root, 'spec');
  const holders = isPolicy && spec !== undefined ? [spec] : carried.map(({ values }) => values);
  return holders.flatMap((holder) => settingsOf(holder, keysOf));
}

/** The same for a values file of these charts. */
export function settingsOf(
  holder: Cursor,
  keysOf: (configMap: string) => readonly string[] | undefined,
): readonly OperatorSetting[] {
  const strategy = getIn(holder, 'mig', 'strategy') ?? getIn(holder, 'migStrategy');
  const value = asText(strategy) ?? '';
  const found: readonly OperatorSetting[] =
    strategy === undefined || value === '' || isUnknown(strategy) || strategies.includes(value)
      ? []
      : [{ at: strategy, value, known: strategies, of: 'MIG strategy' }];
  const configs = [getIn(holder, 'devicePlugin', 'config'), getIn(holder, 'config')];
  return [...found, ...configs.flatMap((config) => defaultOf(config, keysOf))];
}

const strategies: readonly string[] = ['none', 'single', 'mixed'];

function defaultOf(
  config: Cursor | undefined,
  keysOf: (configMap: string) => readonly string[] | undefined,
): readonly OperatorSetting[] {
  const [at, name] = [getIn(config, 'default'), getIn(config, 'name')];
  const value = asText(at) ?? '';
  const data = getIn(config, 'data') ?? getIn(config, 'map');
  if (at === undefined || value === '' || [at, name].some(isUnknown) || [config, data].some(isIncomplete)) return [];
  const own = isTemplated(data) ? [] : entries(data).map(keyOf);
  const known = own.length > 0 ? own : (keysOf(asText(name) ?? '') ?? []);
  return known.length === 0 || known.includes(value) || known.some((key) => /[{$<]/.test(key))
    ? []
    : [{ at, value, known, of: 'config' }];
}

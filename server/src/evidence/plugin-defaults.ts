import { wordSet } from '../catalog/word-patterns.ts';
import { inlineValues } from '../model/inline-values.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  keyOf,
} from '../yaml/cursor.ts';
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

/** The values of these charts in a values file: the file itself, or a part of an umbrella chart. */
export function pluginValues(root: Cursor): readonly Cursor[] {
  const parts = entries(root).filter((part) => /^(?:nvidia-)?(?:gpu-operator|device-plugin)$/.test(keyOf(part)));
  return [root, ...parts].filter((one) => getIn(one, 'devicePlugin') !== undefined || isPluginMap(one));
}

/** Whether values have configurations of the device plugin, whose chart has them at the top. */
function isPluginMap(values: Cursor): boolean {
  return entries(getIn(values, 'config', 'map')).some((config) => /^version: v1$/m.test(asText(config) ?? ''));
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

/** A ConfigMap that NVIDIA's operator is to create for its configurations, without what the chart needs to do it. */
export interface UncreatedConfig {
  readonly at: Cursor;
  /** `name`: without a name for the ConfigMap; `create`: the configurations are written, but creation is not switched on. */
  readonly lacks: 'name' | 'create';
}

/**
 * The ConfigMaps of the operator's chart that an object installs.
 * https://github.com/NVIDIA/gpu-operator/tree/main/deployments/gpu-operator/templates (plugin_config.yaml, mig_config.yaml; 2026-11-29)
 */
export function uncreatedConfigs(manifest: Manifest): readonly UncreatedConfig[] {
  return wholeValues(manifest, /^gpu-operator$/).flatMap(uncreatedConfigsIn);
}

/** The values of a chart that an object carries, unless other files may add to them. */
function wholeValues(manifest: Manifest, name: RegExp): readonly Cursor[] {
  const carried = inlineValues(manifest).filter(({ chart }) => name.test(chart ?? ''));
  if (carried.length === 0) return [];
  const spec = getIn(manifest.root, 'spec');
  const layers = [
    getIn(spec, 'valuesFrom'),
    getIn(spec, 'sources'),
    getIn(spec, 'source', 'helm', 'valueFiles'),
    getIn(spec, 'source', 'helm', 'parameters'),
  ];
  const isWhole = layers.every((layer) => layer === undefined);
  return isWhole ? carried.map(({ values }) => values) : [];
}

/**
 * The defaults of a ClusterPolicy, or of values that an object carries, next to which no ConfigMap is named: both charts then pass no configuration.
 * https://github.com/NVIDIA/k8s-device-plugin/blob/main/deployments/helm/nvidia-device-plugin/templates/_helpers.tpl (hasConfigMap; 2026-11-30)
 */
export function looseDefaults(manifest: Manifest): readonly Cursor[] {
  const isPolicy = manifest.kind === 'ClusterPolicy' && groupOf(manifest.apiVersion) === 'nvidia.com';
  const spec = getIn(manifest.root, 'spec');
  return [
    ...(isPolicy && spec !== undefined ? [spec] : []),
    ...wholeValues(manifest, /^(?:gpu-operator|nvidia-device-plugin)$/),
  ].flatMap(looseDefaultsIn);
}

/** The same for a values file of the plugin's chart, which its other settings prove. Another file may have the name. */
export function looseDefaultsInFile(values: Cursor): readonly Cursor[] {
  return entries(values).some((entry) => ownSettings.has(keyOf(entry))) ? looseDefaultsIn(values) : [];
}

const ownSettings = wordSet(
  'compatWithCPUManager migStrategy failOnInitError deviceListStrategy deviceIDStrategy nvidiaDriverRoot gdsEnabled mofedEnabled',
  'gfd mps devicePlugin',
);

function looseDefaultsIn(holder: Cursor): readonly Cursor[] {
  return [getIn(holder, 'devicePlugin', 'config'), getIn(holder, 'config')].flatMap((config) => {
    const [at, name, map, data] = ['default', 'name', 'map', 'data'].map((key) => getIn(config, key));
    const isNamed = name !== undefined && (asText(name) !== '' || isUnseen(name));
    if (at === undefined || (asText(at) ?? '') === '' || [config, at, map, data].some(isUnseen)) return [];
    return isNamed || [map, data].some((one) => entries(one).length > 0) ? [] : [at];
  });
}

/** The same for a values file of the chart, which another file may complete. */
export function unnamedConfigsIn(values: Cursor): readonly UncreatedConfig[] {
  return uncreatedConfigsIn(values).filter(({ lacks }) => lacks === 'name');
}

function uncreatedConfigsIn(values: Cursor): readonly UncreatedConfig[] {
  return ['devicePlugin', 'migManager'].flatMap((owner): readonly UncreatedConfig[] => {
    const config = getIn(values, owner, 'config');
    const [data, create, name] = ['data', 'create', 'name'].map((key) => getIn(config, key));
    if (data === undefined || entries(data).length === 0 || [config, data, create, name].some(isUnseen)) return [];
    if (asBoolean(create) !== true) return [{ at: data, lacks: 'create' }];
    return (asText(name) ?? '') === '' ? [{ at: create ?? data, lacks: 'name' }] : [];
  });
}

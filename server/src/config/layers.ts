import { platforms } from '../catalog/index.ts';
import { listPrices, type OwnPrices } from '../cost/custom-prices.ts';
import type { NodeTaint } from '../model/node-pool.ts';
import { defaultModelOptions, type ModelOptions } from '../model/options.ts';
import type { RuleNumbers, RulesOptions } from '../rules/rule.ts';
import { rulesOfSet } from '../rules/rule-sets.ts';
import { own as inside, type Table, table, tableOf } from '../yaml/table.ts';
import { matchesAny } from './globs.ts';
import type { ConfigInput } from './schema.ts';

/** What holds for a file, composed from the options of the rooms. */
export interface ProjectConfig extends ModelOptions {
  readonly rules: RulesOptions;
  /** Numbers that single rules count by. */
  readonly ruleOptions: RuleNumbers;
  readonly training: {
    readonly stepSeconds: number | null;
    /** How long training waits while a checkpoint is written. */
    readonly checkpointSeconds: number | null;
    readonly hoursBetweenInterruptions: number | null;
  };
  readonly prices: OwnPrices;
  /** Globs, relative to the config file's folder, of what a walk over folders passes by. A file that is named itself is always read. */
  readonly ignore: readonly string[];
  /** Where each value came from; a key that is missing has its default. Left out where nothing is set. */
  readonly origins?: ConfigOrigins;
}

/** Words for people. An editor that does not tell whose settings they are has `settings`. */
export type ConfigOrigin = '.gpulint.yaml' | 'settings' | 'user settings' | 'workspace settings';
/** By the path of a key: `gpu`, `training.stepSeconds`. */
export type ConfigOrigins = Readonly<Partial<Record<OriginKey, ConfigOrigin>>>;
type OriginKey = (typeof scalarKeys)[number] | (typeof nestedKeys)[number] | (typeof wholeKeys)[number];

/** What one place tells, the weakest first: settings, the file, its overrides. */
export interface ConfigLayer {
  readonly origin: ConfigOrigin;
  readonly values: ConfigInput;
  /** Of single keys, by path, where they did not all come from one place. */
  readonly origins?: Table<ConfigOrigin>;
}

/** What holds where several places tell: the last one counts, key by key. */
export function mergeLayers(layers: readonly ConfigLayer[]): ProjectConfig {
  const merged: Writable<Omit<ProjectConfig, 'origins'>> = {
    ...defaultModelOptions,
    training: { stepSeconds: null, checkpointSeconds: null, hoursBetweenInterruptions: null },
    prices: listPrices,
    rules: table(),
    ruleOptions: table(),
    ignore: [],
  };
  const origins: Origins = {};
  for (const layer of layers) addLayer(merged, origins, layer);
  return { ...merged, ...(Object.keys(origins).length > 0 && { origins }) };
}

/** The file's own layer and those of its overrides that mean the path, which is relative to the file's folder. */
export function fileLayers(values: ConfigInput, path: string): readonly ConfigLayer[] {
  const fitting = (values.overrides ?? []).filter(({ files }) => matchesAny(path, files));
  return [values, ...fitting.map(({ files: _files, ...rest }) => rest)].map((layer) => ({
    origin: '.gpulint.yaml',
    values: layer,
  }));
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Origins = Partial<Record<OriginKey, ConfigOrigin>>;

const scalarKeys = [
  'platform',
  'provider',
  'region',
  'gpu',
  'capacity',
  'kubernetesVersion',
  'migStrategy',
  'headroom',
] as const satisfies readonly (keyof ProjectConfig)[];
const nestedKeys = [
  'kserve.deploymentMode',
  'kserve.version',
  'training.stepSeconds',
  'training.checkpointSeconds',
  'training.hoursBetweenInterruptions',
  'serving.idleHoursPerDay',
  'sharing.strategy',
  'sharing.replicas',
] as const;
const wholeKeys = ['prices', 'taints', 'nodePools'] as const;

function addLayer(
  merged: Writable<Omit<ProjectConfig, 'origins'>>,
  origins: Origins,
  { values, origin, origins: own = table() }: ConfigLayer,
): void {
  // A platform names its provider, unless the same place names another one.
  const provider = values.provider ?? platforms.get(values.platform ?? '')?.provider ?? null;
  if (provider !== null && provider !== merged.provider) {
    merged.provider = provider;
    origins.provider = own.provider ?? own.platform ?? origin;
    // The known region is one of the other provider.
    merged.region = null;
    delete origins.region;
  }
  if (values.platform != null) merged.platform = values.platform;
  if (values.region != null) merged.region = values.region;
  if (values.gpu != null) merged.gpu = values.gpu;
  if (values.capacity != null) merged.capacity = values.capacity;
  if (values.kubernetesVersion != null) merged.kubernetesVersion = values.kubernetesVersion;
  if (values.migStrategy != null) merged.migStrategy = values.migStrategy;
  if (values.headroom != null) merged.headroom = values.headroom;
  merged.kserve = { ...merged.kserve, ...withoutNull(values.kserve) };
  merged.training = { ...merged.training, ...withoutNull(values.training) };
  merged.serving = { ...merged.serving, ...withoutNull(values.serving) };
  merged.sharing = { ...merged.sharing, ...withoutNull(values.sharing) };
  if (values.prices !== undefined) merged.prices = addPrices(merged.prices, values.prices);
  if (values.taints !== undefined) merged.taints = values.taints.map(taintOf);
  if (values.nodePools !== undefined) {
    merged.nodePools = values.nodePools.map(
      ({ gpu = null, instanceType = null, capacity = null, taints, labels, ...rest }) => ({
        ...rest,
        labels: table(labels),
        gpu,
        instanceType,
        capacity,
        taints: taints?.map(taintOf) ?? null,
      }),
    );
  }
  for (const key of [...scalarKeys, ...nestedKeys, ...wholeKeys])
    if (isSet(valueAt(values, key))) origins[key] = own[key] ?? origin;
  // A rule that is named counts before the set that it is in.
  merged.rules = table(merged.rules, values.extends ? rulesOfSet(values.extends) : undefined, values.rules);
  merged.ruleOptions = addNumbers(merged.ruleOptions, values.ruleOptions);
  if (values.ignore !== undefined) merged.ignore = values.ignore;
}

/** Options of several places add up; of one option the last counts. */
function addNumbers(before: RuleNumbers, values: ConfigInput['ruleOptions'] = {}): RuleNumbers {
  const changed = Object.entries(values).map(([id, numbers]) => [id, table(before[id], numbers)] as const);
  return changed.length === 0 ? before : table(before, tableOf(changed));
}

/** Prices of several places add up; of one thing the last counts. */
function addPrices(before: OwnPrices, values: NonNullable<ConfigInput['prices']>): OwnPrices {
  return {
    discountPercent: values.discountPercent ?? before.discountPercent,
    gpus: table(before.gpus, values.gpus),
    instanceTypes: table(before.instanceTypes, values.instanceTypes),
  };
}

function taintOf({ key, value = null, effect }: NonNullable<ConfigInput['taints']>[number]): NodeTaint {
  return { key, value, effect };
}

type WithoutNull<T> = { [Key in keyof T]?: NonNullable<T[Key]> };

/** null is a value that is not set. */
function withoutNull<T extends object>(value: T | undefined): WithoutNull<T> {
  const values = Object.entries(value ?? {}).filter(([, inner]) => inner !== null);
  return Object.fromEntries(values) as WithoutNull<T>;
}

/** An editor sends empty lists and tables for what nobody set. */
function isSet(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(isSet) : value != null;
}

function valueAt(values: ConfigInput, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => inside(value, key), values);
}

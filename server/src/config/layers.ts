import { platforms } from '../catalog/index.ts';
import type { Budget } from '../cost/budget.ts';
import { listPrices, type OwnPrices, type UnitRates } from '../cost/custom-prices.ts';
import type { NodeTaint } from '../model/node-pool.ts';
import { defaultModelOptions, type ModelOptions } from '../model/options.ts';
import type { RuleNumbers, RulesOptions } from '../rules/rule.ts';
import { rulesOfSet } from '../rules/rule-sets.ts';
import { own as inside, type Table, table, tableOf } from '../yaml/table.ts';
import { matchesAny } from './globs.ts';
import type { ConfigInput } from './schema.ts';

/** The config of one file, composed of the options of all parts. */
export interface ProjectConfig extends ModelOptions {
  readonly rules: RulesOptions;
  /** Thresholds of individual rules. */
  readonly ruleOptions: RuleNumbers;
  readonly training: {
    readonly stepSeconds: number | null;
    /** Time that training pauses to write a checkpoint. */
    readonly checkpointSeconds: number | null;
    /** The speed at which all pods of a job together write a checkpoint. */
    readonly checkpointGiBPerSecond: number | null;
    readonly hoursBetweenInterruptions: number | null;
    /** Share of the peak speed that training reaches. */
    readonly mfu: number | null;
  };
  readonly prices: OwnPrices;
  /** What workloads may cost together. */
  readonly budgets: readonly Budget[];
  /** Globs, relative to the config file's folder, of files to skip in folders. A file that is named on the command line is always read. */
  readonly ignore: readonly string[];
  /** The origin of each value that is not a default; absent if nothing is set. */
  readonly origins?: ConfigOrigins;
}

/** The origin of a value, as shown to users. `settings` is for editors that do not distinguish user and workspace settings. */
export type ConfigOrigin = '.gpulint.yaml' | 'settings' | 'user settings' | 'workspace settings';
/** By the path of a key: `gpu`, `training.stepSeconds`. */
export type ConfigOrigins = Readonly<Partial<Record<OriginKey, ConfigOrigin>>>;
type OriginKey = (typeof scalarKeys)[number] | (typeof nestedKeys)[number] | (typeof wholeKeys)[number];

/** The values from one source: settings, the file, or one of its overrides. */
export interface ConfigLayer {
  readonly origin: ConfigOrigin;
  readonly values: ConfigInput;
  /** The prices of the config's price file. */
  readonly rates?: UnitRates | undefined;
  /** Origins of individual keys, by path, if they differ from `origin`. */
  readonly origins?: Table<ConfigOrigin>;
}

/** The list prices that the machine has, and its date. */
export type PricesInUse = Pick<OwnPrices, 'sheet' | 'today'>;

/** Merges layers key by key. The last layer takes precedence. */
export function mergeLayers(layers: readonly ConfigLayer[], inUse: PricesInUse = listPrices): ProjectConfig {
  const merged: Writable<Omit<ProjectConfig, 'origins'>> = {
    ...defaultModelOptions,
    training: {
      stepSeconds: null,
      checkpointSeconds: null,
      checkpointGiBPerSecond: null,
      hoursBetweenInterruptions: null,
      mfu: null,
    },
    prices: { ...listPrices, sheet: inUse.sheet, today: inUse.today },
    rules: table(),
    ruleOptions: table(),
    ignore: [],
    budgets: [],
  };
  const origins: Origins = {};
  for (const layer of layers) addLayer(merged, origins, layer);
  return { ...merged, ...(Object.keys(origins).length > 0 && { origins }) };
}

/** The layers of a config file for a path relative to its folder: its own values, then those of matching overrides. */
export function fileLayers(values: ConfigInput, path: string, rates?: UnitRates): readonly ConfigLayer[] {
  const matching = (values.overrides ?? []).filter(({ files }) => matchesAny(path, files));
  return [values, ...matching.map(({ files: _files, ...rest }) => rest)].map((layer) => ({
    origin: '.gpulint.yaml',
    values: layer,
    ...(layer === values && { rates }),
  }));
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Origins = Partial<Record<OriginKey, ConfigOrigin>>;

const scalarKeys = [
  'platform',
  'provider',
  'region',
  'gpu',
  'neuron',
  'tpu',
  'gaudi',
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
  'training.checkpointGiBPerSecond',
  'training.hoursBetweenInterruptions',
  'training.mfu',
  'serving.idleHoursPerDay',
  'sharing.strategy',
  'sharing.replicas',
] as const;
const wholeKeys = ['budgets', 'prices', 'taints', 'nodePools', 'modelParams'] as const;

function addLayer(
  merged: Writable<Omit<ProjectConfig, 'origins'>>,
  origins: Origins,
  { values, origin, rates, origins: own = table() }: ConfigLayer,
): void {
  // A platform implies its provider, unless the same layer names another one.
  const provider = values.provider ?? platforms.get(values.platform ?? '')?.provider ?? null;
  if (provider !== null && provider !== merged.provider) {
    merged.provider = provider;
    origins.provider = own.provider ?? own.platform ?? origin;
    // The region belongs to the previous provider.
    merged.region = null;
    delete origins.region;
  }
  if (values.platform != null) merged.platform = values.platform;
  if (values.region != null) merged.region = values.region;
  if (values.gpu != null) merged.gpu = values.gpu;
  if (values.neuron != null) merged.neuron = values.neuron;
  if (values.tpu != null) merged.tpu = values.tpu;
  if (values.gaudi != null) merged.gaudi = values.gaudi;
  if (values.capacity != null) merged.capacity = values.capacity;
  if (values.kubernetesVersion != null) merged.kubernetesVersion = values.kubernetesVersion;
  if (values.migStrategy != null) merged.migStrategy = values.migStrategy;
  if (values.headroom != null) merged.headroom = values.headroom;
  merged.kserve = { ...merged.kserve, ...withoutNull(values.kserve) };
  merged.training = { ...merged.training, ...withoutNull(values.training) };
  merged.serving = { ...merged.serving, ...withoutNull(values.serving) };
  merged.sharing = { ...merged.sharing, ...withoutNull(values.sharing) };
  if (values.prices !== undefined) merged.prices = addPrices(merged.prices, values.prices);
  if (rates !== undefined) {
    merged.prices = { ...merged.prices, rates };
    origins.prices = origin;
  }
  if (values.budgets !== undefined)
    merged.budgets = values.budgets.map(({ namespace = null, labels, ...budget }) => ({
      ...budget,
      namespace,
      labels: table(labels),
    }));
  if (values.modelParams !== undefined) merged.modelParams = table(values.modelParams);
  if (values.taints !== undefined) merged.taints = values.taints.map(taintOf);
  if (values.nodePools !== undefined) {
    merged.nodePools = values.nodePools.map(
      ({
        gpu = null,
        instanceType = null,
        devices = null,
        diskGiB = null,
        capacity = null,
        taints,
        labels,
        ...rest
      }) => ({
        ...rest,
        labels: table(labels),
        gpu,
        instanceType,
        devices,
        diskGiB,
        capacity,
        taints: taints?.map(taintOf) ?? null,
      }),
    );
  }
  for (const key of [...scalarKeys, ...nestedKeys, ...wholeKeys])
    if (isSet(valueAt(values, key))) origins[key] = own[key] ?? origin;
  // The severity of a rule takes precedence over the rule set of the same layer.
  merged.rules = table(merged.rules, values.extends ? rulesOfSet(values.extends) : undefined, values.rules);
  merged.ruleOptions = addNumbers(merged.ruleOptions, values.ruleOptions);
  if (values.ignore !== undefined) merged.ignore = values.ignore;
}

/** Merges options; the later layer takes precedence. */
function addNumbers(before: RuleNumbers, values: ConfigInput['ruleOptions'] = {}): RuleNumbers {
  const changed = Object.entries(values).map(([id, numbers]) => [id, table(before[id], numbers)] as const);
  return changed.length === 0 ? before : table(before, tableOf(changed));
}

/** Merges prices; the later layer takes precedence. */
function addPrices(before: OwnPrices, values: NonNullable<ConfigInput['prices']>): OwnPrices {
  return {
    ...before,
    discountPercent: values.discountPercent ?? before.discountPercent,
    discounts: table(before.discounts, values.discounts),
    commitment: values.commitment ?? before.commitment,
    onPrem: table(before.onPrem, values.onPrem),
    gpus: table(before.gpus, values.gpus),
    instanceTypes: table(before.instanceTypes, values.instanceTypes),
    maxAgeDays: values.maxAgeDays ?? before.maxAgeDays,
  };
}

function taintOf({ key, value = null, effect }: NonNullable<ConfigInput['taints']>[number]): NodeTaint {
  return { key, value, effect };
}

type WithoutNull<T> = { [Key in keyof T]?: NonNullable<T[Key]> };

/** null means not set. */
function withoutNull<T extends object>(value: T | undefined): WithoutNull<T> {
  const values = Object.entries(value ?? {}).filter(([, inner]) => inner !== null);
  return Object.fromEntries(values) as WithoutNull<T>;
}

/** Editors send empty lists and tables for settings that are not set. */
function isSet(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(isSet) : value != null;
}

function valueAt(values: ConfigInput, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => inside(value, key), values);
}

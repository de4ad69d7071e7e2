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
  readonly told: ConfigInput;
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
export function fileLayers(told: ConfigInput, path: string): readonly ConfigLayer[] {
  const fitting = (told.overrides ?? []).filter(({ files }) => matchesAny(path, files));
  return [told, ...fitting.map(({ files: _files, ...rest }) => rest)].map((layer) => ({
    origin: '.gpulint.yaml',
    told: layer,
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
  { told, origin, origins: own = table() }: ConfigLayer,
): void {
  // A platform names its provider, unless the same place names another one.
  const provider = told.provider ?? platforms.get(told.platform ?? '')?.provider ?? null;
  if (provider !== null && provider !== merged.provider) {
    merged.provider = provider;
    origins.provider = own.provider ?? own.platform ?? origin;
    // The known region is one of the other provider.
    merged.region = null;
    delete origins.region;
  }
  if (told.platform != null) merged.platform = told.platform;
  if (told.region != null) merged.region = told.region;
  if (told.gpu != null) merged.gpu = told.gpu;
  if (told.capacity != null) merged.capacity = told.capacity;
  if (told.kubernetesVersion != null) merged.kubernetesVersion = told.kubernetesVersion;
  if (told.migStrategy != null) merged.migStrategy = told.migStrategy;
  if (told.headroom != null) merged.headroom = told.headroom;
  merged.kserve = { ...merged.kserve, ...withoutNull(told.kserve) };
  merged.training = { ...merged.training, ...withoutNull(told.training) };
  merged.serving = { ...merged.serving, ...withoutNull(told.serving) };
  merged.sharing = { ...merged.sharing, ...withoutNull(told.sharing) };
  if (told.prices !== undefined) merged.prices = addPrices(merged.prices, told.prices);
  if (told.taints !== undefined) merged.taints = told.taints.map(taintOf);
  if (told.nodePools !== undefined) {
    merged.nodePools = told.nodePools.map(
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
    if (isTold(valueAt(told, key))) origins[key] = own[key] ?? origin;
  // A rule that is named counts before the set that it is in.
  merged.rules = table(merged.rules, told.extends ? rulesOfSet(told.extends) : undefined, told.rules);
  merged.ruleOptions = addNumbers(merged.ruleOptions, told.ruleOptions);
  if (told.ignore !== undefined) merged.ignore = told.ignore;
}

/** Options of several places add up; of one option the last counts. */
function addNumbers(before: RuleNumbers, told: ConfigInput['ruleOptions'] = {}): RuleNumbers {
  const changed = Object.entries(told).map(([id, numbers]) => [id, table(before[id], numbers)] as const);
  return changed.length === 0 ? before : table(before, tableOf(changed));
}

/** Prices of several places add up; of one thing the last counts. */
function addPrices(before: OwnPrices, told: NonNullable<ConfigInput['prices']>): OwnPrices {
  return {
    discountPercent: told.discountPercent ?? before.discountPercent,
    gpus: table(before.gpus, told.gpus),
    instanceTypes: table(before.instanceTypes, told.instanceTypes),
  };
}

function taintOf({ key, value = null, effect }: NonNullable<ConfigInput['taints']>[number]): NodeTaint {
  return { key, value, effect };
}

type WithoutNull<T> = { [Key in keyof T]?: NonNullable<T[Key]> };

/** null is a value that is not set. */
function withoutNull<T extends object>(value: T | undefined): WithoutNull<T> {
  const told = Object.entries(value ?? {}).filter(([, inner]) => inner !== null);
  return Object.fromEntries(told) as WithoutNull<T>;
}

/** An editor sends empty lists and tables for what nobody set. */
function isTold(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(isTold) : value != null;
}

function valueAt(told: ConfigInput, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => inside(value, key), told);
}

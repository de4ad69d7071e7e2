import { platforms } from '../catalog/index.ts';
import type { ModelOptions } from '../model/options.ts';
import type { RulesOptions } from '../rules/rule.ts';
import { rulesOfSet } from '../rules/rule-sets.ts';
import { matchesGlob } from './globs.ts';
import type { ConfigInput } from './schema.ts';

/** What holds for a file, composed from the options of the rooms. */
export interface ProjectConfig extends ModelOptions {
  readonly rules: RulesOptions;
  readonly training: { readonly stepSeconds: number | null };
  /** Globs, relative to the config file's folder, of what a walk over folders passes by. A file that is named itself is always read. */
  readonly ignore: readonly string[];
  /** Where each value came from; a key that is missing has its default. Left out where nothing was told. */
  readonly origins?: ConfigOrigins;
}

export type ConfigOrigin = '.gpulint.yaml' | 'settings';
export type ConfigOrigins = Readonly<Partial<Record<OriginKey, ConfigOrigin>>>;
type OriginKey = (typeof scalarKeys)[number] | 'deploymentMode' | 'stepSeconds';

/** What one place tells, the weakest first: settings, the file, its overrides. */
export interface ConfigLayer {
  readonly origin: ConfigOrigin;
  readonly told: ConfigInput;
}

/** What holds where several places tell: the last one counts, key by key. */
export function mergeLayers(layers: readonly ConfigLayer[]): ProjectConfig {
  const merged: Merged = {
    platform: null,
    provider: null,
    region: null,
    gpu: null,
    capacity: null,
    deploymentMode: null,
    stepSeconds: null,
    taints: [],
    rules: {},
    ignore: [],
  };
  const origins: Partial<Record<OriginKey, ConfigOrigin>> = {};
  for (const { origin, told } of layers) addLayer(merged, origins, told, origin);
  const { deploymentMode, stepSeconds, ...rest } = merged;
  return {
    ...rest,
    kserve: { deploymentMode },
    training: { stepSeconds },
    ...(Object.keys(origins).length > 0 && { origins }),
  };
}

/** The file's own layer and those of its overrides that mean the path, which is relative to the file's folder. */
export function fileLayers(told: ConfigInput, path: string): readonly ConfigLayer[] {
  const fitting = (told.overrides ?? []).filter(({ files }) => files.some((glob) => matchesGlob(path, glob)));
  return [told, ...fitting.map(({ files: _files, ...rest }) => rest)].map((layer) => ({
    origin: '.gpulint.yaml',
    told: layer,
  }));
}

const scalarKeys = ['platform', 'provider', 'region', 'gpu', 'capacity'] as const;

type Merged = {
  -readonly [Key in Exclude<keyof ProjectConfig, 'kserve' | 'training' | 'origins'>]: ProjectConfig[Key];
} & {
  deploymentMode: ProjectConfig['kserve']['deploymentMode'];
  stepSeconds: number | null;
};

function addLayer(
  merged: Merged,
  origins: Partial<Record<OriginKey, ConfigOrigin>>,
  told: ConfigInput,
  origin: ConfigOrigin,
): void {
  // A platform names its provider, unless the same place names another one.
  const provider = told.provider ?? platforms.get(told.platform ?? '')?.provider ?? null;
  if (provider !== null && provider !== merged.provider) {
    merged.provider = provider;
    origins.provider = origin;
    // The region that was told is one of the other provider.
    merged.region = null;
    delete origins.region;
  }
  if (told.platform != null) merged.platform = told.platform;
  if (told.region != null) merged.region = told.region;
  if (told.gpu != null) merged.gpu = told.gpu;
  if (told.capacity != null) merged.capacity = told.capacity;
  if (told.kserve?.deploymentMode != null) {
    merged.deploymentMode = told.kserve.deploymentMode;
    origins.deploymentMode = origin;
  }
  if (told.training?.stepSeconds != null) {
    merged.stepSeconds = told.training.stepSeconds;
    origins.stepSeconds = origin;
  }
  if (told.taints !== undefined)
    merged.taints = told.taints.map(({ key, value, effect }) => ({ key, value: value ?? null, effect }));
  for (const key of scalarKeys) if (told[key] != null) origins[key] = origin;
  // A rule that is named counts before the set that it is in.
  merged.rules = { ...merged.rules, ...(told.extends && rulesOfSet(told.extends)), ...told.rules };
  if (told.ignore !== undefined) merged.ignore = told.ignore;
}

import type * as z from 'zod/mini';
import type { PriceSheet } from './catalog/index.ts';
import { checkValues } from './config/check-values.ts';
import { type ConfigProblemLevel, type ConfigValueProblem, isMapping, toProblems } from './config/config-problems.ts';
import { type ConfigLayer, fileLayers, mergeLayers, type PricesInUse, type ProjectConfig } from './config/layers.ts';
import { type ConfigInput, configSchema, settingsSchema } from './config/schema.ts';
import type { UnitRates } from './cost/custom-prices.ts';
import { getIn, keySpanOf, rootCursor, spanOf } from './yaml/cursor.ts';
import type { YamlNode, YamlProblem } from './yaml/node.ts';
import { parseYaml } from './yaml/parse.ts';
import { type Span, shiftSpan } from './yaml/span.ts';
import { tableOf } from './yaml/table.ts';

export type { ConfigProblemLevel, ConfigValueProblem } from './config/config-problems.ts';
export { didYouMean, nearest } from './config/key-spelling.ts';
export type { ConfigOrigin, ConfigOrigins, PricesInUse, ProjectConfig } from './config/layers.ts';
export type { ConfigInput } from './config/schema.ts';

export interface ConfigProblem {
  readonly message: string;
  /** Offsets of the config's text. */
  readonly span: Span;
  readonly level: ConfigProblemLevel;
  /** The key or value that is wrong, and known names that may be meant instead, best first. */
  readonly at?: {
    readonly path: readonly (string | number)[];
    readonly atKey: boolean;
    readonly near: readonly string[];
  };
}

/** The config of a project without settings and without a config file. */
export const defaultConfig: ProjectConfig = mergeLayers([]);

/** The settings and the config file that apply to one file, and the prices of the machine. */
export interface ConfigSources {
  /** By default, those of the catalog, at an unknown date. */
  readonly prices?: PricesInUse;
  readonly settings: SettingsLayer | undefined;
  /** The values of the nearest `.gpulint.yaml`, and the path of the file relative to its folder. */
  readonly file:
    | {
        readonly values: ConfigInput;
        readonly path: string;
        /** The prices of the file's price file. */
        readonly rates?: UnitRates | undefined;
      }
    | undefined;
}

/** The values of the editor's settings, and the origin of each key if the editor reports it. */
export type SettingsLayer = Pick<ConfigLayer, 'values' | 'origins'>;

/** The config of one file. Overrides take precedence over the rest of `.gpulint.yaml`, then come the settings, then the defaults. */
export function resolveConfig({ settings, file, prices }: ConfigSources): ProjectConfig {
  const layers: ConfigLayer[] = settings === undefined ? [] : [{ origin: 'settings', ...settings }];
  return mergeLayers(
    file === undefined ? layers : [...layers, ...fileLayers(file.values, file.path, file.rates)],
    prices,
  );
}

/**
 * Reads a `.gpulint.yaml`. Never throws: each mistake becomes a problem with its position, and the other values apply.
 * @param sheet the prices in use, which decide about known regions
 */
export function parseConfig(
  text: string,
  sheet?: PriceSheet,
): {
  /** The config of files that no override matches. */
  readonly config: ProjectConfig;
  readonly values: ConfigInput;
  readonly problems: readonly ConfigProblem[];
} {
  const { values, problems } = parseInput(text, sheet);
  return {
    config: resolveConfig({ settings: undefined, file: { values: { ...values, overrides: [] }, path: '' } }),
    values,
    problems,
  };
}

function parseInput(
  text: string,
  sheet: PriceSheet | undefined,
): { readonly values: ConfigInput; readonly problems: readonly ConfigProblem[] } {
  const file = parseYaml(text);
  if (file.skipped !== null)
    return { values: {}, problems: [{ message: file.skipped, span: firstCharacter, level: 'warning' }] };
  const problems: ConfigProblem[] = [];
  for (const { base, problems: found } of file.documents) {
    problems.push(
      ...found.map(({ message, span }) => ({ message, span: shiftSpan(span, base), level: 'warning' as const })),
    );
  }
  const [document, second] = file.documents.filter(({ root }) => root !== null);
  if (second !== undefined) {
    const span = shiftSpan({ start: 0, end: 0 }, second.base);
    problems.push({
      message: 'a config must be a single YAML document; the others are ignored',
      span,
      level: 'warning',
    });
  }
  if (document === undefined || document.root === null) return { values: {}, problems };

  const root = rootCursor(document.root);
  const certain = Math.min(...document.problems.filter(isUnreadable).map(({ span }) => document.base + span.start));
  // Each with the value that it is part of.
  const broken = document.problems
    .filter(({ readable }) => readable !== true)
    .map((one) => shiftSpan(one.span, document.base));
  const { values, problems: wrong } = readInput(toPlain(document.root), configSchema);
  for (const { message, path, atKey, level, near = [] } of [...wrong, ...checkValues(values, sheet)]) {
    const cursor = getIn(root, ...path) ?? root;
    const span = shiftSpan(atKey ? keySpanOf(cursor) : spanOf(cursor), document.base);
    // After an error of syntax, what was read is a guess.
    if (span.end > certain || broken.some(({ start, end }) => span.end >= start && span.start <= end)) continue;
    problems.push({ message, span, level, at: { path, atKey, near } });
  }
  return { values, problems };
}

function isUnreadable({ readable, isLocal }: YamlProblem): boolean {
  return readable !== true && isLocal !== true;
}

/** Reads the keys of the editor's settings that `.gpulint.yaml` also has. An empty value means that the key is not set. */
export function readSettings(value: unknown): {
  readonly values: ConfigInput;
  readonly problems: readonly ConfigValueProblem[];
} {
  const keys = Object.keys(settingsSchema.shape);
  const known = isMapping(value) ? Object.entries(value).filter(([key]) => keys.includes(key)) : [];
  const { values, problems } = readInput(tableOf(known), settingsSchema);
  return { values, problems: [...problems, ...checkValues(values)] };
}

/** The valid part of a value, and the problems of the rest. */
function readInput(
  value: unknown,
  schema: z.ZodMiniType<ConfigInput>,
): { readonly values: ConfigInput; readonly problems: readonly ConfigValueProblem[] } {
  const values = withoutEmpty(value) ?? {};
  const first = schema.safeParse(values);
  const problems = first.success ? [] : first.error.issues.flatMap((issue) => toProblems(issue, values));
  const wrong = new Set(problems.map(({ path }) => pathText(path)));
  problems.push(...protoKeys(values, []).filter(({ path }) => !wrong.has(pathText(path))));
  return { values: first.success ? first.data : readRest(values, wrong, schema), problems };
}

/** The valid part of a value. A mapping that lacks a required key because its value was wrong is removed. */
function readRest(value: unknown, wrong: ReadonlySet<string>, schema: z.ZodMiniType<ConfigInput>): ConfigInput {
  const rest = without(value, wrong) ?? {};
  const read = schema.safeParse(rest);
  if (read.success) return read.data;
  const around = read.error.issues.map(({ path }) => path.filter((step) => typeof step !== 'symbol').slice(0, -1));
  // Each round removes one more level, so this ends.
  return around.some((path) => path.length === 0) ? {} : readRest(rest, new Set(around.map(pathText)), schema);
}

/** Zod silently skips the key `__proto__` in a record. */
function protoKeys(value: unknown, here: readonly (string | number)[]): readonly ConfigValueProblem[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isMapping(value) ? Object.entries(value) : [];
  return inner.flatMap(([key, part]) => {
    const path = [...here, key];
    if (key !== '__proto__') return protoKeys(part, path);
    return {
      message: "'__proto__' is not allowed as a key and is ignored",
      path,
      atKey: true,
      level: 'warning',
    };
  });
}

const firstCharacter: Span = { start: 0, end: 0 };

/** A config has no booleans, so `off` and `no`, which YAML 1.1 reads as false, stay words. */
function toPlain(node: YamlNode, key = ''): unknown {
  if (node.kind === 'seq') return node.items.map(({ value }) => toPlain(value));
  if (node.kind === 'map') {
    return tableOf(node.entries.map((entry) => [entry.key, toPlain(entry.value, entry.key)]));
  }
  const isWord = typeof node.value === 'boolean' && !/^(true|false)$/i.test(node.source);
  // An unquoted version is a number in YAML, where 1.30 equals 1.3.
  const isVersion = typeof node.value === 'number' && /version$/i.test(key);
  return isWord || isVersion ? node.source : node.value;
}

function withoutEmpty(value: unknown): unknown {
  if (!isMapping(value)) return value === null ? undefined : value;
  return tableOf(
    Object.entries(value)
      .map(([key, inner]) => [key, withoutEmpty(inner)] as const)
      .filter(([, inner]) => inner !== undefined),
  );
}

/** The value without everything at one of the paths. */
function without(value: unknown, paths: ReadonlySet<string>, here: readonly (string | number)[] = []): unknown {
  if (paths.has(pathText(here))) return undefined;
  if (Array.isArray(value)) {
    return value.map((item, index) => without(item, paths, [...here, index])).filter((item) => item !== undefined);
  }
  if (!isMapping(value)) return value;
  const kept = Object.entries(value).map(([key, inner]) => [key, without(inner, paths, [...here, key])] as const);
  return tableOf(kept.filter(([, inner]) => inner !== undefined));
}

function pathText(path: readonly (string | number)[]): string {
  return JSON.stringify(path);
}

import type * as z from 'zod/mini';
import { checkValues } from './config/check-values.ts';
import { type ConfigLayer, fileLayers, mergeLayers, type ProjectConfig } from './config/layers.ts';
import { type ConfigProblemLevel, type ConfigValueProblem, isMapping, toProblems } from './config/problems.ts';
import { type ConfigInput, configSchema, settingsSchema } from './config/schema.ts';
import { getIn, keySpanOf, rootCursor, spanOf } from './yaml/cursor.ts';
import type { YamlNode } from './yaml/node.ts';
import { parseYaml } from './yaml/parse.ts';
import { type Span, shiftSpan } from './yaml/span.ts';
import { tableOf } from './yaml/table.ts';

export { didYouMean, nearest } from './config/key-spelling.ts';
export type { ConfigOrigin, ConfigOrigins, ProjectConfig } from './config/layers.ts';
export type { ConfigProblemLevel, ConfigValueProblem } from './config/problems.ts';
export type { ConfigInput } from './config/schema.ts';

export interface ConfigProblem {
  readonly message: string;
  /** Offsets of the config's text. */
  readonly span: Span;
  readonly level: ConfigProblemLevel;
}

/** The config of a project that tells nothing. */
export const defaultConfig: ProjectConfig = mergeLayers([]);

/** What two places tell together; a memo for them gives the same object for the same places. */
export interface ConfigSources {
  readonly settings: SettingsLayer | undefined;
  /** What the nearest `.gpulint.yaml` tells, and where the file that is asked about stands below its folder. */
  readonly file: { readonly values: ConfigInput; readonly path: string } | undefined;
}

/** What the editor is set to, and whose settings each key is in, where the editor tells. */
export type SettingsLayer = Pick<ConfigLayer, 'values' | 'origins'>;

/** What holds for one file: its overrides before the rest of `.gpulint.yaml`, that before the settings, and these before the defaults. */
export function resolveConfig({ settings, file }: ConfigSources): ProjectConfig {
  const layers: ConfigLayer[] = settings === undefined ? [] : [{ origin: 'settings', ...settings }];
  return mergeLayers(file === undefined ? layers : [...layers, ...fileLayers(file.values, file.path)]);
}

/** Reads a `.gpulint.yaml`. Never throws: what is wrong becomes a problem with its place, and the rest holds. */
export function parseConfig(text: string): {
  /** What the file tells by itself, for a file that none of its overrides means. */
  readonly config: ProjectConfig;
  readonly values: ConfigInput;
  readonly problems: readonly ConfigProblem[];
} {
  const { values, problems } = parseInput(text);
  return {
    config: resolveConfig({ settings: undefined, file: { values: { ...values, overrides: [] }, path: '' } }),
    values,
    problems,
  };
}

function parseInput(text: string): { readonly values: ConfigInput; readonly problems: readonly ConfigProblem[] } {
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
      message: 'a config is one YAML document; what follows the first is not read',
      span,
      level: 'warning',
    });
  }
  if (document === undefined || document.root === null) return { values: {}, problems };

  const root = rootCursor(document.root);
  const { values, problems: wrong } = readInput(toPlain(document.root), configSchema);
  for (const { message, path, atKey, level } of [...wrong, ...checkValues(values)]) {
    const cursor = getIn(root, ...path) ?? root;
    problems.push({ message, span: shiftSpan(atKey ? keySpanOf(cursor) : spanOf(cursor), document.base), level });
  }
  return { values, problems };
}

/** Reads the editor's settings, of which only the keys that the file has too are looked at. An empty value counts as not set. */
export function readSettings(value: unknown): {
  readonly values: ConfigInput;
  readonly problems: readonly ConfigValueProblem[];
} {
  const keys = Object.keys(settingsSchema.shape);
  const known = isMapping(value) ? Object.entries(value).filter(([key]) => keys.includes(key)) : [];
  const { values, problems } = readInput(tableOf(known), settingsSchema);
  return { values, problems: [...problems, ...checkValues(values)] };
}

/** What is right in a value, and what is wrong beside it. */
function readInput(
  value: unknown,
  schema: z.ZodMiniType<ConfigInput>,
): { readonly values: ConfigInput; readonly problems: readonly ConfigValueProblem[] } {
  const values = withoutEmpty(value) ?? {};
  const first = schema.safeParse(values);
  const problems = first.success ? [] : first.error.issues.flatMap((issue) => toProblems(issue, values));
  const wrong = new Set(problems.map(({ path }) => pathText(path)));
  problems.push(...unread(values, []).filter(({ path }) => !wrong.has(pathText(path))));
  return { values: first.success ? first.data : readRest(values, wrong, schema), problems };
}

/** What is right in a value. What misses a key that was wrong goes as well, and nothing beyond it. */
function readRest(value: unknown, wrong: ReadonlySet<string>, schema: z.ZodMiniType<ConfigInput>): ConfigInput {
  const rest = without(value, wrong) ?? {};
  const read = schema.safeParse(rest);
  if (read.success) return read.data;
  const around = read.error.issues.map(({ path }) => path.filter((step) => typeof step !== 'symbol').slice(0, -1));
  // Each round takes a level more away, so this ends.
  return around.some((path) => path.length === 0) ? {} : readRest(rest, new Set(around.map(pathText)), schema);
}

/** Zod passes over a key of this name in a mapping of names, and says nothing. */
function unread(value: unknown, here: readonly (string | number)[]): readonly ConfigValueProblem[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isMapping(value) ? Object.entries(value) : [];
  return inner.flatMap(([key, part]) => {
    const path = [...here, key];
    if (key !== '__proto__') return unread(part, path);
    return {
      message: "'__proto__' is no name that a config can hold; it is left out",
      path,
      atKey: true,
      level: 'warning',
    };
  });
}

const firstCharacter: Span = { start: 0, end: 0 };

/** A config holds no booleans, so YAML 1.1's `off` and `no` are the words that were written. */
function toPlain(node: YamlNode, key = ''): unknown {
  if (node.kind === 'seq') return node.items.map(({ value }) => toPlain(value));
  if (node.kind === 'map') {
    return tableOf(node.entries.map((entry) => [entry.key, toPlain(entry.value, entry.key)]));
  }
  const isWord = typeof node.value === 'boolean' && !/^(true|false)$/i.test(node.source);
  // A version that nobody quotes is a number for YAML, of which 1.30 and 1.3 are the same.
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

/** The value less everything that stands at one of the paths. */
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

import type * as z from 'zod';
import { gpus } from './catalog/index.ts';
import { type ConfigLayer, fileLayers, mergeLayers, type ProjectConfig } from './config/layers.ts';
import { didYouMean, nearest } from './config/near.ts';
import { type ConfigInput, configSchema, settingsSchema } from './config/schema.ts';
import { rules } from './rules/index.ts';
import { at, keySpanOf, rootCursor, spanOf } from './yaml/cursor.ts';
import type { YamlNode } from './yaml/node.ts';
import { parseYaml } from './yaml/parse.ts';
import { type Span, shiftSpan } from './yaml/span.ts';

export type { ConfigOrigin, ConfigOrigins, ProjectConfig } from './config/layers.ts';
export { didYouMean, nearest } from './config/near.ts';
export type { ConfigInput } from './config/schema.ts';

export interface ConfigProblem {
  readonly message: string;
  /** Offsets of the config's text. */
  readonly span: Span;
}

/** A problem of a config that is no text (editor settings): the place is a path of keys. */
export interface ConfigValueProblem {
  readonly message: string;
  readonly path: readonly (string | number)[];
  /** The problem is the key itself and not its value. */
  readonly atKey: boolean;
}

/** The config of a project that tells nothing. */
export const defaultConfig: ProjectConfig = mergeLayers([]);

/** What two places tell together; a memo for them gives the same object for the same places. */
export interface ConfigSources {
  /** The editor's settings, as `readSettings` gives them. */
  readonly settings: ConfigInput | undefined;
  /** What the nearest `.gpulint.yaml` tells, and where the file that is asked about stands below its folder. */
  readonly file: { readonly told: ConfigInput; readonly path: string } | undefined;
}

/** What holds for one file: its overrides before the rest of `.gpulint.yaml`, that before the settings, and these before the defaults. */
export function resolveConfig({ settings, file }: ConfigSources): ProjectConfig {
  const layers: ConfigLayer[] = settings === undefined ? [] : [{ origin: 'settings', told: settings }];
  return mergeLayers(file === undefined ? layers : [...layers, ...fileLayers(file.told, file.path)]);
}

/** Reads a `.gpulint.yaml`. Never throws: what is wrong becomes a problem with its place, and the rest holds. */
export function parseConfig(text: string): {
  /** What the file tells by itself, for a file that none of its overrides means. */
  readonly config: ProjectConfig;
  readonly told: ConfigInput;
  readonly problems: readonly ConfigProblem[];
} {
  const { told, problems } = parseInput(text);
  return {
    config: resolveConfig({ settings: undefined, file: { told: { ...told, overrides: [] }, path: '' } }),
    told,
    problems,
  };
}

function parseInput(text: string): { readonly told: ConfigInput; readonly problems: readonly ConfigProblem[] } {
  const file = parseYaml(text);
  if (file.skipped !== null) return { told: {}, problems: [{ message: file.skipped, span: firstCharacter }] };
  const problems: ConfigProblem[] = [];
  for (const { base, problems: found } of file.documents) {
    problems.push(...found.map(({ message, span }) => ({ message, span: shiftSpan(span, base) })));
  }
  const [document, second] = file.documents.filter(({ root }) => root !== null);
  if (second !== undefined) {
    const span = shiftSpan({ start: 0, end: 0 }, second.base);
    problems.push({ message: 'a config is one YAML document; what follows the first is not read', span });
  }
  if (document === undefined || document.root === null) return { told: {}, problems };

  const root = rootCursor(document.root);
  const { told, problems: wrong } = readInput(toPlain(document.root), configSchema);
  for (const { message, path, atKey } of wrong) {
    const cursor = at(root, ...path) ?? root;
    problems.push({ message, span: shiftSpan(atKey ? keySpanOf(cursor) : spanOf(cursor), document.base) });
  }
  return { told, problems };
}

/** Reads the editor's settings, of which only the keys that the file has too are looked at. An empty value counts as not set. */
export function readSettings(value: unknown): {
  readonly told: ConfigInput;
  readonly problems: readonly ConfigValueProblem[];
} {
  const keys = Object.keys(settingsSchema.shape);
  const known = isMapping(value) ? Object.entries(value).filter(([key]) => keys.includes(key)) : [];
  return readInput(Object.fromEntries(known), settingsSchema);
}

/** What is right in a value, and what is wrong beside it. */
function readInput(
  value: unknown,
  schema: z.ZodType<ConfigInput>,
): { readonly told: ConfigInput; readonly problems: readonly ConfigValueProblem[] } {
  const told = withoutEmpty(value) ?? {};
  const first = schema.safeParse(told);
  if (first.success) return { told: first.data, problems: [] };
  const problems = first.error.issues.flatMap((issue) => toProblems(issue, told));
  const wrong = new Set(problems.map(({ path }) => pathText(path)));
  const second = schema.safeParse(without(told, wrong) ?? {});
  return { told: second.success ? second.data : {}, problems };
}

const firstCharacter: Span = { start: 0, end: 0 };

function toProblems(issue: z.core.$ZodIssue, value: unknown): readonly ConfigValueProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ message: unknownKey(key, path), path: [...path, key], atKey: true }));
  }
  const seen = valueAt(value, path);
  // A key that must be there is missing: what is wrong is the mapping around it.
  if (seen === undefined && path.length > 0) {
    const around = path.slice(0, -1);
    return [{ message: `'${around.join('.')}' needs the key '${path.at(-1)}'`, path: around, atKey: false }];
  }
  const name = path.length === 0 ? 'the config' : `'${path.join('.')}'`;
  if (issue.code === 'invalid_value') {
    return [{ message: notAllowed(name, seen, issue.values.map(String), path), path, atKey: false }];
  }
  if (seen === '') return [{ message: `${name} must not be empty`, path, atKey: false }];
  if (issue.code === 'too_small')
    return [{ message: `${name} must be more than ${issue.minimum}`, path, atKey: false }];
  const expected = issue.code === 'invalid_type' ? (typeWords[issue.expected] ?? issue.expected) : 'something else';
  return [{ message: `${name} must be ${expected}, not ${describe(seen)}`, path, atKey: false }];
}

const typeWords: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  number: 'a number',
};

function unknownKey(key: string, path: readonly (string | number)[]): string {
  const [step, ...below] = path[0] === 'overrides' ? path.slice(2) : path;
  if (step === 'rules' && below.length === 0)
    return `unknown rule '${key}'${didYouMean(nearest(key, rules.keys())) || "; 'gpulint rules' lists them"}`;
  const { shape } = configSchema;
  const inOverride = path[0] === 'overrides' && step === undefined;
  const override = shape.overrides.unwrap().element.shape;
  const nested =
    step === 'kserve' || step === 'training'
      ? shape[step].unwrap().shape
      : step === 'taints'
        ? shape.taints.unwrap().element.shape
        : undefined;
  const known = Object.keys(nested ?? (inOverride ? override : shape));
  const where = path.length === 0 ? '' : ` in '${path.join('.')}'`;
  return `unknown key '${key}'${where}${didYouMean(nearest(key, known)) || `; known: ${known.join(', ')}`}`;
}

function notAllowed(
  name: string,
  seen: unknown,
  allowed: readonly string[],
  path: readonly (string | number)[],
): string {
  const value = describe(seen);
  if (path.at(-1) === 'gpu') {
    const near = typeof seen === 'string' ? gpusLike(seen) : [];
    return `${name} is ${value}, which the catalogue does not have${didYouMean(near) || '; an id looks like h100-80gb-sxm'}`;
  }
  return `${name} is ${value}; allowed: ${allowed.join(', ')}`;
}

/** Catalogue ids for what people call a GPU: "H100", "NVIDIA A100 80GB". */
function gpusLike(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[a-z]*\d+[a-z]*|[a-z]+/g) ?? [];
  const telling = words.filter((word) => !vendorWords.has(word));
  const named = [...gpus.values()].filter(({ id, name }) => {
    const parts = new Set(`${id} ${name}`.toLowerCase().split(/[^a-z0-9]+/));
    return telling.length > 0 && telling.every((word) => parts.has(word));
  });
  return named.length > 0 ? named.map(({ id }) => id).slice(0, 4) : nearest(text, gpus.keys());
}

const vendorWords = new Set(['nvidia', 'amd', 'intel', 'tesla', 'gpu', 'instinct']);

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  if (typeof value !== 'string') return String(value);
  return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
}

/** A config holds no booleans, so YAML 1.1's `off` and `no` are the words that were written. */
function toPlain(node: YamlNode): unknown {
  if (node.kind === 'seq') return node.items.map(({ value }) => toPlain(value));
  if (node.kind === 'map') return Object.fromEntries(node.entries.map(({ key, value }) => [key, toPlain(value)]));
  const isWord = typeof node.value === 'boolean' && !/^(true|false)$/i.test(node.source);
  return isWord ? node.source : node.value;
}

function withoutEmpty(value: unknown): unknown {
  if (!isMapping(value)) return value === null ? undefined : value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, withoutEmpty(inner)])
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
  const kept = Object.entries(value).map(([key, inner]) => [key, without(inner, paths, [...here, key])]);
  return Object.fromEntries(kept.filter(([, inner]) => inner !== undefined));
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, step) => (Array.isArray(inner) ? inner[Number(step)] : isMapping(inner) ? inner[step] : undefined),
    value,
  );
}

function isMapping(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pathText(path: readonly (string | number)[]): string {
  return JSON.stringify(path);
}

import * as z from 'zod';
import { gpus, type Provider } from './catalog/index.ts';
import type { ModelOptions } from './model/options.ts';
import { rules } from './rules/index.ts';
import type { RulesOptions, Severity } from './rules/rule.ts';
import { at, keySpanOf, rootCursor, spanOf } from './yaml/cursor.ts';
import type { YamlNode } from './yaml/node.ts';
import { parseYaml } from './yaml/parse.ts';
import { type Span, shiftSpan } from './yaml/span.ts';

/** What a project says of itself in `.gpulint.yaml`, composed from the options of the rooms. VS Code settings have the same shape. */
export interface ProjectConfig extends ModelOptions {
  readonly rules: RulesOptions;
  /** Globs, relative to the config file's folder, of what a walk over folders passes by. A file that is named itself is always read. */
  readonly ignore: readonly string[];
}

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

const providers = Object.keys({
  aws: true,
  azure: true,
  gcp: true,
  oci: true,
  coreweave: true,
  crusoe: true,
  hyperstack: true,
  lambda: true,
  nebius: true,
  runpod: true,
} satisfies Record<Provider, true>);
const level = z
  .enum(['error', 'warning', 'info', 'hint', 'off'] as const satisfies readonly (Severity | 'off')[])
  .meta({ id: 'level' });

/**
 * The shape of `.gpulint.yaml`. Strict, so that a misspelt key is told.
 *
 * No key may ever name a URL, a kube context or a file with credentials: the file comes with a repository that need not be
 * trusted, so what it says must not make gpulint read or call anything.
 */
export const configSchema = z
  .strictObject({
    provider: z
      .enum(providers)
      .nullable()
      .default(null)
      .describe('The cloud whose prices are meant where a manifest names none.'),
    region: z
      .string()
      .nullable()
      .default(null)
      .describe("The provider's region to read prices for, for instance us-east-1."),
    gpu: z
      .enum([...gpus.keys()])
      .nullable()
      .default(null)
      .describe('The GPU model, by catalogue id, that a request means where no selector names one.'),
    capacity: z
      .enum(['spot', 'on-demand'])
      .nullable()
      .default(null)
      .describe('How GPU nodes are bought where a manifest does not say.'),
    kserve: z
      .strictObject({
        deploymentMode: z
          .enum(['Knative', 'Standard'])
          .nullable()
          .default(null)
          .describe("The mode of InferenceServices without the annotation, as the cluster's KServe is set up."),
      })
      .prefault({})
      .describe('How KServe is set up in the cluster.'),
    rules: z
      .strictObject(Object.fromEntries([...rules.keys()].map((id) => [id, level.exactOptional()])))
      .default({})
      .describe('A severity to use in place of the own one of a rule; off silences the rule.'),
    ignore: z
      .array(z.string())
      .default([])
      .describe("Globs, relative to this file's folder, of files that a check of a folder passes by."),
  })
  .describe('What gpulint should know of a project: the file .gpulint.yaml.');

/** The config of a project without a file. */
export const defaultConfig: ProjectConfig = configSchema.parse({});

/** Reads a `.gpulint.yaml`. Never throws: what is wrong becomes a problem with its place, and the rest holds. */
export function parseConfig(text: string): {
  readonly config: ProjectConfig;
  readonly problems: readonly ConfigProblem[];
} {
  const file = parseYaml(text);
  if (file.skipped !== null)
    return { config: defaultConfig, problems: [{ message: file.skipped, span: firstCharacter }] };
  const problems: ConfigProblem[] = [];
  for (const { base, problems: found } of file.documents) {
    problems.push(...found.map(({ message, span }) => ({ message, span: shiftSpan(span, base) })));
  }
  const [document, second] = file.documents.filter(({ root }) => root !== null);
  if (second !== undefined) {
    const span = shiftSpan({ start: 0, end: 0 }, second.base);
    problems.push({ message: 'a config is one YAML document; what follows the first is not read', span });
  }
  if (document === undefined || document.root === null) return { config: defaultConfig, problems };

  const root = rootCursor(document.root);
  const { config, problems: wrong } = readConfig(toPlain(document.root));
  for (const { message, path, atKey } of wrong) {
    const cursor = at(root, ...path) ?? root;
    problems.push({ message, span: shiftSpan(atKey ? keySpanOf(cursor) : spanOf(cursor), document.base) });
  }
  return { config, problems };
}

/** Reads a config that is already a plain value, for instance the editor's settings. An empty value counts as not set. */
export function readConfig(value: unknown): {
  readonly config: ProjectConfig;
  readonly problems: readonly ConfigValueProblem[];
} {
  const told = withoutEmpty(value) ?? {};
  const first = configSchema.safeParse(told);
  if (first.success) return { config: first.data, problems: [] };
  const problems = first.error.issues.flatMap((issue) => toProblems(issue, told));
  const wrong = new Set(problems.map(({ path }) => pathText(path)));
  const second = configSchema.safeParse(without(told, wrong) ?? {});
  return { config: second.success ? second.data : defaultConfig, problems };
}

/** `; did you mean 'gpu'?`, or nothing where nothing is near. */
export function didYouMean(near: readonly string[]): string {
  if (near.length === 0) return '';
  const quoted = near.map((word) => `'${word}'`);
  const last = quoted.pop();
  return `; did you mean ${quoted.length === 0 ? '' : `${quoted.join(', ')} or `}${last}?`;
}

/** The candidates that somebody who wrote `word` may have meant, best first; none when nothing is close. */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return [...candidates]
    .filter((candidate) => candidate.length >= wanted.length - limit)
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= limit || (wanted.length > 2 && candidate.startsWith(wanted)))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .map(({ candidate }) => candidate)
    .slice(0, 3);
}

const firstCharacter: Span = { start: 0, end: 0 };

function toProblems(issue: z.core.$ZodIssue, value: unknown): readonly ConfigValueProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ message: unknownKey(key, path), path: [...path, key], atKey: true }));
  }
  const seen = valueAt(value, path);
  const name = path.length === 0 ? 'the config' : `'${path.join('.')}'`;
  if (issue.code === 'invalid_value') {
    return [{ message: notAllowed(name, seen, issue.values.map(String), path), path, atKey: false }];
  }
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
  if (path[0] === 'rules')
    return `unknown rule '${key}'${didYouMean(nearest(key, rules.keys())) || "; 'gpulint rules' lists them"}`;
  const known = Object.keys(path[0] === 'kserve' ? configSchema.shape.kserve.unwrap().shape : configSchema.shape);
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
  if (path[0] === 'gpu') {
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

/** Levenshtein's distance with swapped neighbours as one step. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (before[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    before = above;
    above = current;
  }
  return above[b.length] ?? 0;
}

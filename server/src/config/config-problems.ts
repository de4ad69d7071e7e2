import type * as z from 'zod/mini';
import { gpus } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { rules } from '../rules/index.ts';
import { renderScalar } from '../yaml/render.ts';
import { shorten } from '../yaml/shorten.ts';
import { own, table } from '../yaml/table.ts';
import { didYouMean, nearest } from './key-spelling.ts';
import { configKeys, isMachineKey } from './schema.ts';

/**
 * Error: the key or value is forbidden here. Warning: it is ignored. Info: it applies, but another value replaces it or it looks like a
 * typo. Hint: it applies, but is not in the catalog, which may be right.
 */
export type ConfigProblemLevel = 'error' | 'warning' | 'info' | 'hint';

/** A problem of a config, located by a path of keys. */
export interface ConfigValueProblem {
  readonly message: string;
  readonly path: readonly (string | number)[];
  /** The problem is the key itself, not its value. */
  readonly atKey: boolean;
  readonly level: ConfigProblemLevel;
  /** Known names that may be meant instead, best first. */
  readonly near?: readonly string[];
}

/** Describes what is wrong with a value. */
export function toProblems(issue: z.core.$ZodIssue, value: unknown): readonly ConfigValueProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const forbidden = isMachineKey(key);
      const place = { path: [...path, key], atKey: true } as const;
      if (forbidden) return { ...place, message: machineOnly(key), level: 'error' };
      return { ...place, ...unknownKey(key, path), level: 'warning' };
    });
  }
  const actual = valueAt(value, path);
  // A required key is missing: report the mapping that should contain it.
  if (actual === undefined && path.length > 0) {
    const around = path.slice(0, -1);
    return [
      { message: `'${around.join('.')}' needs the key '${path.at(-1)}'`, path: around, atKey: false, level: 'warning' },
    ];
  }
  const name = path.length === 0 ? 'the config' : `'${path.join('.')}'`;
  if (issue.code === 'invalid_value') {
    return [{ ...notAllowed(name, actual, issue.values.map(String)), path, atKey: false, level: 'warning' }];
  }
  const wrong = (message: string): readonly ConfigValueProblem[] => [{ message, path, atKey: false, level: 'warning' }];
  if (actual === '') return wrong(`${name} must not be empty`);
  if (issue.code === 'too_small') {
    return wrong(`${name} must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`);
  }
  if (issue.code === 'too_big') {
    return wrong(`${name} must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`);
  }
  if (issue.code === 'invalid_format') {
    const form = path[0] === 'modelParams' ? 'a number of parameters such as 13B' : 'a version such as 1.34';
    return wrong(`${name} must be ${form}, not ${describe(actual)}`);
  }
  // `matches` in project-fields.ts says what is wrong.
  if (issue.code === 'custom') return wrong(`${name} ${issue.message}`);
  if (issue.code === 'invalid_key') {
    const message = `${describe(path.at(-1))} in '${path.slice(0, -1).join('.')}' ${issue.issues[0]?.message}`;
    return [{ message, path, atKey: true, level: 'warning' }];
  }
  if (issue.code === 'invalid_union') return wrong(`${name} must be a string, not ${describe(actual)}`);
  const expected = issue.code === 'invalid_type' ? (typeWords[issue.expected] ?? issue.expected) : 'something else';
  return wrong(`${name} must be ${expected}, not ${describe(actual)}`);
}

const typeWords = table<string>({
  object: 'a mapping',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  record: 'a mapping',
});

type Explained = Pick<ConfigValueProblem, 'message' | 'near'>;

function unknownKey(key: string, path: readonly (string | number)[]): Explained {
  const inside = path.map((step) => (typeof step === 'number' ? '-' : step));
  const [step, ...below] = inside[0] === 'overrides' ? inside.slice(2) : inside;
  const isRule = step === 'rules' && below.length === 0;
  if (
    step !== undefined &&
    configKeys([]).some(({ name }) => name === key) &&
    !configKeys(inside).some(({ name }) => name === key)
  )
    return { message: `'${key}' belongs at the top, not in '${path.join('.')}'`, near: [] };
  if (isRule) return explain(`unknown rule '${key}'`, nearest(key, rules.keys()), "; 'gpulint rules' lists them");
  const known = configKeys(inside).map(({ name }) => name);
  const where = path.length === 0 ? '' : ` in '${path.join('.')}'`;
  const near = nearest(key, known);
  const section = near.length === 0 ? sectionOf(key, step) : undefined;
  if (section !== undefined)
    return { message: `'${key}' belongs in '${section}', not ${where === '' ? 'at the top' : where.trim()}`, near };
  return explain(`unknown key '${key}'${where}`, near, `; known: ${known.join(', ')}`);
}

/** The section of a config that has this key, if it is in another one: its indentation is lost. */
function sectionOf(key: string, written: string | undefined): string | undefined {
  const sections = configKeys([]).map(({ name }) => name);
  const isIn = (section: string) =>
    section === 'rules' ? rules.has(key) : configKeys([section]).some(({ name }) => name === key);
  const [found, ...others] = sections.filter((section) => section !== written && isIn(section));
  return others.length === 0 ? found : undefined;
}

/** @param otherwise what to say if no known name is near */
function explain(problem: string, near: readonly string[], otherwise: string): Explained {
  return { message: `${problem}${didYouMean(near) || otherwise}`, near };
}

function notAllowed(name: string, actual: unknown, allowed: readonly string[]): Explained {
  const value = describe(actual);
  const near = typeof actual === 'string' ? nearest(actual, allowed) : [];
  if (name === "'provider'" && typeof actual === 'string' && ownMachines.has(actual.toLowerCase()))
    return {
      message: `${name} cannot be ${value}: leave it out for your own machines, and set prices.onPrem`,
      near: [],
    };
  return explain(`${name} cannot be ${value}`, near, `; allowed: ${allowed.join(', ')}`);
}

/** What people call their own machines. */
const ownMachines = wordSet(
  'onprem on-prem onpremise on-premise on-premises bare-metal baremetal local self-hosted none',
);

/** The file comes with a repository: its content must not make the user's machine connect to anything. */
function machineOnly(key: string): string {
  return `${describe(key)} belongs in your user settings: a file in the repository must not contain addresses, contexts or credentials`;
}

/** Catalog ids for common names of a GPU: "H100", "NVIDIA A100 80GB". */
export function gpusLike(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[a-z]*\d+[a-z]*|[a-z]+/g) ?? [];
  const distinctive = words.filter((word) => !vendorWords.has(word));
  const named = [...gpus.values()].filter(({ id, name }) => {
    const parts = new Set(`${id} ${name}`.toLowerCase().split(/[^a-z0-9]+/));
    return distinctive.length > 0 && distinctive.every((word) => parts.has(word));
  });
  return named.length > 0 ? named.map(({ id }) => id).slice(0, 4) : nearest(text, gpus.keys());
}

const vendorWords = new Set(['nvidia', 'amd', 'intel', 'tesla', 'gpu', 'instinct']);

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  if (typeof value === 'number' && !(Math.abs(value) <= 1e15)) {
    return Number.isFinite(value) ? 'a number beyond 10^15' : renderScalar(value, 'block');
  }
  if (typeof value !== 'string') return String(value);
  return `'${shorten(value, 61)}'`;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce(own, value);
}

export function isMapping(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

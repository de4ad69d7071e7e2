import { emptyScalar } from './draft.ts';
import type { YamlMap, YamlNode, YamlScalar } from './node.ts';
import { resolvePlain } from './scalar.ts';

/**
 * What a Go template expression gives: a value of the chart, `null` where the chart's values have none (Go's nil), undefined where it
 * cannot be told from the values alone.
 */
export type Given = YamlNode | null | undefined;

/** What `.` and variables stand for at a place of a template. */
export interface Scope {
  /** `.`; 'root' where it is what a template is called with, of which only `.Values` is known. */
  readonly dot: Given | 'root';
  /** The chart's values: what `$.Values` stands for anywhere. */
  readonly values: YamlNode;
  readonly variables: ReadonlyMap<string, Given>;
}

/**
 * Reads a pipeline without its braces: look-ups of `.Values`, literals, and the few functions that keep a value what it is. All else is
 * undefined, for a wrong guess would be worse than none.
 */
export function evaluate(pipeline: string, scope: Scope): Given {
  const stages = split(pipeline);
  if (stages === undefined) return undefined;
  let value: Given;
  for (const [index, stage] of stages.entries()) {
    value = call(stage, index === 0 ? [] : [value], scope);
    if (value === undefined) return undefined;
  }
  return value;
}

/** Whether Go takes a value for true; undefined where it is not known. */
export function isTrue(value: Given): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === null) return false;
  if (value.kind === 'map') return value.entries.length > 0;
  if (value.kind === 'seq') return value.items.length > 0;
  return value.templated
    ? undefined
    : !(value.value === null || value.value === '' || value.value === 0 || value.value === false);
}

/** The words of each stage of a pipeline; a parenthesis is one word. Undefined for what is too long or does not close. */
function split(text: string): readonly (readonly string[])[] | undefined {
  if (text.length > longest) return undefined;
  const stages: string[][] = [[]];
  const word = /\s+|\||"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s|"`()]+|[()]/y;
  let depth = 0;
  let group = '';
  let end = 0;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    const [token] = match;
    end = word.lastIndex;
    if (token === '(' || (depth > 0 && token !== ')')) {
      if (token === '(') depth += 1;
      group += token;
    } else if (token === ')') {
      depth -= 1;
      group += token;
      if (depth < 0) return undefined;
      if (depth > 0) continue;
      stages.at(-1)?.push(group);
      group = '';
    } else if (token === '|') stages.push([]);
    else if (token.trim() !== '') stages.at(-1)?.push(token);
  }
  return end === text.length && depth === 0 && stages.every((stage) => stage.length > 0) ? stages : undefined;
}

const longest = 500;

/** @param piped what the stage before gave, which is the last argument */
function call(words: readonly string[], piped: readonly Given[], scope: Scope): Given {
  const [name = '', ...rest] = words;
  const isTerm = /^[.$"`(\d-]/.test(name) || literals.has(name);
  if (isTerm) return rest.length === 0 && piped.length === 0 ? term(name, scope) : undefined;
  const values = [...rest.map((word) => term(word, scope)), ...piped];
  if (lazy.has(name)) return either(name, values);
  return values.includes(undefined) ? undefined : apply(name, values);
}

const literals: ReadonlyMap<string, string | null> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['nil', null],
]);

function term(word: string, scope: Scope): Given {
  if (word.startsWith('(')) return word.endsWith(')') ? evaluate(word.slice(1, -1), scope) : undefined;
  if (/^["`]/.test(word)) return textOf(word.startsWith('`') ? word.slice(1, -1) : unescaped(word));
  if (literals.has(word)) return word === 'nil' ? null : scalarOf(word);
  if (/^-?\d+(?:\.\d+)?$/.test(word)) return scalarOf(word);
  const path = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(word);
  if (path === null) return undefined;
  const [, variable, said = ''] = path;
  const steps = said.split('.').filter((step) => step !== '');
  if (variable !== undefined && variable !== '$') return lookUp(scope.variables.get(variable), steps);
  if (variable === undefined && scope.dot !== 'root') return lookUp(scope.dot, steps);
  return steps[0] === 'Values' ? lookUp(scope.values, steps.slice(1)) : undefined;
}

function lookUp(from: Given, steps: readonly string[]): Given {
  let here: Given = from;
  for (const step of steps) {
    if (here === undefined) return undefined;
    // Go fails on a look-up in nothing; a chart that does so gets the value from elsewhere.
    if (here === null || here.kind !== 'map' || here.open) return undefined;
    here = lastOf(here, step);
  }
  if (here?.kind !== 'scalar') return here;
  return here.templated ? undefined : here.value === null ? null : here;
}

/** Of a key that is set twice the last counts. */
function lastOf({ entries }: YamlMap, key: string): YamlNode | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.key === key) return entry.value;
  }
  return null;
}

/** Functions of which one argument may be unknown without the result being so. */
const lazy: ReadonlySet<string> = new Set(['default', 'coalesce', 'required']);

function either(name: string, values: readonly Given[]): Given {
  if (name === 'required') return values[1] ?? undefined;
  const ordered = name === 'default' ? [...values].reverse() : values;
  for (const value of ordered) {
    const truth = isTrue(value);
    if (truth !== false) return value;
  }
  return ordered.at(-1);
}

function apply(name: string, values: readonly Given[]): Given {
  const [first, second] = values;
  switch (name) {
    case 'quote':
    case 'squote':
    case 'toString':
      return first?.kind === 'scalar' && values.length === 1 ? textOf(first.source) : undefined;
    case 'int':
    case 'int64':
      return first?.kind === 'scalar' && /^\d+$/.test(first.source) ? scalarOf(first.source) : undefined;
    case 'trim':
      return first?.kind === 'scalar' && first.source.trim() === first.source ? first : undefined;
    case 'toYaml':
    case 'toJson':
      return values.length === 1 ? first : undefined;
    case 'nindent':
    case 'indent':
    case 'trimSuffix':
      return values.length === 2 ? second : undefined;
    case 'tpl':
      return first;
    case 'not':
      return truthOf(negated(isTrue(first)));
    case 'and':
      return (
        values.find((value) => isTrue(value) === false) ??
        (values.every((value) => isTrue(value) === true) ? values.at(-1) : undefined)
      );
    case 'or':
      return (
        values.find((value) => isTrue(value) === true) ??
        (values.every((value) => isTrue(value) === false) ? values.at(-1) : undefined)
      );
    case 'eq':
    case 'ne':
      if (first?.kind !== 'scalar' || second?.kind !== 'scalar' || values.length !== 2) return undefined;
      return truthOf((first.source === second.source) === (name === 'eq'));
    default:
      return undefined;
  }
}

function negated(truth: boolean | undefined): boolean | undefined {
  return truth === undefined ? undefined : !truth;
}

function truthOf(truth: boolean | undefined): Given {
  return truth === undefined ? undefined : scalarOf(String(truth));
}

function scalarOf(source: string): YamlScalar {
  return { ...emptyScalar(0), source, value: resolvePlain(source) };
}

function textOf(source: string): YamlScalar {
  return { ...emptyScalar(0), source, value: source, style: 'double' };
}

function unescaped(word: string): string {
  return word.slice(1, -1).replace(/\\(["\\])/g, '$1');
}

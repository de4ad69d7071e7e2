import { emptyScalar } from './draft.ts';
import type { YamlMap, YamlNode, YamlScalar } from './node.ts';
import { resolvePlain } from './scalar.ts';

/**
 * The value of a Go template expression: a node of the chart's values, `null` if they have none there (Go's nil), undefined if the values
 * alone do not determine it.
 */
export type Evaluated = YamlNode | null | undefined;

/** The meaning of `.` and of variables at a place in a template. */
export interface Scope {
  /** `.`; 'root' for the template's top-level context, of which only `.Values` is known. */
  readonly dot: Evaluated | 'root';
  /** The chart's values: `$.Values` everywhere. */
  readonly values: YamlNode;
  readonly variables: ReadonlyMap<string, Evaluated>;
  readonly include?: Include | undefined;
}

/** What a named template of the chart makes in the template's top-level context. */
export type Include = (name: string) => Evaluated;

/**
 * Evaluates a pipeline without its braces: look-ups of `.Values`, literals, and the few functions that preserve a value. Anything else is
 * undefined, because a wrong guess is worse than none.
 */
export function evaluate(pipeline: string, scope: Scope): Evaluated {
  const stages = split(pipeline);
  if (stages === undefined) return undefined;
  let value: Evaluated;
  for (const [index, stage] of stages.entries()) {
    value = call(stage, index === 0 ? [] : [value], scope);
    if (value === undefined) return undefined;
  }
  return value;
}

/** Whether Go considers a value true; undefined if it is unknown. */
export function isTrue(value: Evaluated): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === null) return false;
  if (value.kind === 'map') return value.entries.length > 0;
  if (value.kind === 'seq') return value.items.length > 0;
  return value.templated
    ? undefined
    : !(value.value === null || value.value === '' || value.value === 0 || value.value === false);
}

/** The words of each stage of a pipeline; a parenthesized group is one word. Undefined if the text is too long or does not close. */
function split(text: string): readonly (readonly string[])[] | undefined {
  if (text.length > maxLength) return undefined;
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

const maxLength = 500;

/** @param piped the result of the previous stage, which becomes the last argument */
function call(words: readonly string[], piped: readonly Evaluated[], scope: Scope): Evaluated {
  const [name = '', ...rest] = words;
  const isTerm = /^[.$"`(\d-]/.test(name) || literals.has(name);
  if (isTerm) return rest.length === 0 && piped.length === 0 ? term(name, scope) : undefined;
  if (name === 'include' || name === 'template') return piped.length === 0 ? included(rest, scope) : undefined;
  const values = [...rest.map((word) => term(word, scope)), ...piped];
  if (acceptsUnknown.has(name)) return either(name, values);
  return values.includes(undefined) ? undefined : apply(name, values);
}

/** Only in the top-level context: in another one, `.Values` is something else. */
function included([name = '', context, ...others]: readonly string[], { dot, include }: Scope): Evaluated {
  const isTop = context === '$' || (context === '.' && dot === 'root');
  const made = isTop && others.length === 0 && /^".*"$/.test(name) ? include?.(unescaped(name)) : undefined;
  // To Go it is text, which is true unless it is empty: also "false" and "0".
  return made?.kind === 'scalar' ? { ...made, value: made.source } : made;
}

const literals: ReadonlyMap<string, string | null> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['nil', null],
]);

function term(word: string, scope: Scope): Evaluated {
  if (word.startsWith('(')) return word.endsWith(')') ? evaluate(word.slice(1, -1), scope) : undefined;
  if (/^["`]/.test(word)) return textOf(word.startsWith('`') ? word.slice(1, -1) : unescaped(word));
  if (literals.has(word)) return word === 'nil' ? null : scalarOf(word);
  if (/^-?\d+(?:\.\d+)?$/.test(word)) return scalarOf(word);
  const path = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(word);
  if (path === null) return undefined;
  const [, variable, keys = ''] = path;
  const steps = keys.split('.').filter((step) => step !== '');
  if (variable !== undefined && variable !== '$') return lookUp(scope.variables.get(variable), steps);
  if (variable === undefined && scope.dot !== 'root') return lookUp(scope.dot, steps);
  return steps[0] === 'Values' ? lookUp(scope.values, steps.slice(1)) : undefined;
}

function lookUp(from: Evaluated, steps: readonly string[]): Evaluated {
  let here: Evaluated = from;
  for (const step of steps) {
    if (here === undefined) return undefined;
    // Go fails on a look-up in nil; a chart that does this gets the value from elsewhere.
    if (here === null || here.kind !== 'map' || here.incomplete) return undefined;
    here = lastOf(here, step);
  }
  if (here?.kind !== 'scalar') return here;
  return here.templated ? undefined : here.value === null ? null : here;
}

/** Of duplicate keys the last value counts. */
function lastOf({ entries }: YamlMap, key: string): YamlNode | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.key === key) return entry.value;
  }
  return null;
}

/** Functions whose result can be known although an argument is not. */
const acceptsUnknown: ReadonlySet<string> = new Set(['default', 'coalesce', 'required']);

function either(name: string, values: readonly Evaluated[]): Evaluated {
  if (name === 'required') return values[1] ?? undefined;
  const ordered = name === 'default' ? [...values].reverse() : values;
  for (const value of ordered) {
    const truth = isTrue(value);
    if (truth !== false) return value;
  }
  return ordered.at(-1);
}

function apply(name: string, values: readonly Evaluated[]): Evaluated {
  const [first, second] = values;
  switch (name) {
    case 'quote':
    case 'squote':
    case 'toString':
      return first?.kind === 'scalar' && values.length === 1 ? textOf(first.source) : undefined;
    case 'int':
    case 'int64':
      return first?.kind === 'scalar' && /^\d+$/.test(first.source) ? scalarOf(first.source) : undefined;
    case 'printf':
      return printed(values);
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

/** The result of `printf` if its verbs are plain ones for texts. */
function printed([format, ...values]: readonly Evaluated[]): Evaluated {
  if (format?.kind !== 'scalar' || values.some((value) => value?.kind !== 'scalar')) return undefined;
  const verbs = format.source.match(/%./g) ?? [];
  if (verbs.length !== values.length || verbs.some((verb) => !/^%[sdv]$/.test(verb))) return undefined;
  let next = 0;
  return textOf(
    format.source.replace(/%./g, () => {
      const value = values[next++];
      return value?.kind === 'scalar' ? value.source : '';
    }),
  );
}

function negated(truth: boolean | undefined): boolean | undefined {
  return truth === undefined ? undefined : !truth;
}

function truthOf(truth: boolean | undefined): Evaluated {
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

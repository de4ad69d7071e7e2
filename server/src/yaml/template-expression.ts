import type { YamlNode } from './node.ts';
import { apply, type Evaluated, isTrue, lookUp, scalarOf, textOf } from './template-functions.ts';

/** The meaning of `.` and of variables at a place in a template. */
export interface Scope {
  /** `.`; 'root' for the template's top-level context, of which only `.Values` and some names are known. */
  readonly dot: Evaluated | 'root';
  /** The chart's values: `$.Values` everywhere. */
  readonly values: YamlNode;
  readonly variables: ReadonlyMap<string, Evaluated>;
  readonly include?: Include | undefined;
  readonly names?: BuiltIns | undefined;
  /** Called with a path of values that a look-up certainly needs and does not find: `serviceAccount`. */
  readonly onMissing?: OnMissing | undefined;
}

export type OnMissing = (path: string) => void;

/** The template's top-level context as a variable: `$root := .`. Nothing else is known of it as a value. */
const topLevel: Evaluated = {
  kind: 'map',
  entries: [],
  flow: false,
  incomplete: true,
  span: { start: 0, end: 0 },
};

/** What the built-in objects of Helm hold, by path: `Release.Name`. */
export type BuiltIns = ReadonlyMap<string, string>;

/** What a named template of the chart makes in the template's top-level context. */
export type Include = (name: string, onMissing?: OnMissing) => Evaluated;

/**
 * Evaluates a pipeline without its braces: look-ups of `.Values`, literals, and the functions whose result is certain. Anything else is
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
  // Go stops at the first argument that decides.
  const within = lazyFunctions.has(name) ? { ...scope, onMissing: undefined } : scope;
  const values = [...rest.map((word) => term(word, within)), ...piped];
  if (acceptsUnknown.has(name)) return either(name, values);
  return values.includes(undefined) ? undefined : apply(name, values);
}

const lazyFunctions: ReadonlySet<string> = new Set(['and', 'or']);

/** Only in the top-level context: in another one, `.Values` is something else. */
function included([name = '', context = '', ...others]: readonly string[], scope: Scope): Evaluated {
  const { include, onMissing } = scope;
  const isTop = isVariable.test(context) ? isTopLevel(context, scope) : context === '.' && scope.dot === 'root';
  const made = isTop && others.length === 0 && /^".*"$/.test(name) ? include?.(unescaped(name), onMissing) : undefined;
  // To Go it is text, which is true unless it is empty: also "false" and "0".
  return made?.kind === 'scalar' ? { ...made, value: made.source } : made;
}

const isVariable = /^\$\w*$/;

function isTopLevel(variable: string, { variables }: Scope): boolean {
  return variable === '$' || variables.get(variable) === topLevel;
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
  if (variable !== undefined && !isTopLevel(variable, scope)) return lookUp(scope.variables.get(variable), steps);
  if (variable === undefined && scope.dot !== 'root') return lookUp(scope.dot, steps);
  if (steps.length === 0) return topLevel;
  if (steps[0] === 'Values') {
    const [, ...path] = steps;
    // Helm always sets `global`.
    const onMissing = path[0] === 'global' ? undefined : scope.onMissing;
    return lookUp(scope.values, path, onMissing && ((count) => onMissing(path.slice(0, count).join('.'))));
  }
  const name = scope.names?.get(steps.join('.'));
  return name === undefined ? undefined : textOf(name);
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

function unescaped(word: string): string {
  return word.slice(1, -1).replace(/\\(["\\])/g, '$1');
}

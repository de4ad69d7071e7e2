import { emptyScalar } from './draft.ts';
import type { YamlNode } from './node.ts';
import { once } from './once.ts';
import { checkLimits, parseYaml } from './parse.ts';
import { findActions, isControl, outputIndent, type TemplateAction, wordsOf } from './template-action.ts';
import type { BuiltIns, Include, Scope } from './template-expression.ts';
import type { Evaluated } from './template-functions.ts';
import { readTemplate } from './template-reading.ts';

/** The named templates of a chart. */
export interface Helpers {
  /** Their bodies; null for a name that is defined twice, and for a body that is too long. */
  readonly bodies: ReadonlyMap<string, string | null>;
  /** What Helm's own objects hold; missing: unknown. */
  readonly names?: BuiltIns;
  /** What they make with the values of a chart, as far as it was needed. */
  readonly made: WeakMap<YamlNode, Map<string, Made>>;
}

/** The named templates in a file. The same object means the same text. */
export const helpersIn = once(({ text }: { readonly text: string }): Helpers => readHelpers(text));

/** Reads the `define` blocks of a file of helpers. */
export function readHelpers(text: string): Helpers {
  const bodies = new Map<string, string | null>();
  const open: { readonly name: string | undefined; readonly action: TemplateAction }[] = [];
  for (const action of checkLimits(text) === null ? findActions(text) : []) {
    const { word, rest } = wordsOf(action);
    if (opensBlock.test(word)) {
      open.push({ action, name: word === 'define' ? /^["`]([^"`]+)["`]$/.exec(rest.trim())?.[1] : undefined });
    } else if (word === 'end') {
      const block = open.pop();
      if (block?.name === undefined || open.length > 0) continue;
      const body = text.slice(block.action.span.end, action.span.start);
      const isKnown = !bodies.has(block.name) && body.length <= maxLength;
      bodies.set(block.name, isKnown ? (trimsAfter(block.action) ? body.trimStart() : body) : null);
    }
  }
  return { bodies, made: new WeakMap() };
}

const opensBlock = /^(?:if|with|range|define|block)$/;
const maxLength = 10_000;

/** No chart's named templates include each other over more levels. */
const maxDepth = 30;

/** Includes helpers with the values of their chart, in the context of the whole chart. The result is unknown if it depends on anything else. */
export function includeFrom(helpers: Helpers, values: YamlNode): Include {
  const made = helpers.made.get(values) ?? new Map<string, Made>();
  helpers.made.set(values, made);
  let depth = 0;
  const make = (name: string): Made => {
    const body = helpers.bodies.get(name) ?? undefined;
    if (body === undefined) return unknown;
    depth += 1;
    const { text, missing } = rendered(body, values, { include, names: helpers.names });
    depth -= 1;
    return { value: text === undefined ? undefined : nodeIn(text), missing };
  };
  const include: Include = (name, onMissing) => {
    if (!made.has(name) && depth < maxDepth) {
      // What includes itself is unknown.
      made.set(name, unknown);
      made.set(name, make(name));
    }
    const { value, missing } = made.get(name) ?? unknown;
    if (missing !== undefined) onMissing?.(missing);
    return value;
  };
  return include;
}

/** What a named template makes. */
interface Made {
  readonly value: Evaluated;
  /** The path of values without which it fails. */
  readonly missing: string | undefined;
}

const unknown: Made = { value: undefined, missing: undefined };

/** The text that a template makes. */
function rendered(body: string, values: YamlNode, known: Pick<Scope, 'include' | 'names'>): Rendered {
  const actions = findActions(body);
  const { results, dead, loops, failed, isUnsure } = readTemplate(actions, values, '', known);
  const missing = failed[0]?.path;
  const none: Rendered = { text: undefined, missing };
  if (loops.length > 0 || isUnsure) return none;
  let text = '';
  let previous: TemplateAction | undefined;
  for (const action of [...actions, undefined]) {
    const from = previous?.span.end ?? 0;
    const to = action?.span.start ?? body.length;
    if (!dead.some(({ start, end }) => start <= from && to <= end)) {
      const after = body.slice(from, to);
      const written = previous !== undefined && trimsAfter(previous) ? after.trimStart() : after;
      text += action !== undefined && /^\{\{-/.test(action.text) ? written.trimEnd() : written;
    }
    previous = action;
    if (action === undefined || isControl(action)) continue;
    if (dead.some(({ start, end }) => start <= action.span.start && action.span.end <= end)) continue;
    const output = outputOf(action, results.get(action));
    if (output === undefined || text.length + output.length > maxLength) return none;
    text += output;
  }
  return { text, missing };
}

interface Rendered extends Pick<Made, 'missing'> {
  readonly text: string | undefined;
}

function trimsAfter({ text }: TemplateAction): boolean {
  return text.endsWith('-}}');
}

/** The output of an action. */
function outputOf(action: TemplateAction, value: Evaluated): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (value.kind === 'scalar') {
    if (value.templated || /[\r\n]/.test(value.source)) return undefined;
    return /\bs?quote\b/.test(action.text) ? JSON.stringify(value.source) : value.source;
  }
  // Without a function, Go prints its own notation.
  if (!/\b(?:toYaml|include|template)\b/.test(action.text)) return undefined;
  const isSmall = value.span.end - value.span.start <= maxLength;
  const lines = value.incomplete || !isSmall ? undefined : linesOf(value);
  const indent = outputIndent(action) ?? 0;
  const block = lines?.map((line) => ' '.repeat(indent) + line).join('\n');
  if (block === undefined) return undefined;
  return /\bnindent\b/.test(action.text) ? `\n${block}` : block;
}

function linesOf(node: YamlNode): readonly string[] | undefined {
  if (node.kind === 'scalar') return undefined;
  const lines =
    node.kind === 'seq'
      ? node.items.map(({ value }) => written('- ', value))
      : node.entries.map(({ key, value }) => written(`${JSON.stringify(key)}: `, value));
  return lines.length === 0 ? [node.kind === 'seq' ? '[]' : '{}'] : allKnown(lines);
}

function written(prefix: string, value: YamlNode): string | undefined {
  const text = flowOf(value);
  return text === undefined ? undefined : prefix + text;
}

/** A node in the flow style; undefined if a part of it is unknown. */
function flowOf(node: YamlNode): string | undefined {
  if (node.kind === 'scalar') return node.templated ? undefined : JSON.stringify(node.value);
  if (node.incomplete) return undefined;
  if (node.kind === 'seq') {
    const items = allKnown(node.items.map(({ value }) => flowOf(value)));
    return items === undefined ? undefined : `[${items.join(', ')}]`;
  }
  const entries = allKnown(node.entries.map(({ key, value }) => written(`${JSON.stringify(key)}: `, value)));
  return entries === undefined ? undefined : `{${entries.join(', ')}}`;
}

function allKnown(texts: readonly (string | undefined)[]): readonly string[] | undefined {
  const known = texts.flatMap((text) => text ?? []);
  return known.length === texts.length ? known : undefined;
}

/** A text as the YAML that it becomes where it is inserted. */
function nodeIn(text: string): Evaluated {
  if (text.trim() === '' || text.includes('{{')) return undefined;
  const { documents } = parseYaml(text);
  const [only, ...others] = documents;
  if (only === undefined || only.root === null || others.length > 0 || only.problems.length > 0) return undefined;
  const { root } = only;
  return root.kind === 'scalar'
    ? { ...emptyScalar(0), source: root.source, value: root.value, style: root.style }
    : root;
}

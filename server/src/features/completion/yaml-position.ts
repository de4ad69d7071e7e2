import { lineEnd, lineStart, nextLine } from '../../yaml/layout.ts';
import { MAX_DEPTH } from '../../yaml/limits.ts';
import type { Span } from '../../yaml/span.ts';

/**
 * Where a caret stands, read from lines and indentation alone: what is half typed is no YAML yet, and that is when somebody wants to
 * know what could stand there.
 */
export interface YamlPosition {
  /** The keys from the root to the mapping or list that the word stands in; `-` for an item of a list. */
  readonly path: readonly string[];
  readonly part: 'key' | 'value' | 'comment';
  /** The key whose value is being written. */
  readonly key: string | undefined;
  /** What is written of the word, before and behind the caret: what a completion replaces. For a comment, all before the caret. */
  readonly span: Span;
  readonly word: string;
  /** A dash stands before the word on its line. */
  readonly dash: boolean;
  /** A colon follows the word already. */
  readonly colon: boolean;
  /** Where the word's mapping is indented to. */
  readonly column: number;
  /** The other keys of the mapping. */
  readonly siblings: ReadonlySet<string>;
}

/**
 * The position of a caret in the text of one document. Undefined inside flow style, block scalars and templates, and deeper than documents
 * are read.
 */
export function yamlPosition(text: string, offset: number): YamlPosition | undefined {
  const start = lineStart(text, offset);
  const before = text.slice(start, offset);
  const behind = text.slice(offset, lineEnd(text, offset));
  const comment = /(?:^|\s)(#.*)$/.exec(before);
  if (comment !== null) {
    const word = comment[1] ?? '';
    const span = { start: offset - word.length, end: offset };
    return { ...outside, path: [], part: 'comment', span, word };
  }
  const { column, dashes, rest } = readEdge(before, false);
  if (dashes.length > MAX_DEPTH) return undefined;
  const place = parentsOf(text, start, column, dashes);
  if (place === undefined) return undefined;
  const written = /^(["']?)([\w./-]+)\1\s*:\s+(["']?[\w./+-]*)$/.exec(rest);
  const isKey = /^["']?[\w./+-]*$/.test(rest);
  if (written === null && !isKey) return undefined;
  const typed = written?.[3] ?? rest;
  const more = /^[\w./+-]*["']?/.exec(behind)?.[0] ?? '';
  const common = {
    path: place.path,
    span: { start: offset - typed.length, end: offset + more.length },
    word: typed,
    dash: dashes.length > 0,
    column,
  };
  if (written !== null) return { ...outside, ...common, part: 'value', key: written[2] ?? '' };
  const siblings = new Set([...place.siblings, ...keysBelow(text, offset, column)]);
  return { ...outside, ...common, part: 'key', colon: /^\s*:/.test(behind.slice(more.length)), siblings };
}

/** The position of a caret in YAML that is the text of a block scalar, such as a config in a ConfigMap; spans and columns are of the whole text. */
export function embeddedPosition(text: string, offset: number): YamlPosition | undefined {
  const lines = text.slice(0, offset).split('\n');
  const indentOf = (line: string) => /^ */.exec(line)?.[0].length ?? 0;
  const own = indentOf(lines.at(-1) ?? '');
  let least = own;
  for (let index = lines.length - 2; index >= 0; index -= 1) {
    const line = (lines[index] ?? '').replace(/\r$/, '');
    if (line.trim() === '') continue;
    const indent = indentOf(line);
    if (indent < least && /^ *["']?[\w.-]+["']?: *[|>][+-]?$/.test(line)) {
      const inner = lines.slice(index + 1).map((one) => one.slice(least));
      const before = inner.join('\n');
      const behind = /^[^\n]*/.exec(text.slice(offset))?.[0] ?? '';
      const found = yamlPosition(before + behind, before.length);
      if (found === undefined) return undefined;
      const shift = offset - before.length;
      const span = { start: found.span.start + shift, end: found.span.end + shift };
      return { ...found, span, column: found.column + least };
    }
    least = Math.min(least, indent);
  }
  return undefined;
}

/**
 * The value of a key in the mapping that a caret stands in, or in the one around the list that it stands in: of an expression its `key`, while
 * its `values` are written. Undefined where it is not on lines of its own.
 */
export function siblingValue(text: string, offset: number, key: string): string | undefined {
  const lines = text.split('\n');
  const at = text.slice(0, offset).split('\n').length - 1;
  const indent = /^\s*/.exec(lines[at] ?? '')?.[0].length ?? 0;
  let column: number | undefined;
  for (let index = at; index >= 0; index -= 1) {
    const line = readText(lines[index]);
    if (line?.key === undefined) continue;
    // The first key that stands no deeper is of the mapping that is meant.
    if (column === undefined && (index === at || line.column <= indent)) column = line.column;
    if (column === undefined || line.column > column) continue;
    if (line.column < column) break;
    if (line.key === key) return unquoted(line.value);
    if (line.dashes.length > 0) break;
  }
  for (let index = at + 1; column !== undefined && index < lines.length; index += 1) {
    const line = readText(lines[index]);
    if (line === undefined) continue;
    if (line.column < column || line.dashes.some((dash) => dash < (column ?? 0))) return undefined;
    if (line.key === key && line.column === column) return unquoted(line.value);
  }
  return undefined;
}

function readText(line = ''): Line | undefined {
  return readLine(line, 0, line.length);
}

function unquoted(value: string): string {
  return value
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}

const outside = { key: undefined, dash: false, colon: false, column: 0, siblings: new Set<string>() } as const;

interface Line {
  readonly dashes: readonly number[];
  readonly column: number;
  readonly key: string | undefined;
  readonly value: string;
}

/**
 * The way to the mapping at a column, and the keys of that mapping above the line that starts at an offset. Undefined inside a block scalar
 * and in flow style.
 */
function parentsOf(
  text: string,
  start: number,
  column: number,
  dashes: readonly number[],
): { readonly path: readonly string[]; readonly siblings: readonly string[] } | undefined {
  // From the caret up to the root.
  const path: string[] = [];
  const siblings: string[] = [];
  // Of a mapping, its column is wanted; of a list, the column of its dashes.
  let want = column;
  let inList = false;
  const enterLists = (columns: readonly number[]) => {
    for (const at of [...columns].reverse()) {
      path.push('-');
      want = at;
      inList = true;
    }
  };
  enterLists(dashes);
  let own = dashes.length === 0;
  for (let end = start - 1; end >= 0; ) {
    const from = lineStart(text, end);
    const line = readLine(text, from, end, want);
    end = from - 1;
    if (line === undefined) continue;
    if (inList) {
      if (line.dashes.includes(want)) continue;
      if (line.column > want || line.key === undefined) continue;
    } else if (line.column === want) {
      if (own && line.key !== undefined) siblings.push(line.key);
      if (line.dashes.length > 0) {
        enterLists(line.dashes);
        own = false;
      }
      continue;
    } else if (line.column > want) continue;
    if (line.key === undefined || /^[|>{[]/.test(line.value)) return undefined;
    path.push(line.key);
    want = line.column;
    inList = false;
    own = false;
    enterLists(line.dashes);
    if (path.length > MAX_DEPTH) return undefined;
    if (want === 0 && !inList) break;
  }
  return { path: path.reverse(), siblings };
}

function keysBelow(text: string, offset: number, column: number): readonly string[] {
  const keys: string[] = [];
  for (let start = nextLine(text, offset); start < text.length; start = nextLine(text, start)) {
    const line = readLine(text, start, lineEnd(text, start), column);
    if (line === undefined) continue;
    if (line.column < column || line.dashes.some((dash) => dash < column)) break;
    if (line.column === column && line.key !== undefined) keys.push(line.key);
  }
  return keys;
}

/** @param deepest of lines that are indented deeper nothing is wanted. Undefined for them and for lines that say nothing of the structure. */
function readLine(text: string, start: number, end: number, deepest = Number.POSITIVE_INFINITY): Line | undefined {
  let at = start;
  while (text.charCodeAt(at) === 0x20) at++;
  if (at - start > deepest) return undefined;
  const line = text.slice(start, text.charAt(end - 1) === '\r' ? end - 1 : end);
  const { dashes, column, rest } = readEdge(line, true);
  if (rest.startsWith('#') || (rest === '' && dashes.length === 0)) return undefined;
  return { dashes, column, ...readEntry(rest) };
}

/** A line's indentation and dashes, and what stands behind them. @param ends whether the last dash may end the line */
function readEdge(line: string, ends: boolean): Pick<Line, 'dashes' | 'column'> & { readonly rest: string } {
  const dashes: number[] = [];
  let at = line.search(/\S/);
  if (at === -1) at = line.length;
  while (line.charAt(at) === '-' && (line.charAt(at + 1) === ' ' || (ends && at + 1 === line.length))) {
    dashes.push(at);
    at++;
    while (line.charAt(at) === ' ') at++;
  }
  return { dashes, column: at, rest: line.slice(at) };
}

/** The key of an entry, which ends at the first colon with a blank behind it, and its value. */
function readEntry(rest: string): Pick<Line, 'key' | 'value'> {
  const none = { key: undefined, value: '' };
  const colon = rest.search(/:(?!\S)/);
  if (colon === -1) return none;
  const written = rest.slice(0, colon).trimEnd();
  const quote = /^["']/.exec(written)?.[0] ?? '';
  const key = quote !== '' && written.length > 1 && written.endsWith(quote) ? written.slice(1, -1) : written;
  if (!/^[^\s"'#{}[\],&*!|>%@`][^"'#{}[\],]*$/.test(key)) return none;
  return {
    key,
    value: rest
      .slice(colon + 1)
      .trimStart()
      .replace(/^[&!]\S+\s*/, ''),
  };
}

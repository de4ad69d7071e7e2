import type { Span } from '../yaml/span.ts';

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

/** The position of a caret in the text of one document. Undefined inside flow style, block scalars and templates. */
export function yamlPosition(text: string, offset: number): YamlPosition | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  const behind = /^[^\r\n]*/.exec(text.slice(offset))?.[0] ?? '';
  const above = text.slice(0, start).split('\n').slice(0, -1);
  const below = text
    .slice(offset + behind.length)
    .split('\n')
    .slice(1);
  const comment = /(?:^|\s)(#.*)$/.exec(before);
  if (comment !== null) {
    const word = comment[1] ?? '';
    const span = { start: offset - word.length, end: offset };
    return { ...outside, path: [], part: 'comment', span, word };
  }
  const [, indent = '', dashes = '', rest = ''] = /^(\s*)((?:- +)*)(.*)$/.exec(before) ?? [];
  const column = indent.length + dashes.length;
  const place = parentsOf(above, column, dashes === '' ? [] : dashColumns(indent, dashes));
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
    dash: dashes !== '',
    column,
  };
  if (written !== null) return { ...outside, ...common, part: 'value', key: written[2] ?? '' };
  const siblings = new Set([...place.siblings, ...keysBelow(below, column)]);
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
    const line = readLine(lines[index] ?? '');
    if (line?.key === undefined) continue;
    // The first key that stands no deeper is of the mapping that is meant.
    if (column === undefined && (index === at || line.column <= indent)) column = line.column;
    if (column === undefined || line.column > column) continue;
    if (line.column < column) break;
    if (line.key === key) return unquoted(line.value);
    if (line.dashes.length > 0) break;
  }
  for (let index = at + 1; column !== undefined && index < lines.length; index += 1) {
    const line = readLine(lines[index] ?? '');
    if (line === undefined) continue;
    if (line.column < column || line.dashes.some((dash) => dash < (column ?? 0))) return undefined;
    if (line.key === key && line.column === column) return unquoted(line.value);
  }
  return undefined;
}

function unquoted(value: string): string {
  return value.replace(/^(["'])(.*)\1\s*$/, '$2').trim();
}

const outside = { key: undefined, dash: false, colon: false, column: 0, siblings: new Set<string>() } as const;

interface Line {
  readonly dashes: readonly number[];
  readonly column: number;
  readonly key: string | undefined;
  readonly value: string;
}

/** The way to the mapping at a column, and the keys of that mapping above the caret. Undefined inside a block scalar and in flow style. */
function parentsOf(
  above: readonly string[],
  column: number,
  dashes: readonly number[],
): { readonly path: readonly string[]; readonly siblings: readonly string[] } | undefined {
  const path: string[] = [];
  const siblings: string[] = [];
  // Of a mapping, its column is wanted; of a list, the column of its dashes.
  let want = column;
  let inList = false;
  const enterLists = (columns: readonly number[]) => {
    for (const at of [...columns].reverse()) {
      path.unshift('-');
      want = at;
      inList = true;
    }
  };
  enterLists(dashes);
  let own = dashes.length === 0;
  for (let index = above.length - 1; index >= 0; index -= 1) {
    const line = readLine(above[index] ?? '');
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
    path.unshift(line.key);
    want = line.column;
    inList = false;
    own = false;
    enterLists(line.dashes);
    if (want === 0 && !inList) break;
  }
  return { path, siblings };
}

function keysBelow(below: readonly string[], column: number): readonly string[] {
  const keys: string[] = [];
  for (const text of below) {
    const line = readLine(text);
    if (line === undefined) continue;
    if (line.column < column || line.dashes.some((dash) => dash < column)) break;
    if (line.column === column && line.key !== undefined) keys.push(line.key);
  }
  return keys;
}

/** Undefined for lines that say nothing of the structure. */
function readLine(text: string): Line | undefined {
  const [, indent = '', dashes = '', rest = ''] = /^(\s*)((?:-(?: +|$))*)(.*)$/.exec(text.replace(/\r$/, '')) ?? [];
  if (rest.startsWith('#') || (rest === '' && dashes === '')) return undefined;
  const entry = /^(["']?)([^\s"'#{}[\],&*!|>%@`][^"'#{}[\],]*?)\1\s*:(?:\s+(.*))?$/.exec(rest);
  return {
    dashes: dashColumns(indent, dashes),
    column: indent.length + dashes.length,
    key: entry?.[2],
    value: (entry?.[3] ?? '').replace(/^[&!]\S+\s*/, ''),
  };
}

function dashColumns(indent: string, dashes: string): readonly number[] {
  return [...dashes.matchAll(/-/g)].map(({ index }) => indent.length + index);
}

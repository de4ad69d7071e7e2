import { type Cursor, entries, items } from './cursor.ts';
import type { YamlDocument, YamlNode } from './node.ts';
import { findActions, type TemplateAction } from './template-action.ts';

/** What edits need to know about a whole document. It is read once, because a thousand findings in one document have a thousand fixes. */
export interface DocumentMarks {
  /** The names of all aliases, each cut at a star. */
  readonly aliases: ReadonlySet<string>;
  /** The offsets of merge keys, in order. */
  readonly merges: readonly number[];
  readonly actions: readonly TemplateAction[];
  readonly quote: '"' | "'";
}

export function marksOf({ text, comments }: YamlDocument): DocumentMarks {
  // A document that moves within its file is a new object with the same comments.
  let marks = known.get(comments);
  if (marks === undefined) {
    marks = {
      aliases: new Set([...text.matchAll(/\*([^\s,[\]{}*]+)/g)].map(([, name = '']) => name)),
      merges: [...text.matchAll(/(?<![^\s{,[:-])<<[ \t]*:/g)].map(({ index }) => index),
      actions: findActions(text),
      quote: /[:-] +'/.test(text) && !/[:-] +"/.test(text) ? "'" : '"',
    };
    known.set(comments, marks);
  }
  return marks;
}

const known = new WeakMap<YamlDocument['comments'], DocumentMarks>();

/** The keys that occur more than once in a mapping. */
export function repeatedKeys(node: YamlNode): ReadonlySet<string> {
  let repeated = repeats.get(node);
  if (repeated === undefined) {
    const seen = new Set<string>();
    const keys = node.kind === 'map' ? node.entries.map(({ key }) => key) : [];
    repeated = new Set(keys.filter((key) => seen.has(key) || !seen.add(key)));
    repeats.set(node, repeated);
  }
  return repeated;
}

const repeats = new WeakMap<YamlNode, ReadonlySet<string>>();

/** The length of the leading run of items for which `holds` is true; no later item may satisfy it. */
export function countWhere<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The offsets at which the lines of a text start. The most recent text is cached, so that a line of a megabyte is scanned only once. */
export function lineStartsOf(text: string): readonly number[] {
  if (last.text !== text) last = { text, starts: lineStartsIn(text) };
  // Equal texts can be distinct strings, and comparing those takes time linear in their length.
  last.text = text;
  return last.starts;
}

/** The offset of the first character of each line. */
export function lineStartsIn(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

let last: { text: string; readonly starts: readonly number[] } = { text: '', starts: [0] };

/** Walks the first nodes of a document, breadth first, until `visit` returns true. */
export function walkFirst(top: Cursor, visit: (cursor: Cursor) => boolean): void {
  const queue: Cursor[] = [top];
  for (const here of queue) {
    if (here.shared) continue;
    if (visit(here)) return;
    for (const child of [...entries(here), ...items(here)]) {
      if (queue.length >= MAX_VISITED) break;
      queue.push(child);
    }
  }
}

const MAX_VISITED = 2000;

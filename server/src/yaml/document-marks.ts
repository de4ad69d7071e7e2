import { type Cursor, entries, items } from './cursor.ts';
import type { YamlDocument, YamlNode } from './node.ts';
import { findActions, type TemplateAction } from './template-action.ts';

/** What edits ask of a whole document. It is read once, because a thousand findings in one document have a thousand fixes. */
export interface DocumentMarks {
  /** The names that aliases have, up to a star in them. */
  readonly aliases: ReadonlySet<string>;
  /** Where merge keys stand, in order. */
  readonly merges: readonly number[];
  readonly actions: readonly TemplateAction[];
  readonly quote: '"' | "'";
}

export function marksOf({ text, comments }: YamlDocument): DocumentMarks {
  // A document that moves in its file is another object with the same comments.
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

/** The keys that a mapping has more than once. */
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

/** How many of the first items hold; from the first that does not, none does. */
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

/** Where the lines of a text start. The text that was asked about last is remembered: a line of a megabyte is looked through once. */
export function lineStartsOf(text: string): readonly number[] {
  if (last.text !== text) last = { text, starts: lineStartsIn(text) };
  // Equal texts need not be one string, and comparing those takes as long as they are.
  last.text = text;
  return last.starts;
}

export function lineStartsIn(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

let last: { text: string; readonly starts: readonly number[] } = { text: '', starts: [0] };

/** What a walk over the first collections of a document finds; `visit` tells when it has enough. */
export function walkFirst(top: Cursor, visit: (cursor: Cursor) => boolean): void {
  const queue: Cursor[] = [top];
  for (const here of queue) {
    if (here.shared) continue;
    if (visit(here)) return;
    for (const child of [...entries(here), ...items(here)]) {
      if (queue.length >= FIRST) break;
      queue.push(child);
    }
  }
}

const FIRST = 2000;

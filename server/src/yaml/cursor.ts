import type { YamlEntry, YamlItem, YamlMap, YamlNode } from './node.ts';
import type { Span } from './span.ts';

/**
 * A place in a document: a node and the path to it. One aliased node can be at two places, so the path is kept here and not in the node.
 * Fixes start from cursors, because an edit needs the surrounding nodes.
 */
export interface Cursor {
  readonly node: YamlNode;
  /** The entry that contains the node, if its parent is a mapping. */
  readonly entry: YamlEntry | undefined;
  /** The node's key or index in its parent. */
  readonly step: string | number | undefined;
  readonly parent: Cursor | undefined;
  /** The path goes through an alias or a merge key: an edit here also changes other places. */
  readonly shared: boolean;
}

/** A value and its place in the document. */
export interface Located<T> {
  readonly value: T;
  readonly at: Cursor;
}

/** The cursor at the root of a document. */
export function rootCursor(node: YamlNode): Cursor {
  return { node, entry: undefined, step: undefined, parent: undefined, shared: false };
}

/** The value at a path of keys and indices; undefined if a step is missing or a node on the way is of another kind. */
export function getIn(cursor: Cursor | undefined, ...path: readonly Step[]): Cursor | undefined;
// Nothing is called as often as this, and nearly always with one or two steps: those are parameters of their own, which take no array.
export function getIn(cursor: Cursor | undefined, first?: Step, second?: Step, ...more: readonly Step[]) {
  if (cursor === undefined || first === undefined) return cursor;
  let here = childAt(cursor, first);
  if (second === undefined || here === undefined) return here;
  here = childAt(here, second);
  for (let index = 0; index < more.length && here !== undefined; index++) here = childAt(here, more[index] ?? '');
  return here;
}

type Step = string | number;

/** The items of a sequence; an empty list for any other node. */
export function items(cursor: Cursor | undefined): readonly Cursor[] {
  if (cursor?.node.kind !== 'seq') return [];
  return cursor.node.items.map((item, index) => ofItem(cursor, item, index));
}

/** The values of a mapping, in order; `step` is the key. An empty list for any other node. */
export function entries(cursor: Cursor | undefined): readonly Cursor[] {
  if (cursor?.node.kind !== 'map') return [];
  return cursor.node.entries.map((entry) => ofEntry(cursor, entry));
}

/** The key of an entry's cursor; an empty string for an item or the root. */
export function keyOf(cursor: Cursor): string {
  return typeof cursor.step === 'string' ? cursor.step : '';
}

/** The span of the value. */
export function spanOf(cursor: Cursor): Span {
  return cursor.node.span;
}

/** The span of the key; for an item or the root, the empty span at the start of the value. */
export function keySpanOf(cursor: Cursor): Span {
  return cursor.entry?.keySpan ?? { start: cursor.node.span.start, end: cursor.node.span.start };
}

/** A string value. Numbers and booleans are not strings: Kubernetes rejects them where a string is required. */
export function asString(cursor: Cursor | undefined): string | undefined {
  return cursor?.node.kind === 'scalar' && typeof cursor.node.value === 'string' ? cursor.node.value : undefined;
}

/** A scalar as text, however it is written (8, "8", true): for quantities, ports, and labels that should have been quoted. */
export function asText(cursor: Cursor | undefined): string | undefined {
  if (cursor?.node.kind !== 'scalar' || cursor.node.value === null) return undefined;
  return cursor.node.source;
}

/** An exact number. Undefined for `.nan`, `.inf` and values beyond 2^53, which no Kubernetes field accepts. */
export function asNumber(cursor: Cursor | undefined): number | undefined {
  if (cursor?.node.kind !== 'scalar' || typeof cursor.node.value !== 'number') return undefined;
  return Math.abs(cursor.node.value) <= Number.MAX_SAFE_INTEGER ? cursor.node.value : undefined;
}

/** The boolean of a scalar; undefined for any other node or value. */
export function asBoolean(cursor: Cursor | undefined): boolean | undefined {
  return cursor?.node.kind === 'scalar' && typeof cursor.node.value === 'boolean' ? cursor.node.value : undefined;
}

/** The key is present, but its value is empty or an explicit null. */
export function isNull(cursor: Cursor): boolean {
  return cursor.node.kind === 'scalar' && cursor.node.value === null;
}

/** Whether a line of a mapping around a value is an error of syntax: it may have said how many there are. */
export function hasLostLineAround({ parent }: Cursor): boolean {
  for (let at = parent; at !== undefined; at = at.parent) if (at.node.kind === 'map' && at.node.lost) return true;
  return false;
}

/** The value is a template expression or a placeholder, so it is unknown. */
export function isTemplated(cursor: Cursor | undefined): boolean {
  return cursor?.node.kind === 'scalar' && cursor.node.templated;
}

/** A mapping or sequence into which a template may insert unseen entries. */
export function isIncomplete(cursor: Cursor | undefined): boolean {
  return cursor !== undefined && cursor.node.kind !== 'scalar' && cursor.node.incomplete;
}

/** The value, or a part of what it holds, is for a template to say. */
export function isUnseen(cursor: Cursor | undefined): boolean {
  return isTemplated(cursor) || isIncomplete(cursor);
}

/** Whether a template loop repeats this place or anything that contains it. */
export function isRepeated(cursor: Cursor | undefined): boolean {
  for (let here = cursor; here !== undefined; here = here.parent) {
    if (here.node.kind === 'seq' && here.node.repeated) return true;
  }
  return false;
}

/** The value under a key or an index. */
export function childAt(cursor: Cursor, step: string | number): Cursor | undefined {
  const { node } = cursor;
  if (typeof step === 'number') {
    const item = node.kind === 'seq' ? node.items[step] : undefined;
    return item && ofItem(cursor, item, step);
  }
  if (node.kind !== 'map') return undefined;
  const written = node.entries;
  if (written.length > indexThreshold) {
    const entry = entriesByKey(node).get(step);
    return entry && ofEntry(cursor, entry);
  }
  // Of duplicate keys the last value counts, as in the Kubernetes decoder.
  for (let index = written.length - 1; index >= 0; index--) {
    const entry = written[index];
    if (entry?.key === step) return ofEntry(cursor, entry);
  }
  return undefined;
}

/** Up to this many entries, a linear search is faster than building an index. */
const indexThreshold = 32;
const indexes = new WeakMap<YamlMap, ReadonlyMap<string, YamlEntry>>();

function entriesByKey(map: YamlMap): ReadonlyMap<string, YamlEntry> {
  const known = indexes.get(map) ?? new Map(map.entries.map((entry) => [entry.key, entry]));
  indexes.set(map, known);
  return known;
}

function ofItem(cursor: Cursor, item: YamlItem, index: number): Cursor {
  return { node: item.value, entry: undefined, step: index, parent: cursor, shared: cursor.shared || item.shared };
}

function ofEntry(cursor: Cursor, entry: YamlEntry): Cursor {
  return { node: entry.value, entry, step: entry.key, parent: cursor, shared: cursor.shared || entry.shared };
}

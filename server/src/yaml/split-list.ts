import { type DocumentText, splitDocuments } from './split.ts';

/** Shorter lists are read whole as fast as their items one by one. */
const LONG = 20_000;

/** Cuts a file into parts that can be read one by one: its documents, and of a long list the items. */
export function splitObjects(text: string): readonly DocumentText[] {
  return splitDocuments(text).flatMap((part) => splitList(part) ?? part);
}

/**
 * Cuts the document of a long `kind: List` into its items without reading them, so that an edit in one does not cost the reading of
 * all, and a fault in one cannot reach the next. What stands before the first item and behind the last one are parts of their own.
 * Undefined where the text is no such document, is short, or is not surely cut at the right places: then it is read as one.
 *
 * @param long the length from which on a list is cut; tests cut short ones
 */
export function splitList({ base, text }: DocumentText, long = LONG): readonly DocumentText[] | undefined {
  if (text.length < long || !LIST.test(text) || reachesFar(text)) return undefined;
  const lines = readLines(text);
  if (lines === undefined || !isList(lines.keys)) return undefined;
  const [first] = lines.items;
  if (first === undefined) return undefined;
  const items = lines.items.map((start, index) => ({
    base: base + start,
    text: text.slice(start, lines.items[index + 1] ?? lines.end),
    item: true as const,
  }));
  const before = { base, text: text.slice(0, first) };
  const behind = { base: base + lines.end, text: text.slice(lines.end) };
  return behind.text === '' ? [before, ...items] : [before, ...items, behind];
}

const LIST = /^kind: *["']?List\b/m;

/** Anchors, aliases and tags may join one item to another, and template actions and a comment that silences stand for more than one. */
function reachesFar(text: string): boolean {
  return ['{{', '\t', '<<:', 'gpulint-disable'].some((sign) => text.includes(sign)) || REFERENCE.test(text);
}

const REFERENCE = /[\s,[{](?:[&*][^\s&*]|![\w!])/;

interface Lines {
  /** The keys of the document's own mapping with the texts behind their colons. */
  readonly keys: readonly (readonly [key: string, value: string])[];
  /** Where the lines of the items start. */
  readonly items: readonly number[];
  /** Where the line behind the last item starts. */
  readonly end: number;
}

/** Reads the left edge of the lines. Undefined where something stands there that is neither key, comment, item nor marker. */
function readLines(text: string): Lines | undefined {
  const keys: [string, string][] = [];
  const items: number[] = [];
  let end = text.length;
  let inItems = false;
  let column: number | undefined;
  for (let start = 0, next = 0; start < text.length; start = next) {
    const lineEnd = text.indexOf('\n', start);
    next = lineEnd === -1 ? text.length : lineEnd + 1;
    let at = start;
    while (text.charCodeAt(at) === SPACE) at++;
    const indent = at - start;
    const code = text.charCodeAt(at);
    // What stands deeper belongs to what stands above it.
    if (at >= next || code === LF || code === CR || code === HASH || indent > (inItems ? (column ?? indent) : 0))
      continue;
    if (inItems && code === DASH && isBlank(text.charCodeAt(at + 1))) {
      column ??= indent;
      if (indent !== column) return undefined;
      items.push(start);
      continue;
    }
    if (indent > 0) return undefined;
    const line = text.slice(start, next).trimEnd();
    if (line === '---' && keys.length === 0) continue;
    const [, key, value = ''] = KEY.exec(line) ?? [];
    if (key === undefined) return undefined;
    if (inItems) end = start;
    inItems = key === 'items';
    keys.push([key, value]);
  }
  return { keys, items, end };
}

const KEY = /^(\w+):(?: +["']?([\w/.{}]*)["']?| *)(?: +#.*)?$/;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const HASH = 0x23;
const DASH = 0x2d;

/** A dash in front of it is an item's. */
function isBlank(code: number): boolean {
  return code === SPACE || code === LF || code === CR;
}

function isList(keys: Lines['keys']): boolean {
  const values = new Map(keys);
  return (
    values.size === keys.length &&
    values.get('apiVersion') === 'v1' &&
    values.get('kind') === 'List' &&
    values.get('items') === ''
  );
}

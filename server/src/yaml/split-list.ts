import { type DocumentText, splitDocuments } from './split.ts';

/** Shorter lists are read whole as fast as item by item. */
const MIN_LENGTH = 20_000;

/** Splits a file into parts that can be read one by one: its documents and, for a long list, the list's items. */
export function splitObjects(text: string): readonly DocumentText[] {
  return splitDocuments(text).flatMap((part) => splitList(part) ?? part);
}

/**
 * Splits the document of a long `kind: List` into its items without reading them, so that an edit in one does not require reading all of
 * them, and an error in one cannot affect the next. The text before the first item and after the last one are separate parts. Undefined if
 * the text is not such a document, is short, or has no certain boundaries: then it is read as a whole.
 *
 * @param minLength the length from which a list is split; tests split short ones
 */
export function splitList({ base, text }: DocumentText, minLength = MIN_LENGTH): readonly DocumentText[] | undefined {
  if (text.length < minLength || !LIST.test(text) || hasSharedSyntax(text)) return undefined;
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
  const after = { base: base + lines.end, text: text.slice(lines.end) };
  return after.text === '' ? [before, ...items] : [before, ...items, after];
}

const LIST = /^kind: *["']?List\b/m;

/** Anchors, aliases and tags may link items, and template actions and suppression comments may cover more than one. */
function hasSharedSyntax(text: string): boolean {
  return ['{{', '\t', '<<:', 'gpulint-disable'].some((sign) => text.includes(sign)) || REFERENCE.test(text);
}

const REFERENCE = /[\s,[{](?:[&*][^\s&*]|![\w!])/;

interface Lines {
  /** The keys of the document's own mapping, each with the text after its colon. */
  readonly keys: readonly (readonly [key: string, value: string])[];
  /** The offsets of the lines at which items start. */
  readonly items: readonly number[];
  /** The start of the line after the last item. */
  readonly end: number;
}

/** Reads the left edge of the lines. Undefined if it has anything but keys, comments, items and markers. */
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
    // Deeper lines belong to the element above them.
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

const KEY = /^(\w+):(?: {1,99}["']?([\w/.{}]*)["']?| {0,99})(?: {1,99}#.*)?$/;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const HASH = 0x23;
const DASH = 0x2d;

/** A dash before this character marks an item. */
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

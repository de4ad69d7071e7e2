import type { Cursor } from './cursor.ts';
import { placeOf, writesJson } from './edit-scalar.ts';
import {
  columnOf,
  commentsIn,
  crossesControl,
  entryEnd,
  isAnchored,
  isContinued,
  isWrittenIn,
  lineBefore,
  lineEnd,
  lineStart,
  nextLine,
  restIsBlank,
  skipBack,
  skipForward,
  styleAt,
} from './layout.ts';
import type { YamlDocument, YamlEntry, YamlMap, YamlNode } from './node.ts';
import {
  isList,
  isMapping,
  type PlainValue,
  renderBlock,
  renderEntry,
  renderFlow,
  renderQuoted,
  renderScalar,
  type WritingStyle,
} from './render.ts';
import type { Span, TextEdit } from './span.ts';

/**
 * Inserts `key: value` into a mapping, as its last entry or after the entry named `after`. The mapping may be `{}` or an empty value.
 * Undefined if it has the key already, or if its text is shared with an alias or is inside a template condition.
 */
export function insertKey(
  doc: YamlDocument,
  map: Cursor | undefined,
  key: string,
  value: PlainValue,
  options: { readonly after?: string } = {},
): readonly TextEdit[] | undefined {
  if (map === undefined || map.shared || isAnchored(doc, map)) return undefined;
  const { node } = map;
  const style = styleAt(doc, map);
  const writer: Writer = {
    block: (column) => renderEntry(key, value, column, style),
    flow: (json) =>
      `${renderScalar(key, json ? 'json' : 'flow', style.quote)}: ${renderFlow(value, json, style.quote)}`,
    brackets: '{}',
    indent: style.step,
    style,
  };
  if (node.kind === 'scalar') return node.value === null ? fillEmpty(doc, map, writer) : undefined;
  if (node.kind !== 'map' || node.entries.some((entry) => entry.key === key && isWrittenIn(node, entry)))
    return undefined;
  if (isEmptyText(doc, node)) return fillEmpty(doc, map, writer);
  const end = endOf(doc, node, options.after);
  if (end === undefined) return undefined;
  if (node.flow) return insertFlow(doc, map, end, writer);
  if (!keysAreAligned(doc, node)) return undefined;
  return insertBlock(doc, map, end, writer);
}

/** Appends a value to a sequence, which may be `[]` or an empty value. */
export function appendItem(
  doc: YamlDocument,
  seq: Cursor | undefined,
  value: PlainValue,
): readonly TextEdit[] | undefined {
  if (seq === undefined || seq.shared || isAnchored(doc, seq)) return undefined;
  const { node } = seq;
  const style = styleAt(doc, seq);
  const quote = typeof value === 'string' ? quoteOf(node) : undefined;
  const writer: Writer = {
    block: (column) => {
      if (quote !== undefined) return [`- ${renderQuoted(String(value), quote)}`];
      const [first = '', ...rest] = renderBlock(value, column + 2, style);
      return [`- ${first}`, ...rest];
    },
    flow: (json) =>
      quote === undefined || json ? renderFlow(value, json, style.quote) : renderQuoted(String(value), quote),
    brackets: '[]',
    indent: style.dash,
    style,
  };
  if (node.kind === 'scalar') return node.value === null ? fillEmpty(doc, seq, writer) : undefined;
  if (node.kind !== 'seq') return undefined;
  if (isEmptyText(doc, node)) {
    const scalar = !isList(value) && !isMapping(value);
    return scalar ? fillBrackets(doc, seq, writer) : fillEmpty(doc, seq, writer);
  }
  const last = node.items.at(-1);
  if (last === undefined) return undefined;
  if (!node.flow) return insertBlock(doc, seq, node.span.end, writer);
  return last.shared ? undefined : insertFlow(doc, seq, last.value.span.end, writer);
}

/** The quote of a list whose items all have the same one: a new item gets it even if it needs none. */
function quoteOf(node: YamlNode): '"' | "'" | undefined {
  if (node.kind !== 'seq') return undefined;
  const styles = new Set(node.items.map(({ value }) => (value.kind === 'scalar' ? value.style : value.kind)));
  const [only, ...others] = styles;
  if (others.length > 0) return undefined;
  return only === 'double' ? '"' : only === 'single' ? "'" : undefined;
}

/** Renders the new element in either style. */
interface Writer {
  /** Lines of an element at `column`: the first one bare, the others indented. */
  block(column: number): string[];
  flow(json: boolean): string;
  readonly brackets: '{}' | '[]';
  /** The indentation of the value under its key. */
  readonly indent: number;
  readonly style: WritingStyle;
}

/** Inserts after the line on which the element ends, and after more deeply indented comments, which belong to it. */
function insertBlock(doc: YamlDocument, holder: Cursor, end: number, writer: Writer): readonly TextEdit[] | undefined {
  const { text } = doc;
  const column = columnOf(text, holder.node.span.start);
  if (!restIsBlank(doc, end)) return undefined;
  let at = lineEnd(text, end);
  for (let line = nextLine(text, at); line < text.length; line = nextLine(text, line)) {
    const content = lineEnd(text, line);
    const hash = doc.comments.find(
      ({ span }) => line <= span.start && span.start <= content && text.slice(line, span.start).trim() === '',
    );
    if (hash === undefined || hash.span.start - line <= column) break;
    at = content;
  }
  at = pastKeptLines(doc, holder, end, at);
  if (crossesControl(doc, { start: holder.entry?.keySpan.start ?? holder.node.span.start, end: at })) return undefined;
  if (isContinued(doc, at, column)) return undefined;
  const { eol } = writer.style;
  const [first = '', ...rest] = writer.block(column);
  const lines = [' '.repeat(column) + first, ...rest].join(eol);
  return [{ span: { start: at, end: at }, newText: eol + lines }];
}

/** A block scalar with the keep indicator (|+) includes the blank lines after it. */
function pastKeptLines(doc: YamlDocument, holder: Cursor, end: number, at: number): number {
  const scalar = lastScalar(holder.node, end);
  if (scalar === undefined || !/^[|>]\d?\+/.test(doc.text.slice(scalar.start, scalar.start + 3))) return at;
  const blank = /^(?:\r?\n[ \t]*(?=\r?\n|$))*/.exec(doc.text.slice(at))?.[0] ?? '';
  return at + blank.length;
}

/** The scalar whose text ends the node at `end`. */
function lastScalar(node: YamlNode, end: number): Span | undefined {
  if (node.kind === 'scalar') return node.span.end === end ? node.span : undefined;
  const values = node.kind === 'map' ? node.entries : node.items;
  for (const { value, shared } of values) {
    if (shared || value.span.start > end || value.span.end < end) continue;
    const found = lastScalar(value, end);
    if (found) return found;
  }
  return undefined;
}

function insertFlow(doc: YamlDocument, holder: Cursor, end: number, writer: Writer): readonly TextEdit[] | undefined {
  const { text } = doc;
  const written = writer.flow(writesJson(doc, holder));
  if (crossesControl(doc, { start: holder.node.span.start, end })) return undefined;
  const comma = skipForward(doc, end);
  const hasComma = text.charAt(comma) === ',';
  const behind = hasComma ? comma + 1 : end;
  // Kubernetes' parser takes a colon before a comma for a part of the key.
  const gap = text.charAt(end - 1) === ':' ? ' ' : '';
  const line = lineStart(text, end);
  const ownLine =
    line > holder.node.span.start && /^\s*$/.test(text.slice(line, firstOnLine(doc, holder.node, line, end)));
  if (ownLine && restIsBlank(doc, behind)) {
    const pad = /^[ \t]*/.exec(text.slice(line, end))?.[0] ?? '';
    const at = lineEnd(text, behind);
    const added = writer.style.eol + pad + written;
    if (hasComma) return [{ span: { start: at, end: at }, newText: `${added},` }];
    if (at === end) return [{ span: { start: at, end: at }, newText: `${gap},${added}` }];
    return [
      { span: { start: end, end }, newText: `${gap},` },
      { span: { start: at, end: at }, newText: added },
    ];
  }
  return [{ span: { start: end, end }, newText: `${gap}, ${written}` }];
}

/** The start of the first element on the line. */
function firstOnLine(doc: YamlDocument, node: YamlNode, line: number, end: number): number {
  const starts =
    node.kind === 'map'
      ? node.entries.filter((entry) => isWrittenIn(node, entry)).map(({ keySpan }) => keySpan.start)
      : node.kind === 'seq'
        ? node.items.filter((item) => !item.shared).map(({ value }) => value.span.start)
        : [];
  const found = starts.find((start) => line <= start && start < end);
  // The last line of a nested value starts with its closing bracket.
  return found ?? (/^\s*[}\]]/.test(doc.text.slice(line, end)) ? skipForward(doc, line) : end);
}

/** Replaces `{}`, `[]`, null or nothing after a key, after a dash or in a document. */
function fillEmpty(doc: YamlDocument, cursor: Cursor, writer: Writer): readonly TextEdit[] | undefined {
  const { text } = doc;
  const { node, entry } = cursor;
  if (node.kind === 'scalar' && node.templated) return undefined;
  if (isTagged(text, node.span.start)) return undefined;
  if (cursor.parent && placeOf(doc, cursor.parent) !== 'block') return fillBrackets(doc, cursor, writer);
  if (
    cursor.parent === undefined &&
    text.slice(0, node.span.start).trim() === '' &&
    /\.json$|^\s*\{\s*\}\s*$/.test(text)
  ) {
    return fillBrackets(doc, cursor, writer);
  }
  const { start, end } = node.span;
  if (!restIsBlank(doc, end) || commentsIn(doc, { start, end }).length > 0) return undefined;
  const eolAt = lineEnd(text, end);
  const { eol } = writer.style;
  if (entry === undefined) {
    // After a dash, and at the root, the value starts in the same place.
    const gap = start === end && text.charAt(start - 1) === '-' ? ' ' : '';
    const column = columnOf(text, start) + gap.length;
    const [first = '', ...rest] = writer.block(column);
    const edit = { span: { start, end }, newText: gap + first };
    if (rest.length === 0) return [edit];
    if (eolAt === end) return [{ ...edit, newText: [gap + first, ...rest].join(eol) }];
    return [edit, { span: { start: eolAt, end: eolAt }, newText: eol + rest.join(eol) }];
  }
  const column = columnOf(text, entry.keySpan.start) + writer.indent;
  const [first = '', ...rest] = writer.block(column);
  const lines = eol + [' '.repeat(column) + first, ...rest].join(eol);
  const from = end > start ? start - (/(?<![ \t])[ \t]*$/.exec(lineBefore(text, start))?.[0].length ?? 0) : start;
  if (text.charAt(from - 1) !== ':') return undefined;
  if (eolAt === end) return [{ span: { start: from, end }, newText: lines }];
  const added = { span: { start: eolAt, end: eolAt }, newText: lines };
  return end > start ? [{ span: { start: from, end }, newText: '' }, added] : [added];
}

function fillBrackets(doc: YamlDocument, cursor: Cursor, writer: Writer): readonly TextEdit[] | undefined {
  const { span } = cursor.node;
  if (commentsIn(doc, span).length > 0 || crossesControl(doc, span)) return undefined;
  if (span.start === span.end && !/[:\s-]/.test(doc.text.charAt(span.start - 1))) return undefined;
  const [open, close] = writer.brackets;
  const gap = span.start === span.end && /[:-]/.test(doc.text.charAt(span.start - 1)) ? ' ' : '';
  return [{ span, newText: `${gap}${open}${writer.flow(writesJson(doc, cursor))}${close}` }];
}

/** Whether the brackets are empty, without even a merge key. */
function isEmptyText(doc: YamlDocument, node: YamlNode): boolean {
  return node.kind !== 'scalar' && node.flow && skipBack(doc, node.span.end - 1) === node.span.start + 1;
}

/** The end of the entry after which to insert. The last line of the mapping may be a merge key. */
function endOf(doc: YamlDocument, node: YamlMap, after: string | undefined): number | undefined {
  const named = after === undefined ? undefined : findLast(node, after);
  if (named) return entryEnd(doc, named);
  if (!node.flow) return node.span.end;
  const last = node.entries.at(-1);
  return last && isWrittenIn(node, last) ? entryEnd(doc, last) : undefined;
}

function findLast(node: YamlMap, key: string): YamlEntry | undefined {
  return node.entries.filter((entry) => entry.key === key && isWrittenIn(node, entry)).at(-1);
}

function keysAreAligned(doc: YamlDocument, node: YamlMap): boolean {
  const column = columnOf(doc.text, node.span.start);
  return node.entries.every((entry) => !isWrittenIn(node, entry) || columnOf(doc.text, entry.keySpan.start) === column);
}

function isTagged(text: string, start: number): boolean {
  return /[!&][^\s!&]*[ \t]*$/.test(lineBefore(text, start));
}

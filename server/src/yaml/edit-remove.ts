import type { Cursor } from './cursor.ts';
import {
  columnOf,
  commentsIn,
  crossesControl,
  entryEnd,
  hidesAnother,
  holdsAnchor,
  isAnchored,
  isContinued,
  isFirstOnLine,
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
import type { YamlDocument, YamlMap, YamlSeq } from './node.ts';
import type { Span, TextEdit } from './span.ts';

/**
 * Removes an entry of a mapping with its lines. Comments stay: those above it in place, those on its lines on separate lines. The only
 * entry leaves `{}`.
 */
export function removeKey(doc: YamlDocument, entry: Cursor | undefined): readonly TextEdit[] | undefined {
  const holder = entry?.parent;
  if (entry?.entry === undefined || entry.shared || holder?.node.kind !== 'map') return undefined;
  if (!isWrittenIn(holder.node, entry.entry)) return undefined;
  const end = entryEnd(doc, entry.entry);
  if (end === undefined) return undefined;
  const { start } = entry.entry.keySpan;
  if (hidesAnother(doc, holder, entry.entry.key)) return undefined;
  if (/[?&!][^\s?&!]*[ \t]+$/.test(lineBefore(doc.text, start))) return undefined;
  return remove(doc, holder, holder.node, { start, end }, '{}');
}

/** Removes an item of a sequence like `removeKey`. The only item leaves `[]`. */
export function removeItem(doc: YamlDocument, item: Cursor | undefined): readonly TextEdit[] | undefined {
  const holder = item?.parent;
  if (item === undefined || item.entry !== undefined || item.shared || holder?.node.kind !== 'seq') return undefined;
  const { span } = item.node;
  if (holder.node.flow) {
    if (span.start === span.end) return undefined;
    return remove(doc, holder, holder.node, span, '[]');
  }
  const start = dashOf(doc.text, span.start, columnOf(doc.text, holder.node.span.start));
  return start === undefined
    ? undefined
    : remove(doc, holder, holder.node, { start, end: Math.max(span.end, start + 1) }, '[]');
}

/** The offset of the dash of the item whose value starts at `from`, on its line or above. */
function dashOf(text: string, from: number, column: number): number | undefined {
  let line = lineStart(text, from);
  for (let tries = 0; tries < 100; tries++) {
    const at = line + column + (text.charCodeAt(line) === 0xfeff ? 1 : 0);
    if (at <= from && text.charAt(at) === '-' && /^[\s-]*$/.test(text.slice(line + 1, at))) return at;
    if (line === 0) return undefined;
    line = lineStart(text, line - 1);
  }
  return undefined;
}

function remove(
  doc: YamlDocument,
  holder: Cursor,
  node: YamlMap | YamlSeq,
  slot: Span,
  empty: '{}' | '[]',
): readonly TextEdit[] | undefined {
  if (holder.shared || isAnchored(doc, holder) || holdsAnchor(doc, slot) || crossesControl(doc, slot)) return undefined;
  if (isContinued(doc, slot.end, columnOf(doc.text, slot.start))) return undefined;
  if (node.flow) return removeFlow(doc, holder, node, slot);
  if (!restIsBlank(doc, slot.end)) return undefined;
  const only = node.span.start === slot.start && node.span.end <= slot.end;
  if (only) return removeOnly(doc, holder, slot, empty);
  return isFirstOnLine(doc.text, slot.start) ? removeLines(doc, holder, slot) : pullUp(doc, holder, slot);
}

/** Removes whole lines; comments on them move to separate lines. */
function removeLines(doc: YamlDocument, holder: Cursor, slot: Span): readonly TextEdit[] {
  const { text } = doc;
  const from = lineStart(text, slot.start) + (text.charCodeAt(lineStart(text, slot.start)) === 0xfeff ? 1 : 0);
  const comments = commentsIn(doc, { start: slot.start, end: lineEnd(text, slot.end) });
  const end = nextLine(text, slot.end);
  if (comments.length === 0 && lineEnd(text, slot.end) === text.length && from > 0) {
    // The last line has no line end: remove the one before it.
    const before = text.charAt(from - 2) === '\r' ? from - 2 : from - 1;
    return [{ span: { start: before, end: text.length }, newText: '' }];
  }
  const pad = text.slice(from, slot.start);
  const { eol } = styleAt(doc, holder);
  const kept = comments.map((comment) => pad + comment).join(eol);
  const close = comments.length > 0 && lineEnd(text, slot.end) < text.length ? eol : '';
  return [{ span: { start: from, end }, newText: kept + close }];
}

/** Removes the first entry of an item, on the line of the dash: the next one takes its place, and comments move above the dash. */
function pullUp(doc: YamlDocument, holder: Cursor, slot: Span): readonly TextEdit[] | undefined {
  const { text } = doc;
  const next = skipForward(doc, slot.end);
  if (next >= holder.node.span.end || columnOf(text, next) !== columnOf(text, slot.start)) return undefined;
  if (crossesControl(doc, { start: slot.start, end: next })) return undefined;
  const comments = commentsIn(doc, { start: slot.start, end: next });
  const line = lineStart(text, slot.start);
  const prefix = text.slice(line, slot.start);
  if (!/^ *(?:- +)+$/.test(prefix)) return undefined;
  const edit = { span: { start: slot.start, end: next }, newText: '' };
  if (comments.length === 0) return [edit];
  const pad = /^ */.exec(prefix)?.[0] ?? '';
  const { eol } = styleAt(doc, holder);
  return [{ span: { start: line, end: line }, newText: comments.map((comment) => pad + comment + eol).join('') }, edit];
}

/** Leaves `{}` or `[]`: after the key if the value was on the lines below it, otherwise in place of the value. */
function removeOnly(doc: YamlDocument, holder: Cursor, slot: Span, empty: string): readonly TextEdit[] | undefined {
  const { text } = doc;
  const key = holder.entry;
  if (key && isFirstOnLine(text, slot.start)) {
    const colon = /^\s*:(?:[ \t]*[&!][^\s#]*)*/.exec(text.slice(key.keySpan.end, slot.start));
    if (colon === null) return undefined;
    const at = key.keySpan.end + colon[0].length;
    if (!restIsBlank(doc, at) || crossesControl(doc, { start: at, end: slot.start })) return undefined;
    const lines = removeLines(doc, holder, slot);
    const first = lines[0];
    if (first && first.span.start <= at) {
      // Both edits touch at the end of the text: one edit is enough.
      return [{ span: { start: at, end: first.span.end }, newText: ` ${empty}${first.newText}` }];
    }
    return [{ span: { start: at, end: at }, newText: ` ${empty}` }, ...lines];
  }
  const comments = commentsIn(doc, { start: slot.start, end: slot.end });
  const edit = { span: slot, newText: empty };
  if (comments.length === 0) return [edit];
  const at = lineEnd(text, slot.end);
  const { eol } = styleAt(doc, holder);
  const pad = ' '.repeat(columnOf(text, slot.start));
  return [edit, { span: { start: at, end: at }, newText: comments.map((comment) => eol + pad + comment).join('') }];
}

/** Removes an element and one comma from brackets. */
function removeFlow(
  doc: YamlDocument,
  holder: Cursor,
  node: YamlMap | YamlSeq,
  slot: Span,
): readonly TextEdit[] | undefined {
  const { text } = doc;
  const closing = node.span.end - 1;
  const comma = skipForward(doc, slot.end);
  const hasComma = text.charAt(comma) === ',';
  const next = hasComma ? skipForward(doc, comma + 1) : comma;
  if (!hasComma && next !== closing) return undefined;
  const before = skipBack(doc, slot.start);
  const previous = text.charAt(before - 1);
  const { eol } = styleAt(doc, holder);
  if (next !== closing) {
    // The next element takes its place.
    const span = { start: slot.start, end: next };
    const pad = ' '.repeat(columnOf(text, slot.start));
    return [
      {
        span,
        newText: commentsIn(doc, span)
          .map((comment) => comment + eol + pad)
          .join(''),
      },
    ];
  }
  if (previous !== ',') {
    if (before !== node.span.start + 1) return undefined;
    const alone = { start: before, end: hasComma ? comma + 1 : slot.end };
    const free = commentsIn(doc, { start: before, end: closing }).length === 0;
    if (free) return [{ span: { start: before, end: closing }, newText: '' }];
    return commentsIn(doc, alone).length === 0 ? [{ span: alone, newText: '' }] : undefined;
  }
  const span = { start: before - 1, end: hasComma ? comma + 1 : slot.end };
  const comments = commentsIn(doc, span);
  if (comments.length === 0) {
    // Keep the comma before it if the list ended with a trailing comma.
    return [{ span: hasComma ? { start: before, end: comma + 1 } : span, newText: '' }];
  }
  if (text.slice(span.end, lineEnd(text, span.end)).trim() !== '' && !restIsBlank(doc, span.end)) return undefined;
  const pad = ' '.repeat(columnOf(text, slot.start));
  return [{ span, newText: ` ${comments.join(eol + pad)}` }];
}

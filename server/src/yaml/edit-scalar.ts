import type { Cursor } from './cursor.ts';
import { columnOf, isAnchored, lineBefore, lineEnd, restIsBlank, styleAt } from './layout.ts';
import type { YamlDocument, YamlScalar } from './node.ts';
import { isLiteralSafe, renderQuoted, renderScalar, type ScalarPlace } from './render.ts';
import { resolvePlain } from './scalar.ts';
import type { TextEdit } from './span.ts';

/**
 * Replaces a scalar's text. A string keeps its quotes, and gets quotes if it would otherwise be a number, a boolean or null. A quoted
 * number (or boolean) also keeps its quotes if the new value is a number (or boolean), because annotations and environment variables must
 * be strings. Everything else is written plain.
 */
export function replaceScalar(
  doc: YamlDocument,
  target: Cursor | undefined,
  value: string | number | boolean | null,
): readonly TextEdit[] | undefined {
  if (target?.node.kind !== 'scalar' || target.shared || isAnchored(doc, target)) return undefined;
  const { node } = target;
  if (node.templated && doc.template) return undefined;
  if (hasTag(doc.text, node.span.start)) return undefined;
  const around = placeOf(doc, target);
  // JSON has no plain text.
  const place = around === 'json' && node.style === 'plain' && typeof node.value === 'string' ? 'flow' : around;
  if (node.span.start === node.span.end)
    return fillEmpty(doc, node, renderScalar(value, place, styleAt(doc, target).quote));
  if (node.style === 'literal' || node.style === 'folded') return replaceBlock(doc, target, node, value);
  const newText = renderLike(node, value, place, () => styleAt(doc, target).quote);
  // After a quote, a comment needs no space; after plain text it does.
  const gap = doc.text.charAt(node.span.end) === '#' ? ' ' : '';
  return [{ span: node.span, newText: newText + gap }];
}

/** Replaces a quoted scalar with a number or a boolean without quotes. */
export function unquoteScalar(
  doc: YamlDocument,
  target: Cursor | undefined,
  value: number | boolean,
): readonly TextEdit[] | undefined {
  const style = target?.node.kind === 'scalar' ? target.node.style : 'plain';
  if (style !== 'single' && style !== 'double') return undefined;
  return replaceScalar(doc, target, value)?.map((edit) => ({ ...edit, newText: String(value) }));
}

/** JSON quotes every string; inside brackets, fewer strings can be plain. */
export function placeOf(doc: YamlDocument, cursor: Cursor): ScalarPlace {
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    if (here.node.kind === 'scalar' || !here.node.flow) continue;
    return writesJson(doc, here) ? 'json' : 'flow';
  }
  return 'block';
}

/** Whether a flow value is JSON: its keys have double quotes, or the whole document is a flow value. */
export function writesJson(doc: YamlDocument, cursor: Cursor): boolean {
  let top = cursor;
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    if (here.node.kind === 'map' && here.node.flow) {
      const first = here.node.entries[0];
      if (first) return doc.text.charAt(first.keySpan.start) === '"';
    }
    top = here;
  }
  return top.node.kind !== 'scalar' && top.node.flow;
}

function renderLike(
  node: YamlScalar,
  value: string | number | boolean | null,
  place: ScalarPlace,
  quote: () => '"' | "'",
): string {
  const quoted = node.style === 'single' ? "'" : node.style === 'double' ? '"' : undefined;
  if (quoted === undefined) return renderScalar(value, place, quote());
  if (typeof value === 'string') return renderQuoted(value, quoted);
  const sameKind =
    typeof value === 'number' ? typeof resolvePlain(node.source) === 'number' : /^(?:true|false)$/.test(node.source);
  return sameKind && value !== null ? renderQuoted(String(value), quoted) : renderScalar(value, place);
}

/** Writes after the colon or dash of an empty value. */
function fillEmpty(doc: YamlDocument, node: YamlScalar, written: string): readonly TextEdit[] | undefined {
  const at = node.span.start;
  const before = doc.text.charAt(at - 1);
  if (!/[:\s-]/.test(before)) return undefined;
  const follows = doc.text.charAt(at);
  const inFlow = /^[ \t]*[,}\]]/.test(doc.text.slice(at, at + 200));
  if (!restIsBlank(doc, at) && !inFlow) return undefined;
  const gap = /\s/.test(before) ? '' : ' ';
  return [{ span: node.span, newText: gap + written + (follows === '#' ? ' ' : '') }];
}

/** Keeps the block form for several lines; otherwise replaces the block with one value. The header's comment stays. */
function replaceBlock(
  doc: YamlDocument,
  target: Cursor,
  node: YamlScalar,
  value: string | number | boolean | null,
): readonly TextEdit[] | undefined {
  const { text } = doc;
  const { start, end } = node.span;
  const headerEnd = lineEnd(text, start);
  const header = /^[|>][-+0-9]*/.exec(text.slice(start, headerEnd))?.[0];
  if (header === undefined) return undefined;
  const style = styleAt(doc, target);
  const comment = doc.comments.find(({ span }) => start < span.start && span.end <= headerEnd)?.text;
  const tail = comment === undefined ? '' : ` ${comment}`;
  if (typeof value === 'string' && isLiteralSafe(value) && end > headerEnd) {
    const first = /[^\s]/.exec(text.slice(headerEnd, end));
    const column = first === null ? undefined : columnOf(text, headerEnd + first.index);
    if (column === undefined || column === 0) return undefined;
    const lines = value.replace(/\n$/, '').split('\n');
    const body = lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line)).join(style.eol);
    const mark = value.endsWith('\n') ? '|' : '|-';
    return [{ span: node.span, newText: mark + tail + style.eol + body }];
  }
  return [{ span: node.span, newText: renderScalar(value, 'block', style.quote) + tail }];
}

function hasTag(text: string, start: number): boolean {
  return /(?:^|[\s:[{,-])!\S{0,200}[ \t]+(?:&\S{1,200}[ \t]+)?$/.test(lineBefore(text, start));
}

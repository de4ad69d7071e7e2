import type { Cursor } from './cursor.ts';
import { columnOf, isAnchored, lineBefore, lineEnd, restIsBlank, styleAt } from './layout.ts';
import type { YamlDocument, YamlScalar } from './node.ts';
import { isLiteralSafe, renderQuoted, renderScalar, type ScalarPlace } from './render.ts';
import { resolvePlain } from './scalar.ts';
import type { TextEdit } from './span.ts';

/**
 * Replaces a scalar's text. A string keeps the quotes that were there, and takes some where it would otherwise read as a number, a
 * boolean or null. A number (or boolean) in quotes keeps them too when the new value is again a number (or boolean): annotations and
 * environment variables want strings. Everything else is written plain.
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
  const place = placeOf(doc, target);
  if (node.span.start === node.span.end)
    return fillEmpty(doc, node, renderScalar(value, place, styleAt(doc, target).quote));
  if (node.style === 'literal' || node.style === 'folded') return replaceBlock(doc, target, node, value);
  const newText = renderLike(node, value, place, () => styleAt(doc, target).quote);
  return [{ span: node.span, newText }];
}

/** In JSON everything is quoted, in brackets fewer texts may stay plain. */
export function placeOf(doc: YamlDocument, cursor: Cursor): ScalarPlace {
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    if (here.node.kind === 'scalar' || !here.node.flow) continue;
    return writesJson(doc, here) ? 'json' : 'flow';
  }
  return 'block';
}

/** A bracketed value with its keys in double quotes is JSON, and so is one in a document that is all brackets. */
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

/** Writes behind the colon or the dash of an empty value. */
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

/** A block scalar keeps its form for several lines; otherwise one value takes its place and its header's comment stays. */
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
  return /(?:^|[\s:[{,-])![^\s]*[ \t]+(?:&\S+[ \t]+)?$/.test(lineBefore(text, start));
}

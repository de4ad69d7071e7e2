import type { Span } from './span.ts';
import { findActions, isControl, outputIndent, type TemplateAction } from './template-action.ts';

/** A text whose template syntax is replaced by the same number of other characters, so that it can be read and every offset still holds. */
export interface Mask {
  /** The masked text: as long as the original, with the same line ends. */
  readonly text: string;
  /** The original text. */
  readonly original: string;
  readonly actions: readonly TemplateAction[];
  readonly hiddenLines: readonly HiddenLines[];
  /** What is read instead of the text at an offset. */
  readonly instead?: ReadonlyMap<number, string>;
}

/** A place where a template inserts lines that are not visible, and the column that they will have. */
export interface HiddenLines {
  readonly offset: number;
  readonly column: number;
  /** The action that inserts them. */
  readonly action?: TemplateAction;
  /** A loop inserts them, repeating the written lines. */
  readonly repeats?: true;
  /** It is a line with an error of syntax. */
  readonly lost?: true;
}

/** Replaces each character of an expression: a private-use character is plain text wherever YAML reads it. */
export const FILL = '\uE000';

/** A line with only `{}` or `[]`: one branch of an if, for a key whose other branch has lines. */
const EMPTY_BRANCH = /^[ \t]+(?:\{\}|\[\])[ \t]*$/gm;

/** A search for fixed texts is many times faster than one for a pattern, and most documents have none. */
const openings = ['{{', '{%', '{#', '%{'];

/**
 * Masks templates of Go (Helm), Jinja and Terraform at equal length: an expression within a line becomes plain text, a line with only actions becomes
 * blank. Undefined if the text contains no template syntax.
 */
export function maskTemplates(text: string): Mask | undefined {
  if (!openings.some((opening) => text.includes(opening))) return undefined;
  const actions = findActions(text);
  if (actions.length === 0) return undefined;
  const hiddenLines: HiddenLines[] = [];
  const ranges: HiddenLines[] = [];
  let masked = '';
  let at = 0;
  const put = (span: Span, fill: string): void => {
    masked += text.slice(at, span.start) + filled(text.slice(span.start, span.end), fill);
    at = span.end;
  };
  for (const group of groups(text, actions)) {
    const { before, after, parts, span } = group;
    const outputs = parts.filter((part) => !isControl(part));
    const alone = before.trim() === '';
    const last = /^(?:\s*|\s+#.*)$/.test(after);
    if (alone && last) {
      const column = opensBlock.test(text.slice(Math.max(0, span.start - before.length - LONGEST_PREFIX), span.start))
        ? textColumn(text, span.end)
        : -1;
      if (column === -1 || /[\r\n]/.test(text.slice(span.start, span.end))) put(span, ' ');
      else {
        // A blank first line with more spaces than the text of a block would end it: the rest of this line is text.
        const edge = Math.min(Math.max(span.start, span.start - before.length + column), span.end);
        put({ start: span.start, end: edge }, ' ');
        put({ start: edge, end: span.end }, FILL);
      }
      for (const part of outputs) {
        hiddenLines.push({ offset: span.start, column: outputIndent(part) ?? before.length, action: part });
      }
      if (parts.some((part) => /^(?:\{[{%]|%\{)[-~]?\s*(?:range|for)\b/.test(part.text))) {
        ranges.push({ offset: span.end, column: 0 });
      }
    } else if (last && outputs.length === 0 && !insideQuotes(before)) {
      put(span, ' ');
    } else if (last && startsLines(before, outputs, nextColumn(text, span.end))) {
      put(span, ' ');
      const produced = outputs.map(outputIndent).find((indent) => indent !== undefined);
      const column = produced ?? indentOf(before) + 2;
      const [action] = outputs;
      hiddenLines.push({ offset: span.start, column, ...(action && outputs.length === 1 && { action }) });
    } else {
      for (const part of parts) put(part.span, FILL);
    }
  }
  masked += text.slice(at);
  if (actions.some(isControl)) {
    masked = masked.replace(EMPTY_BRANCH, (line: string, offset: number) => {
      hiddenLines.push({ offset, column: line.search(/\S/) });
      return ' '.repeat(line.length);
    });
  }
  let content: HiddenLines | undefined;
  for (const { offset } of ranges) {
    // Consecutive loops have the same content; searching for it each time would be quadratic.
    if (content === undefined || content.offset < offset) {
      const found = contentAfter(masked, offset);
      content = found && { ...found, repeats: true };
    }
    if (content === undefined) break;
    if (hiddenLines.at(-1) !== content) hiddenLines.push(content);
  }
  return { text: masked, original: text, actions, hiddenLines };
}

/**
 * Masks values that are not valid, in any order, and blanks whole lines. What is in a quote without its end is read as a guess; of other values,
 * nothing is.
 */
export function maskBroken(text: string, spans: readonly (Span & { readonly columns?: readonly number[] })[]): Mask {
  const sorted = [...spans].sort((a, b) => a.start - b.start);
  let masked = '';
  let at = 0;
  for (const { start, end, columns } of sorted) {
    masked += text.slice(at, start) + (columns ? ' ' : FILL).repeat(end - start);
    at = end;
  }
  const values = sorted.filter(({ columns }) => columns === undefined);
  const hiddenLines = sorted.flatMap(({ start, columns = [] }) =>
    columns.map((column) => ({ offset: start, column, lost: true as const })),
  );
  const actions = values.map((span) => ({ text: text.slice(span.start, span.end), span }));
  const instead = new Map(actions.map(({ span: { start }, text: value }) => [start, quoted.exec(value)?.[1] ?? '']));
  return { text: masked + text.slice(at), original: text, actions, hiddenLines, instead };
}

const quoted = /^["']([^"'#]*[^"'#\s])$/;

/** Whether the span contains part of a template action. */
export function touchesAction(mask: Mask, span: Span): boolean {
  let low = 0;
  let high = mask.actions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mask.actions[middle]?.span.end ?? 0) <= span.start) low = middle + 1;
    else high = middle;
  }
  const found = mask.actions[low];
  return found !== undefined && found.span.start < span.end;
}

/** A scalar's text with its masked expressions restored. */
export function restoreMasked(mask: Mask, text: string, span: Span, source: string): string {
  if (!source.includes(FILL)) return source;
  let at = span.start - 1;
  return source.replaceAll(FILL, () => {
    at = mask.text.indexOf(FILL, at + 1);
    return at === -1 || at >= span.end ? FILL : text.charAt(at);
  });
}

interface Group {
  readonly parts: readonly TemplateAction[];
  readonly span: Span;
  /** The line's text before and after the group, with earlier actions masked. */
  readonly before: string;
  readonly after: string;
}

/** At most this much of a line before an action is read; only machines write longer ones. */
export const LONGEST_PREFIX = 500;

/** Adjacent actions, separated only by white space. */
function* groups(text: string, actions: readonly TemplateAction[]): Generator<Group> {
  let line = 0;
  let newline = text.indexOf('\n');
  let lineStart = 0;
  let before = '';
  let read = 0;
  for (let index = 0; index < actions.length; ) {
    const parts: TemplateAction[] = [];
    let end = 0;
    for (let action = actions[index]; action; action = actions[++index]) {
      if (parts.length > 0 && !/^[ \t]*$/.test(text.slice(end, action.span.start))) break;
      parts.push(action);
      end = action.span.end;
    }
    const start = parts[0]?.span.start ?? 0;
    while (newline !== -1 && newline < start) {
      line = newline + 1;
      newline = text.indexOf('\n', line);
    }
    if (line > lineStart || read === 0) {
      // The line may begin inside an earlier action that spans lines.
      lineStart = Math.max(line, read);
      before = text.slice(line, lineStart).replace(/\S/g, ' ') + text.slice(lineStart, start);
    } else before = (before + FILL + text.slice(read, start)).slice(-LONGEST_PREFIX);
    read = end;
    const close = newline >= end || newline === -1 ? newline : text.indexOf('\n', end);
    const after = text.slice(end, close === -1 ? text.length : close);
    yield { parts, span: { start, end }, before, after };
  }
}

/** Blanks or fills every character except line ends; further lines of an action are always blanked. */
function filled(text: string, fill: string): string {
  const newline = text.search(/[\r\n]/);
  if (newline === -1) return fill.repeat(text.length);
  return fill.repeat(newline) + text.slice(newline).replace(/[^\r\n]/g, ' ');
}

/**
 * Whether an expression at the end of a line, after a key or a dash, produces several lines: deeper lines follow it, or `nindent` starts
 * its output with a line end (then no space after the colon is needed).
 */
function startsLines(before: string, outputs: readonly TemplateAction[], next: number): boolean {
  if (/(?:^|\s)-\s*$|:\s+$/.test(before)) return next > indentOf(before);
  return /^[\s-]*[\w./][\w./-]*:$/.test(before) && outputs.some((part) => outputIndent(part) !== undefined);
}

/** The column of a line's key, after its dashes. */
function indentOf(before: string): number {
  return /^[\s-]*/.exec(before)?.[0].length ?? 0;
}

function insideQuotes(before: string): boolean {
  const quotes = before.replace(/\\./g, '').match(/"/g)?.length ?? 0;
  return quotes % 2 === 1 || /[:[,-]\s*'[^']*$/.test(before);
}

/** The end of a line that begins a block of text, and the white space after it. */
const opensBlock = /[:-][ \t]+[|>][-+\d]{0,2}[ \t]*\r?\n[ \t]*$/;

/** The column of the next line that is not only an action, or -1. */
function textColumn(text: string, from: number): number {
  const next = /\n([ \t]*)(?!\{[{%#]|%\{)(?=[^\s])/g;
  next.lastIndex = from;
  return next.exec(text)?.[1]?.length ?? -1;
}

/** The column of the next line with content, or -1. */
function nextColumn(text: string, from: number): number {
  return contentAfter(text, from)?.column ?? -1;
}

function contentAfter(text: string, from: number): HiddenLines | undefined {
  const next = /\n([ \t]*)(?=[^\s#])/g;
  next.lastIndex = from;
  const found = next.exec(text);
  return found ? { offset: found.index + found[0].length, column: found[1]?.length ?? 0 } : undefined;
}

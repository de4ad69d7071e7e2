import type { Span } from './span.ts';

/** A line without which the rest of a text may be valid. `columns`: those at which it may begin, its own and those of the lines around it. */
export interface BrokenLine {
  readonly line: Span & { readonly columns: readonly number[] };
  /** It has one key and its value, so no other keys are unknown. */
  readonly isLeaf: boolean;
  /** The end of the text of the line above, if that one's value may go on in this line. */
  readonly continued: number | undefined;
}

/**
 * The line of an error, if it holds no other lines: one key with its value, or a word that is not finished. Undefined if lines below would then belong to
 * other lines than before.
 */
export function brokenLine(text: string, at: number): BrokenLine | undefined {
  const start = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  const [written = ''] = /^[^\r\n]*/.exec(text.slice(start, start + maxLine)) ?? [];
  if (written.length === maxLine || !(leaf.test(written) || word.test(written))) return undefined;
  const end = start + written.length;
  const above = lineAbove(text, start);
  const below = lineBelow(text, end);
  if (above === undefined || /(?:^|[ :])[|>][-+]?\d?$/.test(above.text)) return undefined;
  const column = contentColumn(above.text);
  const isOpen = /:$/.test(above.text);
  const isDeeper = !isOpen && indentOf(written) > column;
  if (below !== undefined) {
    const next = indentOf(below);
    // What holds it now would be the line above.
    if (next > column && !isOpen && !isDeeper) return undefined;
    // The key above would hold lines at another column than this one's, which is not only a space too far: its own column may be the wrong one.
    if (isOpen && next > column && next < indentOf(written) - 1) return undefined;
    const isItem = /^\s*-(?:\s|$)/.test(below);
    if (!leaf.test(written) && (next > indentOf(written) || (isItem && next === indentOf(written)))) return undefined;
  }
  const isWithin = isOpen && indentOf(written) > column;
  const around = [...(isWithin ? [] : [column]), ...(below === undefined ? [] : [indentOf(below)])];
  const line = { start, end, columns: [...new Set([indentOf(written), ...around])] };
  return { line, isLeaf: leaf.test(written), continued: isDeeper ? above.start + above.text.length : undefined };
}

/**
 * The line above a misaligned one, if it is the one that is indented too deep: one key with its value, before a line that holds others.
 * @returns where its text begins and ends
 */
export function deeperLineAbove(text: string, at: number): Span | undefined {
  const start = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  const above = lineAbove(text, start);
  if (above === undefined || !leaf.test(above.text) || indentOf(above.text) <= at - start) return undefined;
  // A line above it in its block has the same column, and does not lie. A first line may be where it belongs, and its key is not, unless it is only a
  // space too far for the usual column, or for one that other lines have too.
  const holder = lineAbove(text, above.start)?.text ?? '';
  const column = at - start;
  const isUsual = column === contentColumn(holder) + 2 || isUsed(text, start, column);
  if (!holder.endsWith(':') || indentOf(above.text) > column + 1 || !isUsual) return undefined;
  return { start: above.start + indentOf(above.text), end: above.start + above.text.length };
}

/** Whether the keys of other lines than this one begin at its column. */
function isUsed(text: string, line: number, column: number): boolean {
  const end = text.indexOf('\n', line);
  const other = new RegExp(`^ {${column}}[^\\s#-]`, 'm');
  return other.test(text.slice(0, line)) || (end !== -1 && other.test(text.slice(end + 1)));
}

const maxLine = 1000;

// Without its kind, an object would be taken for another.
const start = '^[ \\t]*(?!(?:kind|apiVersion)\\b)';
const key = '(?:[A-Za-z_][\\w./-]*|"[\\w./-]+"|\'[\\w./-]+\')';
/** Values that end on their line. */
const value = `(?:[^\\s"'[{|>&*#].*|"[^"]*".*|'[^']*'.*|\\[.*\\].*|\\{.*\\}.*)`;
const leaf = new RegExp(`${start}${key}:[ \\t]+${value}(?<![:|>\\s])[ \\t]*$`);
/** A key without its colon, or without the space after it. */
const word = new RegExp(`${start}[A-Za-z_][\\w./-]*(?::[^\\s:"'[{]\\S*|[ \\t]+[^:#"'[{]*)?[ \\t]*$`);

interface Line {
  readonly text: string;
  readonly start: number;
}

/** The last line above an offset with text, without its comment. */
function lineAbove(text: string, at: number): Line | undefined {
  const from = Math.max(0, at - maxReach);
  const lines = text.slice(from, at).split('\n').slice(0, -1);
  let end = at;
  for (const line of lines.reverse()) {
    const start = end - line.length - 1;
    if (isText(line)) return { text: line.replace(/[ \t]#.*$/, '').trimEnd(), start };
    end = start;
  }
  return undefined;
}

function lineBelow(text: string, at: number): string | undefined {
  return text
    .slice(at, at + maxReach)
    .split('\n')
    .slice(1)
    .find(isText);
}

/** More comments are not between two lines of a manifest. */
const maxReach = 20_000;

function isText(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}

function indentOf(line: string): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}

/** Where the key of a line begins, behind its dashes. */
function contentColumn(line: string): number {
  return /^[ \t]*(?:-[ \t]+)*/.exec(line)?.[0].length ?? 0;
}

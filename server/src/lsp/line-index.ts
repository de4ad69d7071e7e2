import type { Position, Range } from 'vscode-languageserver';
import type { FileAnalysis } from '../analysis.ts';
import type { Span } from '../yaml/span.ts';

// The only place that translates between offsets, used inside, and lines with UTF-16 columns, used by LSP.

/** Translates between offsets and positions of one text. */
export interface LineIndex {
  readonly text: string;
  toPosition(offset: number): Position;
  toRange(span: Span): Range;
  /** Positions outside the text are moved to the nearest one inside, as LSP requires. */
  fromPosition(position: Position): number;
  fromRange(range: Range): Span;
}

/** LSP's line ends are `\n`, `\r\n` and `\r`; its columns are UTF-16 code units, as JavaScript's offsets are. */
export function lineIndex(text: string): LineIndex {
  const starts = lineStarts(text);

  function toPosition(offset: number): Position {
    const at = clamp(offset, 0, text.length);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: at - (starts[low] ?? 0) };
  }

  function fromPosition({ line, character }: Position): number {
    if (!(line >= 0)) return 0;
    const start = starts[Math.trunc(line)];
    if (start === undefined) return text.length;
    const next = starts[Math.trunc(line) + 1];
    const end = next === undefined ? text.length : next - lineEndLength(text, next);
    return clamp(start + Math.trunc(character), start, end);
  }

  return {
    text,
    toPosition,
    fromPosition,
    toRange: ({ start, end }) => ({ start: toPosition(start), end: toPosition(end) }),
    fromRange: ({ start, end }) => {
      const [a, b] = [fromPosition(start), fromPosition(end)];
      return { start: Math.min(a, b), end: Math.max(a, b) };
    },
  };
}

const indexes = new WeakMap<FileAnalysis, LineIndex>();

/** The line index of an analyzed file, built once per version. */
export function linesOf(file: FileAnalysis): LineIndex {
  let index = indexes.get(file);
  if (index === undefined) {
    index = lineIndex(file.text);
    indexes.set(file, index);
  }
  return index;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  // This runs on the whole text after every edit. Nearly all texts have only \n or \r\n, which `indexOf` finds ten times faster.
  if (!/\r(?!\n)/.test(text)) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    return starts;
  }
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 13 && text.charCodeAt(at + 1) === 10) continue;
    if (code === 10 || code === 13) starts.push(at + 1);
  }
  return starts;
}

function lineEndLength(text: string, nextLine: number): number {
  return text.charCodeAt(nextLine - 1) === 10 && text.charCodeAt(nextLine - 2) === 13 ? 2 : 1;
}

function clamp(value: number, low: number, high: number): number {
  // NaN, which a broken client can send as a column, becomes the lowest value.
  return value > low ? Math.min(value, high) : low;
}

import type { Span } from '../../yaml/span.ts';
import type { ReportRange } from './report-schema.ts';

/** The offsets at which the lines of a text start. LF, CRLF and CR end a line, as in LSP. */
export function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  if (text.includes('\r')) {
    for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
    return starts;
  }
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

/** The line and column of an offset, both from 1; columns are UTF-16 code units. */
export function positionAt(lineStarts: readonly number[], offset: number): { line: number; column: number } {
  let low = 0;
  let high = lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

export function rangeOf(lineStarts: readonly number[], span: Span): ReportRange {
  return { start: positionAt(lineStarts, span.start), end: positionAt(lineStarts, span.end) };
}

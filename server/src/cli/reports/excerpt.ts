import type { FileAnalysis } from '../../analysis.ts';
import { escapesIn } from '../terminal.ts';
import { lineStartsOf } from './position.ts';
import type { ReportFinding, ReportRange } from './report-schema.ts';

/** The lines of a file on which findings start, by their number from 1. */
export type SourceLines = ReadonlyMap<number, string>;

/** A source line as a terminal shows it, and the carets below it. */
export interface Excerpt {
  readonly line: string;
  readonly carets: string;
}

/** A terminal's tab stops are unknown behind a gutter, so tabs are shown as blanks. */
const tab = '    ';
/** What is shown of a longer line, and of what stands before the span. In UTF-16 code units. */
const longest = 140;
const lead = 40;
const cut = '…';

export function sourceLines({ text }: FileAnalysis, findings: readonly ReportFinding[]): SourceLines {
  const starts = lineStartsOf(text);
  const numbers = new Set(findings.map(({ range }) => range.start.line));
  const lines = [...numbers].map(
    (line) => [line, text.slice(starts[line - 1], starts[line]).replace(/\r?\n$|\r$/, '')] as const,
  );
  return new Map(lines);
}

/** The part of a line around a span, with carets below the span; of a span over several lines, below the rest of its first one. */
export function excerptOf(line: string, { start, end }: ReportRange): Excerpt {
  const from = Math.min(start.column - 1, line.length);
  const to = end.line > start.line ? line.trimEnd().length : Math.min(end.column - 1, line.length);
  const begin = line.length <= longest ? 0 : boundary(line, Math.max(0, Math.min(from - lead, line.length - longest)));
  const stop = boundary(line, Math.min(line.length, begin + longest));
  const cells = cellsOf(line.slice(begin, stop));
  const widthOf = (first: number, last: number) =>
    cells.filter(({ index }) => index >= first && index < last).reduce((sum, { width }) => sum + width, 0);
  const before = (begin > 0 ? cut.length : 0) + widthOf(0, from - begin);
  const shown = cells.map(({ text }) => text).join('');
  return {
    line: `${begin > 0 ? cut : ''}${stop < line.length ? `${shown}${cut}` : shown.trimEnd()}`,
    carets: `${' '.repeat(before)}${'^'.repeat(Math.max(1, widthOf(from - begin, to - begin)))}`,
  };
}

interface Cell {
  /** Where it starts in the line. */
  readonly index: number;
  readonly text: string;
  readonly width: number;
}

/** What a terminal draws as one character each, with the columns it takes. */
function cellsOf(line: string): readonly Cell[] {
  const escapes = escapesIn(line);
  return [...graphemes.segment(line)].flatMap(({ segment, index }): readonly Cell[] => {
    if (segment === '\t') return [{ index, text: tab, width: tab.length }];
    const parts = [...segment.matchAll(/./gsu)].map(({ 0: one, index: at }) => escapes.get(index + at) ?? one);
    const text = parts.join('');
    return [{ index, text, width: text === segment ? columnsOf(segment) : text.length }];
  });
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** As most terminals count: 2 for East Asian characters and emoji, 0 for marks that belong to no character. */
function columnsOf(grapheme: string): number {
  if (/^[\p{M}\p{Cf}]+$/u.test(grapheme)) return 0;
  return wide.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1;
}

/** East Asian Width W and F. https://www.unicode.org/Public/UCD/latest/ucd/EastAsianWidth.txt */
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

/** No surrogate pair is cut in two. */
function boundary(line: string, at: number): number {
  return /^[\udc00-\udfff]/.test(line.slice(at, at + 1)) ? at - 1 : at;
}

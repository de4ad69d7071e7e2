import { brokenLine, deeperLineAbove } from './broken-line.ts';
import type { YamlProblem } from './node.ts';
import type { Span } from './span.ts';
import { type Mask, maskBroken } from './template.ts';

/** A reading of a text: its errors as problems, in their order. */
interface Reading<T> {
  readonly read: T;
  readonly problem: YamlProblem | undefined;
}

/** A text without the values that are errors of syntax. */
export interface Repaired<T> {
  readonly read: T;
  readonly mask: Mask;
  readonly problems: readonly YamlProblem[];
}

/** Longer texts are data, and each attempt reads all of it. */
const maxLength = 200_000;

/** With more errors, the file is no manifest that someone is editing. */
const maxErrors = 5;

/**
 * Reads a text again without the value at its error: `image: "a` or `args: [x]]`. If the rest is valid, its structure is certain, and only that value
 * is unknown. Undefined if the error is elsewhere, such as in the indentation, or if more than one line is part of it.
 */
export function repaired<T>(
  text: string,
  first: YamlProblem,
  readAgain: (masked: string) => Reading<T>,
): Repaired<T> | undefined {
  if (text.length > maxLength) return undefined;
  let spans: readonly Broken[] = [];
  let problems: readonly YamlProblem[] = [];
  let problem = first;
  for (let count = 0; count < maxErrors; count += 1) {
    let found = brokenAt(text, problem, spans);
    if (found.length === 0 && problem.message.startsWith('The indentation matches no line above')) {
      const above = deeperLineAbove(text, problem.span.start);
      if (above === undefined) return undefined;
      problem = { message: tooDeep, span: above };
      found = brokenAt(text, problem, spans);
    }
    const [span] = found;
    if (span === undefined) return undefined;
    // An earlier error is the cause of a later one, as a quote that ends at the start of the next text.
    const isCause = spans.some(({ start }) => start > span.start);
    // A line below another one that is broken has the same cause.
    const follows =
      span.columns !== undefined &&
      spans.some(({ end }) => end <= span.start && /^\s*$/.test(text.slice(end, span.start)));
    const others = isCause
      ? []
      : spans.filter((one) => found.every(({ start, end }) => one.end < start || one.start > end));
    spans = [...others, ...found];
    problems = follows
      ? problems
      : [
          ...(isCause ? [] : problems),
          span.columns ? { ...problem, ...(span.isLeaf && { isLocal: true as const }) } : local(problem),
        ];
    const mask = maskBroken(text, spans);
    const { read, problem: next } = readAgain(mask.text);
    if (next === undefined) return { read, mask, problems };
    problem = next;
  }
  return undefined;
}

const tooDeep = 'This line is indented deeper than the lines around it; align it with them';

/** A value, or a whole line. */
type Broken = Span & { readonly columns?: readonly number[]; readonly isLeaf?: boolean };

/** What to read the text without, the cause first; nothing if the error is in the structure. @param known what it is read without already */
function brokenAt(
  text: string,
  { message, span: { start: at } }: YamlProblem,
  known: readonly Broken[],
): readonly Broken[] {
  const value = brokenValue(text, at);
  if (value !== undefined && !known.some(({ start }) => start === value.start)) return [value];
  // The text above would be incomplete.
  const found = message.startsWith('This line is indented less than the text block') ? undefined : brokenLine(text, at);
  if (found === undefined || known.some(({ start, columns }) => columns && start === found.line.start)) return [];
  const line = { ...found.line, isLeaf: found.isLeaf };
  if (found.continued === undefined) return [line];
  const above = brokenValue(text, found.continued);
  return above === undefined ? [] : [line, above];
}

/** What is open on its own line says nothing about other keys of its mapping; in other lines, a second key may be hidden. */
function local(problem: YamlProblem): YamlProblem {
  return /^(?:Unclosed|Unexpected [\]}])/.test(problem.message) ? { ...problem, isLocal: true } : problem;
}

/** The value on the line of an error, behind its key or the dash of its item. */
function brokenValue(text: string, at: number): Span | undefined {
  const line = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  const [written = ''] = /^[^\r\n]*/.exec(text.slice(line, line + maxLine)) ?? [];
  const before = (keyed.exec(written) ?? item.exec(written))?.[0];
  const end = written.trimEnd().length;
  if (before === undefined || before.length >= end || written.length === maxLine || at - line < before.trimEnd().length)
    return undefined;
  // Objects in brackets are read as far as they are written: what they request is not unknown.
  if (/^[[{].*\{.*:/.test(written.slice(before.length, end))) return undefined;
  // Without its kind, an object would be taken for another.
  if (/^(?:kind|apiVersion): *$/.test(before) && !/^["'][^"']*$/.test(written.slice(before.length, end)))
    return undefined;
  return { start: line + before.length, end: line + end };
}

const maxLine = 5000;
const keyed = /^[ ]*(?:- +)*(?:[A-Za-z_][\w./-]*|"[\w./-]+"|'[\w./-]+'): +(?=[^\s|>&#])(?![[{]\s*$)/;
const item = /^[ ]*(?:- +)+(?=["'[{@`%!*,])/;

/** A finding as expected by a fixture's carets. Lines and columns count from 0 within the text of the case. */
export interface Expected {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly severity: string;
  readonly rule: string;
  /** Part of the message. */
  readonly message: string;
}

/** One independent case of a fixture: the text after a `#### name` line. */
export interface FixtureCase {
  readonly name: string;
  /** Includes its caret lines: they are comments, so every fix is also tested for its effect on comments. */
  readonly text: string;
  readonly expected: readonly Expected[];
}

/** Splits a fixture into cases. A line `#### config: ...` after the name of a case stays in its text, where configOf finds it. */
export function readFixture(text: string): readonly FixtureCase[] {
  return text
    .split(/^(?=#### (?!config: ))/m)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const name = /^#### (.*)\n/.exec(part)?.[1];
      if (name === undefined)
        throw new Error(`a fixture must start with a line "#### name", not with: ${part.slice(0, 40)}`);
      const body = part.slice(part.indexOf('\n') + 1);
      return { name, text: body, expected: readExpected(body) };
    });
}

/** The text without its caret lines: a `.fixed.yaml` is read by people. */
export function withoutCarets(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isMark(line))
    .join('\n');
}

const carets = /^(\s*#\s*)(\^+)\s+(error|warning|info|hint)\[([\w-]+)\]: (.*)$/;
/** `#^^^`, without a space, counts the hash as the first caret: for column 0. */
const caretsAtHash = /^(\s*)(#\^+)\s+(error|warning|info|hint)\[([\w-]+)\]: (.*)$/;
/** For places in block scalars, where a comment would be text: lines and columns of the case, from 1. */
const places = /^\s*# @(\d+):(\d+)-(\d+):(\d+)\s+(error|warning|info|hint)\[([\w-]+)\]: (.*)$/;

function isMark(line: string): boolean {
  return carets.test(line) || places.test(line);
}

function readExpected(text: string): readonly Expected[] {
  const expected: Expected[] = [];
  let flagged = -1;
  text.split('\n').forEach((line, index) => {
    const place = places.exec(line);
    const mark = caretsAtHash.exec(line) ?? carets.exec(line);
    if (place !== null) {
      const [, fromLine, from, toLine, to, severity = '', rule = '', message = ''] = place;
      const start = { line: Number(fromLine) - 1, column: Number(from) - 1 };
      expected.push({ ...start, endLine: Number(toLine) - 1, endColumn: Number(to) - 1, severity, rule, message });
    } else if (mark !== null) {
      const [, before = '', marks = '', severity = '', rule = '', message = ''] = mark;
      const column = before.length;
      expected.push({
        line: flagged,
        column,
        endLine: flagged,
        endColumn: column + marks.length,
        severity,
        rule,
        message,
      });
    } else {
      flagged = index;
    }
  });
  return expected;
}

import { opensTopLevel } from './hcl-tokens.ts';

/** An error of syntax in a file of Terraform, and its offset. */
export interface HclProblem {
  readonly message: string;
  readonly at: number;
}

/** A bracket, quote or `${` that is open. */
interface Open {
  readonly mark: '{' | '[' | '(' | '"' | '${';
  readonly at: number;
  /** A block or the value of a name, of which each line has one. */
  readonly isBlock: boolean;
}

/** Longer files are generated, and not read. */
const maxLength = 500_000;

/**
 * The first error of syntax in a file of Terraform or of its variables. Knows how texts, here-documents and brackets end, and no more. Reads each
 * character once. https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md
 */
export function hclProblem(text: string): HclProblem | undefined {
  if (text.length > maxLength) return undefined;
  const conflict = /^<{7} /m.exec(text);
  if (conflict !== null)
    return { message: 'Unresolved merge conflict; choose one side and remove the marker lines', at: conflict.index };
  const open: Open[] = [];
  /** The last character that is neither a space nor in a comment. */
  let before = '';
  for (let at = 0; at < text.length; ) {
    const inner = open.at(-1);
    if (inner?.mark === '"') {
      const next = inText(text, at, open, inner.at);
      if (typeof next !== 'number') return next;
      at = next;
      before = '"';
      continue;
    }
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      const isLine = char === '\n' && (inner === undefined || inner.isBlock);
      if (isLine && before === '=') return { message: 'No value after =; write one', at: lastMark(text, at) };
      if (isLine) before = '\n';
      at += 1;
      continue;
    }
    const start = text.slice(at, at + 2);
    if (char === '#' || start === '//') {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
      continue;
    }
    if (start === '/*') {
      const end = text.indexOf('*/', at + 2);
      if (end === -1) return { message: 'Unclosed comment; add the closing */', at };
      at = end + 2;
      continue;
    }
    if (start === '<<') {
      const found = /^<<-?(\w{1,64})[ \t]*\r?\n/.exec(text.slice(at, at + 200));
      if (found !== null) {
        const end = endOfDocument(text, at + found[0].length, found[1] ?? '');
        if (end === undefined) return { message: `Unclosed here-document; add a line with ${found[1]}`, at };
        at = end;
        before = '"';
        continue;
      }
    }
    const isNew =
      open.length > 0 && (at === 0 || text.charAt(at - 1) === '\n') && opensTopLevel(text.slice(at, at + 200));
    if (isNew) return unclosed(open);
    // Terraform 0.11 had quotes like those of the text around.
    if (start === '\\"') {
      const end = text.indexOf('\\"', at + 2);
      at = end === -1 ? at + 2 : end + 2;
      continue;
    }
    if (char === '"') open.push({ mark: '"', at, isBlock: false });
    else if (char === '{') open.push({ mark: '{', at, isBlock: !/[=:,(?[]/.test(before) || before === '' });
    else if (char === '[' || char === '(') open.push({ mark: char, at, isBlock: false });
    else if (char === '}' || char === ']' || char === ')') {
      const pair = char === '}' ? '{' : char === ']' ? '[' : '(';
      if (inner === undefined) return { message: `Unexpected ${char}; remove it`, at };
      const isPair = inner.mark === pair || (char === '}' && inner.mark === '${');
      if (!isPair) return unclosed(open);
      open.pop();
    }
    before = start === '==' || start === '=>' || /[=!<>]/.test(text.charAt(at - 1)) ? '>' : char;
    at += 1;
  }
  return open.length === 0 ? undefined : unclosed(open);
}

/** What lacks its end: the outermost block, or what is open in it. */
function unclosed(open: readonly Open[]): HclProblem {
  const quote = open.find(({ mark }) => mark === '"' || mark === '${');
  if (quote !== undefined) return { message: 'Unclosed quote; add the closing quote', at: quote.at };
  const [first] = open;
  const found = open.find(({ mark }) => mark !== '{') ?? first;
  const closing = found?.mark === '[' ? ']' : found?.mark === '(' ? ')' : '}';
  return { message: `Unclosed bracket; add the closing ${closing}`, at: found?.at ?? 0 };
}

/** Reads the part of a text that starts at an offset, up to its end or to what it inserts. @returns where code goes on */
function inText(text: string, from: number, open: Open[], quote: number): number | HclProblem {
  const part = /(?:[^"\\\n$%]|\\[^\n]|\$\$\{|%%\{|[$%](?!\{))*/y;
  part.lastIndex = from;
  const end = from + (part.exec(text)?.[0].length ?? 0);
  const mark = text.charAt(end);
  if (mark === '"') {
    open.pop();
    return end + 1;
  }
  if (mark !== '$' && mark !== '%') return { message: 'Unclosed quote; add the closing quote', at: quote };
  open.push({ mark: '${', at: end, isBlock: false });
  return end + 2;
}

function endOfDocument(text: string, from: number, word: string): number | undefined {
  const last = new RegExp(`^[ \\t]*${word}[ \\t\\r]*$`, 'gm');
  last.lastIndex = from;
  const found = last.exec(text);
  return found === null ? undefined : found.index + found[0].length;
}

function lastMark(text: string, at: number): number {
  return Math.max(0, text.lastIndexOf('=', at));
}

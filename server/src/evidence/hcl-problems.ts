import { shorten } from '../yaml/shorten.ts';
import { endLine, type HclProblem, markIn, newBody, type Statement, wordIn } from './hcl-statements.ts';
import { opensTopLevel } from './hcl-tokens.ts';

/** A bracket, quote or `${` that is open. */
interface Open {
  readonly mark: '{' | '[' | '(' | '"' | '${';
  readonly at: number;
  /** A block or the value of a name, of which each line has one. */
  readonly isBlock: boolean;
  /** What a block has so far, if its statements are read. */
  readonly body?: Statement | undefined;
}

/** Longer files are generated, and not read. */
const maxLength = 500_000;

/**
 * The first error of syntax in a file of Terraform or of its variables. Knows how texts, here-documents and brackets end and how statements
 * begin, and no more. Reads each character once. https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md
 */
export function hclProblem(text: string): HclProblem | undefined {
  if (text.length > maxLength) return undefined;
  const conflict = /^<{7} /m.exec(text);
  if (conflict !== null)
    return { message: 'Unresolved merge conflict; choose one side and remove the marker lines', at: conflict.index };
  const open: Open[] = [];
  // Other template languages have their own statements.
  const top: Statement | undefined = otherTemplate.test(text) ? undefined : newBody(1);
  /** The last character that is neither a space nor in a comment, and where it is. */
  let before = '';
  let last = 0;
  let lastWord = '';
  for (let at = 0; at < text.length; ) {
    const inner = open.at(-1);
    if (inner?.mark === '"') {
      const next = inText(text, at, open, inner.at);
      if (typeof next !== 'number') return next;
      at = next;
      before = '"';
      last = at - 1;
      continue;
    }
    /** undefined in a value. */
    const body = inner === undefined ? top : inner.body;
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      if (char === '\u00a0') return { message: 'Non-breaking space (U+00A0); use a plain space', at };
      const isLine = char === '\n' && (inner === undefined || inner.isBlock);
      if (
        char === '\n' &&
        before === '=' &&
        (isLine || (inner?.mark === '{' && nextField.test(text.slice(at, at + 200))))
      )
        return { message: 'No value after =; write one', at: lastMark(text, at) };
      if (char === '\n' && body?.part === 'value' && /[-?:+/%<>&|!]/.test(before))
        return { message: continued, at: last };
      const unfinished = char === '\n' && body !== undefined ? endLine(body, text, at) : undefined;
      if (unfinished !== undefined) return unfinished;
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
        last = at - 1;
        continue;
      }
    }
    const isNew =
      open.length > 0 && (at === 0 || text.charAt(at - 1) === '\n') && opensTopLevel(text.slice(at, at + 200));
    if (isNew) return unclosed(open);
    const found = wordAt(text, at);
    if (found !== '') {
      const problem = body
        ? wordIn(body, found, at, before)
        : top && secondWord(text, at, found, { before, last, lastWord }, inner);
      if (problem !== undefined) return problem;
      at += found.length;
      lastWord = found;
      before = found.slice(-1);
      last = at - 1;
      continue;
    }
    // Terraform 0.11 had quotes like those of the text around.
    if (start === '\\"') {
      const end = text.indexOf('\\"', at + 2);
      at = end === -1 ? at + 2 : end + 2;
      continue;
    }
    const isBlock = top === undefined ? isAfterBlock(before) : body !== undefined && body.part !== 'value';
    const problem =
      (body && markIn(body, text, at, before)) ?? (top && valueProblem(text, at, { before, last, lastWord }, inner));
    if (problem !== undefined) return problem;
    if (char === '"') open.push({ mark: '"', at, isBlock: false });
    else if (char === '{') open.push({ mark: '{', at, isBlock, body: top && isBlock ? newBody() : undefined });
    else if (char === '[' || char === '(') open.push({ mark: char, at, isBlock: false });
    else if (char === '}' || char === ']' || char === ')') {
      const pair = char === '}' ? '{' : char === ']' ? '[' : '(';
      if (inner === undefined) return { message: `Unexpected ${char}; remove it`, at };
      const isPair = inner.mark === pair || (char === '}' && inner.mark === '${');
      if (!isPair) return unclosed(open);
      open.pop();
    }
    before = start === '==' || start === '=>' || /[=!<>]/.test(text.charAt(at - 1)) ? '>' : char;
    last = at;
    at += 1;
  }
  return open.length === 0 ? undefined : unclosed(open);
}

const continued = 'A value goes on in the next line only in brackets; put it in ( )';

const otherTemplate = /\{[{%]|<%/;

function isAfterBlock(before: string): boolean {
  return !/[=:,(?[]/.test(before) || before === '';
}

/** The start of the next field, or the end of the object: a value may begin on its own line. */
const nextField = /^\s*(?:\}|(?:[\w-]+|"[\w./-]+")[ \t]*=(?![=>]))/;

/** A name or a number at an offset; empty for anything else. */
function wordAt(text: string, at: number): string {
  word.lastIndex = at;
  return word.exec(text)?.[0] ?? '';
}

const word = /[\p{L}\p{N}_](?:[\p{L}\p{N}_-]|\.(?=\d))*/uy;

/** Where code is, behind what. */
interface Behind {
  readonly before: string;
  readonly last: number;
  readonly lastWord: string;
}

/** A word on the line of the value before it, in brackets: neither a comma nor an operator is between them. */
function secondWord(
  text: string,
  at: number,
  word: string,
  { before, last, lastWord }: Behind,
  inner: Open | undefined,
): HclProblem | undefined {
  if (inner === undefined || inner.mark === '${' || keyword.test(word) || keyword.test(lastWord)) return undefined;
  if (!/[\p{L}\p{N}_"\])}]/u.test(before) || text.slice(last + 1, at).includes('\n')) return undefined;
  return { message: `Missing comma before ${shorten(word)}`, at };
}

const keyword = /^(?:for|in|if)$/;

/** What no value has: other quotes, or two values without a comma between them. */
function valueProblem(
  text: string,
  at: number,
  { before, last, lastWord }: Behind,
  inner: Open | undefined,
): HclProblem | undefined {
  const char = text.charAt(at);
  if (char === "'") return { message: 'Single quotes around a text; use double quotes', at };
  if (/[\u2018\u2019\u201c-\u201f]/.test(char))
    return { message: `Typographic quote ${char}; use the double quotes of code`, at };
  // A new line also ends a field.
  const isSameLine = !text.slice(last + 1, at).includes('\n');
  const isBehindWord = char === '"' && /[\p{L}\p{N}_]/u.test(before) && !keyword.test(lastWord) && isSameLine;
  if (isBehindWord && inner !== undefined && !inner.isBlock && inner.mark !== '${')
    return { message: `Missing ${inner.mark === '{' ? '=' : 'comma'} before this text`, at };
  if (char === '"' && before === '"' && inner?.mark === '{' && !inner.isBlock && isSameLine)
    return { message: 'Missing = or comma before this text', at };
  if (char === '{' && /[\p{L}\p{N}_"]/u.test(before) && inner?.mark === '{' && !inner.isBlock && isSameLine)
    // With a field on its own line, the object was meant to end there.
    return /^\{[ \t]*[^\s#]/.test(text.slice(inner.at, inner.at + 200)) && text.slice(inner.at, at).includes('\n')
      ? { message: 'Unclosed bracket; add the closing }', at: inner.at }
      : { message: 'Missing = before this {', at };
  const isSecond = (char === '"' && before === '"') || (char === '{' && before === '}');
  return isSecond && (inner?.mark === '[' || inner?.mark === '(')
    ? { message: 'Missing comma after this value', at: last }
    : undefined;
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
  const part = /(?:[^"\\\n$%]|\\[abfnrtvxuU0-7"\\]|\$\$\{|%%\{|[$%](?!\{))*/y;
  part.lastIndex = from;
  const end = from + (part.exec(text)?.[0].length ?? 0);
  const mark = text.charAt(end);
  if (mark === '"') {
    open.pop();
    return end + 1;
  }
  if (/^\\[^\r\n]/.test(text.slice(end, end + 2)))
    return { message: `Unknown escape ${text.slice(end, end + 2)}; write \\\\ for a backslash`, at: end };
  if (mark !== '$' && mark !== '%') {
    const around = open.at(-2);
    // What looks like the start of a text is the end of the one around it.
    if (around?.mark === '${' && /^[\s})\],]*$/.test(text.slice(quote + 1, end)))
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the mark of Terraform's templates
      return { message: 'Unclosed ${; add the closing }', at: around.at };
    return { message: 'Unclosed quote; add the closing quote', at: quote };
  }
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

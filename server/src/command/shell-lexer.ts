import { ansiQuoteEnd, expansionEnd, lineEnd, skipHeredoc } from './shell-expansions.ts';

/**
 * A word of a command line. `item` is the index of its list item (command, then args); `start` and `end` are offsets in that item's decoded
 * value, from which callers compute the position in the YAML.
 */
export interface Word {
  /** Without quotes. Expansions stay as written: `$HOME/x`. */
  readonly text: string;
  /** Contains an expansion ($X, $(...), `...`): the program receives another text. */
  readonly dynamic: boolean;
  /** The text is not written at its position: a variable was expanded, or quotes were removed twice. */
  readonly derived?: true;
  readonly item: number;
  readonly start: number;
  readonly end: number;
}

/** The lines after `<<EOF`, up to the delimiter. */
export interface Heredoc {
  readonly text: string;
  /** The offset of the text in its list item. */
  readonly start: number;
}

/** A word, an operator or a here-document of a script. */
export type Token =
  | { readonly kind: 'word'; readonly word: Word; readonly quoted: boolean }
  | { readonly kind: 'heredoc'; readonly body: Heredoc }
  | { readonly kind: 'operator'; readonly text: string /** Its offset in the list item. */; readonly at: number };

/** The last part of a path: `/usr/bin/python3` is `python3`. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Splits a script into words and operators. One pass, no backtracking. */
export function lexShell(
  text: string,
  item: number,
): { readonly tokens: readonly Token[]; readonly complete: boolean } {
  const tokens: Token[] = [];
  const heredocs: { readonly delimiter: string; readonly body: { text: string; start: number } }[] = [];
  let complete = true;
  /** Inside `[[ ]]`, where operators join tests and a line may end anywhere. */
  let inTest = false;
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    const arithmetic = char === '(' && text[at + 1] === '(' && !inTest && startsCommand(tokens.at(-1));
    const arithmeticEnd = arithmetic ? endOfArithmetic(text, at) : undefined;
    if (arithmeticEnd !== undefined) {
      const inner = text.slice(at + 2, arithmeticEnd - 2);
      tokens.push(asWord('((', item, at), asWord(inner.trim(), item, arithmeticEnd - 2 - inner.trimStart().length));
      at = arithmeticEnd;
    } else if (inTest && char === '\n') {
      at++;
    } else if (inTest && char !== ';' && isOperatorChar(char)) {
      const operator = readOperator(text, at);
      tokens.push(asWord(operator, item, at));
      at += operator.length;
    } else if (char === ' ' || char === '\t' || char === '\r') {
      at++;
    } else if (char === '\\' && text[at + 1] === '\n') {
      at += 2;
    } else if (char === '#' && !(inTest && /\S/.test(text[at - 1] ?? ''))) {
      at = lineEnd(text, at);
    } else if (char === '\n') {
      tokens.push({ kind: 'operator', text: '\n', at });
      at++;
      for (const { delimiter, body } of heredocs.splice(0)) {
        const end = skipHeredoc(text, at, delimiter);
        body.start = at;
        body.text = text.slice(at, Math.max(at, text.lastIndexOf('\n', Math.max(end - 2, 0)) + 1));
        at = end;
      }
    } else if (isOperatorChar(char)) {
      const operator = readOperator(text, at);
      at += operator.length;
      if (operator === '<<' || operator === '<<-') {
        while (text[at] === ' ') at++;
        const word = readWord(text, at, item);
        const body = { text: '', start: at };
        heredocs.push({ delimiter: word.word.text, body });
        tokens.push({ kind: 'heredoc', body });
        at = word.word.end;
        if (word.word.end === word.word.start) at++;
      } else {
        tokens.push({ kind: 'operator', text: operator, at: at - operator.length });
      }
    } else {
      const { word, quoted, closed } = readWord(text, at, item);
      complete &&= closed;
      at = Math.max(word.end, at + 1);
      if (inTest) inTest = quoted || word.text !== ']]';
      else inTest = !quoted && word.text === '[[' && startsCommand(tokens.at(-1));
      // `2>` and `1>`: the number belongs to the redirection.
      if (!quoted && /^\d{1,3}$/.test(word.text) && (text[at] === '>' || text[at] === '<')) continue;
      tokens.push({ kind: 'word', word, quoted });
    }
  }
  return { tokens, complete: complete && heredocs.length === 0 && !inTest };
}

function asWord(text: string, item: number, start: number): Token {
  return { kind: 'word', word: { text, dynamic: true, item, start, end: start + text.length }, quoted: true };
}

/** Whether a command starts after a token. */
function startsCommand(before: Token | undefined): boolean {
  if (before?.kind !== 'word') return before?.kind !== 'heredoc' && !/[<>(]/.test(before?.text ?? '');
  return !before.quoted && beforeCommands.has(before.word.text);
}

const beforeCommands: ReadonlySet<string> = new Set('if elif then else while until for do ! { time'.split(' '));

/** Whether a token sends something from or to a file. */
export function isRedirection(token: Token | undefined): boolean {
  return token?.kind === 'heredoc' || (token?.kind === 'operator' && /[<>]/.test(token.text));
}

/** The end of `((...))`, which is short; undefined for a subshell in another. */
function endOfArithmetic(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < Math.min(text.length, start + 300); at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 1) return text[at + 1] === ')' ? at + 2 : undefined;
  }
  return undefined;
}

function readOperator(text: string, at: number): string {
  const three = text.slice(at, at + 3);
  if (three === '<<-' || three === '<<<' || three === '&>>') return three;
  const two = text.slice(at, at + 2);
  if (['&&', '||', ';;', '<<', '>>', '>&', '<&', '&>', '|&', '>|', '<>', '<(', '>('].includes(two)) return two;
  return text[at] ?? '';
}

function isOperatorChar(char: string): boolean {
  return char === ';' || char === '&' || char === '|' || char === '(' || char === ')' || char === '<' || char === '>';
}

/** One word with its quotes resolved. `closed` is false if a quote or an expansion never ends. */
function readWord(text: string, start: number, item: number): { word: Word; quoted: boolean; closed: boolean } {
  let at = start;
  let value = '';
  let quoted = false;
  let dynamic = false;
  let closed = true;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '\\') {
      if (text[at + 1] !== '\n') value += text[at + 1] ?? '';
      quoted = true;
      at += 2;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      closed &&= end >= 0;
      value += text.slice(at + 1, end < 0 ? text.length : end);
      quoted = true;
      at = end < 0 ? text.length : end + 1;
    } else if (char === '"') {
      const inner = readDoubleQuoted(text, at + 1);
      value += inner.value;
      dynamic ||= inner.dynamic;
      closed &&= inner.closed;
      quoted = true;
      at = inner.end;
    } else if (char === '$' && text[at + 1] === "'") {
      const end = ansiQuoteEnd(text, at + 2);
      closed &&= end <= text.length;
      value += text.slice(at + 2, end - 1);
      quoted = true;
      dynamic = true;
      at = end;
    } else if (char === '$' && text[at + 1] === '"') {
      at++;
    } else if (char === '$' || char === '`') {
      const end = expansionEnd(text, at);
      dynamic = true;
      closed &&= end <= text.length;
      value += text.slice(at, end);
      at = Math.min(end, text.length);
    } else if (char === ' ' || char === '\t' || char === '\n' || char === '\r' || isOperatorChar(char)) {
      break;
    } else {
      value += char;
      at++;
    }
  }
  const end = Math.min(at, text.length);
  return { word: { text: value, dynamic, item, start, end }, quoted, closed };
}

function readDoubleQuoted(
  text: string,
  start: number,
): { value: string; end: number; dynamic: boolean; closed: boolean } {
  let at = start;
  let value = '';
  let dynamic = false;
  while (at < text.length && text[at] !== '"') {
    const char = text[at] ?? '';
    if (char === '\\') {
      // Between double quotes, a backslash before any other character stays.
      const next = text[at + 1] ?? '';
      if (next !== '\n') value += '$`"\\'.includes(next) ? next : `\\${next}`;
      at += 2;
    } else if (char === '$' || char === '`') {
      const end = Math.min(expansionEnd(text, at), text.length);
      dynamic = true;
      value += text.slice(at, end);
      at = end;
    } else {
      value += char;
      at++;
    }
  }
  const closed = at < text.length;
  return { value, end: Math.min(at + 1, text.length), dynamic, closed };
}

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
  | { readonly kind: 'operator'; readonly text: string };

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
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === ' ' || char === '\t' || char === '\r') {
      at++;
    } else if (char === '\\' && text[at + 1] === '\n') {
      at += 2;
    } else if (char === '#') {
      at = lineEnd(text, at);
    } else if (char === '\n') {
      tokens.push({ kind: 'operator', text: '\n' });
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
        tokens.push({ kind: 'operator', text: operator });
      }
    } else {
      const { word, quoted, closed } = readWord(text, at, item);
      complete &&= closed;
      at = Math.max(word.end, at + 1);
      // `2>` and `1>`: the number belongs to the redirection.
      if (!quoted && /^\d$/.test(word.text) && (text[at] === '>' || text[at] === '<')) continue;
      tokens.push({ kind: 'word', word, quoted });
    }
  }
  return { tokens, complete: complete && heredocs.length === 0 };
}

function readOperator(text: string, at: number): string {
  const three = text.slice(at, at + 3);
  if (three === '<<-' || three === '<<<' || three === '&>>') return three;
  const two = text.slice(at, at + 2);
  if (['&&', '||', ';;', '<<', '>>', '>&', '<&', '&>', '|&', '>|', '<>'].includes(two)) return two;
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
      if (text[at + 1] !== '\n') value += text[at + 1] ?? '';
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

/** The end of `$NAME`, `${...}`, `$(...)` or a backquoted command; beyond the text if it never ends. */
function expansionEnd(text: string, start: number): number {
  if (text[start] === '`') {
    const end = text.indexOf('`', start + 1);
    return end < 0 ? text.length + 1 : end + 1;
  }
  const open = text[start + 1];
  if (open !== '(' && open !== '{') {
    let at = start + 1;
    while (at < text.length && /\w/.test(text[at] ?? '')) at++;
    return at === start + 1 ? Math.min(start + 2, text.length) : at;
  }
  const close = open === '(' ? ')' : '}';
  let depth = 0;
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === open) depth++;
    else if (text[at] === close && --depth === 0) return at + 1;
  }
  return text.length + 1;
}

function skipHeredoc(text: string, start: number, delimiter: string): number {
  let at = start;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).trim();
    at = Math.min(end + 1, text.length);
    if (line === delimiter) break;
  }
  return at;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

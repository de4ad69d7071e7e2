import { wordSet } from '../catalog/word-patterns.ts';
import { lexShell } from './shell-lexer.ts';
import { parseScript } from './shell-parser.ts';

/** A `&&`, `||` or `|` without a command on one of its sides: no shell reads the script beyond it. */
export interface StrayConnector {
  readonly text: string;
  readonly start: number;
  /** `start`: it is the first thing of a line. `pair`: it follows another one. `end`: the script ends with it. */
  readonly place: 'start' | 'pair' | 'end';
}

const connectors = wordSet('&& || | |&');
/** What ends a command, so that a connector cannot follow. `;;` and `(` belong to the patterns of `case`. */
const ends = wordSet('; &');

/** The first connector of a script without a command on one of its sides; undefined if the script cannot be read as a whole. */
export function strayConnector(text: string): StrayConnector | undefined {
  const { tokens, complete } = lexShell(text, 0);
  if (!complete) return undefined;
  // A pattern of `case` may start with one.
  if (tokens.some((one) => one.kind === 'word' && !one.quoted && one.word.text === 'case')) return undefined;
  let before: string | undefined;
  let last: StrayConnector | undefined;
  let isNewLine = true;
  for (const token of tokens) {
    if (token.kind === 'heredoc') return undefined;
    if (token.kind === 'operator' && token.text === '\n') {
      isNewLine = true;
      continue;
    }
    const isConnector = token.kind === 'operator' && connectors.has(token.text);
    const isAlone = before === undefined || ends.has(before) || (isNewLine && !connectors.has(before));
    if (isConnector && isAlone) return { text: token.text, start: token.at, place: 'start' };
    if (isConnector && before !== undefined && connectors.has(before))
      return { text: token.text, start: token.at, place: 'pair' };
    before = token.kind === 'operator' ? token.text : 'word';
    last = isConnector ? { text: token.text, start: token.at, place: 'end' } : undefined;
    isNewLine = false;
  }
  return last;
}

/** Here-documents, which the end of the script closes, and `case`, whose patterns have single parentheses. */
const unread = /<<|\bcase\b/;
/** `$$(...)` and `${DOLLAR}(...)`, which something changes first. */
const changedFirst = /\$\$\(|\$\{?\w+\}?\(/;
/** Forms of bash whose ends this parser does not know: `time ( )`, `@(a|b)`, `coproc`, quotes and brackets in `${}`, and commands in backquotes within others. */
const rareForms = /\btime\b|\bcoproc\b|!\s*\(|[?*+@]\(|\\`|\$\{[^}]{0,200}[\\"'{]/;

/** What a script opens and never closes, so that the shell rejects it; undefined if that is uncertain. */
export function neverClosed(text: string): 'quote' | 'statement' | undefined {
  if (text.length > 20_000 || unread.test(text) || changedFirst.test(text) || rareForms.test(text)) return undefined;
  if (!lexShell(text, 0).complete) return 'quote';
  return parseScript(text, 0).complete ? undefined : 'statement';
}

import { wordSet } from '../catalog/word-patterns.ts';
import { lexShell, type Token, type Word } from './shell-lexer.ts';

/** Something in a script that only bash and its like understand. */
export interface Bashism {
  readonly word: Word;
  /** The word for a message. */
  readonly shown: string;
  /** What follows if dash reads it, as a clause. */
  readonly effect: string;
}

const ends = 'it stops with a syntax error; run the script with bash';

/** Operators that dash does not have, with what it makes of them. */
const operators: ReadonlyMap<string, string> = new Map([
  ['<<<', ends],
  ['|&', ends],
  ['<(', ends],
  ['>(', ends],
  ...['&>', '&>>'].map(
    (one) => [one, 'the command runs in the background, and its output is not in the file'] as const,
  ),
]);

/** Programs whose arguments are files: braces in others may be meant as they are. */
const ofFiles = wordSet('mkdir touch cp mv rm cat ls chmod chown');

/** The first place in a script that dash reads differently than bash, other than commands that it does not have. */
export function bashism(script: string, item: number): Bashism | undefined {
  const { tokens, complete } = lexShell(script, item);
  if (!complete) return undefined;
  let program = '';
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'heredoc') continue;
    const starts = startsCommand(tokens[index - 1]);
    if (token.kind === 'word' && starts) program = token.quoted ? '' : token.word.text;
    const effect =
      token.kind === 'word' ? ofWord(token, tokens[index + 1], starts, program, script) : operators.get(token.text);
    if (effect === undefined) continue;
    const word = wordOf(token, item);
    return { word, shown: word.text.endsWith('=') && effect === ends ? `${word.text}(` : word.text, effect };
  }
  return undefined;
}

function wordOf(token: Exclude<Token, { kind: 'heredoc' }>, item: number): Word {
  if (token.kind === 'word') return token.word;
  const { text, at } = token;
  return { text, dynamic: false, item, start: at, end: at + text.length };
}

function startsCommand(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word') return !before.quoted && openers.has(before.word.text);
  return before.kind === 'operator' && !/[<>]/.test(before.text);
}

const openers = wordSet('if elif then else while until do ! {');

function ofWord(
  { word, quoted }: Extract<Token, { kind: 'word' }>,
  next: Token | undefined,
  starts: boolean,
  program: string,
  script: string,
): string | undefined {
  const { text, dynamic, start, end } = word;
  if (text === '((' && starts && script.startsWith('((', start))
    return 'the command fails; use $(( )) or run the script with bash';
  const written = dynamic && text.includes('${') ? script.slice(start, end) : '';
  if (substitution.test(written) && !written.includes("'")) return 'the script ends there; run it with bash';
  if (quoted) return undefined;
  if (starts && text === 'function') return ends;
  const isArray = next?.kind === 'operator' && next.text === '(' && next.at === end && /^\w+\+?=$/.test(text);
  if (isArray) return ends;
  if (text === '==' && (program === '[' || program === 'test')) return 'the test is never true; use =';
  const isRange = takesRange.test(program) && /\{(?:\d+\.\.\d+|[a-z]\.\.[a-z])(?:\.\.\d+)?\}/.test(text);
  const isList = ofFiles.has(program) && /\{[\w.-]+(?:,[\w.-]+)+\}/.test(text);
  return isRange || isList ? 'the text stays as it is; run the script with bash' : undefined;
}

/** Other programs may expand ranges themselves, as readers of WebDataset's shards do. */
const takesRange = /^(?:for|echo|printf|mkdir|touch|cp|mv|rm|cat|ls|chmod|chown)$/;

/** A part, a replacement, another case or an element of an array. */
const substitution = /\$\{[A-Za-z_]\w*(?:\[|\^|,|\/|:\d)/;

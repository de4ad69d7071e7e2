import { type Heredoc, isRedirection, lexShell, type Token, type Word } from './shell-lexer.ts';

export type Statement = SimpleCommand | Loop | Group;

/** What joins a statement to the previous one. `||`: the statement runs only if that one failed. */
export type Connector = '&&' | '||' | '|' | null;

/** A program with its arguments. */
export interface SimpleCommand {
  readonly kind: 'command';
  readonly words: readonly Word[];
  /** `NAME=value` before the program, or alone. */
  readonly assignments: readonly Word[];
  /** Arrays that it sets, `NAME=(a b)`, with their items. */
  readonly arrays?: readonly { readonly name: string; readonly words: readonly Word[] }[];
  /** Followed by `&`. */
  /** The text that it reads from its standard input. */
  readonly heredoc?: Heredoc;
  readonly background: boolean;
  readonly after: Connector;
}

/** `while`, `until` and `for`. */
export interface Loop {
  readonly kind: 'loop';
  readonly keyword: 'while' | 'until' | 'for';
  readonly condition: readonly Statement[];
  readonly body: readonly Statement[];
  readonly background: boolean;
  readonly after: Connector;
}

/** Grouped statements: the branches of `if` and `case`, a function's body, a subshell, a brace group. */
export interface Group {
  readonly kind: 'group';
  readonly keyword: 'if' | 'case' | 'function' | 'subshell' | 'braces';
  readonly body: readonly Statement[];
  /** Of `if`: where in the body each condition and branch ends. */
  readonly ends?: readonly number[];
  readonly background: boolean;
  readonly after: Connector;
}

const maxScript = 200_000;
const maxDepth = 40;

/** The statements of a shell script. `complete` is false if a part could not be parsed. */
export function parseScript(
  text: string,
  item: number,
): { readonly statements: readonly Statement[]; readonly complete: boolean } {
  const tooLong = text.length > maxScript;
  const lexed = lexShell(tooLong ? text.slice(0, maxScript) : text, item);
  const parser: Parser = { tokens: lexed.tokens, at: 0, complete: lexed.complete && !tooLong, piped: [] };
  const statements: Statement[] = [];
  while (parser.at < parser.tokens.length) {
    statements.push(...parseList(parser, 0));
    // Skip a stray closing word (`done`, `)`): the rest is still worth parsing.
    if (parser.at < parser.tokens.length) {
      parser.at++;
      parser.complete = false;
    }
  }
  return { statements, complete: parser.complete };
}

interface Parser {
  readonly tokens: readonly Token[];
  at: number;
  complete: boolean;
  /** The commands in `<(...)` and `>(...)` of the statement that is being read. */
  readonly piped: Statement[];
}

const closing: ReadonlySet<string> = new Set(['done', 'do', 'fi', 'then', 'elif', 'else', 'esac', '}']);

/** Statements up to (not including) one of the closing words, a `)` or the end. */
function parseList(parser: Parser, depth: number): Statement[] {
  const statements: Statement[] = [];
  let after: Connector = null;
  while (parser.at < parser.tokens.length) {
    const token = parser.tokens[parser.at];
    if (token === undefined || isOperator(token, ')') || isOperator(token, ';;')) break;
    const word = reserved(token);
    if (word !== undefined && closing.has(word)) break;
    if (token.kind === 'operator' && token.text !== '(' && !isRedirection(token)) {
      // A line may end after a connector.
      if (token.text !== '\n') after = connector(token.text);
      parser.at++;
      continue;
    }
    const statement = parseStatement(parser, depth);
    statements.push(...parser.piped.splice(0));
    if (statement !== undefined) statements.push({ ...statement, after });
    after = null;
  }
  return statements;
}

function connector(operator: string): Connector {
  if (operator === '&&' || operator === '||') return operator;
  return operator === '|' || operator === '|&' ? '|' : null;
}

function parseStatement(parser: Parser, depth: number): Statement | undefined {
  const token = parser.tokens[parser.at];
  if (token === undefined) return undefined;
  if (depth > maxDepth) {
    parser.complete = false;
    parser.at = parser.tokens.length;
    return undefined;
  }
  if (isOperator(token, '(')) {
    parser.at++;
    const body = parseList(parser, depth + 1);
    expectOperator(parser, ')');
    return { kind: 'group', keyword: 'subshell', body, background: takeBackground(parser, depth), after: null };
  }
  const word = reserved(token);
  if (word === 'while' || word === 'until') {
    parser.at++;
    const condition = parseList(parser, depth + 1);
    const body = parseDo(parser, depth);
    return { kind: 'loop', keyword: word, condition, body, background: takeBackground(parser, depth), after: null };
  }
  if (word === 'for' || word === 'select') {
    parser.at++;
    while (parser.at < parser.tokens.length && reserved(parser.tokens[parser.at]) !== 'do') parser.at++;
    const body = parseDo(parser, depth);
    return {
      kind: 'loop',
      keyword: 'for',
      condition: [],
      body,
      background: takeBackground(parser, depth),
      after: null,
    };
  }
  if (word === 'function') {
    parser.at += 2;
    if (isOperator(parser.tokens[parser.at], '(')) parser.at += 2;
    return parseFunction(parser, depth);
  }
  if (word === 'if') return parseIf(parser, depth);
  if (word === 'case') return parseCase(parser, depth);
  if (word === '{') {
    parser.at++;
    const body = parseList(parser, depth + 1);
    expectWord(parser, '}');
    return { kind: 'group', keyword: 'braces', body, background: takeBackground(parser, depth), after: null };
  }
  return parseCommand(parser, depth);
}

/** The body of a function, after its name. */
function parseFunction(parser: Parser, depth: number): Statement {
  while (isOperator(parser.tokens[parser.at], '\n')) parser.at++;
  const body = parseStatement(parser, depth + 1);
  const statements = body === undefined ? [] : [body];
  return { kind: 'group', keyword: 'function', body: statements, background: false, after: null };
}

function parseDo(parser: Parser, depth: number): Statement[] {
  expectWord(parser, 'do');
  const body = parseList(parser, depth + 1);
  expectWord(parser, 'done');
  return body;
}

function parseIf(parser: Parser, depth: number): Statement {
  const body: Statement[] = [];
  const ends: number[] = [];
  parser.at++;
  while (parser.at < parser.tokens.length) {
    ends.push(body.push(...parseList(parser, depth + 1)));
    const word = reserved(parser.tokens[parser.at]);
    if (word !== 'then' && word !== 'elif' && word !== 'else') break;
    parser.at++;
  }
  expectWord(parser, 'fi');
  return { kind: 'group', keyword: 'if', body, ends, background: takeBackground(parser, depth), after: null };
}

function parseCase(parser: Parser, depth: number): Statement {
  const body: Statement[] = [];
  parser.at++;
  while (parser.at < parser.tokens.length) {
    const token = parser.tokens[parser.at];
    if (reserved(token) === 'esac') break;
    // A pattern: everything up to its `)`.
    while (parser.at < parser.tokens.length && !isOperator(parser.tokens[parser.at], ')')) {
      if (reserved(parser.tokens[parser.at]) === 'esac') break;
      parser.at++;
    }
    if (!isOperator(parser.tokens[parser.at], ')')) break;
    parser.at++;
    body.push(...parseList(parser, depth + 1));
    if (isOperator(parser.tokens[parser.at], ';;')) parser.at++;
  }
  expectWord(parser, 'esac');
  return { kind: 'group', keyword: 'case', body, background: takeBackground(parser, depth), after: null };
}

function parseCommand(parser: Parser, depth: number): Statement | undefined {
  const words: Word[] = [];
  const assignments: Word[] = [];
  const arrays: { name: string; words: Word[] }[] = [];
  let heredoc: Heredoc | undefined;
  const start = parser.at;
  while (parser.at < parser.tokens.length) {
    const token = parser.tokens[parser.at];
    if (token === undefined) break;
    if (token.kind === 'heredoc') {
      heredoc = token.body;
      parser.at++;
      continue;
    }
    if (token.kind === 'operator') {
      // `name() { ... }` declares a function.
      if (token.text === '(' && words.length === 1 && isOperator(parser.tokens[parser.at + 1], ')')) {
        parser.at += 2;
        return parseFunction(parser, depth);
      }
      if (isRedirection(token)) {
        skipRedirection(parser, depth);
        continue;
      }
      const array = /^([A-Za-z_]\w*)\+?=$/.exec((words.at(-1) ?? assignments.at(-1))?.text ?? '');
      if (token.text === '(' && (words.length === 0 || array !== null)) {
        // The items of an array, `NAME=(a b)`, are not a program.
        const items: Word[] = [];
        for (; parser.at < parser.tokens.length && !isOperator(parser.tokens[parser.at], ')'); parser.at++) {
          const item = parser.tokens[parser.at];
          if (item?.kind === 'word') items.push(item.word);
        }
        parser.at++;
        const name = array?.[1];
        if (name !== undefined) arrays.push({ name, words: items });
        continue;
      }
      if (token.text === '(') {
        parser.complete = false;
        parser.at++;
        continue;
      }
      break;
    }
    parser.at++;
    if (reserved(token) === '!' && words.length === 0) continue;
    if (words.length === 0 && isAssignment(token.word.text)) assignments.push(token.word);
    else words.push(token.word);
  }
  if (words.length === 0 && assignments.length === 0) {
    // If nothing was consumed, this is an operator; skip it to advance.
    if (parser.at === start) parser.at++;
    return undefined;
  }
  const command = simple(words, assignments, takeBackground(parser, depth));
  return { ...command, ...(arrays.length > 0 && { arrays }), ...(heredoc && { heredoc }) };
}

/** A command of some words. */
export function simple(words: readonly Word[], assignments: readonly Word[], background: boolean): SimpleCommand {
  return { kind: 'command', words, assignments, background, after: null };
}

function skipRedirection(parser: Parser, depth: number): void {
  const token = parser.tokens[parser.at];
  parser.at++;
  if (isOperator(token, '<(') || isOperator(token, '>(')) {
    const outer = parser.piped.splice(0);
    const body = parseList(parser, depth + 1);
    parser.piped.push(...outer, ...body);
    expectOperator(parser, ')');
  } else if (token?.kind === 'operator' && parser.tokens[parser.at]?.kind === 'word') parser.at++;
}

/** Passes by the redirections after a statement, and the `&` that ends it. */
function takeBackground(parser: Parser, depth: number): boolean {
  while (isRedirection(parser.tokens[parser.at])) skipRedirection(parser, depth);
  if (!isOperator(parser.tokens[parser.at], '&')) return false;
  parser.at++;
  return true;
}

function expectWord(parser: Parser, text: string): void {
  if (reserved(parser.tokens[parser.at]) === text) parser.at++;
  else parser.complete = false;
}

function expectOperator(parser: Parser, text: string): void {
  if (isOperator(parser.tokens[parser.at], text)) parser.at++;
  else parser.complete = false;
}

function isOperator(token: Token | undefined, text: string): boolean {
  return token?.kind === 'operator' && token.text === text;
}

/** The text of an unquoted word; a word with quotes is never reserved. */
function reserved(token: Token | undefined): string | undefined {
  return token?.kind === 'word' && !token.quoted ? token.word.text : undefined;
}

function isAssignment(text: string): boolean {
  return /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(text);
}

import { lexShell, type Token, type Word } from './shell-lexer.ts';

export type { Word } from './shell-lexer.ts';

export type Statement = SimpleCommand | Loop | Group;

/** What joins a statement to the previous one. `||`: the statement runs only if that one failed. */
export type Connector = '&&' | '||' | '|' | null;

/** A program with its arguments. */
export interface SimpleCommand {
  readonly kind: 'command';
  readonly words: readonly Word[];
  /** `NAME=value` before the program, or alone. */
  readonly assignments: readonly Word[];
  /** Followed by `&`. */
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
  readonly background: boolean;
  readonly after: Connector;
}

/** A container's command line, with the script of `sh -c` parsed. */
export interface CommandLine {
  readonly statements: readonly Statement[];
  /** A shell runs it, so words may be expanded. */
  readonly script: boolean;
  /** False if a part could not be parsed (an unclosed quote, a limit): the statements are correct but not complete. */
  readonly complete: boolean;
}

const maxScript = 200_000;
const maxDepth = 40;

/** What a container runs according to its `command` and `args`. Never throws; takes linear time. */
export function readCommandLine(command: readonly string[], args: readonly string[]): CommandLine {
  const items = [...command, ...args];
  if (items.length !== last.items.length || items.some((item, index) => item !== last.items[index]))
    last = { items, line: readItems(items) };
  return last.line;
}

/** A cache of one: rules visit one container after the other, and a dozen of them read its command line. */
let last: { readonly items: readonly string[]; readonly line: CommandLine } = {
  items: [],
  line: { statements: [], script: false, complete: true },
};

function readItems(items: readonly string[]): CommandLine {
  const script = shellScript(items);
  if (script === undefined) {
    const words = items.map((text, item) => ({ text, dynamic: text.includes('$('), item, start: 0, end: text.length }));
    return { statements: words.length === 0 ? [] : [simple(words, [], false)], script: false, complete: true };
  }
  return readScript(items[script] ?? '', script);
}

/** The statements of a shell script, for example one in a ConfigMap. */
export function readScript(text: string, item = 0): CommandLine {
  const tooLong = text.length > maxScript;
  const lexed = lexShell(tooLong ? text.slice(0, maxScript) : text, item);
  const parser: Parser = { tokens: lexed.tokens, at: 0, complete: lexed.complete && !tooLong };
  const statements: Statement[] = [];
  while (parser.at < parser.tokens.length) {
    statements.push(...parseList(parser, 0));
    // Skip a stray closing word (`done`, `)`): the rest is still worth parsing.
    if (parser.at < parser.tokens.length) {
      parser.at++;
      parser.complete = false;
    }
  }
  return { statements, script: true, complete: parser.complete };
}

/** Every simple command, also those in loops and groups, in text order. */
export function allCommands(statements: readonly Statement[]): readonly SimpleCommand[] {
  return statements.flatMap((statement) => {
    if (statement.kind === 'command') return [statement];
    if (statement.kind === 'loop') return [...allCommands(statement.condition), ...allCommands(statement.body)];
    return allCommands(statement.body);
  });
}

/** The last part of a path: `/usr/bin/python3` is `python3`. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash', 'zsh', 'ksh']);

/** The index of the item with a shell's script; undefined if no shell runs one. */
function shellScript(items: readonly string[]): number | undefined {
  const start = items.findIndex((item) => !prefixWords.has(baseName(item)));
  if (start < 0 || !shells.has(baseName(items[start] ?? ''))) return undefined;
  for (let index = start + 1; index < items.length; index++) {
    const item = items[index] ?? '';
    if (!item.startsWith('-') && !item.startsWith('+')) return undefined;
    if (!item.startsWith('--') && item.endsWith('c')) return index + 1 < items.length ? index + 1 : undefined;
    if (item === '-o' || item === '+o' || item === '-O') index++;
  }
  return undefined;
}

/** Words that may precede the shell without changing what it runs. */
const prefixWords: ReadonlySet<string> = new Set(['tini', 'dumb-init', '--', 'exec', 'sudo', '-g', '-s', 'catatonit']);

interface Parser {
  readonly tokens: readonly Token[];
  at: number;
  complete: boolean;
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
    if (token.kind === 'operator' && token.text !== '(') {
      // A line may end after a connector.
      if (token.text !== '\n') after = connector(token.text);
      parser.at++;
      continue;
    }
    const statement = parseStatement(parser, depth);
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
    return { kind: 'group', keyword: 'subshell', body, background: takeBackground(parser), after: null };
  }
  const word = reserved(token);
  if (word === 'while' || word === 'until') {
    parser.at++;
    const condition = parseList(parser, depth + 1);
    const body = parseDo(parser, depth);
    return { kind: 'loop', keyword: word, condition, body, background: takeBackground(parser), after: null };
  }
  if (word === 'for' || word === 'select') {
    parser.at++;
    while (parser.at < parser.tokens.length && reserved(parser.tokens[parser.at]) !== 'do') parser.at++;
    const body = parseDo(parser, depth);
    return { kind: 'loop', keyword: 'for', condition: [], body, background: takeBackground(parser), after: null };
  }
  if (word === 'if') return parseIf(parser, depth);
  if (word === 'case') return parseCase(parser, depth);
  if (word === '{') {
    parser.at++;
    const body = parseList(parser, depth + 1);
    expectWord(parser, '}');
    return { kind: 'group', keyword: 'braces', body, background: takeBackground(parser), after: null };
  }
  return parseCommand(parser, depth);
}

function parseDo(parser: Parser, depth: number): Statement[] {
  expectWord(parser, 'do');
  const body = parseList(parser, depth + 1);
  expectWord(parser, 'done');
  return body;
}

function parseIf(parser: Parser, depth: number): Statement {
  const body: Statement[] = [];
  parser.at++;
  while (parser.at < parser.tokens.length) {
    body.push(...parseList(parser, depth + 1));
    const word = reserved(parser.tokens[parser.at]);
    if (word !== 'then' && word !== 'elif' && word !== 'else') break;
    parser.at++;
  }
  expectWord(parser, 'fi');
  return { kind: 'group', keyword: 'if', body, background: takeBackground(parser), after: null };
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
  return { kind: 'group', keyword: 'case', body, background: takeBackground(parser), after: null };
}

function parseCommand(parser: Parser, depth: number): Statement | undefined {
  const words: Word[] = [];
  const assignments: Word[] = [];
  while (parser.at < parser.tokens.length) {
    const token = parser.tokens[parser.at];
    if (token === undefined) break;
    if (token.kind === 'operator') {
      // `name() { ... }` declares a function.
      if (token.text === '(' && words.length === 1 && isOperator(parser.tokens[parser.at + 1], ')')) {
        parser.at += 2;
        while (isOperator(parser.tokens[parser.at], '\n')) parser.at++;
        const body = parseStatement(parser, depth + 1);
        return {
          kind: 'group',
          keyword: 'function',
          body: body === undefined ? [] : [body],
          background: false,
          after: null,
        };
      }
      if (token.text.includes('<') || token.text.includes('>')) {
        parser.at += parser.tokens[parser.at + 1]?.kind === 'word' ? 2 : 1;
        continue;
      }
      if (token.text === '(' && words.length === 0) {
        // The items of an array, `NAME=(a b)`, are not a program.
        while (parser.at < parser.tokens.length && !isOperator(parser.tokens[parser.at], ')')) parser.at++;
        parser.at++;
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
    // Nothing was consumed, so this is an operator; skip it to advance.
    if (parser.tokens[parser.at]?.kind === 'operator') parser.at++;
    return undefined;
  }
  return simple(words, assignments, takeBackground(parser));
}

function simple(words: readonly Word[], assignments: readonly Word[], background: boolean): SimpleCommand {
  return { kind: 'command', words, assignments, background, after: null };
}

function takeBackground(parser: Parser): boolean {
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
  return /^[A-Za-z_][A-Za-z0-9_]*=/.test(text);
}

import { once } from '../yaml/once.ts';
import type { Word } from './shell-lexer.ts';
import { parseScript, type SimpleCommand, type Statement, simple } from './shell-parser.ts';
import { Place, Scope, type Variable } from './variables.ts';
import { innerScript, readsScript } from './wrappers.ts';

export { baseName, type Word } from './shell-lexer.ts';
export {
  type Connector,
  type Group,
  type Loop,
  parseScript,
  type SimpleCommand,
  type Statement,
} from './shell-parser.ts';

/** A container's command line, with the scripts of `sh -c` parsed and known variables expanded. */
export interface CommandLine {
  readonly statements: readonly Statement[];
  /** A shell runs it, so words may be expanded. */
  readonly script: boolean;
  /** False if a part could not be parsed (an unclosed quote, a limit): the statements are correct but not complete. */
  readonly complete: boolean;
}

const none: readonly Variable[] = [];

/** What a container runs according to its `command` and `args`. Never throws; takes linear time. */
export function readCommandLine(
  command: readonly string[],
  args: readonly string[],
  env: readonly Variable[] = none,
): CommandLine {
  if (command.length === 0 && args.length === 0) return nothing;
  const lines = linesOf(command);
  const known = lines.find((one) => one.args === args && one.env === env);
  if (known !== undefined) return known.line;
  const same = lines.find((one) => isSame(args, one.args) && isSameEnv(env, one.env));
  const line = same?.line ?? readItems([...command, ...args], env);
  lines.unshift({ args, env, line });
  lines.length = Math.min(lines.length, maxLines);
  return line;
}

const nothing: CommandLine = { statements: [], script: false, complete: true };

interface ReadLine {
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly line: CommandLine;
}

/**
 * The lines that were read of each `command`. Dozens of rules read that of a container, some with its variables and some without, and each rule
 * visits all containers of a file before the next one starts.
 */
const linesByCommand = new WeakMap<readonly string[], ReadLine[]>();
const maxLines = 4;

function linesOf(command: readonly string[]): ReadLine[] {
  const known = linesByCommand.get(command);
  if (known !== undefined) return known;
  const lines: ReadLine[] = [];
  linesByCommand.set(command, lines);
  return lines;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

function isSameEnv(some: readonly Variable[], others: readonly Variable[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ name, value }, index) => name === others[index]?.name && value === others[index]?.value)
  );
}

function readItems(items: readonly string[], env: readonly Variable[]): CommandLine {
  const scope = Scope.of(env);
  const inner = innerScript(items);
  const reader = new Reader(items);
  if (inner === undefined || inner.launcher > 0 || inner.to !== inner.from + 1) {
    const words = items.map((text, item) => ({ text, dynamic: text.includes('$('), item, start: 0, end: text.length }));
    const statements = words.length === 0 ? [] : reader.unfold([simple(words, [], false)], scope, 0, false);
    return { statements, script: false, complete: reader.complete };
  }
  const statements = reader.read(items[inner.from] ?? '', inner.from, scope);
  return { statements, script: true, complete: reader.complete };
}

/** The statements of a shell script, for example one in a ConfigMap. */
export function readScript(text: string): CommandLine {
  const reader = new Reader([text]);
  const statements = reader.read(text, 0, Scope.of(none));
  return { statements, script: true, complete: reader.complete };
}

/** Scripts in scripts, such as `bash -c "su user -c '...'"`. */
const maxNesting = 4;

/** Reads one command line: expands the variables whose values are known, and parses the scripts that commands pass to other shells. */
class Reader {
  readonly #items: readonly string[];
  complete = true;

  constructor(items: readonly string[]) {
    this.#items = items;
  }

  read(text: string, item: number, scope: Scope): readonly Statement[] {
    const { statements, complete } = parseScript(text, item);
    this.complete &&= complete;
    return this.unfold(statements, scope, 0, true);
  }

  unfold(statements: readonly Statement[], scope: Scope, depth: number, isScript: boolean): readonly Statement[] {
    return statements.map((statement) => this.#unfoldOne(statement, scope, depth, isScript));
  }

  #unfoldOne(statement: Statement, scope: Scope, depth: number, isScript: boolean): Statement {
    if (statement.kind === 'command') return this.#command(statement, scope, depth, isScript);
    if (statement.kind === 'group') {
      const isOwn = statement.keyword === 'braces';
      const body = this.unfold(statement.body, isOwn ? scope : scope.inner(), depth, isScript);
      if (statement.keyword === 'if' || statement.keyword === 'case') forgetAssigned(statement.body, scope);
      return { ...statement, body };
    }
    // A loop may change a variable before the statement that uses it.
    forgetAssigned([...statement.condition, ...statement.body], scope);
    const condition = this.unfold(statement.condition, scope.inner(), depth, isScript);
    return { ...statement, condition, body: this.unfold(statement.body, scope.inner(), depth, isScript) };
  }

  #command(command: SimpleCommand, scope: Scope, depth: number, isScript: boolean): Statement {
    const place = new Place(this.#items, isScript);
    const words = command.words.flatMap((word) => scope.expand(word, place));
    const expanded = words.every((word, index) => word === command.words[index]) ? command : { ...command, words };
    // Assignments before a program belong to that program only.
    if (command.words.length === 0) {
      for (const word of command.assignments) scope.assign(word, place);
    } else if (/^(?:export|declare|local|typeset|readonly)$/.test(command.words[0]?.text ?? '')) {
      for (const word of command.words.slice(1)) scope.assign(word, place);
    } else if (command.words[0]?.text === '((') {
      for (const [name] of command.words[1]?.text.matchAll(/[A-Za-z_]\w*/g) ?? []) scope.forget(name);
    }
    for (const { name, words } of command.arrays ?? []) scope.assignArray(name, words, place);
    return depth < maxNesting ? this.#inner(expanded, scope, depth, place) : expanded;
  }

  #inner(command: SimpleCommand, scope: Scope, depth: number, place: Place): Statement {
    const { words, background, after } = command;
    const texts = words.map(({ text }) => text);
    const found = innerScript(texts);
    const first = found && words[found.from];
    if (found === undefined || first === undefined) return this.#fromHeredoc(command, texts, scope, depth);
    const joined = words.slice(found.from, found.to);
    const text = joined.map((word) => word.text).join(' ');
    const offset = joined.length === 1 ? place.offsetOf(first) : undefined;
    const { statements, complete } = parseScript(text, first.item);
    this.complete &&= complete;
    const placed = mapWords(statements, (word) =>
      offset === undefined
        ? { ...word, start: first.start, end: joined.at(-1)?.end ?? first.end, derived: true }
        : { ...word, start: word.start + offset, end: word.end + offset },
    );
    const body = this.unfold(placed, scope.inner(), depth + 1, true);
    const launcher = found.launcher === 0 ? [] : [{ ...command, words: words.slice(0, found.launcher), after: null }];
    return { kind: 'group', keyword: 'subshell', body: [...launcher, ...body], background, after };
  }

  /** The script in `bash <<EOF`. */
  #fromHeredoc(command: SimpleCommand, texts: readonly string[], scope: Scope, depth: number): Statement {
    const { heredoc, words, background, after } = command;
    const item = words[0]?.item;
    if (heredoc === undefined || item === undefined || !readsScript(texts)) return command;
    const { statements, complete } = parseScript(heredoc.text, item);
    this.complete &&= complete;
    const { start } = heredoc;
    const placed = mapWords(statements, (word) => ({ ...word, start: word.start + start, end: word.end + start }));
    const body = this.unfold(placed, scope.inner(), depth + 1, true);
    return { kind: 'group', keyword: 'subshell', body, background, after };
  }
}

function forgetAssigned(statements: readonly Statement[], scope: Scope): void {
  for (const { assignments, words, arrays } of allCommands(statements)) {
    for (const { text } of [...assignments, ...words]) {
      const name = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/.exec(text)?.[1];
      if (name !== undefined) scope.forget(name);
    }
    for (const { name } of arrays ?? []) scope.forget(name);
  }
}

function mapWords(statements: readonly Statement[], change: (word: Word) => Word): readonly Statement[] {
  return statements.map((statement): Statement => {
    if (statement.kind === 'group') return { ...statement, body: mapWords(statement.body, change) };
    if (statement.kind === 'loop') {
      const { condition, body } = statement;
      return { ...statement, condition: mapWords(condition, change), body: mapWords(body, change) };
    }
    const { words, assignments, arrays, heredoc } = statement;
    const { start } = change({ text: '', dynamic: false, item: 0, start: heredoc?.start ?? 0, end: 0 });
    return {
      ...statement,
      words: words.map(change),
      assignments: assignments.map(change),
      ...(heredoc && { heredoc: { ...heredoc, start } }),
      ...(arrays && { arrays: arrays.map(({ name, words }) => ({ name, words: words.map(change) })) }),
    };
  });
}

/** Every simple command, also those in loops and groups, in text order. */
export const allCommands = once((statements: readonly Statement[]): readonly SimpleCommand[] =>
  statements.flatMap((statement) => {
    if (statement.kind === 'command') return [statement];
    if (statement.kind === 'loop') return [...allCommands(statement.condition), ...allCommands(statement.body)];
    return allCommands(statement.body);
  }),
);

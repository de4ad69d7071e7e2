import { wordSet } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import { baseName, type SimpleCommand, type Statement } from './shell.ts';

/**
 * The commands that run in every run that comes to them, and whose failure nothing handles: not those in branches and functions, after `||` or a test,
 * or before `||`.
 */
export const certainCommands = once((statements: readonly Statement[]): readonly SimpleCommand[] => {
  const found: SimpleCommand[] = [];
  /** Whether the chain of the statement has come to a `||`; read from the end, as it is about what follows. */
  let isHandled = false;
  const handled = statements.map(() => false);
  for (let index = statements.length - 1; index >= 0; index -= 1) {
    handled[index] = isHandled;
    const after = statements[index]?.after;
    isHandled = after === '||' || (after !== null && isHandled);
  }
  const dependent = conditionalStatements(statements);
  for (const [index, statement] of statements.entries()) {
    if (!dependent.has(statement) && handled[index] === false) found.push(...commandsIn(statement));
  }
  return found;
});

/** The statements that run only if a test of an unknown state succeeds, or if what is before them fails. */
export const conditionalStatements = once((statements: readonly Statement[]): ReadonlySet<Statement> => {
  const found = new Set<Statement>();
  let isTested = false;
  for (const statement of statements) {
    if (statement.after === null) isTested = false;
    if (statement.after === '||') isTested = true;
    if (isTested) found.add(statement);
    if (isTest(statement)) isTested = true;
  }
  return found;
});

function commandsIn(statement: Statement): readonly SimpleCommand[] {
  if (statement.kind === 'command') return [statement];
  if (statement.kind === 'loop') return statement.keyword === 'for' ? certainCommands(statement.body) : [];
  return statement.keyword === 'subshell' || statement.keyword === 'braces' ? certainCommands(statement.body) : [];
}

/** Whether what follows after `&&` depends on a state that is unknown. */
function isTest(statement: Statement): boolean {
  if (statement.kind !== 'command') return false;
  const [first] = statement.words;
  return first !== undefined && (tests.has(baseName(first.text)) || statement.words.some(({ text }) => text === '!'));
}

const tests = wordSet('[ [[ test ! command which type hash grep id mountpoint false pgrep diff cmp');

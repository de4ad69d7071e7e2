import { foregroundDaemon } from './background.ts';
import { conditionalStatements } from './certain-commands.ts';
import { timeLimit } from './durations.ts';
import { waitOf } from './effects.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { baseName, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** A command that only runs when what is before it has ended, which it never does by itself. */
export interface Unreached {
  /** A server, or a wait without an end. */
  readonly first: 'server' | 'wait';
  readonly server: string;
  readonly client: string;
  readonly words: readonly [Word, Word];
}

/** The first client, benchmark or further server after a server in the foreground. */
export function unreachedClient(statements: readonly Statement[]): Unreached | undefined {
  const at = statements.findIndex(staysInFront);
  const server = statements[at];
  if (server?.kind !== 'command') return undefined;
  const [next] = statements.slice(at + 1);
  // Only a server that fails comes to `||`, and a pipe runs at the same time.
  if (next === undefined || next.after === '||' || next.after === '|') return undefined;
  const client = statements
    .slice(at + 1)
    .find((one): one is SimpleCommand => one.kind === 'command' && needsServer(one));
  const [first, last] = [client?.words[0], client?.words.at(-1)];
  if (client === undefined || first === undefined || last === undefined) return undefined;
  return { first: 'server', server: shortName(server), client: shortName(client), words: [first, last] };
}

/** The first server or other work of a model after a wait without an end in the foreground. */
export function unreachedWork(statements: readonly Statement[]): Unreached | undefined {
  const conditional = conditionalStatements(statements);
  for (const [index, statement] of statements.entries()) {
    const server = conditional.has(statement) || statement.after === '|' ? undefined : endlessWait(statement);
    const later = server === undefined ? [] : statements.slice(index + 1);
    if (server === undefined || /^\|/.test(later[0]?.after ?? '')) continue;
    const work = later.find((one): one is SimpleCommand => one.kind === 'command' && isWork(one));
    const [first, last] = [work?.words[0], work?.words.at(-1)];
    if (work !== undefined && first !== undefined && last !== undefined)
      return { first: 'wait', server, client: shortName(work), words: [first, last] };
  }
  return undefined;
}

/** What certainly never ends by itself: `sleep infinity`, `ray start --block`. */
function endlessWait(statement: Statement): string | undefined {
  if (statement.background) return undefined;
  const wait = waitOf(statement);
  if (wait?.seconds === Number.POSITIVE_INFINITY) return wait.what;
  return statement.kind === 'command' && timeLimit(statement) === undefined ? foregroundDaemon(statement) : undefined;
}

function isWork(statement: SimpleCommand): boolean {
  const found = recognizeProgram([statement]);
  return found?.confidence === 'certain' && /^(?:serving|batch|training)$/.test(found.use);
}

/** Whether a server certainly runs in the foreground until it is stopped. */
function staysInFront(statement: Statement): boolean {
  if (statement.kind !== 'command' || statement.background || timeLimit(statement) !== undefined) return false;
  if (statement.words.some(({ text }) => /^(?:-h|--help|--version|-d|--detach|--daemon|&>?)$/.test(text))) return false;
  const found = recognizeProgram([statement]);
  return found?.use === 'serving' && found.confidence === 'certain';
}

function needsServer(statement: SimpleCommand): boolean {
  const [program = '', ...rest] = programWords(statement);
  const name = baseName(program);
  if (statement.after === '||' || waitOf(statement) !== undefined) return false;
  if (name === 'ollama') return /^(?:pull|run|create|serve)$/.test(rest[0] ?? '');
  if (name === 'curl' || name === 'wget')
    // Such a request can tell a sidecar to stop.
    return (
      rest.every((word) => !/quit|exit|shutdown|stop|terminate|drain/i.test(word)) &&
      rest.some((word) => /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::|\/|$)/.test(word))
    );
  const found = recognizeProgram([statement]);
  return found?.confidence === 'certain' && (found.use === 'serving' || found.use === 'batch');
}

function shortName(command: SimpleCommand): string {
  const [program = '', task = ''] = programWords(command);
  const isTask = /^[a-z][\w-]*$/.test(task);
  const module = task === '-m' ? programWords(command)[2] : undefined;
  return module ?? (isTask ? `${baseName(program)} ${task}` : baseName(program));
}

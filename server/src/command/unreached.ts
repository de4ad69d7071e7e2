import { timeLimit } from './durations.ts';
import { waitOf } from './effects.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { baseName, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** A command that is meant to run next to a server, but only runs when the server has ended. */
export interface Unreached {
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
  return { server: shortName(server), client: shortName(client), words: [first, last] };
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

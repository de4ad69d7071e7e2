import { commandNamed } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import { foregroundFlag } from './background.ts';
import { chosenTask } from './chosen-task.ts';
import { timeLimit } from './durations.ts';
import { doesOf, effectOf, isScript, onlyListsDevices, runsUnknownScript, waitOf } from './effects.ts';
import { pythonCode } from './inline-python.ts';
import { wordsOf } from './name-words.ts';
import type { ProcessInput } from './processes.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { hasTrainingFlag } from './script-names.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Statement, type Word } from './shell.ts';
import { isPlainName, serverWords, staysWithTask } from './staying-names.ts';

/** A command line that certainly ends. */
export interface Ending {
  /** The command that works, as written. */
  readonly what: string;
  readonly words: readonly [Word, Word];
  /** The flag that keeps it in the foreground, for a program that goes on in the background when its command ends. */
  readonly foreground?: string;
  /** The seconds after which `timeout` ends it. */
  readonly limit?: number;
}

/**
 * The work of a command line that certainly ends: no part of it waits, serves, runs in the background, or is unknown.
 * @param trains whether a Python script of unknown use trains, according to its surroundings
 * @param serves whether others may reach the program or send it work, so that its name alone does not say that it ends
 */
export function findEnding({ command, args, env }: ProcessInput, trains = false, serves = false): Ending | undefined {
  const line = readCommandLine(command, args, env);
  if (!line.complete || line.statements.some((statement) => waitOf(statement) !== undefined || mayStay(statement)))
    return undefined;
  const flags = line.statements.map(foregroundFlag);
  const isTraining = (statement: Statement) => trains && runsUnknownScript(statement);
  const effects = line.statements.map((statement, index) =>
    flags[index] === undefined && !isTraining(statement) ? effectOf(statement) : 'works',
  );
  if (effects.some((effect) => effect === 'unknown' || effect === 'waits')) return undefined;
  // Before a wait, a script of any name has ended; alone, many names are also those of servers.
  if (
    allCommands(line.statements).some(
      (command) =>
        effectOf(command) === 'works' && !endsForSure(command, env, serves) && !(trains && mayTrain(command)),
    )
  )
    return undefined;
  const at = effects.lastIndexOf('works');
  const main = at >= 0 ? line.statements[at] : line.statements.filter(onlyListsDevices).at(-1);
  const last =
    main &&
    allCommands([main])
      .filter(({ words }) => words.length > 0)
      .at(-1);
  const first = last?.words[0];
  const end = last?.words.at(-1);
  if (last === undefined || first === undefined || end === undefined) return undefined;
  const foreground = flags[at];
  const limit = timeLimit(last);
  return {
    what: programWords(last).join(' '),
    words: [first, end],
    ...(foreground && { foreground }),
    ...(limit !== undefined && { limit }),
  };
}

/** Whether a command runs a script of any name but that of a server, and nothing but a flag says that it trains. */
function mayTrain(command: SimpleCommand): boolean {
  const words = programWords(command);
  if (words.some(mayWait)) return false;
  if (isScript(command)) return true;
  const script = words.find((word) => word.endsWith('.py'));
  if (script === undefined || !hasTrainingFlag(words)) return false;
  return isPlainName(script) && !wordsOf(baseName(script)).some((word) => roles.has(word));
}

/** Whether a word of a command names a role or a flag with which a program waits for others: a client of federated learning for the next round. */
function mayWait(word: string): boolean {
  if (ofBroker.test(word)) return true;
  const [name = '', value = ''] = word.startsWith('-') ? word.split('=') : ['', word];
  const parts = wordsOf(name);
  const repeats =
    /^(?:watch|continuous(?:ly)?)$/.test(parts[0] ?? '') || (parts.length === 1 && again.has(parts[0] ?? ''));
  return roles.has(value.toLowerCase()) || repeats || parts.some((part) => connections.has(part));
}

/** Whether a variable says where a program gets its work, or when it starts again. */
function bringsWork({ name, value }: ProcessInput['env'][number]): boolean {
  const words = wordsOf(name);
  const isAddress = /^(?:url|uri|endpoint|host|addr|address|api|server)$/.test(words.at(-1) ?? '');
  return (
    ofBroker.test(value ?? '') ||
    words.some((word) => (sources.has(word) && words[0] !== 'lr') || (isAddress && /^(?:task|job|api)s?$/.test(word)))
  );
}

const sources = wordSet(
  'queue queues broker brokers redis rabbitmq rabbit amqp kafka nats sqs pubsub subscription topic mqtt celery zmq',
  'temporal hatchet dramatiq rq poll polling cron daemon consumer scheduler',
);

const roles = wordSet('client actor learner worker server service daemon serve consumer producer peer');
/** Flags after which work starts again; with other words, they are those of training: `--save-interval`. */
const again = wordSet('schedule interval loop every infinite');
const connections = wordSet(
  'server client peer peers topic broker kafka redis rabbitmq amqp grpc rpc',
  'listen port poll forever cron daemon daemonize serve',
);
const ofBroker = /(?:amqps?|rediss?|kafka|nats|mqtts?|grpc|wss?):\/\//;

/** The training that certainly ends in a branch of a script's last `if`, which the number of the pod decides. */
export const findBranchEnding = once(({ command, args, env }: ProcessInput): Ending | undefined => {
  const { complete, statements } = readCommandLine(command, args, env);
  const last = statements.at(-1);
  if (!complete || last?.kind !== 'group' || last.keyword !== 'if' || last.background || last.after !== null)
    return undefined;
  const parts = (last.ends ?? []).map((end, index, ends) => last.body.slice(ends[index - 1] ?? 0, end));
  const tested = allCommands(parts[0] ?? []).flatMap(({ words }) => words.map(({ text }) => text));
  if (!tested.some((text) => ofPod.test(text)) || !statements.slice(0, -1).every(isPreparing)) return undefined;
  for (const part of parts.slice(1)) {
    const work = part.at(-1);
    if (work?.kind !== 'command' || work.background || work.after !== null || !part.slice(0, -1).every(isPreparing))
      continue;
    const [first, end] = [work.words[0], work.words.at(-1)];
    const trains = recognizeProgram([work])?.use === 'training' && endsForSure(work, env);
    const launches = commandNamed(baseName(programWords(work)[0] ?? ''))?.runs === 'processes';
    if (trains && !launches && first && end) return { what: programWords(work).join(' '), words: [first, end] };
  }
  return undefined;
});

/** Variables that differ between the pods of one object. */
const ofPod = /\$\{?(?:\w*_)?(?:ORDINAL|RANK|INDEX|HOSTNAME|POD_NAME)\b/i;

/** Whether a statement ends in the foreground without a server. */
function isPreparing(statement: Statement): boolean {
  const effect = effectOf(statement);
  return waitOf(statement) === undefined && !mayStay(statement) && (effect === 'nothing' || effect === 'works');
}

/** Whether a command that works is known to end by more than the name of its script. */
function endsForSure(command: SimpleCommand, env: ProcessInput['env'], serves = false): boolean {
  if (doesOf(command) === 'ends' || pythonCode(command) !== undefined || timeLimit(command) !== undefined) return true;
  const found = recognizeProgram([command]);
  if (found === undefined || found.confidence === 'certain') return found !== undefined;
  const words = programWords(command);
  const named = wordsOf(found.program);
  const isTold = trainingTask.has(chosenTask(words.slice(words.findIndex(isFile) + 1)) ?? '');
  if (named.some((word) => repeating.has(word)) || (serves && (isTold || found.use !== 'training'))) return false;
  if (isTold ? staysWithTask(found.program) : named.some((word) => serverWords.has(word) || word === 'trainer'))
    return false;
  if (words.some(mayWait) || env.some(bringsWork)) return false;
  return found.use === 'training' || named.some((word) => stepWords.has(word));
}

/** What work that starts again by itself is called, and work after which a server starts. */
const repeating = wordSet(
  'loop continuous continuously continual online live realtime periodic scheduled incremental auto watch',
  'serve serving server api',
);

const trainingTask = wordSet('train fit finetune fine-tune pretrain');

function isFile(word: string): boolean {
  return word.endsWith('.py');
}

/** Words in the names of scripts that prepare or measure something. */
const stepWords: ReadonlySet<string> = new Set([
  ...['download', 'downloader', 'convert', 'converter', 'export', 'preprocess', 'tokenize', 'prepare', 'quantize'],
  ...['merge', 'upload', 'benchmark', 'benchmarks', 'bench', 'smoke', 'sanity', 'selftest', 'evaluate'],
]);

/** Loops without a known end, and launchers of programs whose use is unknown. */
function mayStay(statement: Statement): boolean {
  if (statement.kind === 'loop') return statement.keyword !== 'for' || statement.body.some(mayStay);
  if (statement.kind === 'group') return statement.body.some(mayStay);
  const words = programWords(statement);
  const launches =
    commandNamed(baseName(words[0] ?? ''), words[1])?.runs ?? commandNamed(baseName(words[0] ?? ''))?.runs;
  const trains = hasTrainingFlag(words) && !words.some(mayWait);
  return launches === 'processes' && !trains && recognizeProgram([statement])?.confidence !== 'certain';
}

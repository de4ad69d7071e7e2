import { either, oneOf } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import type { ProcessInput } from './processes.ts';
import { programWords } from './programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** A launcher that nothing tells how many processes to start on its node. */
export interface DefaultLaunch {
  readonly count: 1 | 'all';
  /** The launcher or its module: `torch.distributed.run`. */
  readonly name: string;
  readonly word: Word;
}

/** What launchers start by default: one process, or one per GPU. https://github.com/pytorch/torchtune/blob/main/docs/source/tune_cli.rst */
const defaults: ReadonlyMap<string, 1 | 'all'> = new Map<string, 1 | 'all'>([
  ['torchrun', 1],
  ['torch.distributed.run', 1],
  ['torch.distributed.launch', 1],
  ['tune run', 1],
  ['accelerate launch', 'all'],
  ['composer', 'all'],
  ['deepspeed', 'all'],
]);

/** The only launcher of a command line, if it starts the number of processes that is its default. */
export const defaultLaunch = once(({ command, args, env }: ProcessInput): DefaultLaunch | undefined => {
  const { statements, complete } = readCommandLine(command, args, env);
  const commands = allCommands(statements);
  const [only, ...others] = commands.flatMap((one) => launchIn(one) ?? []);
  const texts = [...env.map(({ name }) => name), ...commands.flatMap(({ words }) => words.map(({ text }) => text))];
  return complete && others.length === 0 && !texts.some((text) => setsNumber.test(text)) ? only : undefined;
});

/** Also the variables of torchrun and of accelerate, and a file that may set them. */
const setsNumber = /nproc|\bPET_|\bACCELERATE_|^(?:\.|source)$/i;

function launchIn(command: SimpleCommand): DefaultLaunch | undefined {
  const words = programWords(command);
  const [first = '', second = '', third = ''] = words;
  const program = baseName(first);
  const isModule = second === '-m' && /^python[\d.]*$/.test(program);
  const isPair = defaults.has(`${program} ${second}`);
  const name = isModule ? third : isPair ? `${program} ${second}` : program;
  const count = defaults.get(name);
  const word = command.words.find(({ text }) => text === (isModule ? third : first));
  if (count === undefined || word === undefined) return undefined;
  const options = words.slice(isModule ? 3 : isPair ? 2 : 1);
  const end = options.findIndex(
    (text, at) => text.endsWith('.py') || !(text.startsWith('-') || takesValue.test(options[at - 1] ?? '')),
  );
  // A variable in the place of the program may hold options.
  const isOpen = options[end]?.includes('$') === true;
  const own = end < 0 ? options : options.slice(0, end);
  return isOpen || own.some((text) => choosesDevices.test(text)) ? undefined : { count, name, word };
}

/** An option whose value is the next word; not a switch of torchrun, and not `--`. */
const takesValue = /^-(?!-?(?:|standalone|no[-_]python|run[-_]path|use[-_]env)$)[^=]*$/;

const choosesDevices = either(
  // Options that start nothing, or say how many devices there are, and which.
  new RegExp(
    `^-{1,2}(?:${oneOf('version help num[-_] n$ i$ e$ H$', 'include exclude hostfile launcher config cpu gpu tpu world')})`,
  ),
  // Variables that may hold options.
  /\$\{?\w*(?:ARG|OPT|FLAG)|\$[@*]/,
);

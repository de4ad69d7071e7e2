import { launcherNames } from '../catalog/program-records.ts';
import type { ProcessInput } from './processes.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** A launcher that nothing tells how many processes to start on its node. */
export interface DefaultLaunch {
  /** torchrun starts one, other launchers one per GPU. */
  readonly count: 1 | 'all';
  /** The launcher or its module: `torch.distributed.run`. */
  readonly text: string;
  readonly words: readonly [Word, Word];
}

/** The only launcher of a command line, if it starts the number of processes that is its default. */
export function defaultLaunch({ command, args, env }: ProcessInput): DefaultLaunch | undefined {
  const { statements, complete } = readCommandLine(command, args, env);
  const commands = allCommands(statements);
  const [only, ...others] = commands.flatMap((one) => launchIn(one) ?? []);
  if (!complete || only === undefined || others.length > 0) return undefined;
  // Variables of torchrun and of accelerate also set the number.
  const isSet =
    env.some(({ name }) => setsNumber.test(name)) ||
    commands.some(({ words }) => words.some(({ text }) => setsNumber.test(text)));
  return isSet ? undefined : only;
}

const setsNumber = /nproc|\bPET_|\bACCELERATE_/i;

function launchIn({ words }: SimpleCommand): DefaultLaunch | undefined {
  for (let from = 0; from < words.length; from++) {
    const to = launcherEnd(words, from);
    const [first, last] = [words[from], words[to]];
    if (first === undefined || last === undefined) continue;
    const program = launcherNames().get(baseName(last.text)) ?? launcherNames().get(baseName(first.text)) ?? 'torchrun';
    const options = optionsAfter(words, to + 1);
    const others = numberOptions.get(program);
    if (others === undefined || options === undefined || options.some(({ text }) => others.test(text)))
      return undefined;
    const name = words.slice(from, to + 1).map((word) => baseName(word.text));
    const text = isPython(name[0]) ? (name.at(-1) ?? '') : name.join(' ');
    return { count: program === 'torchrun' ? 1 : 'all', text, words: [first, last] };
  }
  return undefined;
}

/** Options by which launchers choose their processes; those of torchrun are variables, too. */
const numberOptions: ReadonlyMap<string, RegExp> = new Map([
  ['torchrun', /^--(?:standalone-)?nproc/],
  ['deepspeed', /^-{1,2}(?:num_|include|exclude|hostfile|launcher|elastic|[ieH]$)/],
  ['accelerate', /^--(?:num[-_]proc|config|cpu|gpu|tpu)/],
  ['composer', /^-(?:n|-nproc|-world)/],
]);

/** The index of the last word of the launcher's name; -1 if there is none at that place. */
function launcherEnd(words: readonly Word[], at: number): number {
  const [first = '', second = '', third = ''] = words.slice(at, at + 3).map(({ text }) => baseName(text));
  if (isPython(first)) return second === '-m' && launcherNames().has(third) ? at + 2 : -1;
  // https://github.com/pytorch/torchtune/blob/main/docs/source/tune_cli.rst
  if (first === 'tune') return second === 'run' ? at + 1 : -1;
  if (first === 'accelerate') return second === 'launch' ? at + 1 : -1;
  return /^(?:torchrun|deepspeed|composer)$/.test(first) ? at : -1;
}

function isPython(name: string | undefined): boolean {
  return name !== undefined && /^python[\d.]*$/.test(name);
}

/** The options before the program that is launched; undefined if a variable holds some of them. */
function optionsAfter(words: readonly Word[], from: number): readonly Word[] | undefined {
  const options: Word[] = [];
  for (let at = from; at < words.length; at++) {
    const { text = '', dynamic = false } = words[at] ?? {};
    if (text.endsWith('.py')) return options;
    const isOption = text.startsWith('-');
    const before = words[at - 1]?.text ?? '';
    const mayBeValue = at > from && before.startsWith('-') && !before.includes('=');
    if (!isOption && !mayBeValue) return dynamic ? undefined : options;
    if (!isOption && dynamic && /\$(?:@|\*|\w*(?:ARG|OPT|FLAG))/i.test(text)) return undefined;
    const word = words[at];
    if (word !== undefined) options.push(word);
  }
  return options;
}

import { bytesOfFormat, type FlagMeaning } from '../catalog/flags.ts';
import { type FlagName, meaningOf, takesValue } from './flag-meaning.ts';
import { type Flag, readFlags } from './flags.ts';
import type { ProcessInput } from './processes.ts';
import { recognizeProgram } from './programs.ts';
import { allCommands, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** What a command line says of the memory that a model server will use. */
export interface ModelServer {
  /** As it is written: `organisation/model`, a path, an address; undefined where nothing names one. */
  readonly model: string | undefined;
  /** Bytes of one parameter and of one number of the cache: 16 bits are what most models are published in; null where the format is not known. */
  readonly bytes: 2 | 4 | null;
  /** Tokens of the longest request; undefined: the model's own limit; null where the length is written in an unknown way. */
  readonly context: number | null | undefined;
  /** Somebody has sized it for many requests at a time, or as a part of a larger system: more memory is of use. */
  readonly tuned: boolean;
}

/** The servers whose flags are known, by the names that `recogniseProgram` gives. */
export const modelServers: ReadonlySet<string> = new Set([
  'vllm',
  'sglang',
  'text-generation-launcher',
  'huggingfaceserver',
]);

/**
 * What the one model server of a container says of its model. Undefined where it is not the only thing that runs, where a script, a file or an
 * expansion may say more than is read, and where it may use only a part of its device.
 * @param entrypoint the server that the image starts without a command
 */
export function readModelServer(input: ProcessInput, entrypoint: string | undefined): ModelServer | undefined {
  const found = findServer(input, entrypoint);
  if (found === undefined) return undefined;
  const { program, words } = found;
  const isTgi = program === 'text-generation-launcher';
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const model = positional(words);
  if (hasUnknown(words, flags, model)) return undefined;

  const written = flags.map((flag): Setting => ({ ...flag, value: expand(flag.value, input) }));
  // Each flag of TGI is a variable, too; a flag counts before it.
  const settings = isTgi ? [...input.env.map(asSetting), ...written] : written;
  const of = (means: FlagMeaning) => settings.filter((setting) => meaningOf(setting, means, program) !== undefined);
  const fraction = of('memory-fraction').at(-1);
  if (fraction !== undefined && !(Number(fraction.value) >= minFraction)) return undefined;
  if (of('settings-file').length > 0) return undefined;

  const named = of('model').at(-1);
  const length = of('context-length').at(-1);
  const stretched = of('context-stretch').length > 0;
  return {
    model: named === undefined ? expand(model?.text, input) : named.value,
    bytes: bytesOf(of('number-format').map(({ value }) => value)),
    context: stretched ? null : length === undefined ? undefined : tokens(length.value),
    tuned: requestFlags.some((means) => of(means).length > 0) || input.env.some(({ name }) => /LORA/.test(name)),
  };
}

interface Setting extends FlagName {
  readonly value: string | undefined;
}

/** What somebody sets who expects many requests, or more devices. */
const requestFlags: readonly FlagMeaning[] = ['request-capacity', 'data-parallel', 'pipeline-parallel'];

/** `MAX_BATCH_SIZE` as `max-batch-size`. */
function asSetting({ name, value }: ProcessInput['env'][number]): Setting {
  return { name: name.toLowerCase().replaceAll('_', '-'), written: name, value };
}

/** The only server, started once and for itself. */
function findServer(input: ProcessInput, entrypoint: string | undefined) {
  const { statements, complete, script } = readCommandLine(input.command, input.args);
  const commands = allCommands(statements);
  if (!complete || commands.some(({ background }) => background)) return undefined;
  const servers = commands.flatMap((command) => {
    const found = recognizeProgram([command]);
    return found?.use === 'serving' ? [{ program: found.program, command }] : [];
  });
  const [only, ...others] = servers;
  if (only !== undefined) {
    const isKnown = modelServers.has(only.program) && statements.includes(only.command);
    return isKnown && others.length === 0 ? { program: only.program, words: only.command.words } : undefined;
  }
  if (entrypoint === undefined || !modelServers.has(entrypoint) || input.command.length > 0 || script) return undefined;
  return { program: entrypoint, words: commands.flatMap(({ words }: SimpleCommand) => words) };
}

/** Words that may stand for further flags. The value of a flag may be an expansion where the flag is known to take one. */
function hasUnknown(words: readonly Word[], flags: readonly Flag[], model: Word | undefined): boolean {
  const read = new Set<Word | undefined>([model]);
  for (const flag of flags) {
    if (flag.word.text.includes('=')) read.add(flag.word);
    else if (takesValue(flag)) read.add(flag.valueWord);
  }
  return words.some((word) => (word.dynamic || word.text.includes('$')) && !read.has(word));
}

/** Who takes less of the card than this, leaves the rest to others on purpose. The servers' own defaults are about 0.9. */
const minFraction = 0.8;

/** Quantised weights have scales and layers in other formats besides the bits of their name: their size is unknown. */
function bytesOf(formats: readonly (string | undefined)[]): 2 | 4 | null {
  const bytes = formats.map((format) => bytesOfFormat(format ?? ''));
  if (bytes.includes(undefined)) return null;
  return bytes.includes(4) ? 4 : 2;
}

/** `vllm serve organisation/model`, and images that start a server with what they are given. */
function positional(words: readonly Word[]): Word | undefined {
  const first = words[words.findIndex(({ text }) => text === 'serve') + 1];
  return first === undefined || first.text.startsWith('-') ? undefined : first;
}

/** A word that is one variable of the container, `$(NAME)`, `$NAME` or `${NAME}`, has its value; other expansions are not known. */
function expand(text: string | undefined, { env }: ProcessInput): string | undefined {
  const name = /^\$(?:\((\w+)\)|\{(\w+)\}|(\w+))$/
    .exec(text ?? '')
    ?.slice(1)
    .find(Boolean);
  if (name !== undefined) return env.find((one) => one.name === name)?.value;
  return text?.includes('$') ? undefined : text;
}

/** `32768`, `32k` (thousands) and `32K` (of 1,024), as vLLM reads them. */
function tokens(text: string | undefined): number | null {
  const [, digits, unit = ''] = /^(\d{1,8})([kK]?)$/.exec(text ?? '') ?? [];
  if (digits === undefined || Number(digits) === 0) return null;
  return Number(digits) * (unit === 'k' ? 1000 : unit === 'K' ? 1024 : 1);
}

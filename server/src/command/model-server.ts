import { bytesOfFormat, type FlagMeaning } from '../catalog/flag-records.ts';
import { type FlagName, meaningOf, takesValue } from './flag-meaning.ts';
import { type Flag, readFlags } from './flags.ts';
import type { ProcessInput } from './processes.ts';
import { recognizeProgram } from './programs.ts';
import { allCommands, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** The settings on a command line that decide how much memory a model server uses. */
export interface ModelServer {
  /** As written: `organization/model`, a path or an address; undefined if none is named. */
  readonly model: string | undefined;
  /** Bytes of one parameter and of one cached number: 2 by default, as most models are published in 16 bits; null if the format is unknown. */
  readonly bytes: 2 | 4 | null;
  /** The longest request, in tokens; undefined: the model's own limit; null: a length in an unknown form. */
  readonly context: number | null | undefined;
  /** The server is sized for many concurrent requests or as a part of a larger system, so it can use more memory. */
  readonly tuned: boolean;
}

/** The servers whose flags are known, by the names that `recognizeProgram` returns. */
export const modelServers: ReadonlySet<string> = new Set([
  'vllm',
  'sglang',
  'text-generation-launcher',
  'huggingfaceserver',
]);

/**
 * The settings of a container's model server. Undefined if the server is not the only one or runs next to background processes, if a script,
 * a file or an expansion may add flags, and if it may use only a part of its device.
 * @param entrypoint the server that the image starts if there is no command
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
  // Each flag of TGI is also a variable; the flag takes precedence.
  const settings = isTgi ? [...input.env.map(asSetting), ...written] : written;
  const withMeaning = (means: FlagMeaning) =>
    settings.filter((setting) => meaningOf(setting, means, program) !== undefined);
  const fraction = withMeaning('memory-fraction').at(-1);
  if (fraction !== undefined && !(Number(fraction.value) >= minFraction)) return undefined;
  if (withMeaning('settings-file').length > 0) return undefined;

  const named = withMeaning('model').at(-1);
  const length = withMeaning('context-length').at(-1);
  const stretched = withMeaning('context-stretch').length > 0;
  return {
    model: named === undefined ? expand(model?.text, input) : named.value,
    bytes: bytesOf(withMeaning('number-format').map(({ value }) => value)),
    context: stretched ? null : length === undefined ? undefined : tokens(length.value),
    tuned:
      requestFlags.some((means) => withMeaning(means).length > 0) || input.env.some(({ name }) => /LORA/.test(name)),
  };
}

interface Setting extends FlagName {
  readonly value: string | undefined;
}

/** Flags that people set to serve many requests or to use more devices. */
const requestFlags: readonly FlagMeaning[] = ['request-capacity', 'data-parallel', 'pipeline-parallel'];

/** `MAX_BATCH_SIZE` as `max-batch-size`. */
function asSetting({ name, value }: ProcessInput['env'][number]): Setting {
  return { name: name.toLowerCase().replaceAll('_', '-'), written: name, value };
}

/** The only server, started once. */
function findServer(input: ProcessInput, entrypoint: string | undefined) {
  const { statements, complete, script } = readCommandLine(input.command, input.args, input.env);
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

/** Whether a word may expand to more flags. The value of a flag that is known to take one cannot. */
export function hasUnknown(words: readonly Word[], flags: readonly Flag[], model: Word | undefined): boolean {
  const read = new Set<Word | undefined>([model]);
  for (const flag of flags) {
    if (flag.word.text.includes('=')) read.add(flag.word);
    else if (takesValue(flag)) read.add(flag.valueWord);
  }
  return words.some((word) => (word.dynamic || word.text.includes('$')) && !read.has(word));
}

/** A smaller fraction leaves the rest of the card to others on purpose. The servers' own defaults are about 0.9. */
const minFraction = 0.8;

/** Quantized weights also contain scales and layers in other formats, so their size is unknown. */
function bytesOf(formats: readonly (string | undefined)[]): 2 | 4 | null {
  const bytes = formats.map((format) => bytesOfFormat(format ?? ''));
  if (bytes.includes(undefined)) return null;
  return bytes.includes(4) ? 4 : 2;
}

/** The model in `vllm serve organization/model`, or in the arguments of an image that starts a server. */
export function positional(words: readonly Word[]): Word | undefined {
  const first = words[words.findIndex(({ text }) => text === 'serve') + 1];
  return first === undefined || first.text.startsWith('-') ? undefined : first;
}

/** The value of a word that is one variable of the container (`$(NAME)`, `$NAME` or `${NAME}`); undefined for other expansions. */
export function expand(text: string | undefined, { env }: ProcessInput): string | undefined {
  const [, name, fallback] = /^\$(?:\(|\{)?(\w+)(?::-([^${}]*))?(?:\)|\})?$/.exec(text ?? '') ?? [];
  if (name !== undefined) return env.find((one) => one.name === name)?.value ?? fallback;
  return text?.includes('$') ? undefined : text;
}

/** `32768`, `32k` (× 1,000) and `32K` (× 1,024), as vLLM reads them. */
export function tokens(text: string | undefined): number | null {
  const [, digits, unit = ''] = /^(\d{1,8})([kK]?)$/.exec(text ?? '') ?? [];
  if (digits === undefined || Number(digits) === 0) return null;
  return Number(digits) * (unit === 'k' ? 1000 : unit === 'K' ? 1024 : 1);
}

import type { FlagMeaning } from '../catalog/flag-records.ts';
import { meaningOf } from './flag-meaning.ts';
import { readFlags } from './flags.ts';
import { positional } from './model-server.ts';
import type { ProcessInput } from './processes.ts';
import { recognizeProgram } from './programs.ts';
import { allCommands, readCommandLine, type Word } from './shell.ts';

/** A value on the command line of a model server, with its first and last word. */
export interface ServedValue {
  readonly value: string;
  readonly words: readonly [Word, Word];
}

/** What a container's only model server loads, and in which quantization; values that are unknown are missing. */
export interface ServedFlags {
  readonly model: ServedValue | undefined;
  readonly quantization: ServedValue | undefined;
  /** The format of numbers, as vLLM and SGLang name it. */
  readonly dtype: ServedValue | undefined;
  /** The format of the KV cache. */
  readonly cacheType: ServedValue | undefined;
}

/** The model and quantization of the only model server of a container. */
export function readServedFlags(input: ProcessInput, entrypoint: string | undefined): ServedFlags | undefined {
  const { statements, complete, script } = readCommandLine(input.command, input.args, input.env);
  const commands = allCommands(statements).filter(({ words }) => words.length > 0);
  const servers = commands.filter((command) => recognizeProgram([command])?.use === 'serving');
  const byImage = entrypoint !== undefined && servers.length === 0 && input.command.length === 0 && !script;
  const [command, ...others] = byImage ? commands : servers;
  if (!complete || command === undefined || others.length > 0) return undefined;
  const { words } = command;
  const program = byImage ? entrypoint : recognizeProgram([command])?.program;
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const last = (means: FlagMeaning, known: (name: string) => boolean = () => true): ServedValue | undefined => {
    const flag = flags
      .filter((one) => meaningOf(one, means, program ?? undefined) !== undefined && known(one.name))
      .at(-1);
    if (flag?.value === undefined || flag.dynamic) return undefined;
    return { value: flag.value, words: [flag.word, flag.valueWord ?? flag.word] };
  };
  const first = positional(words);
  const model =
    last('model') ?? (first === undefined || first.dynamic ? undefined : { value: first.text, words: [first, first] });
  const [quantization, dtype] = ['q', 'dtype'].map((start) => last('number-format', (name) => name.startsWith(start)));
  return { model, quantization, dtype, cacheType: last('cache-type') };
}

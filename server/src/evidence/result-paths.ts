import { readFlags } from '../command/flags.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type Word } from '../command/shell.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** Where a program that computes results, and nothing else, writes them. */
export interface ResultPath {
  readonly program: string;
  readonly path: string;
  readonly words: readonly [Word, Word];
}

/** The path for the results of the only program of a container that is known for that. */
export const resultPath = once((container: Container): ResultPath | undefined => {
  for (const command of commandsIn(container)) {
    const { words, background } = command;
    if (background || words.some(({ dynamic }) => dynamic)) continue;
    const line = programWords(command);
    const found = programs.find(({ is }) => is.test(line.slice(0, 4).map(baseName).join(' ')));
    if (found === undefined) continue;
    const flag = readFlags(words).find(({ name, value }) => value !== undefined && found.flags.includes(name));
    if (flag?.valueWord !== undefined)
      return { program: found.name, path: flag.value ?? '', words: [flag.word, flag.valueWord] };
    const last = words.at(-1);
    if (found.flags.length === 0 && last !== undefined && /^\.?\//.test(last.text))
      return { program: found.name, path: last.text, words: [last, last] };
  }
  return undefined;
});

interface Program {
  readonly is: RegExp;
  readonly name: string;
  /** The flags that name the path; empty: it is the last word. */
  readonly flags: readonly string[];
}

/**
 * https://docs.vllm.ai/en/stable/serving/offline_inference.html https://github.com/sokrypton/ColabFold https://github.com/openai/whisper
 * https://github.com/google-deepmind/alphafold https://github.com/jwohlwend/boltz/blob/main/docs/prediction.md
 * https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/how_to_use_nnunet.md
 */
const programs: readonly Program[] = [
  {
    is: /^vllm run-batch|^python[\d.]* -m vllm\.entrypoints\.openai\.run_batch/,
    name: 'vllm run-batch',
    flags: ['o', 'output-file'],
  },
  { is: /^colabfold_batch /, name: 'colabfold_batch', flags: [] },
  { is: /^whisper /, name: 'whisper', flags: ['o', 'output-dir'] },
  { is: /^(?:python[\d.]* )?run_alphafold\.py/, name: 'AlphaFold', flags: ['output-dir'] },
  { is: /^boltz predict/, name: 'boltz predict', flags: ['out-dir'] },
  { is: /^nnUNetv2_predict/, name: 'nnUNetv2_predict', flags: ['o'] },
];

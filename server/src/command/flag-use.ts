import type { FlagMeaning } from '../catalog/flag-records.ts';
import { meaningOf } from './flag-meaning.ts';
import type { Flag } from './flags.ts';
import { wordsOf } from './name-words.ts';
import type { RecognizedProgram } from './script-names.ts';
import type { Variable } from './variables.ts';

/** What an unknown program is for, by its flags: several that only trainers have, or several that only model servers have. */
export function useByFlags(flags: readonly Flag[]): RecognizedProgram | undefined {
  if (flags.length > maxFlags) return undefined;
  const names = (meanings: readonly FlagMeaning[]) =>
    new Set(
      flags
        .filter((flag) => meanings.some((means) => meaningOf(flag, means, 'vllm') !== undefined))
        .map(({ name }) => name),
    ).size;
  const trains = names(['hyperparameter']);
  if (
    trains > 1 ||
    (trains === 1 && names(['checkpoint-interval', 'saving', 'total-steps', 'resume', 'resume-from']) > 0)
  ) {
    return { program: 'its training flags', use: 'training', confidence: 'likely' };
  }
  if (
    names(['tensor-parallel', 'memory-fraction', 'context-length']) > 0 &&
    names(['model', 'served-name', 'address']) > 0
  ) {
    const program = flags.some(({ name }) => vllmFlags.has(name)) ? 'vllm' : 'its model server flags';
    return { program, use: 'serving', confidence: 'likely' };
  }
  return undefined;
}

/** What a container whose program says nothing is for, by its variables: `EPOCHS` next to `LEARNING_RATE`. */
export function useByVariables(variables: readonly Variable[]): RecognizedProgram | undefined {
  if (variables.length > maxFlags) return undefined;
  const names = variables.map(({ name }) => ({ name: name.replaceAll('_', '-').toLowerCase(), written: name }));
  const named = (meanings: readonly FlagMeaning[]) =>
    names.filter((name) => meanings.some((means) => meaningOf(name, means) !== undefined)).length;
  const trains = named(['hyperparameter', 'total-steps']);
  const saves =
    named(['checkpoint-interval', 'saving', 'resume']) +
    variables.filter(({ name }) => wordsOf(name).some((word) => word === 'checkpoint' || word === 'ckpt')).length;
  return trains > 1 || (trains === 1 && saves > 0)
    ? { program: 'its training variables', use: 'training', confidence: 'likely' }
    : undefined;
}

/** Flags that only vLLM and its forks have. */
const vllmFlags: ReadonlySet<string> = new Set(['gpu-memory-utilization', 'max-num-batched-tokens', 'max-model-len']);

const maxFlags = 1000;

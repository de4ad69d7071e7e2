import type { FlagMeaning } from '../catalog/flag-records.ts';
import { meaningOf } from './flag-meaning.ts';
import type { Flag } from './flags.ts';
import type { RecognizedProgram } from './script-names.ts';

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

/** Flags that only vLLM and its forks have. */
const vllmFlags: ReadonlySet<string> = new Set(['gpu-memory-utilization', 'max-num-batched-tokens', 'max-model-len']);

const maxFlags = 1000;

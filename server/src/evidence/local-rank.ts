import { partOf } from '../catalog/word-patterns.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import type { Located } from '../yaml/cursor.ts';
import { wholeGpus } from './launch.ts';

/** A fixed LOCAL_RANK in a container with several GPUs, in which no launcher starts a process for each: only one of the GPUs is used. */
export function fixedLocalRank(
  container: Container,
  podSet: PodSet,
): { readonly value: Located<string>; readonly gpus: number } | undefined {
  const value = container.env.find(({ name }) => name === 'LOCAL_RANK')?.value;
  if (value === undefined || !/^\d{1,3}$/.test(value.value)) return undefined;
  const gpus = wholeGpus(container, podSet);
  if (gpus === null || gpus < 2) return undefined;
  const input = processInput(container);
  // Launchers, and scripts that start one process after another, replace it.
  const line = [...input.command, ...input.args].join(' ');
  if (findLocalProcesses(input).length > 0 || mayStartMore.test(line)) return undefined;
  return /\bpython[\d.]*\s/.test(line) ? { value, gpus } : undefined;
}

/** Launchers, several commands, and programs that use all GPUs from one process or start the others themselves. */
const mayStartMore = partOf('LOCAL_RANK torchrun launch mpirun srun spawn device gpus tensor', '[;&|]');

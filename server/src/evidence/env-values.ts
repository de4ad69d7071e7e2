import { wordSet } from '../catalog/word-patterns.ts';
import { type Table, table } from '../yaml/table.ts';

/** What a program requires of the value of one of its variables. */
export interface EnvValue {
  readonly accepts: (value: string) => boolean;
  readonly mustBe: string;
  /** What the program does with another value. */
  readonly effect: string;
  /** Another value is ignored, and the program runs. */
  readonly ignored?: true;
  /** It matters only where several pods work together. */
  readonly acrossPods?: true;
  readonly corrected?: (value: string) => string;
}

/** https://docs.pytorch.org/docs/stable/notes/cuda.html#environment-variables */
const allocator: EnvValue = {
  accepts: (value) => !value.includes('=') && (value.trim() === '' || value.includes(':')),
  mustBe: 'a list of key:value',
  effect: 'PyTorch stops when it first uses the GPU',
  corrected: (value) => value.replaceAll('=', ':'),
};

/**
 * With unified memory, the share may be a small number above 1.
 * https://docs.jax.dev/en/latest/gpu_memory_allocation.html
 */
const share: EnvValue = {
  accepts: (value) => /^\.?\d/.test(value) && Number(value) < 20,
  mustBe: 'a share between 0 and 1',
  effect: 'JAX does not read percentages',
};

/** https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname */
const link: EnvValue = {
  accepts: (value) => !/^=?lo$/.test(value),
  mustBe: 'an interface between nodes',
  effect: 'the pods cannot reach each other',
  acrossPods: true,
};

const switches = wordSet('0 1 true yes on y debug verbose all');

/** https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-debug */
const level: EnvValue = {
  accepts: (value) => value === '0' || !switches.has(value.toLowerCase()),
  mustBe: 'VERSION, WARN, INFO or TRACE',
  effect: 'NCCL ignores it and prints nothing',
  ignored: true,
};

/** https://gcc.gnu.org/onlinedocs/libgomp/OMP_005fNUM_005fTHREADS.html */
const threads: EnvValue = {
  accepts: (value) => !/^(?:0|-\d{1,4})$/.test(value),
  mustBe: 'at least 1',
  effect: 'OpenMP ignores it and starts a thread for each core',
  ignored: true,
};

/** By the name of the variable. Sources read 2026-11-28. */
export const envValues: Table<EnvValue> = table({
  PYTORCH_CUDA_ALLOC_CONF: allocator,
  PYTORCH_ALLOC_CONF: allocator,
  PYTORCH_HIP_ALLOC_CONF: allocator,
  XLA_PYTHON_CLIENT_MEM_FRACTION: share,
  XLA_CLIENT_MEM_FRACTION: share,
  NCCL_SOCKET_IFNAME: link,
  GLOO_SOCKET_IFNAME: link,
  NCCL_DEBUG: level,
  OMP_NUM_THREADS: threads,
});

import { oncePerName } from '../yaml/lazy.ts';
import { variablesJson } from './data.ts';
import { isExchange, isSlip } from './spelling.ts';
import { wordSet } from './word-patterns.ts';

// Environment variables that GPU libraries and launchers read, long or peculiar enough to be recognized when misspelled.
//
// Sources, read 2026-11-23: docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html, docs.nvidia.com/cuda/cuda-c-programming-guide,
// docs.pytorch.org/docs/stable/distributed.html, huggingface.co/docs/huggingface_hub/package_reference/environment_variables, docs.jax.dev;
// 2026-11-28: rocm.docs.amd.com (GPU isolation), awsdocs-neuron.readthedocs-hosted.com (runtime configuration); 2026-11-29: github.com/ollama/ollama
// (envconfig), github.com/ggml-org/llama.cpp (tools/server), intel.github.io/llvm (EnvironmentVariables), oneapi-src.github.io/level-zero-spec,
// intel.github.io/libva; github.com/huggingface/transformers (file_utils.py of version 4).

/** The names of a family after its first words, so that `NCCL` with `IB_HCA DEBUG` means NCCL_IB_HCA and NCCL_DEBUG; and others. */
const { families, others } = variablesJson;
/** What programs require of the values of their variables. */
export const variableValues = variablesJson.values;

const known: readonly string[] = [
  ...families.flatMap(([first = '', rest = '']) => rest.split(' ').map((word) => `${first}_${word}`)),
  ...others.split(' '),
];
/** Names whose values are also checked. vLLM's are too close to other names that its users choose to be slips. */
const all: readonly string[] = [...known, ...variableValues.flatMap((one) => one.names.split(' '))];
const names: ReadonlySet<string> = new Set(all);

/** Names that only one program reads: whatever is almost one of them is not the name of another setting. */
const owned = [
  ...wordSet(
    'NCCL_ TORCH_NCCL_ CUDA_ NVIDIA_ HIP_ ROCR_ NEURON_RT_ PYTORCH_CUDA_ FI_EFA_ UCX_ OMP_ LIBTPU_',
    'TRANSFORMERS_ TOKENIZERS_ XLA_PYTHON_CLIENT_ GLOO_',
  ),
];

/** Programs whose name says whose variable it is, wherever it stands. */
const programs: readonly string[] = [...owned, 'VLLM_', 'SGLANG_', 'OLLAMA_'];

/**
 * The variable that a misspelled name stands for: a slip of the fingers, a missing or surplus underscore, a singular for a plural, a vendor too
 * many or the wrong one, or the words in another order. Undefined for names of variables, and for names that a program of the author's may have for something else (HF_TOKENS).
 */
export const meantVariable: (name: string) => string | undefined = oncePerName((name) => {
  if (!/^[A-Z][A-Z0-9_]{6,60}$/.test(name) || names.has(name)) return undefined;
  const meant = known.filter((one) => isMisspelled(name, one));
  if (meant.length === 0) meant.push(...new Set(all.filter((one) => isReordered(name, one))));
  return meant.length === 1 ? meant[0] : undefined;
});

/** `USE_VLLM_V1`: three words and more of a program's own variable, in another order. */
function isReordered(name: string, one: string): boolean {
  if (name.length !== one.length || !programs.some((program) => one.startsWith(program))) return false;
  const [words, meant] = [name.split('_'), one.split('_')];
  return meant.length > 2 && words.sort().join() === meant.sort().join();
}

function isMisspelled(name: string, one: string): boolean {
  if (isExchange(name, one)) return true;
  const isOwned = owned.some((family) => one.startsWith(family));
  // PyTorch's own variables begin with PYTORCH_, TORCH_ or neither.
  if (isOwned && (withoutTorch(name) === withoutTorch(one) || asSingular(name) === asSingular(one))) return true;
  if (isOwned && isOfOtherVendor(name, one)) return true;
  const [words, meant] = [name.split('_'), one.split('_')];
  // In a short name, another letter may be another name: WORD_SIZE, NLC_API_KEY. So may a plural: MASTER_PORTS.
  if (isSlip(name, one)) {
    if (name[0] !== one[0]) return false;
    if (isOwned) return one.length > 9;
    const isShortWord = words.length === meant.length && words[0] !== meant[0] && (meant[0]?.length ?? 0) < 5;
    return one.length > 10 && !isPlural(name, one) && !isShortWord;
  }
  if (words.length === 1 || meant.length < 3) return false;
  if (words.join('') === meant.join('')) return true;
  return isOwned && words[0] === meant[0] && words.sort().join() === meant.sort().join();
}

function withoutTorch(name: string): string {
  return name.replace(/^(?:PY)?TORCH_/, '');
}

/** `NVIDIA_DRIVER_CAPABILITY`. */
function asSingular(name: string): string {
  const words = name.split('_').map((word) => word.replace(/IES$/, 'Y').replace(/(?<=[^S]{2})S$/, ''));
  return words.join('');
}

/** `CUDA_DRIVER_CAPABILITIES`, `NVIDIA_NCCL_DEBUG`, `DRIVER_CAPABILITIES`; what is shorter may be a setting of the author's program. */
function isOfOtherVendor(name: string, one: string): boolean {
  const [bare, meant] = [withoutVendor(name), withoutVendor(one)];
  return (bare === meant && (bare !== name || bare.length > 12) && meant !== one) || (bare === one && bare !== name);
}

function withoutVendor(name: string): string {
  return name.replace(/^(?:CUDA|NVIDIA)_/, '');
}

function isPlural(name: string, one: string): boolean {
  return name === `${one}S` || one === `${name}S`;
}

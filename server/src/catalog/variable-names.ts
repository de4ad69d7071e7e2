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
  const written = formsOf(name);
  const meant = knownForms.filter((one) => isMisspelled(written, one)).map((one) => one.name);
  if (meant.length === 0) meant.push(...new Set(all.filter((one) => isReordered(name, one))));
  return meant.length === 1 ? meant[0] : undefined;
});

/** `USE_VLLM_V1`: three words and more of a program's own variable, in another order. */
function isReordered(name: string, one: string): boolean {
  if (name.length !== one.length || !programs.some((program) => one.startsWith(program))) return false;
  const [words, meant] = [name.split('_'), one.split('_')];
  return meant.length > 2 && words.sort().join() === meant.sort().join();
}

/** The forms in which names are compared. Those of the known ones are made once: a manifest may have thousands of variables. */
interface Forms {
  readonly name: string;
  readonly isOwned: boolean;
  readonly words: readonly string[];
  readonly joined: string;
  readonly sorted: string;
  readonly torchless: string;
  readonly singular: string;
  readonly vendorless: string;
}

function formsOf(name: string): Forms {
  const words = name.split('_');
  return {
    name,
    isOwned: owned.some((family) => name.startsWith(family)),
    words,
    joined: words.join(''),
    sorted: [...words].sort().join(),
    torchless: withoutTorch(name),
    singular: asSingular(words),
    vendorless: withoutVendor(name),
  };
}

const knownForms: readonly Forms[] = known.map(formsOf);

function isMisspelled(written: Forms, one: Forms): boolean {
  const { name, words } = written;
  const { name: meant, isOwned } = one;
  if (isExchange(name, meant)) return true;
  // PyTorch's own variables begin with PYTORCH_, TORCH_ or neither.
  if (isOwned && (written.torchless === one.torchless || written.singular === one.singular)) return true;
  if (isOwned && isOfOtherVendor(written, one)) return true;
  // In a short name, another letter may be another name: WORD_SIZE, NLC_API_KEY. So may a plural: MASTER_PORTS.
  if (isSlip(name, meant)) {
    if (name[0] !== meant[0]) return false;
    if (isOwned) return meant.length > 9;
    const [first = ''] = one.words;
    const isShortWord = words.length === one.words.length && words[0] !== first && first.length < 5;
    return meant.length > 10 && !isPlural(name, meant) && !isShortWord;
  }
  if (words.length === 1 || one.words.length < 3) return false;
  if (written.joined === one.joined) return true;
  return isOwned && words[0] === one.words[0] && written.sorted === one.sorted;
}

function withoutTorch(name: string): string {
  return name.replace(/^(?:PY)?TORCH_/, '');
}

/** `NVIDIA_DRIVER_CAPABILITY`. */
function asSingular(words: readonly string[]): string {
  return words.map((word) => word.replace(/IES$/, 'Y').replace(/(?<=[^S]{2})S$/, '')).join('');
}

/** `CUDA_DRIVER_CAPABILITIES`, `NVIDIA_NCCL_DEBUG`, `DRIVER_CAPABILITIES`; what is shorter may be a setting of the author's program. */
function isOfOtherVendor({ name, vendorless: bare }: Forms, { name: one, vendorless: meant }: Forms): boolean {
  return (bare === meant && (bare !== name || bare.length > 12) && meant !== one) || (bare === one && bare !== name);
}

function withoutVendor(name: string): string {
  return name.replace(/^(?:CUDA|NVIDIA)_/, '');
}

function isPlural(name: string, one: string): boolean {
  return name === `${one}S` || one === `${name}S`;
}

import { wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { baseName, type Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';

/** The GPUs that a command expects: the highest number that it names, or how many it uses. */
export interface ExpectedGpus {
  readonly text: string;
  readonly last?: number;
  readonly count?: number;
  readonly words: readonly [Word, Word];
  /** The number may be that of all pods together. */
  readonly mayBeTotal?: true;
}

type Reading = Pick<ExpectedGpus, 'last' | 'count'> | undefined;

/** An option of a program that names its GPUs in a form of its own. */
interface ProgramOption {
  readonly program: RegExp;
  readonly option: RegExp;
  readonly read: (value: string) => Reading;
  /** What a name that is only a letter belongs to, for messages. */
  readonly owner?: string;
}

// Read 2026-11-29: https://manual.gromacs.org/current/user-guide/mdrun-performance.html, https://www.ks.uiuc.edu/Research/namd/3.0/ug/,
// https://docs.lammps.org/Run_options.html, https://relion.readthedocs.io, https://github.com/ggml-org/llama.cpp/tree/master/tools/server,
// https://ffmpeg.org/ffmpeg.html, https://docs.nvidia.com/nvidia-hpc-benchmarks/
const options: readonly ProgramOption[] = [
  { program: /^(?:gmx(?:_\w+)?|mdrun)$/, option: /^-(?:gpu_id|gputasks)$/, read: digits },
  { program: /^namd[23]/, option: /^\+devices$/, read: (value) => list(value, ',') },
  { program: /^relion_/, option: /^--gpu$/, read: (value) => list(value, /[:,]/) },
  { program: /^(?:x?hp(?:l|cg)\b)/, option: /^--gpu-affinity$/, read: (value) => list(value, ':') },
  { program: /^(?:llama-|server$|koboldcpp)/, option: /^(?:-ts|--tensor-split)$/, read: parts },
  { program: /^(?:llama-|server$)/, option: /^(?:-mg|--main-gpu)$/, read: one },
  { program: /^ffmpeg$/, option: /^-(?:hwaccel_device|gpu)$/, read: one },
  {
    program: /^lmp(?:_\w+)?$/,
    option: /^g(?:pus?)?$/,
    read: (value) => ({ count: countIn(value) ?? 0 }),
    owner: "LAMMPS's option ",
  },
];

/**
 * What a command expects of the GPUs of its container, apart from lists of numbers in common flags.
 * @param entrypoint the program of the image whose arguments the words are, if it is one
 */
export function expectedGpus(words: readonly Word[], entrypoint = ''): readonly ExpectedGpus[] {
  const programs = [entrypoint, ...words.map(({ text }) => baseName(text))];
  if (programs.some((name) => others.has(name))) return [];
  const own = options.filter(({ program }) => programs.some((name) => program.test(name)));
  const found = words.flatMap((word, index) =>
    // A variable of LAMMPS may have any name.
    /^-v(?:ar)?$/.test(words[index - 1]?.text ?? '')
      ? []
      : own.flatMap((option) => optionAt(option, word, words[index + 1]) ?? []).slice(0, 1),
  );
  const inFlags = readFlags(words).filter(({ word }) => !found.some((one) => one.words[0] === word));
  return [...found, ...inFlags.flatMap((flag) => ofFlag(flag) ?? [])];
}

function optionAt(
  { option, read, owner = '' }: ProgramOption,
  word: Word,
  next: Word | undefined,
): ExpectedGpus | undefined {
  const [name = '', written] = word.text.split('=');
  const value = written ?? next?.text ?? '';
  if (!option.test(name) || word.dynamic || (written === undefined && (next === undefined || next.dynamic)))
    return undefined;
  const reading = read(value);
  const isKnown = reading !== undefined && Object.values(reading).some((number) => number > 0 && number < 64);
  if (!isKnown) return undefined;
  return {
    ...reading,
    text: `${owner}${name}${written === undefined ? ' ' : '='}${value}`,
    words: [word, written === undefined && next ? next : word],
  };
}

/** `--device cuda:1`, `--gpu-id 1` and `--num_gpus 4` of any program. */
function ofFlag({ written, value = '', dynamic, isVariable, word, valueWord }: Flag): ExpectedGpus | undefined {
  if (dynamic || isVariable || valueWord === undefined || !word.text.startsWith('-')) return undefined;
  const parts = wordsOf(written);
  const isOf = (...sets: readonly ReadonlySet<string>[]) => parts.every((part) => sets.some((set) => set.has(part)));
  if (!parts.some((part) => deviceWords.has(part))) return undefined;
  const text = valueWord === word ? word.text : `${word.text} ${value}`;
  const place = { text, words: [word, valueWord] } as const;
  const [, index] = /^cuda:(\d{1,2})$/.exec(value) ?? [];
  if (index !== undefined && isOf(deviceWords, fillers)) return { ...place, last: Number(index) };
  if (!/^\d{1,2}$/.test(value) || Number(value) > 16) return undefined;
  const number = Number(value);
  const ofGpu = parts.some((part) => gpuWords.has(part));
  if (ofGpu && parts.some((part) => idWords.has(part)) && isOf(gpuWords, idWords, fillers))
    return { ...place, last: number };
  // As a number of GPUs or of one GPU, it must not be above their count.
  return ofGpu && parts.some((part) => countWords.has(part) || part === 'gpus') && isOf(gpuWords, countWords)
    ? { ...place, count: number, mayBeTotal: true }
    : undefined;
}

const gpuWords = wordSet('gpu gpus ngpu ngpus');
const deviceWords = wordSet('gpu gpus ngpu ngpus device devices');
const idWords = wordSet('id idx index');
const countWords = wordSet('num n number count ngpu ngpus');
const fillers = wordSet('cuda torch model');

/** Programs whose numbers are for other machines or containers, or that other rules know. */
const others = wordSet(
  'docker podman nerdctl singularity apptainer ray sky kubectl srun sbatch salloc runai deepspeed accelerate torchx torchrun horovodrun dask',
  'nvidia-smi rocm-smi export',
);

function list(value: string, separator: string | RegExp): Reading {
  const numbers = value.split(separator);
  return numbers.every((one) => /^\d{1,2}$/.test(one)) ? { last: Math.max(...numbers.map(Number)) } : undefined;
}

/** `0123`: a digit for each GPU. */
function digits(value: string): Reading {
  return value.includes(',')
    ? list(value, ',')
    : /^\d{1,16}$/.test(value)
      ? list([...value].join(','), ',')
      : undefined;
}

function one(value: string): Reading {
  return list(value, ' ');
}

/** `3,1`: a proportion for each GPU. */
function parts(value: string): Reading {
  const numbers = value.split(/[,/]/);
  return numbers.every((part) => /^\d+(?:\.\d+)?$/.test(part)) ? { count: numbers.length } : undefined;
}

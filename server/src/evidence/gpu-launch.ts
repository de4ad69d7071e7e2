import { readFlags } from '../command/flags.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { programWords } from '../command/programs.ts';
import { baseName } from '../command/shell.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { type GpuFlag, gpuImage } from './gpu-programs.ts';

/** A launcher's flag that starts one process per GPU of the container. */
export interface GpuLaunch {
  readonly text: string;
  readonly span: Span;
  readonly count: number;
}

/**
 * The launch of several processes that compute on GPUs: their backend, the variables of its libraries, or the image says so. Undefined if they may
 * run on CPUs.
 */
export function gpuLaunch(container: Container, document: YamlDocument): GpuLaunch | undefined {
  const [only, ...others] = findLocalProcesses(processInput(container)).filter(({ kind }) => kind === 'launch');
  if (only?.words === undefined || others.length > 0 || typeof only.count !== 'number' || only.count < 2)
    return undefined;
  if (!computesOnGpus(container) || runsOnCpu(container)) return undefined;
  const span = spanOfWords(document, container, only.words);
  return span && { text: shorten(only.text), span, count: only.count };
}

function computesOnGpus(container: Container): boolean {
  const { env, command, args } = container;
  if (env.some(({ name }) => /^(?:TORCH_|PYTORCH_)?(?:NCCL|RCCL|CUDA|HIP)_(?!VISIBLE)/.test(name))) return true;
  if ([...command, ...args].some(({ value }) => /(?:^|[\s="'])nccl(?:$|[\s"'])|--?\w*cuda\b/.test(value))) return true;
  return gpuImage(container) !== undefined;
}

/** Whether the processes communicate or compute on the CPU, so that several of them can share a GPU or do without. */
export function runsOnCpu({ command, args }: Pick<Container, 'command' | 'args'>): boolean {
  const words = /(?:^|[\s=])(?:gloo|--cpu|--?no[-_]cuda|--?use[-_]cpu|cpu)(?![\w-])|tokeni[sz]e|preprocess/;
  return [...command, ...args].some(({ value }) => words.test(value));
}

/** A flag that makes a program compute on a GPU: `--device cuda`. */
export function cudaDevice(container: Container, document: YamlDocument): GpuFlag | undefined {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => value.includes('cuda')) || runsOnCpu(container)) return undefined;
  for (const command of commandsIn(container)) {
    // Others may start it elsewhere: ray, kubectl, ssh, srun.
    if (!/^python[\d.]*$|\.py$|^torchrun$|^accelerate$/.test(baseName(programWords(command)[0] ?? ''))) continue;
    const { words } = command;
    const flag = readFlags(words).find(
      ({ name, value, dynamic, isVariable }) =>
        /(?:^|[.-])device$/.test(name) && !dynamic && !isVariable && /^cuda(?::\d{1,2})?$/.test(value ?? ''),
    );
    const last = flag?.valueWord;
    const span = flag && last && spanOfWords(document, lines, [flag.word, last]);
    const effect = 'needs a GPU, but the container requests none: it fails, or uses';
    if (flag && span)
      return { text: flag.word === last ? flag.word.text : `${flag.word.text} ${flag.value}`, span, effect };
  }
  return undefined;
}

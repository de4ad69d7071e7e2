import { imageParts } from '../catalog/images.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import type { Word } from '../command/shell.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';

/** A framework that a container's script installs in its build without CUDA. */
export interface CpuBuild {
  readonly name: string;
  /** What says so. */
  readonly word: Word;
}

/** Images that have no framework of their own. */
const bare = wordSet(
  'python ubuntu debian nvidia/cuda continuumio/miniconda3 condaforge/miniforge3 mambaorg/micromamba',
);

/** Other packages, in a script, that may use the GPU. */
const usesGpu = partOf('cuda gpu cu1[1-9] rocm vllm cupy rapids cudf sglang tensorrt', '-r\\s requirement');

/** The framework without CUDA that is all that a script installs in an image without one. */
export function cpuBuild(container: Container): CpuBuild | undefined {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => /install/.test(value)) || lines.some(({ at }) => isTemplated(at))) return undefined;
  const repository = imageParts(container.image?.value ?? '').repository.replace(/^(?:docker|nvcr)\.io\//, '');
  if (!bare.has(repository) || lines.some(({ value }) => usesGpu.test(value.replaceAll('nvidia-smi', ''))))
    return undefined;
  for (const { words } of commandsIn(container)) {
    const texts = words.map(({ text }) => text);
    if (!texts.includes('install')) continue;
    const torch = texts.some((text) => /^torch(?:$|[=<>~!])/.test(text));
    const word = words.find(({ text }) => isCpu(text, torch));
    if (word !== undefined) return { name: torch ? 'PyTorch' : 'TensorFlow', word };
  }
  return undefined;
}

function isCpu(text: string, torch: boolean): boolean {
  if (/^tensorflow-cpu(?:$|[=<>~!])/.test(text)) return true;
  return (
    torch &&
    (/download\.pytorch\.org\/whl\/cpu\/?$/.test(text) || /^torch==[\d.]+\+cpu$/.test(text) || text === 'cpuonly')
  );
}

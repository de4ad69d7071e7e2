import { modelServers, readModelServer } from '../command/model-server.ts';
import { weightsSize } from '../memory/weights.ts';
import { processInput, useOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** A server of language models, and the model that it loads. */
export interface ModelLoader {
  readonly program: string;
  /** As written; undefined if it is not on the command line. */
  readonly model: string | undefined;
  /** GiB in 16 bits; undefined if unknown. */
  readonly weightsGiB: number | undefined;
}

/** Servers of language models that load all weights before they answer, besides those whose flags are known. */
const otherServers = new Set(['text-generation-server', 'trtllm-serve', 'lmdeploy', 'aphrodite', 'mindie', 'nim']);

/** The model server that a container runs; undefined for other programs. */
export function modelLoader(container: Container): ModelLoader | undefined {
  if (container.type !== 'app') return undefined;
  const { use, program } = useOf(container);
  if (use !== 'serving' || program === null) return undefined;
  if (!modelServers.has(program) && !otherServers.has(program)) return undefined;
  const server = readModelServer(processInput(container), program);
  const model = server?.model;
  // A format of fewer bits makes the weights smaller by an unknown factor.
  const size = model === undefined || server?.bytes == null ? undefined : weightsSize(model);
  return { program, model, weightsGiB: size && (size.gib * (server?.bytes ?? 2)) / 2 };
}

/**
 * The least time in seconds from the start of a model server to its first answer. Starting Python, creating the CUDA context, compiling and
 * capturing graphs take about a minute with any model of several billion parameters; the weights are then read at no more than 1 GiB/s, from
 * disk or from the network. Assumptions: measured starts are longer (kserve/kserve#5062, llm-d/llm-d-benchmark#83).
 */
export function leastStartSeconds({ weightsGiB }: ModelLoader): number {
  const start = weightsGiB !== undefined && weightsGiB < smallGiB ? 30 : 60;
  return start + Math.floor(weightsGiB ?? 0);
}

/** Models of up to about 2 billion parameters. */
const smallGiB = 4;

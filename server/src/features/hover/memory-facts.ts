import type { ProjectConfig } from '../../config.ts';
import { formatNumber } from '../../cost/format.ts';
import { requestedGiB } from '../../memory/fit.ts';
import { estimateServing, type NoMemoryEstimate } from '../../memory/serving.ts';
import { servedModel } from '../../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import { shorten } from '../../yaml/shorten.ts';
import type { Block } from './markdown.ts';

/** What a hover says of memory. */
export interface MemoryFacts {
  /** The sum, in a line. */
  readonly sum: readonly Block[];
  /** What it rests on. */
  readonly basis: readonly Block[];
}

/** What the model of a container needs of the memory that a request of it is for; nothing where the model is not known. */
export function memoryFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  config: ProjectConfig,
): MemoryFacts {
  const { estimate, unknown } = estimateServing(servedModel(container, workload));
  if (estimate === null) return { sum: unknownBlocks(unknown), basis: [] };
  const { model, name, weightsGiB, cacheGiB, context, contextFrom, bits, overheadGiB, neededGiB } = estimate;
  const memory = requestedGiB(podSet, request);
  const share = memory === null ? '' : ` of ${tenth(memory)} (${Math.round((neededGiB / memory) * 100)} %)`;
  const text = `${name} needs about ${tenth(neededGiB)} GiB${share}: ${tenth(weightsGiB)} for weights, ${tenth(cacheGiB)} for the cache of a request, ${overheadGiB} for the server`;
  const items = [
    `Weights at ${bits} bits, from ${sourceName(model.source)}, as of ${model.date ?? 'date unknown'}`,
    `One request of ${formatNumber(context)} tokens (${contextFrom === 'flag' ? 'as its flag says' : 'the longest of the model'}); more at a time take more cache`,
    `${overheadGiB} GiB for the runtime and the buffers of the server, assumed`,
    `${Math.round(config.headroom * 100)} % of a part of a GPU is kept free (headroom, ${config.origins?.headroom ?? 'default'})`,
  ];
  return { sum: [{ kind: 'text', text }], basis: [{ kind: 'list', title: 'Memory', items }] };
}

/** Nothing where the container does not serve, or runs no server whose flags are known. */
function unknownBlocks(unknown: NoMemoryEstimate): readonly Block[] {
  const why = whyUnknown(unknown);
  return why === undefined ? [] : [{ kind: 'text', text: `Memory need unknown: ${why}.` }];
}

function whyUnknown(unknown: NoMemoryEstimate): string | undefined {
  switch (unknown.kind) {
    case 'noShape':
      return `the catalogue has no sourced shape of ${shorten(unknown.name)}`;
    case 'format':
      return 'the size of these weights is not sourced (quantized, or in a format of their own)';
    case 'context':
      return 'the longest request is set in a way that gpulint does not read';
    default:
      return undefined;
  }
}

function tenth(gib: number): string {
  return formatNumber(Math.round(gib * 10) / 10);
}

/** `Lightning-AI/litgpt` of `Lightning-AI/litgpt@commit:path (date)`. */
function sourceName(source: string): string {
  return /^[^@\s]+/.exec(source)?.[0] ?? source;
}

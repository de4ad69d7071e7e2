import type { ProjectConfig } from '../../config.ts';
import { dateWords } from '../../cost/assumption-words.ts';
import { formatNumber } from '../../cost/money.ts';
import { requestedGiB } from '../../memory/fit.ts';
import { estimateServing, type NoMemoryEstimate } from '../../memory/serving.ts';
import { servedModel } from '../../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import { shorten } from '../../yaml/shorten.ts';
import { sourceName } from './gpu-words.ts';
import type { Block } from './render.ts';

/** The memory need of a served model. */
export interface MemoryFacts {
  /** The total, in one line. */
  readonly total: readonly Block[];
  /** The basis of the total, one line each. */
  readonly basis: readonly string[];
}

/** The memory that a container's model needs, compared with the memory of one of its requests; empty if the model is unknown. */
export function memoryFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  config: ProjectConfig,
): MemoryFacts {
  const { estimate, unknown } = estimateServing(servedModel(container, workload));
  if (estimate === null) return { total: unknownBlocks(unknown), basis: [] };
  const { model, name, weightsGiB, cacheGiB, context, contextFrom, bits, overheadGiB, neededGiB } = estimate;
  const memory = requestedGiB(podSet, request);
  const ofMemory = memory === null ? ' GiB' : ` of ${tenth(memory)} GiB (${Math.round((neededGiB / memory) * 100)}%)`;
  const parts = `${tenth(weightsGiB)} for weights, ${tenth(cacheGiB)} for the cache of one request, ${overheadGiB} for the server`;
  const text = `${name} needs about ${tenth(neededGiB)}${ofMemory}: ${parts}`;
  const items = [
    `Weights in ${bits} bits, shape from ${sourceName(model.source)}, ${dateWords(model.date)}`,
    `One request of ${formatNumber(context)} tokens (${contextFrom === 'flag' ? 'from a flag' : "the model's maximum"}); concurrent requests need more cache`,
    `${overheadGiB} GiB of memory for the runtime and the server's buffers (assumed)`,
    `${Math.round(config.headroom * 100)}% of a GPU slice stays free (headroom, ${config.origins?.headroom ?? 'default'})`,
  ];
  return { total: [{ kind: 'text', text }], basis: items };
}

/** Empty if the container does not serve, or runs a server with unknown flags. */
function unknownBlocks(unknown: NoMemoryEstimate): readonly Block[] {
  const why = whyUnknown(unknown);
  return why === undefined ? [] : [{ kind: 'text', text: `Memory need unknown: ${why}.` }];
}

function whyUnknown(unknown: NoMemoryEstimate): string | undefined {
  switch (unknown.kind) {
    case 'noShape':
      return `the catalog has no sourced data for ${shorten(unknown.name)}`;
    case 'format':
      return 'the weights are quantized or in a format without a sourced size';
    case 'context':
      return 'gpulint cannot read the maximum request length';
    default:
      return undefined;
  }
}

function tenth(gib: number): string {
  return formatNumber(Math.round(gib * 10) / 10);
}

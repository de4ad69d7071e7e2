import type { ProjectConfig } from '../../config.ts';
import { dateWords } from '../../cost/assumption-words.ts';
import { formatGiB, formatNumber } from '../../cost/money.ts';
import { containerMemory } from '../../memory/container-memory.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import { assumptionsOf, ofWords, roomWords, shareWords, unitOf, unknownWords } from '../memory-words.ts';
import { leverWords, tightLevers } from '../serving-levers.ts';
import { sourceName } from './gpu-words.ts';
import type { Block } from './render.ts';

/** The memory need of a served model. */
export interface MemoryFacts {
  /** The total, in one line. */
  readonly total: readonly Block[];
  /** The basis of the total, one line each. */
  readonly basis: readonly string[];
}

/** The memory that a container's model needs, compared with the memory of its devices; empty if it serves no model. */
export function memoryFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  config: ProjectConfig,
): MemoryFacts {
  const { estimate, unknown, fit } = containerMemory(workload, podSet, container, request, config);
  if (estimate === null) {
    const why = unknownWords(unknown);
    return { total: why === undefined ? [] : [{ kind: 'text', text: `Memory need unknown: ${why}.` }], basis: [] };
  }
  const { name, weightsGiB, cacheGiB, overheadGiB, neededGiB, devices, ranks, shape } = estimate;
  if (estimate.basis === 'sizeInName') {
    const text = `${name} needs about ${formatGiB(weightsGiB)} GiB for its weights, from the parameter count in its name; KV cache and buffers are unknown`;
    return { total: [{ kind: 'text', text: `${text}.` }], basis: assumptionsOf(estimate) };
  }
  const each = devices === 1 ? '' : ` on each of ${devices} ${unitOf(ranks)}s`;
  const need =
    fit === null
      ? `${formatGiB(neededGiB)} GiB${each}`
      : `${ofWords(neededGiB, fit.haveGiB)}${each}${shareWords(estimate, fit)}`;
  const parts = `${formatGiB(weightsGiB)} for weights, ${formatGiB(cacheGiB)} for the KV cache of one request, ${formatGiB(overheadGiB)} for the server`;
  const text = `${name} needs about ${need}: ${parts}`;
  const items = [
    ...assumptionsOf(estimate),
    `Model shape from ${sourceName(shape.source)}${shape.date === null ? '' : `, ${dateWords(shape.date)}`}`,
    `${formatNumber(Math.round(config.headroom * 100))}% of a GPU slice stays free (headroom, ${config.origins?.headroom ?? 'default'})`,
  ];
  const room = fit === null ? undefined : roomWords(estimate, fit);
  const total: Block = { kind: 'text', text: room === undefined ? text : `${text}. ${room}` };
  const less = fit === null ? undefined : leverWords(tightLevers(estimate, fit, podSet, request));
  return { total: less === undefined ? [total] : [total, { kind: 'text', text: `${less}.` }], basis: items };
}

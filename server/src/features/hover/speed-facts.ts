import { gpus } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpusOf } from '../../cost/estimate.ts';
import { formatAmount, formatNumber, plural } from '../../cost/money.ts';
import type { CostResult } from '../../cost/types.ts';
import { containerMemory } from '../../memory/container-memory.ts';
import { decodeBound, perMillionTokens, prefillBound } from '../../memory/speed.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import type { Block } from './render.ts';

/** What a model server can reach at most, by the data sheet of its GPU; empty if its memory or its GPU is unknown. */
export function speedFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  { cost }: CostResult,
  config: ProjectConfig,
): readonly Block[] {
  const { estimate, fit } = containerMemory(workload, podSet, container, request, config);
  const gpu = gpus.get(acceleratorByName(podSet.accelerators, request.resource)?.model ?? '');
  if (estimate === null || estimate.basis === 'sizeInName') return [];
  if (gpu === undefined || request.form !== 'whole') return [];
  const { weightsGiB, cacheGiB, context, devices, pipeline, shape, slots } = estimate;
  if (shape.kind !== 'language' || shape.active <= 0) return [];
  // The parts of a model that one token does not use are not read for it.
  const used = shape.active / shape.parameters;
  const one = decodeBound(gpu, 1, { weightsGiB: weightsGiB * used, cacheGiB: 0, sequences: 1 });
  const prefill = prefillBound(gpu, devices, shape);
  if (one === null || prefill === null) return [];
  const items = (more: readonly string[]): readonly Block[] => [
    {
      kind: 'list',
      title: `Upper bounds from the ${gpu.name} data sheet`,
      items: [
        `${rounded(one / pipeline)} output tokens/s for one request`,
        ...more,
        `${rounded(prefill)} prompt tokens/s`,
      ],
    },
  ];
  const each = cacheGiB / Math.max(1, slots);
  const held = each > 0 ? Math.floor(Math.max(0, fit?.leftGiB ?? 0) / each) : 0;
  if (held < 2) return items([]);
  const read = { weightsGiB: weightsGiB * Math.min(1, used * held), cacheGiB: each, sequences: held };
  const many = Math.min(prefill, decodeBound(gpu, 1, read) ?? 0);
  const total = gpusOf(workload).max;
  const hourly = cost === null || total === null || total === 0 ? null : (cost.hourly.max / total) * devices;
  const price = hourly === null ? '' : `: ${formatAmount(perMillionTokens(hourly, many))} per million at best`;
  return items([
    `${rounded(many)} output tokens/s for ${plural(held, 'request')} of ${formatNumber(context)} tokens${price}`,
  ]);
}

/** Two digits: a bound from a data sheet is not more exact. */
function rounded(value: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return formatNumber(Math.round(value / step) * step);
}

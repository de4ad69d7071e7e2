import { gpus, weightFormat } from '../catalog/index.ts';
import type { ServedModel } from '../model/served-model.ts';
import type { Hardware } from './engine-buffers.ts';
import { estimateServing, type MemoryEstimate } from './serving.ts';

/** A change of settings with which a server needs less memory on each device. */
export interface ServingLever {
  readonly kind: 'fp8-weights' | 'int4-weights' | 'fp8-cache' | 'context' | 'tensor' | 'eager';
  /** GiB on each device. */
  readonly savesGiB: number;
  readonly served: ServedModel;
}

/** Smaller savings are within the error of the estimate. */
const leastGiB = 0.5;

/** The changes that take less memory, the largest saving first. */
export function servingLevers(estimate: MemoryEstimate, hardware: Hardware): readonly ServingLever[] {
  if (estimate.basis === 'size') return [];
  return changes(estimate, hardware.card)
    .flatMap(([kind, change]): ServingLever[] => {
      const served = { ...estimate.served, ...change };
      const after = estimateServing({ model: served, unknown: null }, hardware).estimate;
      const savesGiB = estimate.neededGiB - (after?.neededGiB ?? estimate.neededGiB);
      return savesGiB < leastGiB ? [] : [{ kind, savesGiB, served }];
    })
    .sort((a, b) => b.savesGiB - a.savesGiB);
}

type Change = readonly [ServingLever['kind'], Partial<ServedModel>];

function changes(
  { served, shape, format, context, tensor, pipeline }: MemoryEstimate,
  card: string | undefined,
): Change[] {
  const { engine, cacheType, eager } = served;
  const isReserving = engine === 'vllm' || engine === 'sglang';
  const capability = Number(gpus.get(card ?? '')?.computeCapability ?? Number.NaN);
  const is16Bits = ['bf16', 'fp16'].some((id) => id === shape.format && format === weightFormat(id)?.name);
  const found: (Change | false)[] = [
    // Ampere computes with such weights in 16 bits; older GPUs cannot read them.
    isReserving && is16Bits && capability >= 8 && ['fp8-weights', { quantization: 'fp8' }],
    isReserving && is16Bits && ['int4-weights', { quantization: 'w4a16' }],
    isReserving && cacheType === null && capability >= 8.9 && ['fp8-cache', { cacheType: 'fp8' }],
    context > 8192 && ['context', { context: shorter(context) }],
    isReserving && pipeline === 1 && shape.heads % (2 * tensor) === 0 && ['tensor', { tensor: 2 * tensor }],
    engine === 'vllm' && !eager && ['eager', { eager: true }],
  ];
  return found.filter((one) => one !== false);
}

/** Half of the length, at least 8,192 tokens. */
function shorter(context: number): number {
  return Math.max(8192, Math.floor(context / 2));
}

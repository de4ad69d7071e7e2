import type { ModelShape } from '../catalog/index.ts';
import type { TrainingSettings } from '../model/training-settings.ts';
import { estimateTraining, type TrainingEstimate } from './training.ts';

/** A change of settings that takes less memory on each device. */
export interface TrainingLever {
  readonly kind: 'recompute' | 'shard' | 'small-states' | 'lora' | 'qlora' | 'quantize' | 'batch';
  readonly savesGiB: number;
  /** What remains. */
  readonly totalGiB: number;
}

/**
 * The changes that save at least 5% of the memory, the largest saving first. Empty if the size is unknown.
 * @param sizeOf what is compared: the total, or weights, gradients and optimizer states alone
 */
export function trainingLevers(
  shape: ModelShape,
  settings: TrainingSettings,
  sizeOf: (estimate: TrainingEstimate) => number | null = ({ totalGiB }) => totalGiB,
): readonly TrainingLever[] {
  const totalGiB = sizeOf(estimateTraining(shape, settings));
  if (totalGiB === null) return [];
  const found = changes(settings)
    .flatMap(([kind, change]): TrainingLever[] => {
      const after = sizeOf(estimateTraining(shape, { ...settings, ...change })) ?? totalGiB;
      const savesGiB = totalGiB - after;
      return savesGiB < totalGiB * 0.05 ? [] : [{ kind, savesGiB, totalGiB: after }];
    })
    .sort((a, b) => b.savesGiB - a.savesGiB);
  const lora = found.find(({ kind }) => kind === 'lora');
  return found.filter((one) => one.kind !== 'qlora' || lora === undefined || one.totalGiB < 0.9 * lora.totalGiB);
}

type Change = readonly [TrainingLever['kind'], Partial<TrainingSettings>];

function changes(settings: TrainingSettings): readonly Change[] {
  const { recomputation, sharded, devices, tensor, pipeline, adapter, optimizer, engine, batch } = settings;
  const group = devices / tensor / pipeline;
  const found: (Change | false)[] = [
    (recomputation === 'none' || recomputation === 'selective') && ['recompute', { recomputation: 'full' }],
    // Megatron shards only optimizer states.
    sharded !== 'parameters' &&
      group > 1 &&
      engine !== 'megatron' && ['shard', { sharded: 'parameters', engine: engine === 'torch' ? 'fsdp' : engine }],
    adapter === null &&
      /^adamw(?:-fused)?$/.test(optimizer) &&
      engine !== 'megatron' && ['small-states', { optimizer: 'adamw-8bit' }],
    adapter === null && ['lora', { adapter: { ...usualAdapter, bits: 16 } }],
    adapter === null && ['qlora', { adapter: { ...usualAdapter, bits: 4 } }],
    adapter !== null && adapter.bits > 4 && ['quantize', { adapter: { ...adapter, bits: 4 } }],
    batch !== null && batch > 1 && ['batch', { batch: 1 }],
  ];
  return found.filter((one) => one !== false);
}

const usualAdapter = { rank: 16, targets: 'all', embeddings: false } as const;

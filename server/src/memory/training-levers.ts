import type { ModelShape } from '../catalog/index.ts';
import type { TrainingSettings } from '../model/training-settings.ts';
import { estimateTraining } from './training.ts';

/** A change of settings that takes less memory on each device. */
export interface TrainingLever {
  readonly kind: 'recompute' | 'shard' | 'small-states' | 'lora' | 'quantize' | 'batch';
  readonly savesGiB: number;
  /** What remains. */
  readonly totalGiB: number;
}

/** The changes that save at least 5% of the memory, the largest saving first. Empty if the total is unknown. */
export function trainingLevers(shape: ModelShape, settings: TrainingSettings): readonly TrainingLever[] {
  const { totalGiB } = estimateTraining(shape, settings);
  if (totalGiB === null) return [];
  return changes(settings)
    .flatMap(([kind, change]): TrainingLever[] => {
      const after = estimateTraining(shape, { ...settings, ...change }).totalGiB ?? totalGiB;
      const savesGiB = totalGiB - after;
      return savesGiB < totalGiB * 0.05 ? [] : [{ kind, savesGiB, totalGiB: after }];
    })
    .sort((a, b) => b.savesGiB - a.savesGiB);
}

type Change = readonly [TrainingLever['kind'], Partial<TrainingSettings>];

function changes(settings: TrainingSettings): readonly Change[] {
  const { recomputation, sharded, devices, tensor, pipeline, adapter, optimizer, engine, batch } = settings;
  const group = devices / tensor / pipeline;
  const found: (Change | false)[] = [
    recomputation !== 'full' && ['recompute', { recomputation: 'full' }],
    // Megatron shards only optimizer states.
    sharded !== 'parameters' &&
      group > 1 &&
      engine !== 'megatron' && ['shard', { sharded: 'parameters', engine: engine === 'torch' ? 'fsdp' : engine }],
    adapter === null && optimizer === 'adamw' && engine !== 'megatron' && ['small-states', { optimizer: 'adamw-8bit' }],
    adapter === null && ['lora', { adapter: { rank: 16, targets: 'all', bits: 16, embeddings: false } }],
    adapter !== null && adapter.bits > 4 && ['quantize', { adapter: { ...adapter, bits: 4 } }],
    batch !== null && batch > 1 && ['batch', { batch: 1 }],
  ];
  return found.filter((one) => one !== false);
}

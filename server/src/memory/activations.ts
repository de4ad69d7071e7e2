import type { ModelShape } from '../catalog/index.ts';
import type { TrainingSettings } from '../model/training-settings.ts';

/** Tokens that one device of a context-parallel group holds in one forward pass; null if batch or sequence is unknown. */
function tokensOf({ batch, sequence, context }: TrainingSettings): number | null {
  return batch === null || sequence === null ? null : (batch * sequence) / context;
}

/** Bytes that the backward pass needs of all layers of one device; null if batch or sequence is unknown. */
export function activationBytes(shape: ModelShape, settings: TrainingSettings): number | null {
  const tokens = tokensOf(settings);
  if (tokens === null) return null;
  const { recomputation, tensor, sequenceParallel } = settings;
  const layer = layerBytes(shape, settings);
  const input = (constants.input * shape.hidden) / (sequenceParallel ? tensor : 1);
  // The first stage of a pipeline holds one batch per stage, so its share of the layers counts as often as there are stages.
  const perToken =
    recomputation === 'full'
      ? input * shape.layers + layer * constants.again
      : layer * shape.layers * (recomputation === 'selective' ? constants.selective : 1);
  return tokens * perToken;
}

export const constants = {
  input: 2,
  again: 2,
  selective: 0.35,
  norms: 8,
  gated: 8,
  logits: 12,
  chunks: 16,
  autocast: 1.5,
};

/** Bytes that one layer keeps per token, after Korthikanti et al., for gated feed-forward parts and attention without its matrix. */
function layerBytes(shape: ModelShape, settings: TrainingSettings): number {
  const { hidden, heads, kvHeads, headSize, feedForward, feedForwardMatrices, experts } = shape;
  const { adapter, attention, precision, sequence, tensor, sequenceParallel } = settings;
  const width =
    experts === null || experts.layers === 0 ? feedForward : experts.active * experts.width + experts.sharedWidth;
  // A frozen matrix needs no input to compute its gradient.
  const isTrained = (targets: readonly string[]) => adapter === null || targets.includes(adapter.targets);
  const inputs = (isTrained(['query-value', 'attention', 'all']) ? 2 : 0) + (isTrained(['all']) ? 2 : 0);
  const between = (constants.norms + inputs) * hidden;
  const projected = 2 * (2 * heads + 2 * kvHeads) * headSize;
  const product = isTrained(['all']) ? 0 : 2;
  const inner = (feedForwardMatrices === 3 ? constants.gated - product : 4 - product) * width;
  const scores = attention === 'eager' ? 5 * heads * (sequence ?? 0) : 0;
  const wide = precision === 'full' ? 2 : precision === 'mixed' && settings.engine === 'torch' ? constants.autocast : 1;
  return (between / (sequenceParallel ? tensor : 1) + (projected + inner + scores) / tensor) * wide;
}

/** Bytes of the logits, their softmax and their gradients; null if batch or sequence is unknown. */
export function logitBytes({ vocabulary }: ModelShape, settings: TrainingSettings): number | null {
  const tokens = tokensOf(settings);
  if (tokens === null) return null;
  const { loss, tensor } = settings;
  return (
    ((tokens * vocabulary) / tensor) * (loss === 'chunked' ? constants.logits / constants.chunks : constants.logits)
  );
}

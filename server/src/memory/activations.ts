import type { ModelShape } from '../catalog/index.ts';
import type { TrainingSettings } from '../model/training-settings.ts';

/**
 * Bytes that the backward pass needs of the forward pass on one device, with the logits; null if batch or sequence is unknown. After Korthikanti et al.,
 * "Reducing Activation Recomputation in Large Transformer Models" (2022), for gated feed-forward parts, and for attention that never stores its matrix.
 */
export function activationBytes(shape: ModelShape, settings: TrainingSettings): number | null {
  const { batch, sequence, context, recomputation, tensor, sequenceParallel, loss, pairs } = settings;
  if (batch === null || sequence === null) return null;
  const tokens = ((pairs ? 2 : 1) * batch * sequence) / context;
  const scores = scoresPerToken(shape, settings, sequence);
  const layer = layerBytes(shape, settings);
  const input = ((isUpcast(settings) ? 4 : 2) * shape.hidden) / (sequenceParallel ? tensor : 1);
  // The first stage of a pipeline holds one batch for each stage, so its share of the layers counts as often as there are stages.
  const outputs = hasOutputLayer(shape) ? shape.vocabulary : 0;
  const logits = (outputs * logitBytes) / tensor / (loss === 'chunked' ? constants.chunks : 1);
  // The logits are gone when the first layer is computed again.
  const copies = recomputation === 'offloaded' && loss === 'chunked' ? constants.inPlace : constants.recomputed;
  const again = Math.max(layer * copies + scores * constants.scoresAgain, logits);
  if (recomputation === 'full') return tokens * (input * shape.layers + again);
  if (recomputation === 'offloaded') return tokens * again;
  const share = settings.engine === 'megatron' ? constants.selectiveAttention : constants.selective;
  const whole = layer + scores * constants.scores * wideness(settings);
  const layers = whole * shape.layers * (recomputation === 'selective' ? share : 1);
  return tokens * (layers + logits);
}

/** Whether unquantized weights have 32 bits. FSDP and ZeRO 3 shard weights of one type only, so there they keep theirs. */
export function isUpcast({ adapter, sharded, upcast }: TrainingSettings): boolean {
  return upcast === true && adapter !== null && adapter.bits < 16 && sharded !== 'parameters';
}

/** Models of embeddings and scores are trained on those, without logits. */
function hasOutputLayer({ kind }: ModelShape): boolean {
  return kind !== 'embedding' && kind !== 'reranker';
}

/** Per logit: 16 bits, a copy in 32 bits, its softmax in 32 bits, and the gradient in 16 bits. */
const logitBytes = 12;

/** From half of the measurements in docs/memory.md. */
const constants = {
  /** Layers that exist while one is computed again: its own activations and their gradients. */
  recomputed: 2,
  /** Kernels of Unsloth and Liger write gradients over activations. https://github.com/unslothai/unsloth/blob/main/unsloth/kernels/swiglu.py */
  inPlace: 1,
  /** The share that remains if a program keeps only some operations of each layer. */
  selective: 0.35,
  /** Megatron's kind computes only the attention matrix again, which is not counted here: https://arxiv.org/abs/2205.05198 */
  selectiveAttention: 1,
  /** The parts into which a fused or chunked loss divides the tokens. */
  chunks: 16,
  /** Bytes per number of attention's matrix that a layer keeps: scores and their softmax in 16 bits, and a mask. */
  scores: 5,
  /**
   * While a layer is computed again: two copies in 16 bits, a mask, a softmax in 32 bits and the gradients of all.
   * https://github.com/huggingface/transformers/blob/main/src/transformers/models/gemma3/modeling_gemma3.py, eager_attention_forward
   */
  scoresAgain: 20,
  /** Bytes per hidden value that norms and residuals keep. */
  norms: 8,
  /** How much larger activations are with automatic casts of 32-bit weights. */
  casts: 1.5,
};

/** Bytes that one layer keeps per token, without attention's matrix. */
function layerBytes(shape: ModelShape, settings: TrainingSettings): number {
  const { hidden, heads, kvHeads, headSize, feedForward, feedForwardMatrices, experts } = shape;
  const { adapter, tensor, sequenceParallel } = settings;
  const width =
    experts === null || experts.layers === 0 ? feedForward : experts.active * experts.width + experts.sharedWidth;
  // A frozen matrix needs no input to compute its gradient.
  const all = adapter === null || adapter.targets === 'all';
  const between = (constants.norms + (all ? 4 : 2)) * hidden;
  const projected = 2 * (2 * heads + 2 * kvHeads) * headSize;
  // 16 bits each: gate, its activation, up and product; or one matrix and its activation.
  const inner = (feedForwardMatrices === 3 ? (all ? 8 : 6) : all ? 4 : 2) * width;
  return (between / (sequenceParallel ? tensor : 1) + (projected + inner) / tensor) * wideness(settings);
}

/** How much larger activations are than in 16 bits. */
function wideness(settings: TrainingSettings): number {
  const { engine, precision } = settings;
  const isCast = isUpcast(settings) || (precision === 'mixed' && engine === 'torch');
  return precision === 'full' ? 2 : isCast ? constants.casts : 1;
}

/** The numbers of attention's matrix per token and device, if it is written out. */
function scoresPerToken({ heads }: ModelShape, { attention, tensor }: TrainingSettings, sequence: number): number {
  return attention === 'eager' ? (heads * sequence) / tensor : 0;
}

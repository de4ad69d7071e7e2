import type { ModelShape } from '../catalog/index.ts';
import type { Adapter, TrainingSettings } from '../model/training-settings.ts';
import { activationBytes, logitBytes } from './activations.ts';

/** What training takes on each device, in GiB. */
export interface TrainingEstimate {
  readonly weightsGiB: number;
  readonly gradientsGiB: number;
  readonly optimizerGiB: number;
  /** What the backward pass needs of the forward pass, and the logits; null: batch or sequence is unknown. */
  readonly activationsGiB: number | null;
  /** Gathered weights, buffers of collectives and of the optimizer's step. */
  readonly buffersGiB: number;
  /** CUDA, NCCL and what the allocator cannot use. */
  readonly overheadGiB: number;
  /** The parts without activations: a lower bound whatever the batch is. */
  readonly fixedGiB: number;
  /** The sum; null without activations. */
  readonly totalGiB: number | null;
}

const gibibyte = 2 ** 30;

/** The memory that training takes on the most loaded device. docs/memory.md has the formulas with their sources. */
export function estimateTraining(shape: ModelShape, settings: TrainingSettings): TrainingEstimate {
  const bytes = stateBytes(shape, settings);
  const activations = activationBytes(shape, settings);
  const logits = logitBytes(shape, settings);
  const gib = (count: number) => count / gibibyte;
  const weightsGiB = gib(bytes.weights);
  const gradientsGiB = gib(bytes.gradients);
  const optimizerGiB = gib(bytes.optimizer);
  // The optimizer's buffers exist when the activations are gone.
  const live = activations === null || logits === null ? null : activations + logits;
  const buffersGiB = gib(bytes.buffers);
  const stepGiB = gib(bytes.step);
  const activationsGiB = live === null ? null : gib(live);
  const quantized = settings.adapter !== null && settings.adapter.bits < 16;
  const overheadGiB =
    tuned.context + (settings.devices > 1 ? tuned.communication : 0) + (quantized ? tuned.quantized : 0);
  const fixedGiB = weightsGiB + gradientsGiB + optimizerGiB + overheadGiB;
  const peak = (live: number) => Math.max(live * (1 + tuned.fragmentation) + buffersGiB, stepGiB);
  const totalGiB = activationsGiB === null ? null : fixedGiB + peak(activationsGiB);
  return {
    weightsGiB,
    gradientsGiB,
    optimizerGiB,
    activationsGiB,
    buffersGiB,
    overheadGiB,
    fixedGiB,
    totalGiB,
  };
}

/** Measured on half of test/memory/training-measurements.jsonl. */
export const tuned = {
  context: 0.8,
  communication: 1.2,
  quantized: 1.2,
  fragmentation: 0.0,
};

/** Parameters of one device of a tensor- and pipeline-parallel group, before data parallelism divides them. */
export function parametersPerDevice(
  shape: ModelShape,
  { tensor, pipeline, expert }: Pick<TrainingSettings, 'tensor' | 'pipeline' | 'expert'>,
) {
  const { hidden, vocabulary, tiedEmbeddings, experts, feedForwardMatrices } = shape;
  const one = vocabulary * hidden;
  const embeddings = tiedEmbeddings ? one : 2 * one;
  const inExperts =
    experts === null ? 0 : experts.layers * experts.count * feedForwardMatrices * hidden * experts.width;
  const dense = Math.max(0, shape.parameters - embeddings - inExperts);
  return {
    layers: dense / tensor / pipeline,
    experts: inExperts / expert / pipeline,
    // Embedding and output layer are on the first and the last stage.
    embeddings: (pipeline > 1 ? one : embeddings) / tensor,
  };
}

/** The trained parameters of an adapter. */
export function adapterParameters(shape: ModelShape, { rank, targets, embeddings }: Adapter): number {
  const { layers, hidden, heads, kvHeads, headSize, feedForward, feedForwardMatrices, vocabulary, tiedEmbeddings } =
    shape;
  const { experts } = shape;
  const query = hidden + heads * headSize;
  const key = hidden + kvHeads * headSize;
  const attention = targets === 'query-value' ? query + key : 2 * query + 2 * key;
  const inExperts = experts === null ? 0 : experts.layers * experts.count * (hidden + experts.width);
  const dense = (layers - (experts?.layers ?? 0)) * (hidden + feedForward);
  const all = targets === 'all' ? feedForwardMatrices * (dense + inExperts) : 0;
  const trained = embeddings ? vocabulary * hidden * (tiedEmbeddings ? 1 : 2) : 0;
  return rank * (layers * attention + all) + trained;
}

/** Bytes of weights, gradients and optimizer states on one device, and of what passes through. */
function stateBytes(shape: ModelShape, settings: TrainingSettings) {
  const { adapter, engine, precision, sharded, offload, tensor, pipeline, expert, devices, stepInBackward } = settings;
  const own = parametersPerDevice(shape, settings);
  const group = Math.max(1, devices / tensor / pipeline);
  const keepsMaster = precision === 'mixed' && (engine === 'deepspeed' || engine === 'megatron');
  const computed = precision === 'full' ? 4 : 2;
  const stored = precision === 'mixed' && !keepsMaster ? 4 : computed;
  const count = own.layers + own.experts + own.embeddings;
  // Each expert is on fewer devices than the rest, so fewer of them can divide its states.
  const divided = (from: TrainingSettings['sharded']) => {
    const by = order[sharded] >= order[from] ? group : 1;
    return (own.layers + own.embeddings) / by + own.experts / Math.max(1, by / expert);
  };
  const trained = adapter === null ? count : adapterParameters(shape, adapter) / tensor / pipeline / expert;
  const share = (from: TrainingSettings['sharded']) =>
    adapter === null ? divided(from) : trained / (order[sharded] >= order[from] ? group : 1);
  // Frozen weights need no copy in 32 bits.
  const frozen = precision === 'full' || (precision === 'mixed' && engine === 'torch') ? 4 : 2;
  const base = adapter === null ? 0 : (frozenBytes(own, adapter, frozen) * divided('parameters')) / count;
  const gradient = precision === 'half' || engine === 'deepspeed' ? computed : 4;
  const state = precision === 'half' && adapter === null ? 2 : 4;
  const layer = ((own.layers + own.experts) * pipeline) / shape.layers;
  const gathered = sharded === 'parameters' && group > 1 ? (2 * layer + own.embeddings) * computed : 0;
  const reduced = sharded === 'nothing' || adapter !== null ? 0 : layer * gradient;
  const buckets = engine === 'deepspeed' ? Math.min(1e9, count * 2) : 0;
  const step = stepInBackward || offload !== 'nothing' ? 0 : share('optimizer');
  // PyTorch's default optimizer holds one copy of all weights during the step, DeepSpeed the gradients in 32 bits.
  const copies = engine === 'deepspeed' ? 4 : /^(?:adamw|lion|sgd|sgd-momentum)$/.test(settings.optimizer) ? stored : 0;
  return {
    weights: offload === 'all' ? 0 : base + share('parameters') * stored,
    gradients: offload === 'all' || stepInBackward ? 0 : share('gradients') * gradient,
    optimizer:
      offload === 'nothing' ? share('optimizer') * (statesOf[settings.optimizer](state) + (keepsMaster ? 4 : 0)) : 0,
    buffers: gathered + reduced + buckets,
    step: step * copies,
  };
}

const order = { nothing: 0, optimizer: 1, gradients: 2, parameters: 3 } as const;

/** Bytes per trained parameter of an optimizer whose states have `state` bytes each. Paged states move to the host under pressure. */
const statesOf = {
  adamw: (state: number) => 2 * state,
  'adamw-8bit': () => 2,
  'paged-adamw': () => 0,
  'paged-adamw-8bit': () => 0,
  adafactor: () => 0.02,
  lion: (state: number) => state,
  'lion-8bit': () => 1,
  sgd: () => 0,
  'sgd-momentum': (state: number) => state,
  muon: (state: number) => state,
};

/** Frozen weights: quantized are the matrices of the layers; embeddings and output layer keep 16 bits. */
function frozenBytes(
  { layers, experts, embeddings }: ReturnType<typeof parametersPerDevice>,
  { bits }: Adapter,
  bytes: number,
): number {
  if (bits === 16) return (layers + experts + embeddings) * bytes;
  // 4 bits and one scale per 64 weights.
  return (layers + experts) * (bits === 4 ? 0.5625 : 1.03) + embeddings * 2;
}

export { constants } from './activations.ts';

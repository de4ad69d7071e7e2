import type { ModelShape } from '../catalog/index.ts';
import type { Adapter, TrainingSettings } from '../model/training-settings.ts';
import { activationBytes, isUpcast } from './activations.ts';

/** What training takes on the most loaded device, in GiB. */
export interface TrainingEstimate {
  readonly weightsGiB: number;
  readonly gradientsGiB: number;
  readonly optimizerGiB: number;
  /** What the backward pass needs of the forward pass, with the logits; null: batch or sequence is unknown. */
  readonly activationsGiB: number | null;
  /**
   * Gathered weights and buffers of collectives, less the gradients that do not exist yet; or the copies of the optimizer's step if those are larger
   * than all activations. Also the copies of gradients in data parallelism, which a program can turn off.
   */
  readonly buffersGiB: number;
  /** CUDA, NCCL, and the work space of quantized weights. */
  readonly overheadGiB: number;
  /** Weights, gradients and optimizer states: needed whatever the batch is. */
  readonly fixedGiB: number;
  /** The sum; null without activations. */
  readonly totalGiB: number | null;
  /** How many times the sum a peak can be. */
  readonly most: number;
}

/** The memory that training takes on the most loaded device. docs/memory.md has the formulas with their sources. */
export function estimateTraining(shape: ModelShape, settings: TrainingSettings): TrainingEstimate {
  const bytes = stateBytes(shape, settings);
  const live = activationBytes(shape, settings);
  const weightsGiB = bytes.weights / gibibyte;
  const gradientsGiB = bytes.gradients / gibibyte;
  const optimizerGiB = bytes.optimizer / gibibyte;
  const activationsGiB = live === null ? null : live / gibibyte;
  const isQuantized = settings.adapter !== null && settings.adapter.bits < 16;
  const overheadGiB =
    constants.contextGiB +
    (settings.devices > 1 ? constants.communicationGiB : 0) +
    (isQuantized ? constants.quantizedGiB : 0);
  // The optimizer's step begins when the activations are gone, and gradients grow while they go.
  const later = settings.onePass === true && settings.devices === 1 ? gradientsGiB : 0;
  const passing = (activationsGiB ?? 0) * constants.fragmented + bytes.buffers / gibibyte - later;
  const peak = Math.max(passing, bytes.step / gibibyte, 0);
  const fixedGiB = weightsGiB + gradientsGiB + optimizerGiB;
  return {
    weightsGiB,
    gradientsGiB,
    optimizerGiB,
    activationsGiB,
    buffersGiB: peak - (activationsGiB ?? 0) + bytes.copied / gibibyte,
    overheadGiB,
    fixedGiB,
    totalGiB: activationsGiB === null ? null : fixedGiB + overheadGiB + peak + bytes.copied / gibibyte,
    most: shape.lastLogits ? constants.mostOfOwnCode : constants.most,
  };
}

const gibibyte = 2 ** 30;

/** GiB per device, from half of the measurements in docs/memory.md. */
const constants = {
  contextGiB: 0.8,
  communicationGiB: 1.2,
  quantizedGiB: 1.2,
  /** What the allocator holds for each GiB of activations. */
  fragmented: 1.05,
  /** 19 of 20 published peaks are at most this many times the estimate. */
  most: 1.8,
  /** Models that come with their own code: GLM-4 took 2.2 times as much. */
  mostOfOwnCode: 2.5,
};

/**
 * Whether training fits a device: `unknown` within the error of the estimate. In 19 of 20 published peaks, weights, gradients and states alone are at
 * most 1.25 times the peak.
 * @param memoryGiB of the device
 */
export function trainingFit(
  { fixedGiB, totalGiB, most }: TrainingEstimate,
  memoryGiB: number,
): 'fits' | 'too-large' | 'unknown' {
  if (fixedGiB > memoryGiB * 1.25) return 'too-large';
  return totalGiB !== null && totalGiB * most <= memoryGiB ? 'fits' : 'unknown';
}

/** The size of a checkpoint from which training can resume, in GiB over all devices: weights and optimizer states, of an adapter if there is one. */
export function checkpointGiB(shape: ModelShape, { adapter, precision, engine, optimizer }: TrainingSettings): number {
  const trained = adapter === null ? shape.parameters : adapterParameters(shape, adapter);
  const weights = precision === 'mixed' ? (keepsMaster(precision, engine) ? 6 : 4) : precision === 'full' ? 4 : 2;
  return (trained * (weights + statesOf[optimizer].saved(precision === 'half' ? 2 : 4))) / gibibyte;
}

function keepsMaster(precision: TrainingSettings['precision'], engine: TrainingSettings['engine']): boolean {
  return precision === 'mixed' && (engine === 'deepspeed' || engine === 'megatron');
}

/** Parameters of one device of a tensor- and pipeline-parallel group, before data parallelism divides them. */
function parametersPerDevice(shape: ModelShape, { tensor, pipeline, expert }: TrainingSettings) {
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
  const { layers, hidden, heads, kvHeads, headSize, feedForward, vocabulary, experts } = shape;
  const query = hidden + heads * headSize;
  const key = hidden + kvHeads * headSize;
  const attention = targets === 'query-value' ? query + key : 2 * query + 2 * key;
  const inExperts = experts === null ? 0 : experts.layers * experts.count * (hidden + experts.width);
  const dense = (layers - (experts?.layers ?? 0)) * (hidden + feedForward);
  const all = targets === 'all' ? shape.feedForwardMatrices * (dense + inExperts) : 0;
  const trained = embeddings ? vocabulary * hidden * (shape.tiedEmbeddings ? 1 : 2) : 0;
  return rank * (layers * attention + all) + trained;
}

/** Bytes of weights, gradients and optimizer states on one device, and of what passes through. */
function stateBytes(shape: ModelShape, settings: TrainingSettings) {
  const { adapter, engine, precision, sharded, offload, tensor, pipeline, expert, devices, stepInBackward } = settings;
  const own = parametersPerDevice(shape, settings);
  const group = Math.max(1, devices / tensor / pipeline);
  const computed = precision === 'full' ? 4 : 2;
  const hasMaster = keepsMaster(precision, engine);
  const stored = precision === 'mixed' && !hasMaster ? 4 : computed;
  const count = own.layers + own.experts + own.embeddings;
  const by = (from: TrainingSettings['sharded']) => (order[sharded] >= order[from] ? group : 1);
  // Each expert is on fewer devices than the rest, so fewer of them divide its states.
  const divided = (from: TrainingSettings['sharded']) =>
    (own.layers + own.embeddings) / by(from) + own.experts / Math.max(1, by(from) / expert);
  const trained = adapter === null ? count : adapterParameters(shape, adapter) / tensor / pipeline / expert;
  const share = (from: TrainingSettings['sharded']) => (adapter === null ? divided(from) : trained / by(from));
  // Frozen weights need no copy in 32 bits.
  const frozen = precision === 'full' || (precision === 'mixed' && engine === 'torch') ? 4 : 2;
  const outside = isUpcast(settings) ? 4 : 2;
  const base = adapter === null ? 0 : (frozenBytes(own, adapter, frozen, outside) * divided('parameters')) / count;
  const gradient = precision === 'half' || engine === 'deepspeed' ? computed : 4;
  const states = statesOf[settings.optimizer];
  const state = precision === 'half' && adapter === null ? 2 : 4;
  const layer = ((own.layers + own.experts) * pipeline) / shape.layers;
  // Quantized weights are gathered as they are stored.
  const ofLayer = adapter === null || adapter.bits === 16 ? computed : quantizedBytes(adapter);
  const gathered = sharded === 'parameters' && group > 1 ? 2 * layer * ofLayer + own.embeddings * computed : 0;
  const reduced = sharded === 'nothing' || adapter !== null ? 0 : layer * gradient;
  // The experts of a layer are one tensor: each adds to a gradient of all of them.
  const ofExperts = ((own.experts * pipeline) / (shape.experts?.layers || 1)) * computed;
  const added = adapter === null && engine === 'fsdp' ? 2 * ofExperts : 0;
  const buckets = engine === 'deepspeed' ? Math.min(1e9, count * 2) : 0;
  const step = stepInBackward || offload !== 'nothing' ? 0 : share('optimizer');
  // PyTorch's default optimizers hold one copy of all weights during the step, DeepSpeed the gradients in 32 bits.
  const copies = engine === 'deepspeed' ? 4 : states.copies ? stored : 0;
  const optimizer = share('optimizer') * (states.held(state) + (hasMaster ? 4 : 0));
  const copy = settings.reference && adapter === null ? divided('parameters') * 2 : 0;
  const gradients = offload === 'all' || stepInBackward ? 0 : share('gradients') * gradient;
  return {
    weights: offload === 'all' ? 0 : base + share('parameters') * stored + copy,
    gradients,
    copied: copiesGradients(settings, group) ? gradients : 0,
    optimizer: offload === 'nothing' ? optimizer : 0,
    buffers: gathered + reduced + added + buckets,
    step: step * copies,
  };
}

/**
 * PyTorch's data parallelism, which knows no experts, copies all gradients into the buckets that it reduces.
 * https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html, gradient_as_bucket_view
 */
function copiesGradients({ engine, sharded, expert }: TrainingSettings, group: number): boolean {
  return engine === 'torch' && sharded === 'nothing' && expert === 1 && group > 1;
}

const order = { nothing: 0, optimizer: 1, gradients: 2, parameters: 3 } as const;

/** Bytes per trained parameter of an optimizer whose states have `state` bytes each: on the device, and in a checkpoint. */
function states(held: (state: number) => number, copies: boolean, saved = held) {
  return { held, copies, saved };
}

const statesOf = {
  adamw: states((state) => 2 * state, true),
  'adamw-fused': states((state) => 2 * state, false),
  'adamw-8bit': states(() => 2, false),
  'adamw-4bit': states(() => 1, false),
  // Paged states move to the host under pressure.
  'paged-adamw': states(
    () => 0,
    false,
    (state) => 2 * state,
  ),
  'paged-adamw-8bit': states(
    () => 0,
    false,
    () => 2,
  ),
  adafactor: states(() => 0.02, false),
  lion: states((state) => state, true),
  'lion-8bit': states(() => 1, false),
  sgd: states(() => 0, true),
  'sgd-momentum': states((state) => state, true),
  muon: states((state) => state, false),
  // Moments of projections to rank 128 of 4,096, and those. https://arxiv.org/abs/2403.03507
  'low-rank': states((state) => 0.1 * state, false),
};

/** Frozen weights: quantized are the matrices of the layers; embeddings and output layer have `outside` bytes. */
function frozenBytes(
  { layers, experts, embeddings }: ReturnType<typeof parametersPerDevice>,
  adapter: Adapter,
  bytes: number,
  outside: number,
): number {
  if (adapter.bits === 16) return (layers + experts + embeddings) * bytes;
  return (layers + experts) * quantizedBytes(adapter) + embeddings * outside;
}

/** Bytes per weight: 4 bits and 32 bits for each 64 weights. */
function quantizedBytes({ bits }: Adapter): number {
  return bits === 4 ? 0.5625 : 1.03;
}

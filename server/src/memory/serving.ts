import {
  type ModelShape,
  makesImages,
  type NamedModel,
  statedParameters,
  type WeightFormat,
  weightFormat,
} from '../catalog/index.ts';
import { type Engine, reservingEngines } from '../command/engines.ts';
import { knownModel, type NoServedModel, type Served, type ServedModel } from '../model/served-model.ts';
import { bytesOfCacheType, type CacheLayout, cacheBytes } from './cache-size.ts';
import { buffersOf, crossesPictures, defaultsOf, type EngineBuffers, type Hardware } from './engine-buffers.ts';
import { paddingOfExperts } from './expert-padding.ts';
import { absorbedGiB, replicatedGiB, weightParts } from './model-weights.ts';
import { ranksPerDevice } from './ranks.ts';
import { formatOf, isGgml, isMxfp4 } from './served-format.ts';
import { shapeOfSize } from './sized-shape.ts';

/**
 * What each device of a model server needs to answer one request of maximum length. More memory serves more concurrent requests. All amounts are
 * GiB of the most loaded device.
 */
export interface MemoryEstimate extends EngineBuffers {
  readonly served: ServedModel;
  readonly shape: ModelShape;
  /** As in the manifest, without its organization. */
  readonly name: string;
  /**
   * The name is that of a model, or of one derived from it. `size`, `sizeInName`: a stated number of parameters, or that in the name, with the shape of
   * another model.
   */
  readonly basis: NamedModel['basis'] | 'size' | 'sizeInName';
  /** The format of the weights, in words. */
  readonly format: string;
  /** Devices that share each layer, stages, and all devices of one copy of the model. */
  readonly tensor: number;
  readonly pipeline: number;
  readonly devices: number;
  /** The ranks on one device: several on the cores of a Neuron device. */
  readonly ranks: number;
  readonly weightsGiB: number;
  /** The error of the weights, as a fraction of them. */
  readonly weightsError: number;
  readonly cacheGiB: number;
  /** Activations, graphs and libraries. */
  readonly overheadGiB: number;
  readonly neededGiB: number;
  /** The tokens of the longest request, and the requests that have cache of their own from the start. */
  readonly context: number;
  readonly contextFrom: 'flag' | 'model' | 'engine' | 'memory';
  readonly slots: number;
  readonly layout: CacheLayout;
  /** The part of a device that the engine reserves; null: what it needs. */
  readonly fraction: number | null;
  /** The server is tuned for concurrent requests: it can use all memory that it gets. */
  readonly tuned: boolean;
}

/** Why there is no estimate. */
export type NoMemoryEstimate =
  | NoServedModel
  /** The catalog has no sourced shape for the model. */
  | { readonly kind: 'noShape'; readonly name: string }
  | { readonly kind: 'format'; readonly name: string }
  | { readonly kind: 'cacheType'; readonly name: string }
  /** The server may load smaller weights than the published ones, which do not fit. */
  | { readonly kind: 'ownFormat'; readonly engine: Engine }
  /** Weights that stay in the node's memory, by an unknown amount. */
  | { readonly kind: 'offload' }
  /** What such a model needs depends on its inputs: sizes of images. */
  | { readonly kind: 'inputs'; readonly name: string };

/** An estimate, or why it cannot be made. */
export type MemoryResult =
  | { readonly estimate: MemoryEstimate; readonly unknown: null }
  | { readonly estimate: null; readonly unknown: NoMemoryEstimate };

const gibibyte = 2 ** 30;
const noHardware: Hardware = { cardGiB: null, gpus: null };

/** The memory that a model server needs on each of its devices. docs/memory.md has the formulas with their sources. */
export function estimateServing({ model: served, unknown }: Served, hardware: Hardware = noHardware): MemoryResult {
  if (served === null) return without(unknown);
  const { name } = served;
  const named = knownModel(served) ?? sized(served, hardware);
  if (named === undefined) return without({ kind: makesImages(name) ? 'inputs' : 'noShape', name });
  const { basis } = named;
  const shape = asKept(named.shape, served);
  if (shape.kind === 'diffusion') return without({ kind: 'inputs', name });
  const format = formatOf(served, named);
  if (format === undefined) return without({ kind: 'format', name: served.quantization ?? name });
  if (served.offloadGiB === null) return without({ kind: 'offload' });
  const bytes = bytesOfCacheType(served.cacheType ?? (keepsFp8(served, format) ? 'fp8' : served.dtype));
  if (bytes === undefined) return without({ kind: 'cacheType', name: served.cacheType ?? '' });

  const { tensor, pipeline } = parallelism(served, shape, hardware);
  const defaults = defaultsOf(served, shape, hardware);
  const step = served.batchedTokens ?? defaults.batchedTokens;
  const { context, contextFrom, slots } = contextOf(served, shape);
  const beyondWindow = keepsWindows(served, shape) ? Number.POSITIVE_INFINITY : step / slots;
  const group = attentionGroup(tensor, served.attentionReplicas);
  const groups = served.engine === 'vllm';
  const states = groups && cachesPrefixStates(served) ? 2 : 1;
  const remembered = remembers(served, shape) ? 4096 : 0;
  const { cacheShards: shards = 1 } = served;
  const layout: CacheLayout = { tensor: group, pipeline, bytes, beyondWindow, remembered, groups, shards, states };
  const buffers = buffersOf(served, shape, {
    sequences: served.sequences ?? defaults.sequences,
    batchedTokens: step,
    tensor,
    quantizedExperts: isMxfp4(shape, format),
  });
  const share = served.gpuLayers === null ? 1 : Math.min(1, served.gpuLayers / Math.max(1, shape.layers));
  const ranks = ranksPerDevice(tensor * pipeline, hardware);
  const ofRank = weightsOf(served, shape, format, { tensor, pipeline, card: hardware.card }) * share;
  const weightsGiB = Math.max(0, ofRank - served.offloadGiB) * ranks;
  const cacheGiB = ranks * (served.cacheGiB ?? (slots * cacheBytes(shape, context, layout) * share) / gibibyte);
  const overheadGiB = ranks * (buffers.activationsGiB + buffers.graphsGiB + buffers.runtimeGiB);
  const estimate: MemoryEstimate = {
    ...buffers,
    served,
    shape,
    name: shortName(name),
    basis,
    format: (format ?? weightFormat(shape.format))?.name ?? shape.format,
    tensor,
    pipeline,
    devices: Math.ceil((tensor * pipeline) / ranks),
    ranks,
    weightsGiB,
    weightsError: format?.error ?? 0.015,
    cacheGiB,
    overheadGiB,
    neededGiB: weightsGiB + cacheGiB + overheadGiB,
    context,
    contextFrom,
    slots,
    layout,
    fraction: reservingEngines.has(served.engine) ? (served.fraction ?? defaults.fraction) : null,
    tuned: served.tuned,
  };
  // Ollama spreads the layers over all devices only if one is too small, and KAITO over nodes if the weights exceed one.
  const { gpus, cardGiB } = hardware;
  const stages = (served.engine === 'ollama' ? gpus : served.nodes) ?? 1;
  const isSpread = pipeline === 1 && stages > 1 && cardGiB !== null;
  return isSpread && (served.engine === 'ollama' ? estimate.neededGiB : weightsGiB) > cardGiB
    ? estimateServing({ model: { ...served, pipeline: stages }, unknown: null }, hardware)
    : { estimate, unknown: null };
}

/** llama.cpp from before it knew latent attention, and files from then, keep keys and values of each head. https://github.com/ggml-org/llama.cpp/pull/12801 */
function asKept(shape: ModelShape, { engine, version }: ServedModel): ModelShape {
  // Servers of embeddings compute a text in one step.
  if (shape.causal && (engine === 'embeddings' || engine === 'transformers')) return { ...shape, cache: [] };
  const { latent, headsInGguf, layers, heads } = shape;
  const isOld = engine === 'ollama' && version !== null && version[0] === 0 && version[1] < 7;
  if (latent === null || !isGgml(engine) || (headsInGguf !== true && !isOld)) return shape;
  const headSize = (latent.nope + latent.rope + latent.value) / 2;
  return { ...shape, cache: [{ kind: 'attention', layers, kvHeads: heads, headSize, window: null }] };
}

interface SizedModel extends Omit<NamedModel, 'basis'> {
  readonly basis: MemoryEstimate['basis'];
}

function sized({ name, parameters }: ServedModel, hardware: Hardware): SizedModel | undefined {
  const stated = hardware.parameters ?? parameters;
  const isText = !makesImages(name);
  const inName = stated === undefined && hardware.bySizeInName && isText ? statedParameters(name) : undefined;
  const count = stated ?? (inName && (inName.least + inName.most) / 2);
  const shape = count === undefined ? undefined : shapeOfSize(name, count);
  return shape && { shape, format: inName?.format ?? null, basis: inName === undefined ? 'size' : 'sizeInName' };
}

function without(unknown: NoMemoryEstimate): MemoryResult {
  return { estimate: null, unknown };
}

/** The last part of a name that is not a number or a revision. */
function shortName(name: string): string {
  const parts = name.replace(/(?<!\/)\/+$/, '').split('/');
  return parts.length === 2 ? (parts[1] ?? name) : (parts.filter((part) => /[a-z]/i.test(part)).at(-1) ?? name);
}

function parallelism(
  { tensor, pipeline, engine, allDevices }: ServedModel,
  shape: ModelShape,
  { gpus }: Hardware,
): { readonly tensor: number; readonly pipeline: number } {
  if (engine === 'llama-cpp') return { tensor: 1, pipeline: Math.max(1, Math.min(gpus ?? 1, shape.layers)) };
  if (engine === 'ollama') return { tensor: 1, pipeline };
  // TGI and NIM use all devices of their container.
  const all = engine === 'tgi' || engine === 'nim' || allDevices ? gpus : null;
  // A chart may turn the GPUs of a container off.
  return { tensor: tensor ?? (all || 1), pipeline };
}

/**
 * NVIDIA's checkpoints in FP8 and NVFP4 ask for a cache in FP8, which vLLM and TensorRT-LLM follow.
 * https://github.com/vllm-project/vllm/blob/main/vllm/utils/torch_utils.py, get_kv_cache_quant_algo_string
 * https://github.com/NVIDIA/TensorRT-LLM/blob/main/tensorrt_llm/_torch/model_config.py, kv_cache_quant_algo
 */
function keepsFp8({ name, engine, version }: ServedModel, format: WeightFormat | null): boolean {
  const follows =
    engine === 'vllm' ? version === null || version[0] > 0 || version[1] >= 13 : engine === 'tensorrt-llm';
  const isFp8 = format !== null && /^(?:nvfp4|fp8)(?:-feed-forward)?$/.test(format.id);
  return follows && isFp8 && /^(?:hf:\/\/)?nvidia\//i.test(name);
}

/**
 * vLLM before 0.8, Ollama's first engine and TensorRT-LLM without `max_attention_window` keep all tokens in layers with a window, and vLLM before
 * 0.13 in those with chunks. https://github.com/vllm-project/vllm/pull/21761, https://github.com/vllm-project/vllm/pull/29627,
 * https://nvidia.github.io/TensorRT-LLM/features/kvcache.html. llama.cpp and Ollama free the tokens beyond a window only in models that also have
 * layers without one (Gemma 3, gpt-oss), not in Phi-3 or the first Mistral 7B; SGLang only in the models that it lists.
 */
function keepsWindows(served: ServedModel, shape: ModelShape): boolean {
  const { engine, version } = served;
  const { chunked, cache } = shape;
  if (crossesPictures(served, shape)) return true;
  if (chunked && engine === 'vllm' && version !== null && version[0] === 0 && version[1] < 13) return true;
  if (engine === 'tensorrt-llm') return true;
  if (engine === 'sglang') return !pooledInSglang.test(shape.name);
  const windowsOnly = cache.every((part) => part.kind === 'attention' && part.window !== null);
  if (windowsOnly && isGgml(engine)) return true;
  return (engine === 'vllm' || engine === 'ollama') && version !== null && version[0] === 0 && version[1] < 7;
}

/** Ollama's code of gpt-oss keeps 4,096 tokens in layers with a window. https://github.com/ollama/ollama/blob/main/model/models/gptoss/model.go */
function remembers({ engine }: ServedModel, { name }: ModelShape): boolean {
  return engine === 'ollama' && /\/gpt-oss/i.test(name);
}

/** https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/configs/model_config.py, is_hybrid_swa_model */
const pooledInSglang = /\/(?:gemma-4|gpt-oss|llama-4|mimo-v2|step-3)/i;

/** vLLM since 0.20 keeps states at the end of cached prefixes. https://docs.vllm.ai/en/latest/design/hybrid_kv_cache_manager/ */
function cachesPrefixStates({ version }: ServedModel): boolean {
  return version === null || version[0] > 0 || version[1] >= 20;
}

/** Weights on the most loaded device. Experts are divided over all devices of a data-parallel group. */
function weightsOf(
  { data, engine, attentionReplicas, textOnly }: ServedModel,
  shape: ModelShape,
  format: WeightFormat | null,
  { tensor, pipeline, card }: { readonly tensor: number; readonly pipeline: number; readonly card: string | undefined },
): number {
  const { attentionGiB, feedForwardGiB, expertsGiB, embeddingsGiB, towersGiB } = weightParts(shape, format);
  const group = attentionGroup(tensor, attentionReplicas);
  const whole = group > 1 ? replicatedGiB(shape, format) : 0;
  // llama.cpp leaves the input embedding in the node's memory, and models of embeddings have no output layer.
  const hasOne = isGgml(engine) || pipeline > 1 || shape.kind === 'embedding';
  const embeddings = hasOne && !shape.tiedEmbeddings ? embeddingsGiB / 2 : embeddingsGiB;
  // Its files for vision are in 16 bits.
  const towers = textOnly ? 0 : isGgml(engine) ? (shape.towerParameters * 2) / gibibyte : towersGiB;
  const spread = engine === 'vllm' ? tensor * data : tensor;
  const padding = isMxfp4(shape, format) ? paddingOfExperts(shape, engine, tensor, card) : 1;
  const layers = (attentionGiB - whole + absorbedGiB(shape)) / group + whole + feedForwardGiB / tensor;
  // Each replica of attention has the whole input embedding.
  const copied = group < tensor ? embeddings / (shape.tiedEmbeddings ? 1 : 2) : 0;
  return (layers + (expertsGiB * padding) / spread) / pipeline + copied + (embeddings - copied + towers) / tensor;
}

/**
 * The devices that share the heads of a layer.
 * https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/layers/dp_attention.py
 */
function attentionGroup(tensor: number, replicas: number): number {
  return Math.max(1, Math.floor(tensor / replicas));
}

function contextOf(
  { context, sequences, engine, version, wholeLength }: ServedModel,
  shape: ModelShape,
): Pick<MemoryEstimate, 'context' | 'contextFrom' | 'slots'> {
  const slots = engine === 'ollama' ? (sequences ?? 1) : 1;
  if (context !== null) return { context, contextFrom: 'flag', slots };
  const isOld = version !== null && version[0] === 0 && version[1] < 6;
  const own = engine === 'ollama' ? (isOld ? 2048 : 4096) : has4096(engine, version) ? 4096 : null;
  if (own === null || own >= shape.context || wholeLength === true)
    return { context: shape.context, contextFrom: 'model', slots };
  return { context: own, contextFrom: fillsMemory(engine, version) ? 'memory' : 'engine', slots };
}

/** Since build 7400, llama.cpp takes at least 4,096 tokens, and as many more as fit. https://github.com/ggml-org/llama.cpp/pull/16653 */
function fillsMemory(engine: Engine, version: ServedModel['version']): boolean {
  return engine === 'llama-cpp' && (version === null || version[1] >= 7400);
}

/** llama.cpp took the model's own length in mid-2024. https://github.com/ggml-org/llama.cpp/pull/10136, https://github.com/ggml-org/llama.cpp/issues/9016 */
function has4096(engine: Engine, version: ServedModel['version']): boolean {
  const isWhole = version !== null && version[1] >= 3500 && version[1] < 4000;
  return engine === 'tgi' || (engine === 'llama-cpp' && !isWhole);
}

import {
  ggufFormat,
  type ModelShape,
  modelByName,
  type NamedModel,
  type WeightFormat,
  weightFormat,
} from '../catalog/index.ts';
import { reservingEngines } from '../command/engines.ts';
import type { NoServedModel, Served, ServedModel } from '../model/served-model.ts';
import { bytesOfCacheType, type CacheLayout, cacheBytes } from './cache-size.ts';
import { buffersOf, defaultsOf, type EngineBuffers, type Hardware } from './engine-buffers.ts';
import { weightParts } from './model-weights.ts';
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
  /** The name is that of a model, or of one derived from it; `size`: a stated number of parameters with the shape of another model. */
  readonly basis: NamedModel['basis'] | 'size';
  /** The format of the weights, in words. */
  readonly format: string;
  /** Devices that share each layer, stages, and all devices of one copy of the model. */
  readonly tensor: number;
  readonly pipeline: number;
  readonly devices: number;
  readonly weightsGiB: number;
  readonly cacheGiB: number;
  /** Activations, graphs and libraries. */
  readonly overheadGiB: number;
  readonly neededGiB: number;
  /** The tokens of the longest request, and the requests that have cache of their own from the start. */
  readonly context: number;
  readonly contextFrom: 'flag' | 'model' | 'engine';
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
  /** Weights that stay in the node's memory, by an unknown amount. */
  | { readonly kind: 'offload' }
  /** What such a model needs depends on its inputs: sizes of images. */
  | { readonly kind: 'inputs'; readonly name: string };

export type MemoryResult =
  | { readonly estimate: MemoryEstimate; readonly unknown: null }
  | { readonly estimate: null; readonly unknown: NoMemoryEstimate };

const gibibyte = 2 ** 30;
const noHardware: Hardware = { cardGiB: null, gpus: null };

/** The memory that a model server needs on each of its devices. docs/memory.md has the formulas with their sources. */
export function estimateServing({ model: served, unknown }: Served, hardware: Hardware = noHardware): MemoryResult {
  if (served === null) return without(unknown);
  const { name } = served;
  const named = modelByName(name) ?? sized(name, hardware.parameters);
  if (named === undefined) return without({ kind: 'noShape', name });
  const { shape, basis } = named;
  if (shape.kind === 'diffusion') return without({ kind: 'inputs', name });
  const format = formatOf(served, named);
  if (format === undefined) return without({ kind: 'format', name: served.quantization ?? name });
  if (served.offloadGiB === null) return without({ kind: 'offload' });
  const bytes = bytesOfCacheType(served.cacheType ?? served.dtype);
  if (bytes === undefined) return without({ kind: 'cacheType', name: served.cacheType ?? '' });

  const { tensor, pipeline } = parallelism(served, shape, hardware);
  const defaults = defaultsOf(served, shape, hardware);
  const step = served.batchedTokens ?? defaults.batchedTokens;
  const { context, contextFrom, slots } = contextOf(served, shape);
  const beyondWindow = keepsWindows(served) ? Number.POSITIVE_INFINITY : step / slots;
  const layout: CacheLayout = { tensor, pipeline, bytes, beyondWindow, groups: served.engine === 'vllm' };
  const buffers = buffersOf(served, shape, {
    sequences: served.sequences ?? defaults.sequences,
    batchedTokens: step,
    tensor,
    quantizedExperts: isMxfp4(shape, format),
  });
  const share = served.gpuLayers === null ? 1 : Math.min(1, served.gpuLayers / Math.max(1, shape.layers));
  const weightsGiB = Math.max(0, weightsOf(served, shape, format, { tensor, pipeline }) * share - served.offloadGiB);
  const cacheGiB = served.cacheGiB ?? (slots * cacheBytes(shape, context, layout) * share) / gibibyte;
  const overheadGiB = buffers.activationsGiB + buffers.graphsGiB + buffers.runtimeGiB;
  const estimate: MemoryEstimate = {
    ...buffers,
    served,
    shape,
    name: shortName(name),
    basis,
    format: (format ?? weightFormat(shape.format))?.name ?? shape.format,
    tensor,
    pipeline,
    devices: tensor * pipeline,
    weightsGiB,
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
  // Ollama spreads the layers over all devices only if one is too small.
  const { gpus, cardGiB } = hardware;
  const isSpread = served.engine === 'ollama' && pipeline === 1 && (gpus ?? 1) > 1 && cardGiB !== null;
  return isSpread && estimate.neededGiB > cardGiB
    ? estimateServing({ model: { ...served, pipeline: gpus ?? 1 }, unknown: null }, hardware)
    : { estimate, unknown: null };
}

interface SizedModel extends Omit<NamedModel, 'basis'> {
  readonly basis: MemoryEstimate['basis'];
}

function sized(name: string, parameters: number | undefined): SizedModel | undefined {
  const shape = parameters === undefined ? undefined : shapeOfSize(name, parameters);
  return shape && { shape, format: null, basis: 'size' };
}

function without(unknown: NoMemoryEstimate): MemoryResult {
  return { estimate: null, unknown };
}

/** The last part of a name that is not a number or a revision. */
function shortName(name: string): string {
  const parts = name.replace(/\/+$/, '').split('/');
  return parts.length === 2 ? (parts[1] ?? name) : (parts.filter((part) => /[a-z]/i.test(part)).at(-1) ?? name);
}

/** The format of the weights: the name's, else the flag's; null: as published. Undefined if the flag is unknown. */
function formatOf(
  { quantization, dtype, engine }: ServedModel,
  { format, shape }: SizedModel,
): WeightFormat | null | undefined {
  if (format !== null && format !== 'unknown') return format;
  const flag = quantization?.toLowerCase();
  if (flag === undefined || /^(?:none|null|auto|)$/.test(flag)) {
    if (/^(?:float32|fp32|f32|float)$/i.test(dtype ?? '')) return weightFormat('fp32') ?? null;
    // Tags of Ollama and repositories without a file stand for Q4_K_M.
    if ((engine === 'ollama' || engine === 'llama-cpp') && !isMxfp4(shape, null)) return ggufFormat('Q4_K_M');
    if (format === 'unknown') return undefined;
    // Servers load weights of 32 bits in 16.
    return shape.format === 'fp32' && engine !== 'transformers' ? (weightFormat('fp16') ?? null) : null;
  }
  const id = quantizations.find(([pattern]) => pattern.test(flag))?.[1];
  return id === undefined ? ggufFormat(flag) : weightFormat(id);
}

function isMxfp4(shape: ModelShape, format: WeightFormat | null): boolean {
  return (format?.id ?? shape.format).includes('mxfp4');
}

/** Values of `--quantization` (vLLM, SGLang), `--quantize` (TGI) and the like. */
const quantizations: readonly (readonly [RegExp, Parameters<typeof weightFormat>[0]])[] = [
  [/awq/, 'awq'],
  [/gptq|marlin/, 'gptq'],
  [/nvfp4|modelopt_fp4/, 'nvfp4'],
  [/mxfp4/, 'mxfp4'],
  [/fp8|modelopt/, 'fp8'],
  [/^bitsandbytes(?:[-_](?:nf4|fp4|4bit))?$|^bnb/, 'bnb-4bit'],
  [/int8|w8a8|eetq|^8bit/, 'int8'],
  [/w4a16|int4/, 'w4a16'],
  [/hqq/, 'hqq'],
];

function parallelism(
  { tensor, pipeline, engine, allDevices }: ServedModel,
  shape: ModelShape,
  { gpus }: Hardware,
): { readonly tensor: number; readonly pipeline: number } {
  if (engine === 'llama-cpp') return { tensor: 1, pipeline: Math.max(1, Math.min(gpus ?? 1, shape.layers)) };
  if (engine === 'ollama') return { tensor: 1, pipeline };
  // TGI and NIM use all devices of their container.
  const all = engine === 'tgi' || engine === 'nim' || allDevices ? gpus : null;
  return { tensor: tensor ?? all ?? 1, pipeline };
}

/** vLLM before 0.8 and Ollama's first engine keep all tokens in layers with a window. */
function keepsWindows({ engine, version }: ServedModel): boolean {
  return (engine === 'vllm' || engine === 'ollama') && version !== null && version[0] === 0 && version[1] < 7;
}

/** Weights on the most loaded device. Experts are divided over all devices of a data-parallel group. */
function weightsOf(
  { data, engine, expert }: ServedModel,
  shape: ModelShape,
  format: WeightFormat | null,
  { tensor, pipeline }: { readonly tensor: number; readonly pipeline: number },
): number {
  const { layersGiB, expertsGiB, embeddingsGiB, towersGiB } = weightParts(shape, format);
  const isGgml = engine === 'llama-cpp' || engine === 'ollama';
  // llama.cpp leaves the input embedding in the node's memory.
  const embeddings = (isGgml || pipeline > 1) && !shape.tiedEmbeddings ? embeddingsGiB / 2 : embeddingsGiB;
  // Its files for vision are in 16 bits.
  const towers = isGgml ? (shape.towerParameters * 2) / gibibyte : towersGiB;
  const spread = engine === 'vllm' || expert ? tensor * data : tensor;
  // vLLM's kernels for MXFP4 pad the hidden state to a multiple of 256.
  const isPadded = engine === 'vllm' && isMxfp4(shape, format);
  const padding = isPadded ? (Math.ceil(shape.hidden / 256) * 256) / shape.hidden : 1;
  return (layersGiB / tensor + (expertsGiB * padding) / spread) / pipeline + (embeddings + towers) / tensor;
}

function contextOf(
  { context, sequences, engine, version }: ServedModel,
  shape: ModelShape,
): Pick<MemoryEstimate, 'context' | 'contextFrom' | 'slots'> {
  const slots = engine === 'ollama' ? (sequences ?? 1) : 1;
  if (context !== null) return { context, contextFrom: 'flag', slots };
  const isOld = version !== null && version[0] === 0 && version[1] < 6;
  const own = engine === 'ollama' ? (isOld ? 2048 : 4096) : engine === 'llama-cpp' || engine === 'tgi' ? 4096 : null;
  if (own === null || own >= shape.context) return { context: shape.context, contextFrom: 'model', slots };
  return { context: own, contextFrom: 'engine', slots };
}

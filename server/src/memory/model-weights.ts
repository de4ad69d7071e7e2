import { type FormatId, type ModelShape, type WeightFormat, weightFormat } from '../catalog/index.ts';

/** The weights of a model by what tensor parallelism and quantization do with them. GiB. */
export interface WeightParts {
  /** The matrices of attention, and what else the layers have besides feed-forward parts. */
  readonly attentionGiB: number;
  /** The feed-forward matrices of all tokens, shared experts among them. */
  readonly feedForwardGiB: number;
  readonly expertsGiB: number;
  /** Embedding and output layer. */
  readonly embeddingsGiB: number;
  /** Vision and audio parts. */
  readonly towersGiB: number;
}

const gibibyte = 2 ** 30;

/**
 * The size of a model's weights by its shape: parameters × bits / 8.
 * @param format null: as published
 */
export function weightParts(shape: ModelShape, format: WeightFormat | null): WeightParts {
  const {
    layerBits,
    expertBits,
    outsideBits,
    attentionBits,
    feedForwardBits = layerBits,
  } = inRows(
    keepsAttention(shape, format) ? { ...format, attentionBits: 16 } : (format ?? publishedFormat(shape)),
    shape,
  );
  const experts = expertParameters(shape);
  const embeddings = embeddingParameters(shape);
  const towers = shape.towerParameters;
  const layers = Math.max(0, shape.parameters - experts - embeddings - towers);
  const feedForward = Math.min(layers, feedForwardParameters(shape));
  return {
    attentionGiB: gib(layers - feedForward, attentionBits ?? layerBits),
    feedForwardGiB: gib(feedForward, feedForwardBits),
    expertsGiB: gib(experts, expertBits),
    embeddingsGiB: gib(embeddings, outsideBits),
    towersGiB: gib(towers, outsideBits),
  };
}

/** Matrices of the layers that each device of a group has whole: the down-projections of latent attention, and the gates of experts in 16 bits. */
export function replicatedGiB({ hidden, layers, latent, experts }: ModelShape, format: WeightFormat | null): number {
  const down = latent === null ? 0 : layers * hidden * (latent.query + latent.latent + latent.rope);
  const gates = experts === null ? 0 : experts.layers * hidden * experts.count;
  return gib(down, format?.layerBits ?? 16) + gib(gates, 16);
}

/** The up-projections of latent attention, which servers keep a second time, in 16 bits and divided for decoding. */
export function absorbedGiB({ layers, heads, latent }: ModelShape): number {
  return latent === null ? 0 : gib(layers * heads * latent.latent * (latent.nope + latent.value), 16);
}

/** The sum of `weightParts`, in GiB. */
export function weightsGiB(shape: ModelShape, format: WeightFormat | null): number {
  const { attentionGiB, feedForwardGiB, expertsGiB, embeddingsGiB, towersGiB } = weightParts(shape, format);
  return attentionGiB + feedForwardGiB + expertsGiB + embeddingsGiB + towersGiB;
}

/** The matrices of the experts, without shared ones: what expert parallelism divides. */
function expertParameters({ experts, hidden, feedForwardMatrices }: ModelShape): number {
  return experts === null ? 0 : experts.layers * experts.count * feedForwardMatrices * hidden * experts.width;
}

/** The feed-forward matrices without those of experts that only some tokens use. */
function feedForwardParameters({ layers, hidden, feedForward, feedForwardMatrices, experts }: ModelShape): number {
  const ofExperts = experts?.layers ?? 0;
  const width = (layers - ofExperts) * feedForward + ofExperts * (experts?.sharedWidth ?? 0);
  return feedForwardMatrices * hidden * width;
}

/** Embedding and output layer, which are one matrix if they are tied. */
function embeddingParameters({ vocabulary, hidden, tiedEmbeddings }: ModelShape): number {
  return vocabulary * hidden * (tiedEmbeddings ? 1 : 2);
}

/**
 * Checkpoints in 4 bits of models with linear attention and experts (Qwen3.5 35B) keep attention in 16 bits, because it is a small part: by the measured
 * weights of five publishers.
 */
function keepsAttention({ experts, cache }: ModelShape, format: WeightFormat | null): format is WeightFormat {
  return format !== null && experts !== null && in4Bits.has(format.id) && cache.some(({ kind }) => kind === 'state');
}

const in4Bits: ReadonlySet<string> = new Set<FormatId>(['awq', 'awq-32', 'gptq', 'w4a16', 'nvfp4']);

interface Bits extends Pick<WeightFormat, 'layerBits' | 'expertBits' | 'outsideBits' | 'attentionBits'> {
  /** Of the feed-forward matrices without those of experts, if they differ from other matrices. */
  readonly feedForwardBits?: number;
}

/**
 * GGUF's k-quants need rows of a multiple of 256. Other rows get the next larger format without this need: 5.5 bits instead of about 4.5, and 8.5 in
 * the output layer. https://github.com/ggml-org/llama.cpp/blob/master/src/llama-quant.cpp
 */
function inRows(format: Bits | WeightFormat, shape: ModelShape): Bits {
  if (!('id' in format) || format.id !== 'gguf') return format;
  const { hidden, feedForward, feedForwardMatrices, experts } = shape;
  if (hidden % 256 !== 0) {
    const isShort = format.layerBits > 4.4 && format.layerBits < 5.2;
    return isShort ? { ...format, layerBits: 5.5, outsideBits: 8.5 } : format;
  }
  const wider = feedForwardMatrices === 3 ? feedForwardOfShortRows.get(format.name) : undefined;
  if (wider === undefined) return format;
  if (experts === null) return feedForward % 256 === 0 ? format : { ...format, feedForwardBits: wider };
  return experts.width % 256 === 0 ? format : { ...format, expertBits: wider };
}

/**
 * The bits of feed-forward matrices whose width is no multiple of 256, so that the rows of the last of the three get the next larger format: of
 * Q4_K_M, two have 4.5 bits, and the last has 8.5 in half of the layers and 5.5 in the others. Same source.
 */
const feedForwardOfShortRows: ReadonlyMap<string, number> = new Map([
  ['GGUF Q2_K', 3.25],
  ['GGUF Q3_K_S', 3.79],
  ['GGUF Q3_K_M', 4.14],
  ['GGUF Q4_K_S', 4.85],
  ['GGUF Q4_K_M', 5.33],
  ['GGUF Q5_K_S', 5.67],
  ['GGUF Q5_K_M', 6.08],
  ['GGUF Q6_K', 7.21],
]);

function publishedFormat({ format }: ModelShape): Omit<WeightFormat, 'id' | 'name' | 'source'> {
  return weightFormat(format) ?? { layerBits: 16, expertBits: 16, outsideBits: 16 };
}

function gib(parameters: number, bits: number): number {
  return (parameters * bits) / 8 / gibibyte;
}

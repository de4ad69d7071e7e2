import { type ModelShape, type WeightFormat, weightFormat } from '../catalog/index.ts';

/** The weights of a model by what tensor parallelism and quantization do with them. GiB. */
export interface WeightParts {
  /** The matrices of the layers except those of experts. */
  readonly layersGiB: number;
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
  const { layerBits, expertBits, outsideBits } = format ?? publishedFormat(shape);
  const experts = expertParameters(shape);
  const embeddings = embeddingParameters(shape);
  const towers = shape.towerParameters;
  return {
    layersGiB: gib(shape.parameters - experts - embeddings - towers, layerBits),
    expertsGiB: gib(experts, expertBits),
    embeddingsGiB: gib(embeddings, outsideBits),
    towersGiB: gib(towers, outsideBits),
  };
}

/** The sum of `weightParts`, in GiB. */
export function weightsGiB(shape: ModelShape, format: WeightFormat | null): number {
  const { layersGiB, expertsGiB, embeddingsGiB, towersGiB } = weightParts(shape, format);
  return layersGiB + expertsGiB + embeddingsGiB + towersGiB;
}

/** The matrices of the experts, without shared ones: what expert parallelism divides. */
export function expertParameters({ experts, hidden, feedForwardMatrices }: ModelShape): number {
  return experts === null ? 0 : experts.layers * experts.count * feedForwardMatrices * hidden * experts.width;
}

/** Embedding and output layer, which are one matrix if they are tied. */
export function embeddingParameters({ vocabulary, hidden, tiedEmbeddings }: ModelShape): number {
  return vocabulary * hidden * (tiedEmbeddings ? 1 : 2);
}

function publishedFormat({ format }: ModelShape): Pick<WeightFormat, 'layerBits' | 'expertBits' | 'outsideBits'> {
  return weightFormat(format) ?? { layerBits: 16, expertBits: 16, outsideBits: 16 };
}

function gib(parameters: number, bits: number): number {
  return (parameters * bits) / 8 / gibibyte;
}

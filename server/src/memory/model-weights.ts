import type { ModelShape, WeightFormat } from '../catalog/index.ts';

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

/**
 * The size of a model's weights in a format, or as published. Parts that the format does not cover have 16 bits.
 * @param format null: as published
 */
export function weightParts(shape: ModelShape, format: WeightFormat | null): WeightParts {
  return { layersGiB: shape.parameters * (format?.bits ?? 0), expertsGiB: 0, embeddingsGiB: 0, towersGiB: 0 };
}

/** The sum of `weightParts`, in GiB. */
export function weightsGiB(shape: ModelShape, format: WeightFormat | null): number {
  const { layersGiB, expertsGiB, embeddingsGiB, towersGiB } = weightParts(shape, format);
  return layersGiB + expertsGiB + embeddingsGiB + towersGiB;
}

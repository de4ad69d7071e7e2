import { type ModelShape, modelByName } from '../catalog/index.ts';

/** Published models without experts, one per size. */
const bySize = [
  ...['Qwen/Qwen3-0.6B', 'Qwen/Qwen3-1.7B', 'Qwen/Qwen3-4B', 'Qwen/Qwen3-8B', 'Qwen/Qwen3-14B', 'Qwen/Qwen3-32B'],
  ...['meta-llama/Llama-3.1-70B', 'meta-llama/Llama-3.1-405B'],
];

/**
 * A shape for a stated number of parameters: that of the published model of the nearest size, with this number. The weights follow from the number;
 * cache and buffers are those of the other model, an assumption.
 */
export function shapeOfSize(name: string, parameters: number): ModelShape | undefined {
  let nearest: ModelShape | undefined;
  for (const one of bySize) {
    const shape = modelByName(one)?.shape;
    const distance = (other: ModelShape) => Math.abs(Math.log(other.parameters / parameters));
    if (shape !== undefined && (nearest === undefined || distance(shape) < distance(nearest))) nearest = shape;
  }
  return nearest && { ...nearest, name, parameters, active: parameters };
}

import { modelByName, statedParameters, type WeightFormat, weightFormat } from '../catalog/index.ts';
import { weightsGiB } from './model-weights.ts';

/** The size of a model's weights in GiB, and its source. */
export interface WeightsSize {
  readonly gib: number;
  /** `name`: from the number of parameters in the model's name. */
  readonly from: 'catalog' | 'name';
}

const gibibyte = 2 ** 30;

/**
 * The size of the weights of a model by its name: in the format that the name states or in which it is published, else with `bytes` per
 * parameter. From its shape, else from the number of parameters in the name. Undefined for models of unknown size or format.
 * @param bytes per parameter of a model that is not quantized: servers convert it when they load it
 */
export function weightsSize(name: string, bytes: 2 | 4 = 2): WeightsSize | undefined {
  const found = modelByName(name);
  if (found !== undefined) {
    const format = loadedAs(found.format ?? weightFormat(found.shape.format) ?? 'unknown', bytes);
    return format === undefined ? undefined : { gib: weightsGiB(found.shape, format), from: 'catalog' };
  }
  const stated = statedParameters(name);
  const format = stated && loadedAs(stated.format ?? 'unquantized', bytes);
  if (stated === undefined || format === undefined) return undefined;
  const parameters = (stated.least + stated.most) / 2;
  return { gib: (parameters * format.layerBits) / 8 / gibibyte, from: 'name' };
}

/** The least size of a model's weights in GiB by its name: in 4 bits, the smallest format of NIM's profiles. */
export function leastWeightsGiB(name: string): number | undefined {
  const parameters = modelByName(name)?.shape.parameters ?? statedParameters(name)?.least;
  return parameters === undefined ? undefined : (parameters * 0.5) / gibibyte;
}

const floats: ReadonlySet<string> = new Set(['fp32', 'bf16', 'fp16']);

/** The format in which a server loads weights: numbers without scales have the server's size. */
function loadedAs(format: WeightFormat | 'unknown' | 'unquantized', bytes: 2 | 4): WeightFormat | undefined {
  if (format === 'unknown') return undefined;
  return format === 'unquantized' || floats.has(format.id) ? weightFormat(bytes === 4 ? 'fp32' : 'bf16') : format;
}

import { formatOfName, modelByName, statedParameters, type WeightFormat, weightFormat } from '../catalog/index.ts';
import { weightsGiB } from './model-weights.ts';

/** The size of a model's weights in GiB, and its source. */
export interface WeightsSize {
  readonly gib: number;
  /** `name`: from the number of parameters in the model's name. `annotation`: from a stated number. */
  readonly from: 'catalog' | 'name' | 'annotation';
}

const gibibyte = 2 ** 30;

/**
 * The size of the weights of a model by its name: in the format that the name states or in which it is published, else with `bytes` per
 * parameter. From its shape, else from the number of parameters in the name. Undefined for models of unknown size or format.
 * @param bytes per parameter of a model that is not quantized: servers convert it when they load it
 * @param stated the number of parameters that the user states, which takes precedence
 */
export function weightsSize(name: string, bytes: 2 | 4 = 2, stated?: number): WeightsSize | undefined {
  const found = modelByName(name);
  const isOther = found !== undefined && stated !== undefined && !isAbout(stated, found.shape.parameters);
  if (stated !== undefined && (found === undefined || isOther)) return byParameters(name, stated, bytes, 'annotation');
  if (found !== undefined) {
    const format = loadedAs(found.format ?? weightFormat(found.shape.format) ?? 'unknown', bytes);
    return format === undefined ? undefined : { gib: weightsGiB(found.shape, format), from: 'catalog' };
  }
  const range = statedParameters(name);
  return range && byParameters(name, (range.least + range.most) / 2, bytes, 'name');
}

function byParameters(name: string, parameters: number, bytes: 2 | 4, from: WeightsSize['from']) {
  const format = loadedAs(formatOfName(name) ?? 'unquantized', bytes);
  return format === undefined ? undefined : { gib: (parameters * format.layerBits) / 8 / gibibyte, from };
}

/** Whether a stated number of parameters is that of a model: people round. */
function isAbout(stated: number, parameters: number): boolean {
  return Math.abs(stated / parameters - 1) < 0.15;
}

/** The least size of a model's weights in GiB by its name: in 4 bits, the smallest format of NIM's profiles. */
export function leastWeightsGiB(name: string, known = modelByName(name)): number | undefined {
  const parameters = known?.shape.parameters ?? statedParameters(name)?.least;
  return parameters === undefined ? undefined : (parameters * 0.5) / gibibyte;
}

const floats: ReadonlySet<string> = new Set(['fp32', 'bf16', 'fp16']);

/** The format in which a server loads weights: numbers without scales have the server's size. */
function loadedAs(format: WeightFormat | 'unknown' | 'unquantized', bytes: 2 | 4): WeightFormat | undefined {
  if (format === 'unknown') return undefined;
  return format === 'unquantized' || floats.has(format.id) ? weightFormat(bytes === 4 ? 'fp32' : 'bf16') : format;
}

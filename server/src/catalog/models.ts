import { modelByName } from './model-names.ts';
import type { LanguageModel } from './types.ts';

/** A language model by its name, if the name states no format: the products of its shape in 16 bits. */
export function languageModel(name: string): LanguageModel | undefined {
  const found = modelByName(name);
  if (found === undefined || found.format !== null) return undefined;
  const { shape } = found;
  if (shape.kind !== 'language' || !['bf16', 'fp16', 'fp32'].includes(shape.format)) return undefined;
  const { name: id, context, date, source } = shape;
  const numbers = shape.cache.map((layers) => {
    if (layers.kind === 'state') return 0;
    return layers.layers * (layers.kind === 'latent' ? layers.width : 2 * layers.kvHeads * layers.headSize);
  });
  const cacheBytes = 2 * numbers.reduce((sum, count) => sum + count, 0);
  return { id, weightsGiB: (shape.parameters * 2) / 2 ** 30, cacheBytes, context, date, source };
}

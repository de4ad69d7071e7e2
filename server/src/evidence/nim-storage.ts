import { leastWeightsGiB, weightsSize } from '../memory/weights.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';

/** The least that NVIDIA's operator downloads for an object. */
export interface NimDownload {
  readonly model: string;
  readonly gib: number;
}

/** What a NIMCache or a NIMService downloads: a profile of an image from NGC, or a repository of Hugging Face. */
export function nimDownload(spec: Cursor | undefined): NimDownload | undefined {
  const hub = asText(getIn(spec, 'source', 'hf', 'modelName'));
  if (hub !== undefined) {
    const size = weightsSize(hub);
    return size === undefined ? undefined : { model: hub, gib: size.gib };
  }
  const ngc = getIn(spec, 'source', 'ngc');
  const image = asText(getIn(ngc, 'modelPuller') ?? getIn(spec, 'image', 'repository')) ?? '';
  const [, model] = /^nvcr\.io\/nim\/[\w.-]+\/([\w.-]+)/.exec(image) ?? [];
  const fourBits = model === undefined ? undefined : leastWeightsGiB(model);
  if (model === undefined || fourBits === undefined) return undefined;
  // No profile has more bits than the model is published in: gpt-oss has 4 on every GPU.
  return { model, gib: Math.min(fourBits * formatFactor(getIn(ngc, 'model')), weightsSize(model)?.gib ?? Infinity) };
}

/** What KServe downloads to the disks of nodes: a repository of Hugging Face. */
export function hubDownload(uri: Cursor | undefined): NimDownload | undefined {
  const [, model] = /^hf:\/\/([\w.-]+\/[\w.-]+)(?::[\w.-]+)?$/.exec(isTemplated(uri) ? '' : (asText(uri) ?? '')) ?? [];
  const size = model === undefined ? undefined : weightsSize(model);
  return model === undefined || size === undefined ? undefined : { model, gib: size.gib };
}

/** How much larger the weights of the selected profile are than those in 4 bits. */
function formatFactor(profile: Cursor | undefined): number {
  // Profiles by their numbers take precedence over everything else.
  if (profile === undefined || isIncomplete(profile) || getIn(profile, 'profiles') !== undefined) return 1;
  const precision = getIn(profile, 'precision');
  if (precision !== undefined) return factors.get(asText(precision)?.toLowerCase() ?? '') ?? 1;
  const products = items(getIn(profile, 'gpus')).map((gpu) => asText(getIn(gpu, 'product'))?.toLowerCase() ?? '');
  return products.length > 0 && products.every((product) => withoutFourBits.has(product)) ? 2 : 1;
}

const factors: ReadonlyMap<string, number> = new Map([
  ['fp8', 2],
  ['bf16', 4],
  ['fp16', 4],
]);

/** Products for which NIM's profiles have 8 bits or more. https://docs.nvidia.com/nim/large-language-models/latest/supported-models.html */
const withoutFourBits: ReadonlySet<string> = new Set(['a100', 'a10g', 'h100', 'h200', 'l40s']);

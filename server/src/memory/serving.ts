import { type LanguageModel, languageModel } from '../catalog/index.ts';
import type { NoServedModel, Served } from '../model/served-model.ts';

/** What a model server needs of a device's memory to answer at all. More lets it answer more requests at a time. GiB. */
export interface MemoryEstimate {
  readonly model: LanguageModel;
  /** As the manifest names it, without its organisation. */
  readonly name: string;
  readonly weightsGiB: number;
  /** The KV cache of one request of the longest length. */
  readonly cacheGiB: number;
  /** Tokens of that request. */
  readonly context: number;
  readonly contextFrom: 'flag' | 'model';
  /** Of a number in weights and cache. */
  readonly bits: 16 | 32;
  /** What the runtime and the server's buffers take besides. No source has it for all servers, so it is an assumption. */
  readonly overheadGiB: number;
  readonly neededGiB: number;
  /** Somebody has sized the server for many requests at a time: it has use for all memory that it gets. */
  readonly tuned: boolean;
}

/** Why there is no estimate: what is served is unknown, or the catalogue has no sourced shape of it. */
export type NoMemoryEstimate = NoServedModel | { readonly kind: 'noShape'; readonly name: string };

export type MemoryResult =
  | { readonly estimate: MemoryEstimate; readonly unknown: null }
  | { readonly estimate: null; readonly unknown: NoMemoryEstimate };

const gibibyte = 2 ** 30;
const overheadGiB = 2;

/**
 * The memory that a model server needs on all its devices together: weights = parameters × bytes of one, cache = tokens × (2 × layers
 * × KV heads × head size × bytes of one number; the catalogue has this product at 2 bytes).
 */
export function estimateServing({ model: served, unknown }: Served): MemoryResult {
  if (served === null) return { estimate: null, unknown };
  const { name, bytes, tuned } = served;
  const model = languageModel(name);
  if (model === undefined) return { estimate: null, unknown: { kind: 'noShape', name } };
  const context = served.context ?? model.context;
  const weightsGiB = (model.weightsGiB * bytes) / 2;
  const cacheGiB = (context * model.cacheBytes * bytes) / 2 / gibibyte;
  return {
    estimate: {
      model,
      name: name.slice(name.indexOf('/') + 1),
      weightsGiB,
      cacheGiB,
      context,
      contextFrom: served.context === null ? 'model' : 'flag',
      bits: bytes === 4 ? 32 : 16,
      overheadGiB,
      neededGiB: weightsGiB + cacheGiB + overheadGiB,
      tuned,
    },
    unknown: null,
  };
}

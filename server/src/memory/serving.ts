import { type LanguageModel, languageModel } from '../catalog/index.ts';
import type { NoServedModel, Served } from '../model/served-model.ts';

/** The least device memory that a model server needs to answer one request. More memory serves more concurrent requests. GiB. */
export interface MemoryEstimate {
  readonly model: LanguageModel;
  /** As in the manifest, without its organization. */
  readonly name: string;
  readonly weightsGiB: number;
  /** The KV cache of one request of maximum length. */
  readonly cacheGiB: number;
  /** The tokens of that request. */
  readonly context: number;
  readonly contextFrom: 'flag' | 'model';
  /** Per number in weights and cache. */
  readonly bits: 16 | 32;
  /** The runtime and the server's buffers. An assumption: no source covers all servers. */
  readonly overheadGiB: number;
  readonly neededGiB: number;
  /** The server is tuned for concurrent requests: it can use all memory that it gets. */
  readonly tuned: boolean;
}

/** Why there is no estimate: the served model is unknown, or the catalog has no sourced shape for it. */
export type NoMemoryEstimate = NoServedModel | { readonly kind: 'noShape'; readonly name: string };

export type MemoryResult =
  | { readonly estimate: MemoryEstimate; readonly unknown: null }
  | { readonly estimate: null; readonly unknown: NoMemoryEstimate };

const gibibyte = 2 ** 30;
const overheadGiB = 2;

/**
 * The memory that a model server needs on all its devices: weights = parameters × bytes per parameter; cache = tokens × 2 × layers × KV
 * heads × head size × bytes per number (the catalog has the product without tokens at 2 bytes).
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

import type { Source } from './types.ts';
import type { FormatId } from './weight-formats.ts';

/** `encoder`: text to labels or hidden states. `reranker`: text pairs to scores. */
export type ModelKind = 'language' | 'embedding' | 'reranker' | 'encoder' | 'speech' | 'diffusion' | 'vision';

/**
 * The shape of a published model: what memory, cache and speed are computed from. Counts are per model, not per device. Fields of the stack of
 * layers are 0 if the model has none (a convolutional net, a pipeline of several models).
 */
export interface ModelShape extends Source {
  /** The hub's name, `organization/model`. */
  readonly name: string;
  readonly kind: ModelKind;
  /** All parameters of the published checkpoint, with those of the towers. */
  readonly parameters: number;
  /** The parameters that one token uses; equal to `parameters` without experts. */
  readonly active: number;
  /** Layers of the decoder, or of the encoder if the model has no decoder. */
  readonly layers: number;
  readonly hidden: number;
  /** Width of a dense layer's feed-forward part. */
  readonly feedForward: number;
  /** Matrices of the feed-forward part: 3 if it is gated, else 2. */
  readonly feedForwardMatrices: 2 | 3;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly vocabulary: number;
  /** Tokens. */
  readonly context: number;
  /** The output layer is the embedding: its parameters exist once. */
  readonly tiedEmbeddings: boolean;
  readonly experts: Experts | null;
  readonly latent: LatentAttention | null;
  /** What each part of the layers keeps of the tokens of one sequence; empty: nothing (an encoder, a pipeline). */
  readonly cache: readonly CacheLayers[];
  /** Layers with a window divide the tokens into chunks of its size, which some servers do not use to save memory. */
  readonly chunked?: true;
  /** It only reads, but each token attends to those before it, so servers of language models give it a cache. */
  readonly causal?: true;
  /** Its code for Transformers computes the logits of the last token only, also before Transformers did so itself. */
  readonly lastLogits?: true;
  /** Its files of GGUF are older than the support of latent attention in llama.cpp. */
  readonly headsInGguf?: true;
  /** Layers of an encoder in front of the decoder, of the same width (T5, Whisper). */
  readonly encoderLayers: number;
  /** Parameters of vision and audio parts, which stay in 16 bits in most quantized copies. */
  readonly towerParameters: number;
  /** The checkpoint's format as published. */
  readonly format: FormatId;
}

export interface Experts {
  readonly count: number;
  /** Experts that each token uses. */
  readonly active: number;
  /** Feed-forward width of one expert. */
  readonly width: number;
  /** Feed-forward width of all shared experts together. */
  readonly sharedWidth: number;
  /** Layers with experts; the others are dense. */
  readonly layers: number;
}

/** Multi-head latent attention (DeepSeek): widths of the projections. `query` is 0 if queries are not compressed. */
export interface LatentAttention {
  readonly query: number;
  readonly latent: number;
  readonly rope: number;
  readonly nope: number;
  readonly value: number;
}

/** What some layers keep per sequence. Numbers have the cache's type, states that of the model. */
export type CacheLayers =
  /** 2 × kvHeads × headSize numbers per layer and token, of the last `window` tokens; null: of all. */
  | {
      readonly kind: 'attention';
      readonly layers: number;
      readonly kvHeads: number;
      readonly headSize: number;
      readonly window: number | null;
    }
  /** One vector of `width` numbers per layer and token, the same on every device of a tensor-parallel group. Compressed tokens have a part of it. */
  | { readonly kind: 'latent'; readonly layers: number; readonly width: number }
  /** Linear attention and Mamba: `numbers` per layer, whatever the length. */
  | { readonly kind: 'state'; readonly layers: number; readonly numbers: number };

import { byText, type CommitDates, dateOf, SourceTable } from './sources.ts';

interface Model {
  readonly hf_id: string;
  readonly weights_gib_bf16: number;
  readonly max_context: number | null;
  readonly kv_cache_bytes_per_token_bf16: number | null;
  readonly params_basis: string;
  readonly source: string;
}

export const modelColumns = ['id', 'weightsGiB', 'cacheBytes', 'context', 'date', 'source'] as const;

/** Only the text part has known shapes, but the published checkpoints also contain a vision part. */
const multimodal = new Set(['google/gemma-3-4b-it', 'google/gemma-3-12b-it', 'google/gemma-3-27b-it']);

/**
 * If the table of shapes has no context length, it shows its default of 4,096. Longer values are the cautious choice: LitGPT's own comment
 * for Mistral, and twice the default for Gemma, as the notes in the facts state.
 */
const longerContexts: Readonly<Record<string, number>> = {
  'google/gemma-2b': 8192,
  'google/gemma-7b': 8192,
  'mistralai/Mistral-7B-v0.1': 32_768,
};

/**
 * Models with the memory of their weights and cache at 16 bits, if it was computed from the shapes of their layers. A parameter count known
 * only from a name is not a size.
 */
export function modelFile(facts: { readonly models: readonly Model[] }, dates: CommitDates) {
  const sources = new SourceTable();
  const models = facts.models
    .filter(({ hf_id, params_basis }) => params_basis === 'computed from the architecture' && !multimodal.has(hf_id))
    .map((model) => [
      model.hf_id,
      model.weights_gib_bf16,
      model.kv_cache_bytes_per_token_bf16,
      longerContexts[model.hf_id] ?? model.max_context,
      dateOf(model.source, dates),
      sources.refer(model.source),
    ])
    .sort(([a], [b]) => byText(String(a), String(b)));
  return { sources: sources.toJSON(), columns: modelColumns, models };
}

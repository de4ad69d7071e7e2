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

/**
 * Models with what their weights and their cache take at 16 bits: those whose figures were computed from the shapes of their layers. A number
 * of parameters that only a name or memory tells is no size.
 */
export function modelFile(facts: { readonly models: readonly Model[] }, dates: CommitDates) {
  const sources = new SourceTable();
  const models = facts.models
    .filter(({ params_basis }) => params_basis === 'computed from the architecture')
    .map((model) => [
      model.hf_id,
      model.weights_gib_bf16,
      model.kv_cache_bytes_per_token_bf16,
      model.max_context,
      dateOf(model.source, dates),
      sources.refer(model.source),
    ])
    .sort(([a], [b]) => byText(String(a), String(b)));
  return { sources: sources.toJSON(), columns: modelColumns, models };
}

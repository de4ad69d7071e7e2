import { lazy } from '../yaml/lazy.ts';
import { sourceText, storedModels } from './stored.ts';
import type { LanguageModel } from './types.ts';

/**
 * The model with a Hugging Face name, `organization/model`. Chat-tuned models and copies by known republishers have the size of their base.
 * Undefined for all others: quantizing, pruning and merging change the size.
 */
export function languageModel(name: string): LanguageModel | undefined {
  return byName().get(plainName(name));
}

const byName = lazy(
  () =>
    new Map(
      storedModels.models.map(([id, weightsGiB, cacheBytes, context, date, source]) => [
        plainName(id),
        { id, weightsGiB, cacheBytes, context, date, source: sourceText(storedModels.sources, source) },
      ]),
    ),
);

const copies = /^(?:unsloth|nousresearch)\//;
const organizations: readonly (readonly [RegExp, string])[] = [
  [/^(?:meta-)?llama/, 'meta-llama'],
  [/^(?:mistral|mixtral)/, 'mistralai'],
  [/^gemma/, 'google'],
  [/^qw/, 'qwen'],
  [/^phi/, 'microsoft'],
];

/** The name without suffixes of later training, under the organization that published the original. */
function plainName(name: string): string {
  const lower = name.toLowerCase();
  const bare = lower.replace(copies, '');
  const from = bare === lower ? '' : organizations.find(([pattern]) => pattern.test(bare))?.[1];
  const whole = from ? `${from}/${bare}` : lower;
  return whole.replace('/meta-llama', '/llama').replace(/-(?:instruct|chat|hf|it|base|pt)(?=-|$)/g, '');
}

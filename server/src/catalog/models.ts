import { lazy } from '../yaml/lazy.ts';
import { sourceText, storedModels } from './stored.ts';
import type { LanguageModel } from './types.ts';

/**
 * The model of a name on Hugging Face, `organisation/model`. A model trained on for chats has the size of its base, and so has a copy by those
 * who publish copies. Undefined for others: one that was quantised, pruned or merged has a size of its own.
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
const organisations: readonly (readonly [RegExp, string])[] = [
  [/^(?:meta-)?llama/, 'meta-llama'],
  [/^(?:mistral|mixtral)/, 'mistralai'],
  [/^gemma/, 'google'],
  [/^qw/, 'qwen'],
  [/^phi/, 'microsoft'],
];

/** Without what says how the model was trained on, and with the organisation that a copy was made from. */
function plainName(name: string): string {
  const lower = name.toLowerCase();
  const bare = lower.replace(copies, '');
  const from = bare === lower ? '' : organisations.find(([pattern]) => pattern.test(bare))?.[1];
  const whole = from ? `${from}/${bare}` : lower;
  return whole.replace('/meta-llama', '/llama').replace(/-(?:instruct|chat|hf|it|base|pt)(?=-|$)/g, '');
}

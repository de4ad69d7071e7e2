import { wordSet } from './word-patterns.ts';

/**
 * The names of KAITO's presets in all versions. Other models have names of Hugging Face, with a slash.
 * https://github.com/kaito-project/kaito/tree/main/presets/workspace/models, 2026-11-28
 */
const presets: ReadonlySet<string> = wordSet(
  'base phi-2 phi-3-mini-4k-instruct phi-3-mini-128k-instruct phi-3-medium-4k-instruct phi-3-medium-128k-instruct',
  'phi-3.5-mini-instruct phi-4 phi-4-mini-instruct falcon-7b falcon-7b-instruct falcon-40b falcon-40b-instruct',
  'mistral-7b mistral-7b-instruct ministral-3-3b-instruct ministral-3-8b-instruct ministral-3-14b-instruct',
  'mistral-large-3-675b-instruct llama-2-7b llama-2-13b llama-2-70b llama-2-7b-chat llama-2-13b-chat llama-2-70b-chat',
  'llama-3.1-8b-instruct llama-3.3-70b-instruct qwen2.5-coder-7b-instruct qwen2.5-coder-32b-instruct',
  'deepseek-r1-distill-qwen-14b deepseek-r1-distill-llama-8b deepseek-r1-0528 deepseek-v3-0324 gpt-oss-20b gpt-oss-120b',
  'gemma-3-4b-instruct gemma-3-27b-instruct',
);

/** The preset that a name without a slash stands for; undefined if it is one, or if the name may be that of a later version. */
export function meantPreset(name: string): string | undefined {
  const written = name.toLowerCase();
  if (written === '' || written.includes('/') || presets.has(written)) return undefined;
  const model = modelOf(written);
  const found = [...presets].filter((preset) => modelOf(preset) === model);
  return found.find((preset) => preset.endsWith('-instruct')) ?? found[0];
}

/** The letters and digits of a model's name without the word for its tuning. */
function modelOf(name: string): string {
  return name.replace(/-(?:instruct|it|chat|base)$/, '').replace(/[^a-z0-9]/g, '');
}

import { modelByName } from './model-names.ts';

/**
 * The shapes whose length is what servers derive of the published config.json, also where positions are scaled. By organization, with the beginnings
 * of their names. Base models of Qwen2 and Qwen3 have other lengths than their tuned forms.
 * https://huggingface.co/Qwen/Qwen3-8B https://huggingface.co/Qwen/Qwen2.5-7B-Instruct https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct
 */
const exactLengths: ReadonlyMap<string, readonly string[]> = new Map([
  ['qwen', ['Qwen1.5-', 'Qwen2.5-', 'Qwen3-']],
  ['meta-llama', ['Llama-2-', 'Meta-Llama-3-', 'Llama-3']],
  ['google', ['gemma-2-', 'gemma-2b', 'gemma-7b']],
  ['microsoft', ['phi-2', 'Phi-3-mini-4k', 'phi-4', 'Phi-4-mini-instruct']],
  ['openai', ['gpt-oss']],
  ['openai-community', ['gpt2']],
  ['eleutherai', ['pythia-', 'gpt-j-']],
  ['tiiuae', ['falcon-7b', 'falcon-40b']],
  // Later ones also have a config in Mistral's own format, which newer servers prefer.
  ['mistralai', ['Mistral-7B-v0.1', 'Mistral-7B-v0.2']],
  ['facebook', ['opt-']],
  ['tinyllama', ['TinyLlama-1.1B']],
  ['huggingfacetb', ['SmolLM2']],
]);

/** Of the text part of these, of a base model, or of the first Qwen and QwQ, the catalog does not have the length. */
const otherParts = /^(?:Qwen|QwQ)-|-(?:VL|Omni|Base|GGUF|MoE|Vision|Guard|multimodal)\b/i;

/**
 * The longest request, in tokens, that servers accept of a model under its publisher's own name. Undefined for copies, paths and models whose
 * length is not certain.
 */
export function longestRequest(name: string): number | undefined {
  // Hugging Face has GPT-2 also without its organization.
  const full = /^gpt2(?:-medium|-large|-xl)?$/.test(name) ? `openai-community/${name}` : name;
  const [, organization = '', own = ''] = /^(?:hf:\/\/)?([\w-]+)\/([\w.-]+)$/.exec(full) ?? [];
  const families = exactLengths.get(organization.toLowerCase());
  if (families === undefined || otherParts.test(own)) return undefined;
  const found = modelByName(name);
  const [publisher = '', shape = ''] = found?.shape.name.split('/') ?? [];
  if (found?.basis !== 'name' || found.shape.kind !== 'language' || found.format === 'unknown') return undefined;
  const isOwn = publisher.toLowerCase() === organization.toLowerCase();
  return isOwn && families.some((family) => shape.startsWith(family)) ? found.shape.context : undefined;
}

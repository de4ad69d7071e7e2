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

/**
 * Models of other organizations, most of them tuned from one of those above: the `max_position_embeddings` of their own config.json, by the
 * beginnings of their names. From the cards and configs on https://huggingface.co and from the catalog's shapes.
 */
const ownLengths: ReadonlyMap<string, readonly (readonly [beginning: string, length: number])[]> = new Map([
  ['huggingfaceh4', [['zephyr-7b-', 32768]]],
  [
    'lmsys',
    [
      ['vicuna-7b-v1.5', 4096],
      ['vicuna-13b-v1.5', 4096],
      ['vicuna-7b-v1.3', 2048],
      ['vicuna-13b-v1.3', 2048],
    ],
  ],
  [
    'codellama',
    [
      ['CodeLlama-7b-', 16384],
      ['CodeLlama-13b-', 16384],
      ['CodeLlama-34b-', 16384],
    ],
  ],
  [
    'nousresearch',
    [
      ['Llama-2-', 4096],
      ['Meta-Llama-3-8B', 8192],
      ['Meta-Llama-3.1-8B', 131072],
      ['Hermes-2-Pro-Mistral-7B', 32768],
      ['Hermes-2-Pro-Llama-3-8B', 8192],
    ],
  ],
  [
    'ibm-granite',
    [
      ['granite-3.0-2b-', 4096],
      ['granite-3.0-8b-', 4096],
    ],
  ],
  [
    'bigcode',
    [
      ['starcoder2-', 16384],
      ['starcoder', 8192],
    ],
  ],
  [
    'deepseek-ai',
    [
      ['deepseek-llm-7b-', 4096],
      ['deepseek-llm-67b-', 4096],
    ],
  ],
  [
    'allenai',
    [
      ['OLMo-2-1124-', 4096],
      ['OLMo-2-0325-', 4096],
      ['OLMo-2-0425-', 4096],
    ],
  ],
  ['upstage', [['SOLAR-10.7B-', 4096]]],
  [
    'openchat',
    [
      ['openchat-3.5-0106', 8192],
      ['openchat-3.5-1210', 8192],
    ],
  ],
  [
    '01-ai',
    [
      ['Yi-6B-Chat', 4096],
      ['Yi-34B-Chat', 4096],
    ],
  ],
  [
    'qwen',
    [
      ['Qwen2-VL-', 32768],
      ['Qwen2.5-VL-', 128000],
      ['Qwen2-0.5B-Instruct', 32768],
      ['Qwen2-1.5B-Instruct', 32768],
      ['Qwen2-7B-Instruct', 32768],
      ['Qwen2-72B-Instruct', 32768],
    ],
  ],
  [
    'microsoft',
    [
      ['phi-1_5', 2048],
      ['Phi-3.5-mini-', 131072],
      ['Phi-3-mini-128k-', 131072],
      ['Phi-3-medium-4k-', 4096],
      ['DialoGPT-', 1024],
    ],
  ],
  [
    'baai',
    [
      ['bge-small-en-v1.5', 512],
      ['bge-base-en-v1.5', 512],
      ['bge-large-en-v1.5', 512],
      ['bge-reranker-base', 514],
      ['bge-reranker-large', 514],
      ['bge-m3', 8194],
      ['bge-reranker-v2-m3', 8194],
    ],
  ],
  [
    'intfloat',
    [
      ['e5-small-v2', 512],
      ['e5-base-v2', 512],
      ['e5-large-v2', 512],
      ['multilingual-e5-', 514],
    ],
  ],
  [
    'thenlper',
    [
      ['gte-small', 512],
      ['gte-base', 512],
      ['gte-large', 512],
    ],
  ],
  ['mixedbread-ai', [['mxbai-embed-large-v1', 512]]],
  [
    'thebloke',
    [
      ['Llama-2-7B-Chat-', 4096],
      ['Llama-2-13B-chat-', 4096],
      ['Llama-2-70B-Chat-', 4096],
      ['zephyr-7B-beta-', 32768],
      ['Mistral-7B-', 32768],
      ['Mixtral-8x7B-', 32768],
      ['CodeLlama-7B-', 16384],
      ['CodeLlama-13B-', 16384],
      ['CodeLlama-34B-', 16384],
    ],
  ],
  ['distilbert', [['distilgpt2', 1024]]],
  ['eleutherai', [['gpt-neox-20b', 2048]]],
  ['databricks', [['dolly-v2-', 2048]]],
  ['huggingfacetb', [['SmolLM-', 2048]]],
  ['google', [['gemma-1.1-', 8192]]],
  ['teknium', [['OpenHermes-2.5-Mistral-7B', 32768]]],
  ['neuralmagic', [['Meta-Llama-3-', 8192]]],
  ['redhatai', [['Meta-Llama-3-', 8192]]],
  [
    'casperhansen',
    [
      ['llama-3-8b-instruct', 8192],
      ['llama-3-70b-instruct', 8192],
    ],
  ],
  ['stabilityai', [['stablelm-2-', 4096]]],
  ['sentence-transformers', [['all-MiniLM-L6-v2', 512]]],
]);

/** Copies with scaled positions, and files whose own header has the length. */
const otherLengths = /-\d+k(?:-|$)|GGUF|GGML/i;

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
  const listed = otherLengths.test(own.replace(/-(?:4|128)k-instruct/i, ''))
    ? undefined
    : ownLengths
        .get(organization.toLowerCase())
        ?.find(([beginning]) => own.toLowerCase().startsWith(beginning.toLowerCase()));
  if (listed !== undefined) return listed[1];
  const families = exactLengths.get(organization.toLowerCase());
  if (families === undefined || otherParts.test(own)) return undefined;
  const found = modelByName(name);
  const [publisher = '', shape = ''] = found?.shape.name.split('/') ?? [];
  if (found?.basis !== 'name' || found.shape.kind !== 'language' || found.format === 'unknown') return undefined;
  const isOwn = publisher.toLowerCase() === organization.toLowerCase();
  return isOwn && families.some((family) => shape.startsWith(family)) ? found.shape.context : undefined;
}

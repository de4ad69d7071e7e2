/** A release of a server, as [major, minor, patch]. */
export type Release = readonly [number, number, number];

/** The first release of a server that serves a family of models. */
export interface ServerSupport {
  /** Matches the names of the family's shapes. */
  readonly family: RegExp;
  /** Null if no source names it. */
  readonly since: Release | null;
  /** The first release that may load the family, in another way or because `since` is not known. No release before it does. */
  readonly possible?: Release;
  /** A flag with which older releases load it. */
  readonly unless?: string;
  readonly source: string;
  readonly date: string;
}

/** The architecture of each family was new, so no older release knows it. */
export const vllmSupport: readonly ServerSupport[] = [
  {
    family: /^deepseek-ai\/DeepSeek-V3$/,
    since: [0, 6, 6],
    source: 'https://github.com/vllm-project/vllm/issues/11559',
    date: '2026-11-23',
  },
  {
    family: /^deepseek-ai\/DeepSeek-V3\.2$/,
    since: [0, 11, 0],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.11.0',
    date: '2026-11-23',
  },
  {
    family: /^google\/gemma-3-/,
    since: [0, 8, 0],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.8.0',
    date: '2026-11-23',
  },
  {
    family: /^google\/gemma-4-/,
    since: [0, 19, 0],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.19.0',
    date: '2026-11-23',
  },
  {
    family: /^google\/gemma-2-/,
    since: [0, 5, 1],
    source: 'https://github.com/vllm-project/vllm/issues/6026',
    date: '2026-11-29',
  },
  {
    family: /^google\/gemma-(?:1\.1-)?[27]b/,
    since: [0, 3, 2],
    source: 'https://github.com/vllm-project/vllm/pull/2968',
    date: '2026-11-29',
  },
  {
    family: /^meta-llama\/Llama-3\.[1-3]-/,
    since: [0, 5, 3],
    unless: 'rope-scaling',
    source: 'https://github.com/vllm-project/vllm/issues/6692',
    date: '2026-11-29',
  },
  {
    family: /^meta-llama\/Llama-4-/,
    since: [0, 8, 3],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.8.3',
    date: '2026-11-23',
  },
  {
    family: /^microsoft\/(?:Phi-3|Phi-3\.5|phi-4|Phi-4)(?:-|$)/,
    since: [0, 4, 2],
    possible: [0, 4, 1],
    source: 'https://github.com/vllm-project/vllm/issues/4375',
    date: '2026-11-29',
  },
  {
    family: /^MiniMaxAI\/MiniMax-Text-01$/,
    since: [0, 8, 3],
    source: 'https://platform.minimax.io/docs/guides/text-vllm-deployment',
    date: '2026-11-23',
  },
  {
    family: /^MiniMaxAI\/MiniMax-M2/,
    since: null,
    possible: [0, 11, 1],
    source: 'https://github.com/MiniMax-AI/MiniMax-M2/issues/40',
    date: '2026-11-28',
  },
  {
    family: /^mistralai\/Mistral-Small-3\.1-/,
    since: [0, 8, 1],
    possible: [0, 8, 0],
    source: 'https://github.com/vllm-project/vllm/issues/15027',
    date: '2026-11-28',
  },
  {
    family: /^moonshotai\/Kimi-K2\.5/,
    since: [0, 15, 0],
    possible: [0, 13, 0],
    source: 'https://docs.vllm.ai/projects/recipes/en/latest/moonshotai/Kimi-K2.5.html',
    date: '2026-11-28',
  },
  {
    family: /^moonshotai\/Kimi-Linear-/,
    since: null,
    possible: [0, 11, 1],
    source: 'https://github.com/vllm-project/vllm/pull/27809',
    date: '2026-11-28',
  },
  {
    family: /^nvidia\/NVIDIA-Nemotron-3-Nano-30B-/,
    since: [0, 12, 0],
    possible: [0, 11, 2],
    source: 'https://docs.vllm.ai/projects/recipes/en/stable/NVIDIA/Nemotron-3-Nano-30B-A3B.html',
    date: '2026-11-28',
  },
  {
    family: /^openai\/gpt-oss-/,
    since: [0, 10, 1],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.10.1',
    date: '2026-11-23',
  },
  {
    // Earlier patches of 0.8 may fall back to the code of the Transformers library.
    family: /^Qwen\/Qwen3-(?!VL|Next|Omni|Coder-Next)/,
    since: [0, 8, 5],
    possible: [0, 8, 0],
    source: 'https://qwen.readthedocs.io/en/v3.0/deployment/vllm.html',
    date: '2026-11-23',
  },
  {
    family: /^Qwen\/Qwen3-VL-/,
    since: [0, 11, 0],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.11.0',
    date: '2026-11-23',
  },
  {
    family: /^Qwen\/Qwen3-(?:Coder-)?Next/,
    since: [0, 10, 2],
    source: 'https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct',
    date: '2026-11-28',
  },
  {
    family: /^Qwen\/Qwen3\.[5-9]-/,
    since: null,
    possible: [0, 13, 0],
    source: 'https://github.com/verl-project/verl/pull/5381',
    date: '2026-11-28',
  },
  {
    family: /^Qwen\/Qwen2\.5-VL-/,
    since: [0, 7, 2],
    source: 'https://github.com/vllm-project/vllm/releases/tag/v0.7.2',
    date: '2026-11-28',
  },
  {
    family: /^zai-org\/GLM-4\.[5-9]/,
    since: null,
    possible: [0, 10, 0],
    source: 'https://github.com/zai-org/GLM-4.5/pull/5',
    date: '2026-11-28',
  },
];

/** Text Generation Inference falls back to the Transformers library of its image, which is as old. */
export const launcherSupport: readonly ServerSupport[] = [
  {
    family: /^meta-llama\/Llama-3\.[1-3]-/,
    since: [2, 2, 0],
    source: 'https://github.com/huggingface/optimum-tpu/pull/85',
    date: '2026-11-30',
  },
  {
    family: /^google\/gemma-2-/,
    since: [2, 1, 0],
    source: 'https://github.com/awslabs/llm-hosting-container/pull/82',
    date: '2026-11-30',
  },
  {
    family: /^google\/gemma-(?:1\.1-)?[27]b/,
    since: [1, 4, 2],
    source: 'https://github.com/GoogleCloudPlatform/ai-on-gke/pull/288',
    date: '2026-11-30',
  },
  {
    family: /^google\/gemma-3-/,
    since: null,
    possible: [3, 1, 1],
    source: 'https://github.com/huggingface/text-generation-inference/issues/3115',
    date: '2026-11-30',
  },
];

/**
 * The releases of Ollama by the names of the models in its library. An older one cannot download the model: "requires a newer version of Ollama".
 * Read 2026-11-29: https://github.com/ollama/ollama/releases, https://github.com/ollama/ollama/issues/14431 (qwen3.5) and 15222 (gemma4).
 */
export const ollamaSupport: ReadonlyMap<string, Release> = new Map([
  ['llama3.2-vision', [0, 4, 0]],
  ['gemma3', [0, 6, 0]],
  ['qwen3', [0, 6, 6]],
  ['gpt-oss', [0, 11, 0]],
  ['qwen3.5', [0, 17, 1]],
  ['gemma4', [0, 20, 0]],
]);

import { table } from '../yaml/table.ts';

/** A family of model servers that use memory alike. */
export type Engine =
  | ('vllm' | 'sglang' | 'tgi' | 'tensorrt-llm' | 'lmdeploy' | 'nim' | 'llama-cpp' | 'ollama' | 'triton')
  | ('embeddings' | 'transformers');

/** Engines that reserve a fraction of each device at their start, for weights and cache together. */
export const reservingEngines: ReadonlySet<Engine> = new Set(['vllm', 'sglang', 'nim']);

/** The engine of a program, by the names that `recognizeProgram` returns; undefined for programs that load no known models. */
export function engineOf(program: string): Engine | undefined {
  return engines[program];
}

const engines = table<Engine>({
  vllm: 'vllm',
  aphrodite: 'vllm',
  dynamo: 'vllm',
  huggingfaceserver: 'vllm',
  'its model server flags': 'vllm',
  // https://github.com/deepjavalibrary/djl-serving/blob/master/serving/docs/lmi/user_guides/vllm_user_guide.md, 2026-11-30
  lmi: 'vllm',
  sglang: 'sglang',
  'text-generation-launcher': 'tgi',
  'text-generation-server': 'tgi',
  'trtllm-serve': 'tensorrt-llm',
  lmdeploy: 'lmdeploy',
  nim: 'nim',
  'llama-server': 'llama-cpp',
  'llama-cpp-server': 'llama-cpp',
  'llama.cpp': 'llama-cpp',
  llama_cpp: 'llama-cpp',
  llamafile: 'llama-cpp',
  ollama: 'ollama',
  'text-embeddings-router': 'embeddings',
  infinity: 'embeddings',
  infinity_emb: 'embeddings',
  tritonserver: 'triton',
  fastchat: 'transformers',
  mii: 'transformers',
  litgpt: 'transformers',
});

/** The version in an image's tag as [major, minor]: `v0.11.0-cu128` is [0, 11]; null for `latest` and others. */
export function versionOf(tag: string | undefined): readonly [number, number] | null {
  const [, major, minor] = /^(?:[a-z]+-?)?v?(\d{1,4})\.(\d{1,4})(?!\d)/i.exec(tag ?? '') ?? [];
  if (major !== undefined) return [Number(major), Number(minor)];
  const [, build] = /(?:^|-)b(\d{4,5})$/.exec(tag ?? '') ?? [];
  return build === undefined ? null : [0, Number(build)];
}

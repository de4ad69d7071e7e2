import { describe, expect, it } from 'vitest';
import { makesImages, modelByName, statedParameters } from '../server/src/catalog/index.ts';
import { leastWeightsGiB, weightsSize } from '../server/src/memory/weights.ts';

/** The shape's name, the format if it is not the published one, and a mark for derived models. */
function read(name: string): string | undefined {
  const found = modelByName(name);
  if (found === undefined) return undefined;
  const { shape, format, basis } = found;
  const stated = format === null ? '' : ` ${format === 'unknown' ? format : format.name}`;
  return `${shape.name}${stated}${basis === 'family' ? ' (family)' : ''}`;
}

describe('a name stands for a shape', () => {
  it.each([
    // The hub, tuned forms and copies.
    ['meta-llama/Llama-3.1-8B-Instruct', 'meta-llama/Llama-3.1-8B'],
    ['NousResearch/Meta-Llama-3.1-8B-Instruct', 'meta-llama/Llama-3.1-8B'],
    ['meta-llama/Llama-2-7b-chat-hf', 'meta-llama/Llama-2-7b-hf'],
    ['unsloth/gemma-2-9b-it', 'google/gemma-2-9b'],
    ['mistralai/Mistral-7B-Instruct-v0.3', 'mistralai/Mistral-7B-v0.3'],
    ['mistralai/Mistral-Small-3.1-24B-Instruct-2503', 'mistralai/Mistral-Small-3.1-24B-2503'],
    ['deepseek-ai/DeepSeek-R1-0528', 'deepseek-ai/DeepSeek-V3'],
    ['CohereForAI/c4ai-command-r-plus-08-2024', 'CohereLabs/c4ai-command-r-plus'],
    ['openai/whisper-large-v3-turbo', 'openai/whisper-large-v3-turbo'],
    ['stabilityai/stable-diffusion-xl-base-1.0', 'stabilityai/stable-diffusion-xl'],
    // Distilled models have the shape of the student.
    ['deepseek-ai/DeepSeek-R1-Distill-Qwen-7B', 'Qwen/Qwen2.5-7B'],
    ['deepseek-ai/DeepSeek-R1-Distill-Llama-70B', 'meta-llama/Llama-3.1-70B'],
    // Names without dots.
    ['llama-3-1-8b-instruct', 'meta-llama/Llama-3.1-8B'],
    ['deepseek-r1-distill-qwen-1-5b', 'deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B'],
    ['qwen2-5-0-5b-instruct', 'Qwen/Qwen2.5-0.5B'],
    ['llama3_8b_instruct', 'meta-llama/Meta-Llama-3-8B'],
    ['meta-llama33-70b-instruct', 'meta-llama/Llama-3.1-70B'],
    ['qwen25-vl-32b-instruct', 'Qwen/Qwen2.5-VL-32B'],
    ['nvidia/Llama-3_3-Nemotron-Super-49B-v1', 'nvidia/Llama-3.3-Nemotron-Super-49B'],
    ['mixtral-8x22b-instruct-v01', 'mistralai/Mixtral-8x22B-v0.1'],
    // Paths and addresses.
    ['hf://Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B'],
    ['s3://bucket/models/phi-3.5-mini-instruct/v1/', 'microsoft/Phi-3-mini-128k-instruct'],
    ['/mnt/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f249a1', 'meta-llama/Llama-3.1-8B'],
    ['pvc://weights/qwen2.5/7b-instruct', 'Qwen/Qwen2.5-7B'],
    ['nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3.3', 'meta-llama/Llama-3.1-8B'],
    // Formats.
    ['RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16', 'meta-llama/Llama-3.1-70B INT4 weights'],
    ['neuralmagic/Meta-Llama-3.1-405B-Instruct-FP8-dynamic', 'meta-llama/Llama-3.1-405B FP8'],
    ['Qwen/Qwen2.5-72B-Instruct-AWQ', 'Qwen/Qwen2.5-72B AWQ INT4'],
    ['TheBloke/Mistral-7B-Instruct-v0.2-GPTQ', 'mistralai/Mistral-7B-v0.2 GPTQ INT4'],
    ['Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8', 'Qwen/Qwen2.5-7B INT8 weights'],
    ['nvidia/DeepSeek-R1-NVFP4-v2', 'deepseek-ai/DeepSeek-V3 NVFP4'],
    ['unsloth/phi-4-bnb-4bit', 'microsoft/phi-4 bitsandbytes 4-bit'],
    ['mlx-community/Llama-3.2-3B-Instruct-4bit', 'meta-llama/Llama-3.2-3B MLX 4-bit'],
    ['/models/llama-2-7b-chat.Q5_K_S.gguf', 'meta-llama/Llama-2-7b-hf GGUF Q5_K_S'],
    ['bartowski/Meta-Llama-3.1-8B-Instruct-GGUF', 'meta-llama/Llama-3.1-8B unknown'],
    ['turboderp/Llama-3.1-8B-Instruct-exl2-4.5bpw', 'meta-llama/Llama-3.1-8B EXL2 4.5 bpw'],
    ['RedHatAI/DeepSeek-V3-FP8', 'deepseek-ai/DeepSeek-V3'],
    // Ollama.
    ['llama3.1:8b-instruct-q8_0', 'meta-llama/Llama-3.1-8B GGUF Q8_0'],
    ['ollama://qwen2.5:7b', 'Qwen/Qwen2.5-7B GGUF Q4_K_M'],
    ['ollama://llama3', 'meta-llama/Meta-Llama-3-8B GGUF Q4_0'],
    ['qwen2:72b', 'Qwen/Qwen2-72B GGUF Q4_0'],
    ['qwen2:72b-instruct-q4_K_M', 'Qwen/Qwen2-72B GGUF Q4_K_M'],
    ['qwen2.5:72b', 'Qwen/Qwen2.5-72B GGUF Q4_K_M'],
    ['deepseek-r1:32b', 'Qwen/Qwen2.5-32B GGUF Q4_K_M'],
    ['gpt-oss:20b', 'openai/gpt-oss-20b'],
    // Repositories with a tag, for llama.cpp and Ollama: the R1 of Ollama is a smaller model, that of a repository is not.
    ['deepseek-r1:latest', 'Qwen/Qwen3-8B GGUF Q4_K_M'],
    ['unsloth/DeepSeek-R1-GGUF:Q4_K_M', 'deepseek-ai/DeepSeek-V3 GGUF Q4_K_M'],
    ['hf.co/unsloth/DeepSeek-R1-GGUF:Q8_0', 'deepseek-ai/DeepSeek-V3 GGUF Q8_0'],
    ['unsloth/DeepSeek-R1-GGUF:UD-Q2_K_XL', 'deepseek-ai/DeepSeek-V3 GGUF Q2_K_XL'],
    ['unsloth/gpt-oss-20b-GGUF:F16', 'openai/gpt-oss-20b float16, experts in MXFP4'],
    ['ggml-org/gpt-oss-20b-GGUF/gpt-oss-20b-mxfp4.gguf', 'openai/gpt-oss-20b GGUF MXFP4_MOE'],
    // Models that are named after their base.
    ['NousResearch/Hermes-2-Pro-Llama-3-8B', 'meta-llama/Meta-Llama-3-8B (family)'],
    ['NousResearch/Hermes-3-Llama-3.1-8B', 'meta-llama/Llama-3.1-8B (family)'],
    ['acme/support-qwen2.5-7b-sft', 'Qwen/Qwen2.5-7B (family)'],
  ])('%s: %s', (name, expected) => {
    expect(read(name)).toBe(expected);
  });

  it.each([
    ['an open size', ['llama3', 'qwen', 'mistral-small', 'bert']],
    ['another size', ['Qwen/Qwen2.5-9B', 'meta-llama/Llama-3-1B', 'deepseek-ai/DeepSeek-R1-Distill-Phi-4']],
    [
      'another variant',
      [
        'microsoft/Phi-4-mini-flash-reasoning',
        'zai-org/GLM-4.5-Vista',
        'google/recurrentgemma-9b',
        'tiiuae/Falcon-H2-7B',
      ],
    ],
    ['an adapter or a draft', ['acme/opt-125m-lora', '/models/llama-3-8b/adapter', 'yuhuili/EAGLE3-LLaMA3.1-8B']],
    ['no model', ['', 'constructor', '__proto__', 'my-model', 's3://bucket/sklearn/1.0/model', '::', '/'.repeat(999)]],
    ['a detector on a known net', ['fasterrcnn_resnet50_fpn', 'deeplabv3-resnet101']],
    ['an unlisted family', ['acme/llm-9b', 'facebook/blenderbot-3B']],
  ])('%s is unknown', (_, unknown) => {
    for (const name of unknown) expect(read(name), name).toBeUndefined();
  });

  it('states the context that the name has', () => {
    expect(modelByName('01-ai/Yi-34B-200K')?.shape.context).toBe(204_800);
    expect(modelByName('Qwen/Qwen2.5-7B-Instruct')?.shape.context).toBe(32_768);
  });
});

describe('a name without a known shape', () => {
  it('states a range of parameters', () => {
    expect(statedParameters('acme/llm-9b')).toEqual({ least: 8.1e9, most: 9.9e9, format: null });
    expect(statedParameters('acme/moe-8x3b')).toMatchObject({ least: 18e9, most: 21.6e9 });
    expect(statedParameters('acme/llm-9b-AWQ')?.format).toMatchObject({ id: 'awq' });
    expect(statedParameters('acme/encoder-125m')?.most).toBeCloseTo(137.5e6);
    expect(statedParameters('acme/t5gemma-9b-2b')?.most).toBeCloseTo(12.1e9);
    for (const none of ['acme/llm', 'acme/llm-9b-lora', 'v2', '4bit', 'q4_0'])
      expect(statedParameters(none)).toBeUndefined();
  });
});

describe('a model that makes images or videos', () => {
  it.each([
    'acme/Clip-T2V-14B',
    'Clip2.2-TI2V-5B',
    '/models/clip-i2v-a14b',
    'acme/paint-diffusion-2b',
    'acme/img2video-3b',
  ])('is known by a word for its task: %s', (name) => expect(makesImages(name)).toBe(true));

  it.each(['acme/llm-9b', 'diffusion/llm-9b', 'acme/GPT2-I2', 'acme/Video-LLM-7B'])('is not %s', (name) =>
    expect(makesImages(name)).toBe(false),
  );
});

it('takes the language model of an image model for another model', () => {
  expect(modelByName('Salesforce/blip2-opt-2.7b')).toBeUndefined();
  expect(modelByName('Salesforce/instructblip-vicuna-7b')).toBeUndefined();
  expect(modelByName('facebook/opt-2.7b')?.shape.name).toBe('facebook/opt-2.7b');
});

describe('the size of weights by name', () => {
  it.each([
    ['meta-llama/Llama-3.1-8B-Instruct', 2, 14.96, 'catalog'],
    ['meta-llama/Llama-3.1-8B-Instruct', 4, 29.9, 'catalog'],
    ['hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4', 2, 5.34, 'catalog'],
    ['deepseek-ai/DeepSeek-R1', 2, 626.7, 'catalog'],
    ['acme/llm-9b', 2, 16.76, 'name'],
    ['acme/llm-9b-int4', 2, 4.33, 'name'],
  ] as const)('%s with %d bytes', (name, bytes, gib, from) => {
    const size = weightsSize(name, bytes);
    expect(size?.from).toBe(from);
    expect(Math.abs((size?.gib ?? 0) / gib - 1)).toBeLessThan(0.01);
  });

  it('is what an annotation states, if that is another one', () => {
    expect(weightsSize('acme/chat-int4', 2, 13e9)).toMatchObject({ from: 'annotation', gib: expect.closeTo(6.25, 1) });
    expect(weightsSize('acme/llama-3-8b-wide', 2, 13e9)?.from).toBe('annotation');
    expect(weightsSize('meta-llama/Llama-3.1-8B', 2, 8e9)?.from).toBe('catalog');
  });

  it('is unknown if the format is, and has a lower bound', () => {
    expect(weightsSize('bartowski/Meta-Llama-3.1-8B-Instruct-GGUF')).toBeUndefined();
    expect(weightsSize('acme/model')).toBeUndefined();
    expect(leastWeightsGiB('deepseek-r1')).toBeGreaterThan(300);
    expect(leastWeightsGiB('acme/llm-9b')).toBeCloseTo(3.77, 1);
  });
});

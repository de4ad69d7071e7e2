import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { modelByName } from '../../server/src/catalog/index.ts';
import { containerMemory } from '../../server/src/memory/container-memory.ts';
import { weightsGiB } from '../../server/src/memory/model-weights.ts';

// Weights and cache computed by hand from the config of each model: 8 KV heads of 128 in 32 layers are 131,072 bytes per token in 16 bits.

interface Server {
  readonly image: string;
  readonly command?: string;
  readonly args?: string;
  readonly env?: string;
}

function memoryOf({ image, command, args, env }: Server, devices: number) {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: server}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
  containers:
    - name: main
      image: ${image}
${command === undefined ? '' : `      command: ${command}\n`}${args === undefined ? '' : `      args: ${args}\n`}${env === undefined ? '' : `      env: ${env}\n`}      resources: {limits: {nvidia.com/gpu: ${devices}}}
`;
  const [document] = new Analysis({ strict: true }).setFile('file:///server.yaml', text).documents;
  const [workload] = document?.workloads ?? [];
  const [podSet] = workload?.podSets ?? [];
  const [container] = podSet?.containers ?? [];
  if (workload === undefined || podSet === undefined || container === undefined) throw new Error('no workload');
  return containerMemory(workload, podSet, container, container.accelerators[0], {});
}

const ollama = (parallel: string) => ({
  image: 'ollama/ollama:0.11.10',
  command: '[sh, -c, "ollama serve & sleep 5; ollama run llama3.1:8b; wait"]',
  env: `[{name: OLLAMA_CONTEXT_LENGTH, value: "8192"}${parallel}]`,
});
const llama = 'ghcr.io/ggml-org/llama.cpp:server-cuda-b6700';
const trtllm = 'nvcr.io/nvidia/tensorrt-llm/release:1.0.0';

// biome-ignore format: one line for each server
test.each<readonly [string, Server, number, { readonly cacheGiB?: number; readonly weightsGiB?: number }]>([
  // 8,192 tokens × 131,072 bytes.
  ['Ollama, one request', ollama(''), 1, { cacheGiB: 1 }],
  ['Ollama, OLLAMA_NUM_PARALLEL=4', ollama(', {name: OLLAMA_NUM_PARALLEL, value: "4"}'), 1, { cacheGiB: 4 }],
  // 68.45 billion parameters in FP8 and 2 × 128,256 × 8,192 in 16 bits; 80 layers, 2 of 8 heads: 8,192 × 80 × 2 × 2 × 128 bytes.
  ['TensorRT-LLM, FP8 by NVIDIA', { image: trtllm, command: '[trtllm-serve]', args: '[nvidia/Llama-3.3-70B-Instruct-FP8, --tp_size, "4", --max_seq_len, "8192"]' }, 4, { cacheGiB: 0.3125, weightsGiB: 16.92 }],
  // 4.5 bits; 16,384 × 80 × 2 × 8 × 128 bytes.
  ['TensorRT-LLM, NVFP4 by NVIDIA', { image: trtllm, command: '[trtllm-serve]', args: '[nvidia/Llama-3.3-70B-Instruct-FP4, --max_seq_len, "16384"]' }, 1, { cacheGiB: 2.5, weightsGiB: 39.77 }],
  ['TensorRT-LLM, FP8 by others', { image: trtllm, command: '[trtllm-serve]', args: '[acme/Llama-3.3-70B-Instruct-FP8, --tp_size, "4", --max_seq_len, "8192"]' }, 4, { cacheGiB: 0.625, weightsGiB: 16.92 }],
  // The file has 12.11 GB, of which the input embedding stays in the node's memory: 201,088 × 2,880 × 8.5 bits. 12 layers have a window of 128, 12 have none.
  ['llama.cpp, gpt-oss', { image: llama, args: '[-hf, ggml-org/gpt-oss-20b-GGUF, -c, "8192", -ngl, "99"]' }, 1, { weightsGiB: 10.7 }],
  ['llama.cpp, gpt-oss by its file', { image: llama, args: '[-m, /models/gpt-oss-20b-mxfp4.gguf, -c, "8192", -ngl, "99"]' }, 1, { weightsGiB: 10.7 }],
  // Experts keep their 4.25 bits in all files: 24 × 32 × 3 × 2,880² × 4.25 bits, and 1.225 billion other parameters in 16 bits.
  ['llama.cpp, gpt-oss as F16', { image: llama, args: '[-hf, "unsloth/gpt-oss-20b-GGUF:F16", -c, "8192", -ngl, "99"]' }, 1, { weightsGiB: 11.74 }],
  // Weights that were changed are no longer in MXFP4: 20.336 billion parameters in 16 bits.
  ['llama.cpp, a changed gpt-oss as F16', { image: llama, args: '[-hf, "acme/gpt-oss-20b-abliterated-GGUF:F16", -c, "8192", -ngl, "99"]' }, 1, { weightsGiB: 37.88 }],
  // 670 billion parameters in 2 bits, and 1.02 billion of up-projections a second time in 16, on 4 cards.
  ['llama.cpp, the first of several files', { image: llama, args: '[-m, /models/DeepSeek-R1-UD-IQ1_S-00001-of-00003.gguf, -c, "4096", -ngl, "99"]' }, 4, { weightsGiB: 39.64 }],
  ['llama.cpp, the address of a file', { image: llama, args: '[--model-url, "https://huggingface.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF/resolve/main/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", -c, "8192"]' }, 1, { cacheGiB: 1, weightsGiB: 4.27 }],
  // 28 layers with 4 KV heads of 128: 131,072 × 57,344 bytes. The flag says how long requests are, whatever the positions.
  ['vLLM, stretched positions', { image: 'vllm/vllm-openai:v0.11.0', args: "[--model=Qwen/Qwen2.5-7B-Instruct, '--hf-overrides={\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0}}', --max-model-len=131072]" }, 1, { cacheGiB: 7, weightsGiB: 14.19 }],
  // 131,072 × 70,272 bytes, an eighth on each device.
  ['vLLM, DeepSeek with shared tokens', { image: 'vllm/vllm-openai:v0.12.0', args: '[--model=deepseek-ai/DeepSeek-V3, --tensor-parallel-size=8, --decode-context-parallel-size=8, --max-model-len=131072]' }, 8, { cacheGiB: 1.0723 }],
  // Models of embeddings have no output layer: 7.111 billion parameters of Mistral 7B's 7.242.
  ['vLLM, e5-mistral', { image: 'vllm/vllm-openai:v0.11.0', args: '[--model=intfloat/e5-mistral-7b-instruct, --runner=pooling, --max-model-len=4096]' }, 1, { cacheGiB: 0.5, weightsGiB: 13.25 }],
])('%s', (_, server, devices, { cacheGiB, weightsGiB }) => {
  const { estimate } = memoryOf(server, devices);
  if (cacheGiB !== undefined) expect(estimate?.cacheGiB).toBeCloseTo(cacheGiB, 3);
  if (weightsGiB !== undefined) expect(estimate?.weightsGiB).toBeCloseTo(weightsGiB, 1);
});

test.each([
  // 85.6% of 79.18 GiB: by its bits, IQ1_S does not fit on two cards, but its files have up to a fifth less.
  ['unsloth/DeepSeek-R1-GGUF:UD-IQ1_S', 2, null],
  ['unsloth/DeepSeek-R1-GGUF:UD-IQ1_S', 1, false],
  ['unsloth/DeepSeek-R1-GGUF:UD-IQ1_S', 4, true],
])('the verdict on %s waits for more than the error of the format: %i GPUs', (name, devices, fits) => {
  const server = { image: llama, args: `[-hf, "${name}", -c, "4096", -ngl, "99"]` };
  expect(memoryOf(server, devices).fit?.fits).toBe(fits);
});

test('a format of GGUF that is unknown has no figure', () => {
  const server = { image: llama, args: '[-hf, "unsloth/DeepSeek-V3.1-GGUF:Q1_0", -c, "4096"]' };
  expect(memoryOf(server, 8)).toMatchObject({ estimate: null, unknown: { kind: 'format' } });
});

// Widths of 29,568 and 1,408 are no multiples of 256: the last feed-forward matrix has more bits. Sizes of whole files in GB, as published.
test.each([
  ['bartowski/Qwen2.5-72B-Instruct-GGUF:Q2_K', 29.81],
  ['bartowski/Qwen2.5-72B-Instruct-GGUF:Q3_K_M', 37.7],
  ['bartowski/Qwen2.5-72B-Instruct-GGUF:Q4_K_S', 43.89],
  ['bartowski/Qwen2.5-72B-Instruct-GGUF:Q4_K_M', 47.42],
  ['bartowski/Qwen2.5-72B-Instruct-GGUF:Q5_K_M', 54.45],
  ['bartowski/Qwen2.5-72B-Instruct-GGUF:Q6_K', 64.35],
  ['acme/DeepSeek-V2-Lite-Chat-GGUF:Q4_K_M', 10.36],
  ['bartowski/Llama-3.3-70B-Instruct-GGUF:Q4_K_M', 42.52],
  // Q4_0 has 4.5 bits, and the output layer of Q6_K 6.56.
  ['llama2:70b', 38.87],
  ['qwen2:72b', 41],
  ['deepseek-coder-v2:16b', 8.9],
])('%s has %f GB', (name, gigabytes) => {
  const { shape, format } = modelByName(name) ?? {};
  if (shape === undefined || format == null || format === 'unknown') throw new Error('no shape or format');
  const error = (weightsGiB(shape, format) * 2 ** 30) / 1e9 / gigabytes - 1;
  expect(Math.abs(error)).toBeLessThan(0.016);
});

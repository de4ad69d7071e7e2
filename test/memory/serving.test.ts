import { expect, test } from 'vitest';
import { containerMemory } from '../../server/src/memory/container-memory.ts';
import { fitOnCard, longestContext, sequences } from '../../server/src/memory/fit.ts';
import { estimateServing } from '../../server/src/memory/serving.ts';
import { servedModel } from '../../server/src/model/served-model.ts';
import { analyse } from '../support/analyse.ts';
import { servedWith } from '../support/serving-errors.ts';

const vllm = { image: 'vllm/vllm-openai:v0.19.0', args: '[--model, Qwen/Qwen2.5-7B-Instruct]' };

interface Written {
  readonly image: string;
  readonly args: string;
  readonly more?: string;
  readonly card?: string;
}

function parts({ image, args, more = '', card = 'NVIDIA-H100-80GB-HBM3' }: Written) {
  const [document] = analyse(`apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: ${card}}
      containers:
        - name: main
          image: ${image}
          args: ${args}
${more}          resources: {limits: {nvidia.com/gpu: 1}}
`).documents;
  const [workload] = document?.workloads ?? [];
  const [podSet] = workload?.podSets ?? [];
  const [container] = podSet?.containers ?? [];
  return { workload: workload!, podSet: podSet!, container: container! };
}

function need(written: Written) {
  const { workload, podSet, container } = parts(written);
  return containerMemory(workload, podSet, container, container.accelerators[0], {});
}

test('a model with a sourced shape has an estimate for its card', () => {
  const { estimate, fit } = need(vllm);
  expect(estimate).toMatchObject({ name: 'Qwen2.5-7B-Instruct', contextFrom: 'model', devices: 1, fraction: 0.9 });
  const { weightsGiB, cacheGiB, activationsGiB, graphsGiB, runtimeGiB, neededGiB } = estimate!;
  expect(neededGiB).toBeCloseTo(weightsGiB + cacheGiB + activationsGiB + graphsGiB + runtimeGiB);
  expect(fit).toMatchObject({ haveGiB: 79.18, fits: true });
});

test('the settings of a server come from flags', () => {
  const args =
    '[--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=4k, --max-num-seqs=8, --kv-cache-dtype=fp8, --quantization=fp8, --enforce-eager, --gpu-memory-utilization=0.5, -tp=2]';
  const { workload, container } = parts({ ...vllm, args });
  expect(servedModel(container, workload).model).toMatchObject({
    ...{ engine: 'vllm', version: [0, 19], context: 4000, sequences: 8, cacheType: 'fp8', quantization: 'fp8' },
    ...{ eager: true, fraction: 0.5, tensor: 2, open: [] },
  });
  const { estimate } = estimateServing(servedModel(container, workload));
  expect(estimate).toMatchObject({ contextFrom: 'flag', format: 'FP8', devices: 2, graphsGiB: 0 });
});

test.each([
  ['Ollama', 'ollama/ollama:0.5.7', '[run, "llama3.1:8b"]', { engine: 'ollama', name: 'llama3.1:8b', context: null }],
  [
    'llama.cpp',
    'ghcr.io/ggml-org/llama.cpp:server-cuda',
    '[-hf, "unsloth/Qwen3-8B-GGUF:Q4_K_M", -c, "16384", -ngl, "99", --parallel, "4"]',
    { engine: 'llama-cpp', name: 'unsloth/Qwen3-8B-GGUF:Q4_K_M', context: 16384, gpuLayers: 99, sequences: 4 },
  ],
  [
    'SGLang',
    'lmsysorg/sglang:v0.5.2',
    '[python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B, --mem-fraction-static, "0.7"]',
    { engine: 'sglang', name: 'Qwen/Qwen3-8B', fraction: 0.7 },
  ],
  [
    'LMDeploy',
    'openmmlab/lmdeploy:v0.9.0',
    '[lmdeploy, serve, api_server, Qwen/Qwen2.5-7B-Instruct, --session-len, "8192"]',
    { engine: 'lmdeploy', name: 'Qwen/Qwen2.5-7B-Instruct', context: 8192 },
  ],
  ['NIM', 'nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4', '[]', { engine: 'nim', name: 'meta/llama-3.1-8b-instruct' }],
])('%s', (_what, image, args, expected) => {
  const { workload, container } = parts({ image, args });
  expect(servedModel(container, workload).model).toMatchObject(expected);
  expect(estimateServing(servedModel(container, workload)).estimate).not.toBeNull();
});

test.each([
  ['a pull', '[ollama, pull, "qwen3:14b"]', 'qwen3:14b'],
  ['a loop', '[sh, -c, "until ollama list; do sleep 1; done; ollama pull qwen3:14b"]', 'qwen3:14b'],
  ['no tag', '[sh, -c, "ollama pull mistral"]', 'mistral:latest'],
  ['two models', '[sh, -c, "ollama pull qwen3:14b && ollama pull bge-m3"]', undefined],
  ['no model', '[sh, -c, "touch /tmp/ready"]', undefined],
])('a hook that pulls one model into Ollama names it: %s', (_what, command, name) => {
  const hook = (image: string) => `apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: main
      image: ${image}
      lifecycle: {postStart: {exec: {command: ${command}}}}
      resources: {limits: {nvidia.com/gpu: 1}}
`;
  const servedBy = (image: string) => {
    const workload = analyse(hook(image)).documents[0]!.workloads[0]!;
    return servedModel(workload.podSets[0]!.containers[0]!, workload).model?.name;
  };
  expect(servedBy('ollama/ollama:0.12.0')).toBe(name);
  expect(servedBy('vllm/vllm-openai:v0.19.0')).toBeUndefined();
});

test.each([
  ['deepseek-ai/DeepSeek-V4-Flash', null, 'FP8, experts in MXFP4'],
  ['deepseek-ai/DeepSeek-V4-Flash', 'fp8', 'FP8, experts in MXFP4'],
  ['sgl-project/DeepSeek-V4-Flash-FP8', null, 'FP8'],
  ['acme/DeepSeek-V4-Flash-Tuned-FP8', null, undefined],
  ['Qwen/Qwen3-8B-FP8', null, 'FP8'],
])('a copy that names one of two formats leaves the other open: %s %s', (name, quantization, format) => {
  const { estimate, unknown } = estimateServing({
    model: servedWith({ name, quantization, engine: 'vllm' }),
    unknown: null,
  });
  expect(estimate?.format).toBe(format);
  if (format === undefined) expect(unknown).toEqual({ kind: 'format', name });
});

test('TGI reads variables, and variables of ConfigMaps count', () => {
  const [document] = analyse(`apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {MODEL_ID: mistralai/Mistral-7B-Instruct-v0.2, MAX_TOTAL_TOKENS: "2048"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  template:
    spec:
      containers:
        - name: main
          image: ghcr.io/huggingface/text-generation-inference:3.0
          envFrom: [{configMapRef: {name: settings}}]
          resources: {limits: {nvidia.com/gpu: 1}}
`).documents.slice(1);
  const [workload] = document?.workloads ?? [];
  const served = servedModel(workload!.podSets[0]!.containers[0]!, workload!);
  expect(served.model).toMatchObject({ name: 'mistralai/Mistral-7B-Instruct-v0.2', context: 2048, open: [] });
});

test('a 70B model does not fit on one L4, and an 8B model leaves room for short requests', () => {
  const large = need({ ...vllm, args: '[--model, meta-llama/Llama-3.3-70B-Instruct]', card: 'NVIDIA-L4' });
  expect(large.fit).toMatchObject({ haveGiB: 22, fits: false });
  expect(longestContext(large.estimate!, 22)).toBe(0);
  const small = need({ ...vllm, args: '[--model, meta-llama/Llama-3.1-8B-Instruct]', card: 'NVIDIA-L4' });
  expect(small.fit!.fits).toBe(false);
  const longest = longestContext(small.estimate!, 22)!;
  expect(longest).toBeGreaterThan(16_000);
  expect(longest).toBeLessThan(40_000);
  expect(sequences(small.estimate!, 22, 4096)).toBeGreaterThan(3);
});

test('flags that may be missing leave the verdict open', () => {
  const { estimate, fit } = need({ ...vllm, more: '          envFrom: [{secretRef: {name: c}}]\n' });
  expect(estimate!.served.open).toEqual(['envFrom may add settings']);
  expect(fit!.fits).toBeNull();
});

test('a model close to the limit is not judged', () => {
  const { estimate } = need({ ...vllm, args: '[--model, Qwen/Qwen3-32B, --max-model-len, "16000"]' });
  expect(fitOnCard(estimate!, estimate!.neededGiB / 0.9).fits).toBeNull();
});

test.each([
  ['no shape', { ...vllm, args: '[--model, acme/llm]' }, { kind: 'noShape', name: 'acme/llm' }],
  [
    'a format',
    { ...vllm, args: '[--model, Qwen/Qwen2.5-7B-Instruct, --quantization, torchao]' },
    { kind: 'format', name: 'torchao' },
  ],
  ['a length', { ...vllm, args: '[--model, Qwen/Qwen2.5-7B-Instruct, --max-model-len, long]' }, { kind: 'context' }],
  ['no name', { ...vllm, args: '[--port, "8000"]' }, { kind: 'unnamed', detail: null }],
  ['no serving', { image: 'busybox:1.36', args: '[sleep, "1"]' }, { kind: 'notServing' }],
])('%s has none, and a reason', (_what, container, reason) => {
  expect(need(container)).toEqual({ estimate: null, unknown: reason, fit: null });
});

test('a stated number of parameters gives the weights of an unknown model', () => {
  const [document] = analyse(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  annotations: {gpulint.dev/model-params: 9B}
spec:
  template:
    spec:
      containers:
        - name: main
          image: vllm/vllm-openai:v0.19.0
          args: [--model, acme/llm-next]
          resources: {limits: {nvidia.com/gpu: 1}}
`).documents;
  const workload = document!.workloads[0]!;
  const podSet = workload.podSets[0]!;
  const container = podSet.containers[0]!;
  const { estimate } = containerMemory(workload, podSet, container, container.accelerators[0], {});
  expect(estimate).toMatchObject({ basis: 'size' });
  expect(estimate!.weightsGiB).toBeCloseTo((9e9 * 2) / 2 ** 30);
});

function estimated(given: Parameters<typeof servedWith>[0], card?: string) {
  const hardware = { cardGiB: null, gpus: given.tensor ?? 1, ...(card !== undefined && { card }) };
  return estimateServing({ model: servedWith(given), unknown: null }, hardware).estimate!;
}

test('Transformers computes a whole prompt in one step', () => {
  const of = (context: number) => estimated({ engine: 'transformers', name: 'Qwen/Qwen2.5-14B-Instruct', context });
  expect(of(32_768).activationsGiB / of(2048).activationsGiB).toBeCloseTo(16, 0);
  expect(of(2048)).toMatchObject({ runtimeGiB: 0, graphsGiB: 0 });
});

test('a file of llama.cpp in 16 bits is not taken as 4 bits', () => {
  for (const name of ['EleutherAI/pythia-2.8b-F16.gguf', 'unsloth/Qwen3-8B-GGUF:BF16'])
    expect(estimated({ engine: 'llama-cpp', name }).format).toMatch(/float16/);
  expect(estimated({ engine: 'llama-cpp', name: 'unsloth/Qwen3-8B-GGUF' }).format).toBe('GGUF Q4_K_M');
});

test("NVIDIA's checkpoints in 4 bits keep their cache in FP8 since vLLM 0.13", () => {
  const of = (name: string, minor: number) =>
    estimated({ engine: 'vllm', name, version: [0, minor], context: 8192 }).cacheGiB;
  expect(of('nvidia/Qwen3-8B-NVFP4', 15)).toBeCloseTo(of('Qwen/Qwen3-8B', 15) / 2);
  expect(of('nvidia/Qwen3-8B-NVFP4', 11)).toBeCloseTo(of('Qwen/Qwen3-8B', 11));
});

test('each device has the down-projections of latent attention whole', () => {
  const of = (tensor: number) => estimated({ engine: 'vllm', name: 'deepseek-ai/DeepSeek-V2-Lite', tensor }).weightsGiB;
  // 27 layers × 2,048 × (512 + 64) and 26 gates of 64 experts, in 16 bits.
  const whole = (2 * 2048 * (27 * 576 + 26 * 64)) / 2 ** 30;
  expect(of(8)).toBeCloseTo((of(1) - whole) / 8 + whole, 3);
});

test.each([
  ['v100-32gb', 32_768],
  ['l4', 2048],
])('on %s, a step of vLLM 0.8 has %d tokens', (card, tokens) => {
  const on = (batchedTokens: number | null) =>
    estimated(
      { engine: 'vllm', name: 'Qwen/Qwen2.5-7B-Instruct', version: [0, 8], context: 32_768, batchedTokens },
      card,
    );
  expect(on(null).activationsGiB).toBeCloseTo(on(tokens).activationsGiB);
});

test('a size in a name gives the weights, and a verdict only if no format fits', () => {
  const of = (name: string, card: string) => need({ ...vllm, args: `[--model, ${name}]`, card });
  const small = of('acme/llm-9b', 'NVIDIA-H100-80GB-HBM3');
  expect(small.estimate).toMatchObject({ basis: 'sizeInName', format: 'bfloat16' });
  expect(small.estimate!.weightsGiB).toBeCloseTo((9e9 * 2) / 2 ** 30, 0);
  expect(small.fit!.fits).toBeNull();
  expect(of('acme/llm-30b', 'NVIDIA-L4').fit!.fits).toBeNull();
  expect(of('acme/llm-70b', 'NVIDIA-L4').fit!.fits).toBe(false);
  expect(of('acme/llm-9b-AWQ', 'NVIDIA-L4').estimate!.format).toBe('AWQ INT4');
});

test('a stated number of parameters also serves the rules', () => {
  const findings = (size: string) =>
    analyse(`apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations: {gpulint.dev/model-params: ${size}}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: main
      image: vllm/vllm-openai:v0.19.0
      args: [--model, acme/llm-next]
      resources: {limits: {nvidia.com/gpu: 1}}
`).documents.flatMap((document) => document.findings.map(({ rule }) => rule));
  expect(findings('70B')).toContain('model-does-not-fit');
  expect(findings('9B')).not.toContain('model-does-not-fit');
});

test("publishers that keep attention in 16 bits have larger checkpoints than others' of the same model", () => {
  const weights = (name: string) =>
    estimateServing({ model: servedWith({ name, engine: 'vllm', tensor: 8 }), unknown: null }).estimate!.weightsGiB;
  // 486 GB over 8 devices; all in 8 bits: 410 GB.
  expect(weights('meta-llama/Llama-3.1-405B-Instruct-FP8')).toBeCloseTo(56.7, 0);
  expect(weights('RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8')).toBeCloseTo(47.7, 0);
  expect(weights('nvidia/Gemma-4-31B-IT-NVFP4')).toBeGreaterThan(1.5 * weights('acme/gemma-4-31B-it-NVFP4'));
});

test('with data-parallel attention, SGLang divides experts only', () => {
  const served = { name: 'deepseek-ai/DeepSeek-V3', engine: 'sglang', tensor: 8, data: 8 } as const;
  const weights = (attentionReplicas: number) =>
    estimateServing({ model: servedWith({ ...served, attentionReplicas }), unknown: null }).estimate!;
  // Experts of 58 layers in 8 bits: 58 × 256 × 3 × 7168 × 2048 / 8 devices.
  const experts = (58 * 256 * 3 * 7168 * 2048) / 8 / 2 ** 30;
  expect(weights(1).weightsGiB).toBeGreaterThan(experts);
  // 8 × less of attention (11.4 billion parameters and its copy in 16 bits) on each, and the input embedding.
  expect(weights(8).weightsGiB - weights(1).weightsGiB).toBeGreaterThan(8);
  expect(weights(8).layout.tensor).toBe(1);
});

test.each([
  [[0, 12], 48],
  [[0, 13], 24],
  [null, 24],
] as const)('vLLM %j keeps the tokens of Llama 4 in chunks or all of them', (version, layers) => {
  const model = servedWith({
    ...{ name: 'meta-llama/Llama-4-Scout-17B-16E-Instruct', engine: 'vllm', version, tensor: 8 },
    ...{ context: 49_152, batchedTokens: 8192 },
  });
  // 12 of 48 layers have all tokens, the others two chunks of three: 12 + 36 × 16,384 / 49,152 = 24.
  const { cacheGiB } = estimateServing({ model, unknown: null }).estimate!;
  expect(cacheGiB).toBeCloseTo((layers * 49_152 * 2 * 128 * 2) / 2 ** 30, 3);
});

test('gpt-oss in Ollama keeps 4,096 tokens in layers with a window, and those of a batch', () => {
  // 18 layers with a window of 128 and 18 without, 8 heads of 64: https://huggingface.co/openai/gpt-oss-120b/blob/main/config.json
  const at = (context: number) =>
    estimateServing({ model: servedWith({ engine: 'ollama', name: 'gpt-oss:120b', context }), unknown: null }).estimate;
  expect(at(8192)?.cacheGiB).toBeCloseTo((18 * (8192 + 4608) * 2048) / 2 ** 30);
  expect(at(2048)?.cacheGiB).toBeCloseTo((36 * 2048 * 2048) / 2 ** 30);
});

test('TGI before 3 computes the probabilities of all tokens of its first prompt', () => {
  const of = (version: readonly [number, number], tensor: number) =>
    estimateServing({
      model: servedWith({ engine: 'tgi', name: 'Qwen/Qwen2.5-7B-Instruct', version, tensor, batchedTokens: 8192 }),
      unknown: null,
    }).estimate?.activationsGiB ?? 0;
  const logits = (8192 * 152_064 * 2) / 2 ** 30;
  expect(of([2, 0], 1)).toBeCloseTo(2 * logits + (8192 * 3584 * 2) / 2 ** 30);
  expect(of([2, 0], 4)).toBeCloseTo(2.25 * logits + (8192 * 3584 * 2) / 2 ** 30);
  expect(of([3, 0], 1)).toBeLessThan(logits);
});

test.each([
  ['server-cuda-b3772', 131_072],
  ['server-cuda-b4400', 4096],
  ['server-cuda', 4096],
])('without a length, llama.cpp %s takes %i tokens', (tag, tokens) => {
  const args = '[-m, /models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf, -ngl, "99"]';
  expect(need({ image: `ghcr.io/ggml-org/llama.cpp:${tag}`, args }).estimate?.context).toBe(tokens);
});

test.each([
  ['-c, "0"', 40_960],
  ['-c, "8192"', 8192],
  ['-np, "1"', 4096],
])('llama.cpp takes the length of the model itself for 0 tokens: %s', (flags, context) => {
  const { estimate } = need({
    image: 'ghcr.io/ggml-org/llama.cpp:server-cuda-b6000',
    args: `[-hf, "Qwen/Qwen3-8B-GGUF:Q4_K_M", ${flags}]`,
  });
  expect(estimate?.context).toBe(context);
});

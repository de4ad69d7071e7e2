import { describe, expect, test } from 'vitest';
import { analyse, findingsOf } from '../support/analyse.ts';

// Servers on cards, labeled by hand before the rules were written: error = the weights cannot fit, warning = the server does not start, cache = the
// context does not fit, fine = it starts or cannot be known.

type Label = 'error' | 'warning' | 'cache' | 'fine' | 'info';
type Card = keyof typeof products;

const products = {
  t4: 'Tesla-T4',
  a10g: 'NVIDIA-A10G',
  l4: 'NVIDIA-L4',
  l40s: 'NVIDIA-L40S',
  a100: 'NVIDIA-A100-SXM4-80GB',
  h100: 'NVIDIA-H100-80GB-HBM3',
  h200: 'NVIDIA-H200',
  unknown: null,
};

const images = {
  vllm: ['vllm/vllm-openai:v0.11.0', '--model='],
  sglang: ['lmsysorg/sglang:v0.5.3', '--model-path='],
  tgi: ['ghcr.io/huggingface/text-generation-inference:3.0.1', '--model-id='],
} as const;

/** The words before the card are the model, a count, the engine if it is not vLLM, and flags. */
const cases: readonly (readonly [label: Label, card: Card, count: number, server: string])[] = [
  ['error', 'l4', 1, 'meta-llama/Llama-3.1-70B-Instruct'],
  ['error', 'l4', 4, 'meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size=4'],
  ['fine', 'l4', 8, 'meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size=8 --max-model-len=8192'],
  ['cache', 'h100', 2, 'meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size=2'],
  ['fine', 'h100', 2, 'meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size=2 --max-model-len=8192'],
  ['cache', 'l4', 1, 'meta-llama/Llama-3.1-8B-Instruct'],
  ['fine', 'l4', 1, 'meta-llama/Llama-3.1-8B-Instruct --max-model-len=8192'],
  ['fine', 'l4', 1, 'meta-llama/Llama-3.1-8B-Instruct --max-model-len=-1'],
  ['error', 't4', 1, 'meta-llama/Llama-3.1-8B-Instruct --dtype=half --max-model-len=4096'],
  ['warning', 't4', 1, 'Qwen/Qwen2.5-7B-Instruct --dtype=half --max-model-len=4096'],
  ['fine', 't4', 1, 'Qwen/Qwen2.5-7B-Instruct-AWQ --dtype=half --max-model-len=8192'],
  ['error', 'a100', 1, 'mistralai/Mixtral-8x7B-Instruct-v0.1'],
  ['fine', 'a100', 2, 'mistralai/Mixtral-8x7B-Instruct-v0.1 --tensor-parallel-size=2'],
  ['fine', 't4', 1, 'Qwen/Qwen2.5-0.5B-Instruct --dtype=half'],
  ['warning', 'h100', 8, 'deepseek-ai/DeepSeek-R1 --tensor-parallel-size=8 --max-model-len=8192'],
  ['fine', 'h200', 8, 'deepseek-ai/DeepSeek-R1 --tensor-parallel-size=8 --max-model-len=32768'],
  ['error', 'h100', 1, 'deepseek-ai/DeepSeek-R1-Distill-Llama-70B'],
  ['fine', 'l4', 1, 'openai/gpt-oss-20b --max-model-len=16384'],
  ['fine', 'h100', 1, 'openai/gpt-oss-120b --max-model-len=16384'],
  ['error', 'l40s', 1, 'openai/gpt-oss-120b'],
  ['warning', 'l4', 1, '/models/Llama-3.1-70B-Instruct'],
  ['fine', 't4', 1, '/models/Llama-3.1-8B-Instruct --dtype=half'],
  ['error', 'a10g', 1, 'google/gemma-2-27b-it'],
  ['fine', 'l4', 1, 'acme/secret-70b'],
  ['fine', 'a100', 1, 'meta-llama/Llama-3.1-70B-Instruct --quantization=bitsandbytes --max-model-len=8192'],
  ['fine', 'h100', 1, 'meta-llama/Llama-3.1-70B-Instruct --quantization=fp8 --max-model-len=4096'],
  ['fine', 'a100', 1, 'meta-llama/Llama-3.1-70B-Instruct --cpu-offload-gb=80'],
  ['info', 'unknown', 1, 'meta-llama/Llama-3.1-70B-Instruct'],
  ['warning', 'unknown', 1, 'meta-llama/Llama-3.1-405B-Instruct'],
  ['error', 'l40s', 1, 'sglang meta-llama/Llama-3.1-70B-Instruct'],
  ['error', 'a10g', 4, 'tgi meta-llama/Llama-3.1-70B-Instruct'],
  ['fine', 'a10g', 4, 'tgi meta-llama/Llama-3.1-70B-Instruct --quantize=bitsandbytes-nf4'],
  ['cache', 'l4', 1, 'microsoft/Phi-3-mini-128k-instruct'],
  ['fine', 't4', 1, 'microsoft/Phi-3-mini-4k-instruct --dtype=half'],
  ['fine', 'l4', 1, 'meta-llama/Llama-3.1-70B-Instruct $(EXTRA_ARGS)'],
];

function manifest(card: Card, count: number, server: string): string {
  const [first = '', ...rest] = server.split(' ');
  const engine = first === 'sglang' || first === 'tgi' ? first : 'vllm';
  const [model, ...flags] = engine === 'vllm' ? [first, ...rest] : rest;
  const [image, flag] = images[engine];
  const product = products[card];
  const selector = product === null ? '' : `  nodeSelector: {nvidia.com/gpu.product: ${product}}\n`;
  const command = engine === 'sglang' ? '      command: [python3, -m, sglang.launch_server]\n' : '';
  const args = [`${flag}${model}`, ...flags].map((one) => `"${one}"`).join(', ');
  return `apiVersion: v1
kind: Pod
metadata:
  name: chat
spec:
${selector}  containers:
    - name: main
      image: ${image}
${command}      args: [${args}]
      resources:
        limits:
          nvidia.com/gpu: ${count}
`;
}

describe('a model on a card', () => {
  test.each(cases)('%s: on %s × %i, %s', (label, card, count, server) => {
    const findings = findingsOf(analyse(manifest(card, count, server))).flatMap(({ rule, severity }) =>
      rule === 'kv-cache-too-small' ? ['cache'] : rule === 'model-does-not-fit' ? [severity] : [],
    );
    expect(findings).toEqual(label === 'fine' ? [] : [label]);
  });
});

describe('a model in the values of a chart', () => {
  const values = (model: string, more = '') => `image: {repository: vllm/vllm-openai, tag: v0.11.0}
args: ["--model", "${model}"]
${more}resources:
  limits:
    nvidia.com/gpu: 1
nodeSelector:
  nvidia.com/gpu.product: NVIDIA-L4
`;
  const found = (text: string) =>
    findingsOf(analyse(text)).flatMap(({ rule, severity }) => (rule === 'model-does-not-fit' ? [severity] : []));

  test('is too large whatever the template adds', () =>
    expect(found(values('meta-llama/Llama-3.1-70B-Instruct'))).toEqual(['warning']));
  test('may be loaded in another format', () =>
    expect(found(values('meta-llama/Llama-3.1-70B-Instruct', 'quantization: awq\n'))).toEqual([]));
  test('may have a shorter context', () => expect(found(values('meta-llama/Llama-3.1-8B-Instruct'))).toEqual([]));
});

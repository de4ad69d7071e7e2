import { expect, test } from 'vitest';
import { estimateServing } from '../../server/src/memory/serving.ts';
import { servedModel } from '../../server/src/model/served-model.ts';
import { analyse } from '../support/analyse.ts';

const vllm = { image: 'vllm/vllm-openai:v0.11.0', args: '[--model, Qwen/Qwen2.5-7B-Instruct]' };

function need({ image, args, more = '' }: { readonly image: string; readonly args: string; readonly more?: string }) {
  const [document] = analyse(`apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  template:
    spec:
      containers:
        - name: main
          image: ${image}
          args: ${args}
${more}          resources: {limits: {nvidia.com/gpu: 1}}
`).documents;
  const [workload] = document?.workloads ?? [];
  const [container] = workload?.podSets[0]?.containers ?? [];
  return estimateServing(servedModel(container!, workload!));
}

test('a model with a sourced shape has an estimate', () => {
  const { estimate, unknown } = need(vllm);
  expect(unknown).toBeNull();
  expect(estimate).toMatchObject({ name: 'Qwen2.5-7B-Instruct', contextFrom: 'model', bits: 16, tuned: false });
  expect(estimate!.neededGiB).toBeCloseTo(estimate!.weightsGiB + estimate!.cacheGiB + estimate!.overheadGiB);
});

test('a flag bounds the longest request', () => {
  const { estimate } = need({ ...vllm, args: '[--model, Qwen/Qwen2.5-7B-Instruct, --max-model-len, "4096"]' });
  expect(estimate).toMatchObject({ context: 4096, contextFrom: 'flag' });
});

test.each([
  ['no shape', { ...vllm, args: '[--model, acme/llm-9b]' }, { kind: 'noShape', name: 'acme/llm-9b' }],
  ['a format', { ...vllm, args: '[--model, Qwen/Qwen2.5-7B-Instruct, --quantization, awq]' }, { kind: 'format' }],
  ['a length', { ...vllm, args: '[--model, Qwen/Qwen2.5-7B-Instruct, --max-model-len, auto]' }, { kind: 'context' }],
  ['no name', { ...vllm, args: '[--port, "8000"]' }, { kind: 'unnamed' }],
  ['more flags', { ...vllm, more: '          envFrom: [{configMapRef: {name: c}}]\n' }, { kind: 'incomplete' }],
  ['no server', { image: 'nvcr.io/nvidia/tritonserver:24.08-py3', args: '[tritonserver]' }, { kind: 'noServer' }],
  ['no serving', { image: 'busybox:1.36', args: '[sleep, "1"]' }, { kind: 'notServing' }],
])('%s has none, and a reason', (_what, container, reason) => {
  expect(need(container)).toEqual({ estimate: null, unknown: reason });
});

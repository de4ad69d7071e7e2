import { describe, expect, test } from 'vitest';
import { assumptionLines } from '../../server/src/cost/assumption-words.ts';
import { inheritedBy } from '../../server/src/cost/estimate.ts';
import { project, root, runtime, service, total } from './project.ts';

describe('a multi-node service', () => {
  const several = (sizes: string) => service.replace('maxReplicas: 2\n', `maxReplicas: 2\n    workerSpec: ${sizes}\n`);
  const runtimes = `${runtime(1)}  workerSpec:
    pipelineParallelSize: 2
    tensorParallelSize: 4
    containers:
      - name: worker-container
        image: registry.example/vllm:1
        resources: {limits: {nvidia.com/gpu: 1}}
`;
  const totalOf = (sizes: string) =>
    total(project({ 'chat.yaml': several(sizes), 'r.yaml': runtimes }).file(`${root}/chat.yaml`));

  test('has as many GPUs as its parallel sizes, or those of its runtime, require', () => {
    expect(totalOf('{pipelineParallelSize: 3, tensorParallelSize: 4}')).toBe(2 * 12);
    expect(totalOf('{tensorParallelSize: 8}')).toBe(2 * 16);
    expect(totalOf('{}')).toBe(2 * 8);
  });
});

describe('an LLMInferenceService inherits from its base configs', () => {
  const llm = (spec: string) => `apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat}
spec:
  model: {uri: "hf://example/model"}
${spec}`;
  const config = (name: string, spec: string, metadata = '') => `apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: ${name}${metadata}}
spec:
${spec}`;
  const pod = (key: string, gpus: number, indent = '  ') =>
    `${indent}${key}: {containers: [{name: main, image: "registry.example/vllm:1", resources: {limits: {nvidia.com/gpu: ${gpus}}}}]}\n`;
  const of = (files: Readonly<Record<string, string>>) => {
    const file = project(files).file(`${root}/chat.yaml`);
    const podSets = file?.documents[0]?.workloads[0]?.podSets;
    return { gpus: total(file), inherited: podSets?.flatMap((podSet) => assumptionLines(inheritedBy([podSet]))) };
  };

  test('GPUs, replicas and the size of a group', () => {
    const named = '  baseRefs: [{name: base}]\n';
    const base = config(
      'base',
      `  replicas: 3\n  parallelism: {pipeline: 2}\n${pod('template', 4)}${pod('worker', 8)}`,
    );
    expect(of({ 'chat.yaml': llm(named), 'base.yaml': base })).toEqual({
      gpus: 3 * (4 + 8),
      inherited: [
        'GPU count from LLMInferenceServiceConfig base in base.yaml',
        'Replicas from LLMInferenceServiceConfig base in base.yaml',
        'GPU count from LLMInferenceServiceConfig base in base.yaml',
        'Replicas from LLMInferenceServiceConfig base in base.yaml',
      ],
    });
    expect(of({ 'chat.yaml': llm(`${named}  replicas: 1\n`), 'base.yaml': base }).gpus).toBe(12);
    expect(of({ 'chat.yaml': llm(`${named}${pod('template', 1)}`), 'base.yaml': base }).gpus).toBe(3 * (1 + 8));
    expect(of({ 'chat.yaml': llm(`${named}  parallelism: {pipeline: 4}\n`), 'base.yaml': base }).gpus).toBe(
      3 * (4 + 24),
    );
    expect(of({ 'chat.yaml': llm(named) }).gpus).toBe(0);
  });

  test('the last value of several configs, and one shipped with KServe', () => {
    const both = llm('  baseRefs: [{name: one}, {name: two}]\n  replicas: 1\n');
    const one = config('one', pod('template', 1));
    expect(of({ 'chat.yaml': both, 'a.yaml': `${one}---\n${config('two', pod('template', 2))}` }).gpus).toBe(2);
    expect(of({ 'chat.yaml': both, 'a.yaml': `${one}---\n${config('two', '  replicas: 7\n')}` }).gpus).toBe(1);
    expect(of({ 'chat.yaml': both, 'a.yaml': config('one', pod('template', 1), ', namespace: kserve') }).gpus).toBe(1);
  });

  test('for the two roles separately', () => {
    const named = llm('  baseRefs: [{name: base}]\n  replicas: 2\n  prefill: {replicas: 3}\n');
    const base = config('base', `${pod('template', 1)}  prefill:\n${pod('template', 4, '    ')}`);
    expect(of({ 'chat.yaml': named, 'base.yaml': base }).gpus).toBe(2 * 1 + 3 * 4);
  });
});

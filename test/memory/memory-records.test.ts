import { expect, test } from 'vitest';
import { memoryNote, memoryRecords } from '../../server/src/features/memory-records.ts';
import { analyse } from '../support/analyse.ts';

function workloadOf(text: string) {
  return analyse(text).documents.at(-1)!.workloads[0]!;
}

const chat = (args: string, card: string) =>
  workloadOf(`apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: ${card}}
  containers:
    - name: main
      image: vllm/vllm-openai:v0.19.0
      args: ${args}
      resources: {limits: {nvidia.com/gpu: 1}}
`);

test('a served model has a record with its parts, and a note for the lens', () => {
  const workload = chat('[--model, Qwen/Qwen2.5-7B-Instruct, --max-model-len, "8192"]', 'NVIDIA-L4');
  const [record, ...others] = memoryRecords(workload);
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    container: 'main',
    model: 'Qwen/Qwen2.5-7B-Instruct',
    use: 'serving',
    server: 'vllm',
  });
  expect(record).toMatchObject({ haveGiB: 22, fits: true, devices: 1, unknown: null });
  const { needGiB, weightsGiB, kvCacheGiB, overheadGiB } = record!;
  expect(weightsGiB! + kvCacheGiB! + overheadGiB!).toBeCloseTo(needGiB!, 1);
  expect(memoryNote(workload)).toEqual(['fits 17 of 22 GiB']);
});

test('a model that is too large is called so', () => {
  const workload = chat('[--model, meta-llama/Llama-3.3-70B-Instruct]', 'NVIDIA-L4');
  expect(memoryRecords(workload)[0]).toMatchObject({ fits: false });
  expect(memoryNote(workload)[0]).toMatch(/^needs 1\d\d of 22 GiB: too much$/);
});

test('without a figure there is a reason', () => {
  const workload = chat('[--model, acme/llm-9b]', 'NVIDIA-L4');
  expect(memoryRecords(workload)).toEqual([
    expect.objectContaining({ model: 'acme/llm-9b', needGiB: null, unknown: 'no shape is known for acme/llm-9b' }),
  ]);
  expect(memoryNote(workload)).toEqual([]);
});

test.each([
  [
    'KAITO',
    `apiVersion: kaito.sh/v1beta1
kind: Workspace
metadata: {name: w}
resource: {instanceType: Standard_NC24ads_A100_v4}
inference: {preset: {name: phi-4}}
`,
    'phi-4',
  ],
  [
    'KubeAI',
    `apiVersion: kubeai.org/v1
kind: Model
metadata: {name: m}
spec:
  url: hf://Qwen/Qwen2.5-7B-Instruct
  engine: VLLM
  resourceProfile: nvidia-gpu-l4:1
`,
    'Qwen/Qwen2.5-7B-Instruct',
  ],
  [
    'Ray Serve LLM',
    `apiVersion: ray.io/v1
kind: RayService
metadata: {name: r}
spec:
  serveConfigV2: |
    applications:
      - name: llms
        args:
          llm_configs:
            - model_loading_config: {model_id: qwen, model_source: Qwen/Qwen2.5-7B-Instruct}
              engine_kwargs: {max_model_len: 8192}
  rayClusterConfig:
    headGroupSpec: {template: {spec: {containers: [{name: head, image: rayproject/ray-llm:2.46.0}]}}}
    workerGroupSpecs:
      - groupName: gpu
        replicas: 1
        template:
          spec:
            containers:
              - name: worker
                image: rayproject/ray-llm:2.46.0
                resources: {limits: {nvidia.com/gpu: 1}}
`,
    'Qwen/Qwen2.5-7B-Instruct',
  ],
])('%s names its model in fields', (_what, text, model) => {
  const records = memoryRecords(workloadOf(text));
  expect(records).toEqual([expect.objectContaining({ model, unknown: null })]);
  expect(records[0]!.needGiB).toBeGreaterThan(10);
});

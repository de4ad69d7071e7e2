import { expect, test } from 'vitest';
import { memoryNote, memoryRecords } from '../../server/src/features/memory-records.ts';
import { trainingRecords } from '../../server/src/features/training-records.ts';
import { estimateServing } from '../../server/src/memory/serving.ts';
import { analyse } from '../support/analyse.ts';
import { servedWith } from '../support/serving-errors.ts';

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
  expect(memoryNote(workload)).toEqual(['fits in 16.3 of 22 GiB']);
});

test('the flag for text alone takes the vision part away, and flags like it do not', () => {
  const weights = (flag: string) =>
    memoryRecords(chat(`[--model, Qwen/Qwen3.5-4B, ${flag}]`, 'NVIDIA-L4'))[0]!.weightsGiB!;
  expect(weights('--language-model-only')).toBeLessThan(weights('--enforce-eager') - 0.5);
  expect(weights('--mm-encoder-only')).toBe(weights('--enforce-eager'));
});

test('a model that is too large is called so', () => {
  const workload = chat('[--model, meta-llama/Llama-3.3-70B-Instruct]', 'NVIDIA-L4');
  expect(memoryRecords(workload)[0]).toMatchObject({ fits: false });
  expect(memoryNote(workload)[0]).toMatch(/^needs 1\d\d of 22 GiB: too much$/);
});

const server = (image: string, more: string, card: string) =>
  workloadOf(`apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {nvidia.com/gpu.product: ${card}}
  containers:
    - name: main
      image: ${image}
      ${more}
      resources: {limits: {nvidia.com/gpu: 1}}
`);

test('a server that chooses a smaller format is not called too large, and has no figure', () => {
  const [record] = memoryRecords(server('nvcr.io/nim/meta/llama-3.1-70b-instruct:1.3', '', 'NVIDIA-L40S'));
  expect(record).toMatchObject({ fits: null, needGiB: null, server: 'nim' });
  expect(record!.unknown).toBe('NIM chooses the weight format, and the published one does not fit');
  const [small] = memoryRecords(server('nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3', '', 'NVIDIA-L40S'));
  expect(small!.needGiB).toBeGreaterThan(15);
});

test('weights that exceed the card in any format do not fit', () => {
  const [record] = memoryRecords(server('nvcr.io/nim/meta/llama-3.1-405b-instruct:1.3', '', 'NVIDIA-L40S'));
  expect(record).toMatchObject({ fits: false });
});

test.each([
  ['Ollama', 'ollama/ollama:0.12.0', 'command: [sh, -c, "ollama serve & ollama pull llama3.1:70b"]', /node's memory/],
  ['llama.cpp', 'ghcr.io/ggml-org/llama.cpp:server-cuda', 'args: [-hf, unsloth/Llama-3.3-70B-Instruct-GGUF]', /node/],
  ['SGLang', 'lmsysorg/sglang:v0.5.0', 'args: [--model-path, Qwen/Qwen2.5-7B-Instruct-1M]', /lowers/],
  ['vLLM', 'vllm/vllm-openai:v0.15.0', 'args: [Qwen/Qwen2.5-7B-Instruct-1M, --max-model-len=auto]', /lowers/],
])('%s adapts to the memory that it finds: no verdict', (_, image, more, assumption) => {
  const [record] = memoryRecords(server(image, more, 'NVIDIA-L4'));
  expect(record).toMatchObject({ fits: null });
  expect(record!.assumptions.join('\n')).toMatch(assumption);
});

test('without a figure there is a reason', () => {
  const workload = chat('[--model, acme/llm]', 'NVIDIA-L4');
  expect(memoryRecords(workload)).toEqual([
    expect.objectContaining({ model: 'acme/llm', needGiB: null, unknown: 'no shape is known for acme/llm' }),
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

const kaito = (kind: string, fields: string) =>
  workloadOf(`apiVersion: kaito.sh/v1beta1
kind: ${kind}
metadata: {name: k}
${fields}`);

test('KAITO divides a model among nodes if one is too small', () => {
  const preset = (name: string) =>
    memoryRecords(
      kaito(
        'Workspace',
        `resource: {count: 4, instanceType: Standard_NC80adis_H100_v5}\ninference: {preset: {name: ${name}}}\n`,
      ),
    );
  // 671 billion parameters in 8 bits over 4 nodes with 2 GPUs.
  expect(preset('deepseek-v3-0324')[0]).toMatchObject({ devices: 8, fits: null });
  expect(preset('deepseek-v3-0324')[0]!.weightsGiB).toBeCloseTo(80, -1);
  expect(preset('phi-4-mini-instruct')[0]).toMatchObject({ devices: 2 });
});

test('an embedding model of KAITO and a preset that it tunes have a figure or a reason', () => {
  const rag = kaito(
    'RAGEngine',
    'spec: {compute: {instanceType: Standard_NC6s_v3}, embedding: {local: {modelID: BAAI/bge-small-en-v1.5}}}',
  );
  expect(memoryRecords(rag)).toMatchObject([{ model: 'BAAI/bge-small-en-v1.5', fits: true, unknown: null }]);
  const tuning = kaito(
    'Workspace',
    'resource: {instanceType: Standard_NC24ads_A100_v4}\ntuning: {preset: {name: phi-4}, method: qlora}\n',
  );
  expect(trainingRecords(tuning)).toMatchObject([
    { model: 'phi-4', unknown: expect.stringContaining('KAITO chooses') },
  ]);
});

test('adapters of KubeAI are not included in the estimate', () => {
  const [record] = memoryRecords(
    workloadOf(`apiVersion: kubeai.org/v1
kind: Model
metadata: {name: m}
spec:
  url: hf://Qwen/Qwen2.5-7B-Instruct
  engine: VLLM
  resourceProfile: nvidia-gpu-l4:1
  adapters: [{name: a, url: hf://acme/a}]
`),
  );
  expect(record!.assumptions).toContain('Not included: adapters');
});

test('a container whose GPUs are off has the figure of one GPU', () => {
  const model = servedWith({ name: 'meta/llama-3.1-8b-instruct', engine: 'nim' });
  const { estimate } = estimateServing({ model, unknown: null }, { cardGiB: null, gpus: 0 });
  expect(estimate).toMatchObject({ devices: 1 });
  expect(estimate!.neededGiB).toBeLessThan(40);
});

test('the ranks on the cores of a Neuron device share its memory', () => {
  const ranks = (instance: string, devices: number, served: string) =>
    workloadOf(`apiVersion: v1
kind: Pod
metadata: {name: ranks}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: ${instance}}
  containers:
    - name: main
      image: registry.example/vllm-neuron:0.11
      command: [vllm, serve, ${served}]
      resources: {limits: {aws.amazon.com/neuron: ${devices}}}
`);
  const pair = ranks('inf2.8xlarge', 1, 'Qwen/Qwen2.5-14B-Instruct, --tensor-parallel-size=2');
  expect(memoryRecords(pair)[0]).toMatchObject({ haveGiB: 32, weightsGiB: 27.51, kvCacheGiB: 6, devices: 1 });
  expect(memoryNote(pair)[0]).toMatch(/^needs about 3\d\.\d of 32 GiB$/);
  const many = ranks('trn2.48xlarge', 8, 'Qwen/Qwen3-32B, --tensor-parallel-size=32');
  expect(memoryRecords(many)[0]).toMatchObject({ devices: 8, fits: null });
  expect(memoryRecords(many)[0]!.assumptions).toContain(
    'Spread over 32 NeuronCores, 4 per device (tensor 32, pipeline 1)',
  );
  expect(memoryNote(many)[0]).toMatch(/ of 89\.4 GiB per device$/);
  // Eight ranks fill two of the eight devices.
  const few = ranks('trn2.48xlarge', 8, 'Qwen/Qwen3-32B, --tensor-parallel-size=8');
  expect(memoryRecords(few)[0]).toMatchObject({ devices: 2 });
});

test('a task that requests a card by name trains on a known number of them', () => {
  const workload = workloadOf(`resources: {infra: aws/us-east-1, accelerators: "L4:2"}
run: torchrun --nproc-per-node=2 train.py --model_name_or_path Qwen/Qwen2.5-7B --bf16 true
`);
  expect(trainingRecords(workload)[0]).toMatchObject({ devices: 2, haveGiB: 22, fits: false });
});

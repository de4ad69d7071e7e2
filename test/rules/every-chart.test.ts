import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';

// The same mistake in the values of each chart, and of one chart in each place that has values. JSON is YAML, so values are plain objects here.

interface Env {
  readonly name: string;
  readonly value: string;
}

interface Server {
  readonly tag: string;
  readonly model: string;
  readonly tensor: number | undefined;
  readonly flags: readonly string[];
  readonly resource: string;
  readonly limit: number;
  readonly request: number | undefined;
  /** The limits have no GPU. */
  readonly requestOnly: boolean;
  readonly limits: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly effect: string;
  readonly env: readonly Env[];
  readonly autoscaling: object | undefined;
  readonly size: string;
}

const right: Server = {
  tag: 'v0.10.2',
  model: 'Qwen/Qwen2.5-7B-Instruct',
  tensor: undefined,
  flags: [],
  resource: 'nvidia.com/gpu',
  limit: 1,
  request: undefined,
  requestOnly: false,
  limits: 'limits',
  selector: { 'nvidia.com/gpu.product': 'NVIDIA-L4' },
  effect: 'NoSchedule',
  env: [{ name: 'LOG_LEVEL', value: 'info' }],
  autoscaling: undefined,
  size: '60Gi',
};

const gpu = 'nvidia.com/gpu';

function resourcesOf({ resource, limit, request, requestOnly, limits }: Server): object {
  if (requestOnly) return { requests: { cpu: 4, [resource]: limit }, limits: { memory: '24Gi' } };
  const requests = { cpu: 4, ...(request !== undefined && { [resource]: request }) };
  return { requests, [limits]: { memory: '24Gi', [resource]: limit } };
}

const tolerationsOf = ({ effect }: Server) => [{ key: gpu, operator: 'Exists', effect }];
const placed = (server: Server) => ({ nodeSelector: server.selector, tolerations: tolerationsOf(server) });
const flagsOf = ({ tensor, flags }: Server) => [
  ...(tensor === undefined ? [] : ['--tensor-parallel-size', String(tensor)]),
  ...flags,
];
const argsOf = (server: Server) => ['--model', server.model, ...flagsOf(server)];
const mapped = (env: readonly Env[]) => Object.fromEntries(env.map(({ name, value }) => [name, value]));
const vllm = ({ tag }: Server) => ({ repository: 'vllm/vllm-openai', tag });
const terms = ({ selector }: Server) => [
  {
    matchExpressions: Object.entries(selector).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
  },
];

const scaffold = (server: Server) => ({
  replicaCount: 1,
  image: vllm(server),
  args: argsOf(server),
  resources: resourcesOf(server),
  env: server.env,
  autoscaling: server.autoscaling,
  ...placed(server),
});

const container = (server: Server) => ({
  image: `vllm/vllm-openai:${server.tag}`,
  args: argsOf(server),
  resources: resourcesOf(server),
  env: server.env,
});

const charts: Readonly<Record<string, (server: Server) => object>> = {
  'a scaffold': scaffold,
  'a component': (server) => ({ redis: { enabled: true }, inference: { enabled: true, ...scaffold(server) } }),
  'a list of containers': (server) => ({
    deployment: { replicas: 1, containers: [{ name: 'server', ...container(server) }], ...placed(server) },
  }),
  'containers by name': (server) => ({
    deployments: {
      chat: {
        replicas: 1,
        containers: { server: container(server) },
        autoscaling: server.autoscaling,
        ...placed(server),
      },
    },
  }),
  'app-template': (server) => ({
    controllers: {
      chat: {
        pod: placed(server),
        containers: {
          main: {
            image: vllm(server),
            args: argsOf(server),
            resources: resourcesOf(server),
            env: server.env,
          },
        },
      },
    },
    persistence: {
      shm: { type: 'emptyDir', medium: 'Memory', globalMounts: [{ path: '/dev/shm' }] },
      cache: {
        type: 'persistentVolumeClaim',
        accessMode: 'ReadWriteOnce',
        size: server.size,
        globalMounts: [{ path: '/root/.cache/huggingface' }],
      },
    },
  }),
  "vLLM's production stack": (server) => ({
    servingEngineSpec: {
      tolerations: tolerationsOf(server),
      modelSpec: [
        {
          name: 'chat',
          ...vllm(server),
          modelURL: server.model,
          replicaCount: 1,
          requestGPU: server.limit,
          requestGPUType: server.resource,
          vllmConfig: { tensorParallelSize: server.tensor, extraArgs: server.flags },
          env: server.env,
          pvcStorage: server.size,
          nodeSelectorTerms: terms(server),
        },
      ],
    },
  }),
  'llm-d': (server) => ({
    modelArtifacts: { uri: `hf://${server.model}`, name: server.model, size: server.size },
    decode: {
      parallelism: server.tensor === undefined ? undefined : { tensor: server.tensor },
      extraConfig: placed(server),
      containers: [
        {
          name: 'vllm',
          image: `ghcr.io/llm-d/llm-d-cuda:${server.tag}`,
          modelCommand: 'vllmServe',
          args: server.flags,
          resources: resourcesOf(server),
          env: server.env,
          mountModelVolume: true,
        },
      ],
    },
    prefill: { create: false },
  }),
  "KubeAI's catalog": (server) => ({
    catalog: {
      chat: {
        enabled: true,
        url: `hf://${server.model}`,
        engine: 'VLLM',
        resourceProfile: `nvidia-gpu-l4:${server.limit}`,
        args: flagsOf(server),
        env: mapped(server.env),
      },
    },
  }),
  NIM: (server) => ({
    image: { repository: 'nvcr.io/nim/meta/llama-3.1-8b-instruct', tag: server.tag },
    model: { name: 'meta/llama-3.1-8b-instruct', ngcAPISecret: 'ngc-api' },
    resources: resourcesOf(server),
    env: server.env,
    autoscaling: server.autoscaling,
    ...placed(server),
  }),
  Ollama: (server) => ({
    image: { repository: 'ollama/ollama', tag: server.tag },
    ollama: {
      gpu: { enabled: true, type: 'nvidia', number: server.limit, nvidiaResource: server.resource },
      models: { pull: [server.model.includes('70B') ? 'llama3.1:70b' : 'qwen2.5:7b'] },
    },
    extraEnv: server.env,
    persistentVolume: { enabled: true, size: server.size },
    ...placed(server),
  }),
  'a Ray cluster': (server) => ({
    image: { repository: 'rayproject/ray', tag: server.tag },
    head: { rayStartParams: { 'num-cpus': '0' }, resources: { limits: { cpu: 2, memory: '8Gi' } } },
    worker: {
      groupName: 'gpu',
      replicas: 1,
      minReplicas: 1,
      maxReplicas: 1,
      rayStartParams: {},
      resources: resourcesOf(server),
      containerEnv: server.env,
      ...placed(server),
    },
  }),
  JupyterHub: (server) => ({
    hub: { config: { JupyterHub: { authenticator_class: 'github' } } },
    proxy: { service: { type: 'ClusterIP' } },
    singleuser: {
      image: { name: 'quay.io/jupyter/pytorch-notebook', tag: 'cuda12-2025-01-06' },
      storage: { capacity: '20Gi' },
      profileList: [
        {
          display_name: 'GPU',
          kubespawner_override: {
            ...(!server.requestOnly && { extra_resource_limits: { [server.resource]: String(server.limit) } }),
            ...((server.requestOnly || server.request !== undefined) && {
              extra_resource_guarantees: { [server.resource]: String(server.request ?? server.limit) },
            }),
            environment: mapped(server.env),
            node_selector: server.selector,
            tolerations: tolerationsOf(server),
          },
        },
      ],
    },
  }),
};

type Mistake = readonly [rule: RegExp, server: Partial<Server>];

const mistakes = {
  'a misspelled resource': [/^gpu-resource-name$/, { resource: 'nvidia.com/gpus' }],
  'a request without a limit': [/^gpu-limits-required$/, { requestOnly: true }],
  'a request below its limit': [/^gpu-requests-equal-limits$/, { request: 1, limit: 2, tensor: 2 }],
  'half a GPU': [/^gpu-quantity-whole$/, { limit: 0.5 }],
  'a misspelled field': [/^api-field$/, { limits: 'limit' }],
  'more shards than GPUs': [/^tensor-parallel-(?:mismatch|link)$/, { tensor: 4 }],
  'GPUs without a share': [/^tensor-parallel-missing$/, { limit: 2 }],
  'another quantization': [
    /^quantization-mismatch$/,
    { model: 'RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8', flags: ['--quantization', 'awq'] },
  ],
  'a model that is too large': [/^model-does-not-fit$/, { model: 'Qwen/Qwen2.5-72B-Instruct' }],
  'a context that is too long': [/^context-too-long$/, { flags: ['--max-model-len', '200000'] }],
  'a volume that is too small': [
    /^model-volume-too-small$/,
    { model: 'meta-llama/Llama-3.1-70B-Instruct', size: '20Gi' },
  ],
  'a mutable tag': [/^image-not-pinned$/, { tag: 'latest' }],
  'an effect that is none': [/^toleration-invalid$/, { effect: 'NoShedule' }],
  'a card that no node has': [/^selector-value$/, { selector: { 'cloud.google.com/gke-accelerator': 'nvidia-h100' } }],
  'a profile that the card lacks': [
    /^mig-profile-not-on-gpu$/,
    { resource: 'nvidia.com/mig-1g.12gb', selector: { 'nvidia.com/gpu.product': 'NVIDIA-A100-SXM4-80GB' } },
  ],
  'a token': [
    /^token-in-plain-text$/,
    { env: [{ name: 'HF_TOKEN', value: `hf_${'qTzLrWkXbNvGhYpDsMcJfUaEoIiQwRtPzX'}` }] },
  ],
  'a variable twice': [
    /^duplicate-name$/,
    {
      env: [
        { name: 'LOG_LEVEL', value: 'info' },
        { name: 'LOG_LEVEL', value: 'debug' },
      ],
    },
  ],
  'a floor above its ceiling': [
    /^floor-over-ceiling$/,
    { autoscaling: { enabled: true, minReplicas: 4, maxReplicas: 2, targetCPUUtilizationPercentage: 80 } },
  ],
} as const satisfies Readonly<Record<string, Mistake>>;

type Name = keyof typeof mistakes;

const ofServers: readonly Name[] = [
  ...(['more shards than GPUs', 'GPUs without a share', 'another quantization'] as const),
  ...(['a model that is too large', 'a context that is too long'] as const),
];
const all = Object.keys(mistakes) as readonly Name[];

/** What the values of a chart cannot say, what its template does itself, and what a template of the project may do. */
const exceptions: Readonly<Record<string, readonly Name[]>> = {
  'a scaffold': ['a volume that is too small'],
  'a component': ['a volume that is too small'],
  'a list of containers': ['a volume that is too small', 'a floor above its ceiling'],
  'containers by name': ['a volume that is too small'],
  'app-template': ['a floor above its ceiling'],
  "vLLM's production stack": [
    ...(['a request without a limit', 'a request below its limit'] as const),
    ...(['a misspelled field', 'a floor above its ceiling'] as const),
  ],
  // The template adds the limit.
  'llm-d': ['a request without a limit', 'a floor above its ceiling'],
  "KubeAI's catalog": all.filter(
    (name) => (!ofServers.includes(name) && name !== 'a token') || name === 'GPUs without a share',
  ),
  NIM: [...ofServers, 'a volume that is too small'],
  Ollama: [
    ...ofServers,
    ...(['a request without a limit', 'a request below its limit'] as const),
    ...(['a misspelled field', 'a floor above its ceiling'] as const),
  ],
  'a Ray cluster': [...ofServers, 'a volume that is too small', 'a floor above its ceiling'],
  JupyterHub: [
    ...ofServers,
    ...(['a volume that is too small', 'a floor above its ceiling', 'a variable twice'] as const),
    ...(['a misspelled field', 'a mutable tag'] as const),
  ],
};

const findingsIn = (object: unknown) => {
  const { documents } = new Analysis().setFile('file:///w/values.yaml', JSON.stringify(object));
  return documents.flatMap(({ findings }) => findings);
};
const rulesIn = (object: unknown) => findingsIn(object).map(({ rule }) => rule);

describe.each(Object.entries(charts))('%s', (chart, write) => {
  test('has no error or warning without a mistake', () => {
    const loud = findingsIn(write(right)).filter(({ severity }) => severity === 'error' || severity === 'warning');
    expect(loud).toEqual([]);
  });

  test.each(all)('%s', (name) => {
    const [rule, server] = mistakes[name];
    const found = expect.stringMatching(rule);
    expect(rulesIn(write(right))).not.toContainEqual(found);
    const rules = rulesIn(write({ ...right, ...server }));
    if (exceptions[chart]?.includes(name)) expect(rules).not.toContainEqual(found);
    else expect(rules).toContainEqual(found);
  });
});

import { asBoolean, asText, type Cursor, entries, getIn, isTemplated, items, type Located } from '../../yaml/cursor.ts';
import { namesAccelerators } from '../accelerators.ts';
import type { PodSetSource } from '../kinds/kind.ts';
import { exactly, times } from '../kinds/pod-sets.ts';
import { kubeAiServer } from '../kinds/serving.ts';
import { lowerCount, text } from '../pod.ts';
import { imageAt, plainGpus } from '../values-component.ts';
import { containerOf, firstOf, isMap, podSetOf, replicasOf, requestOf, unwritten } from '../values-parts.ts';
import { vllmFlagsOf } from '../vllm-settings.ts';
import type { AcceleratorRequest, Container } from '../workload.ts';
import type { Chart, ChartBlock } from './chart.ts';
import { modelserviceChart } from './modelservice.ts';

/** Charts of model servers. */
export const servingCharts: readonly Chart[] = [
  {
    names: ['vllm-stack', 'production-stack'],
    source: 'https://github.com/vllm-project/production-stack/tree/main/helm/templates',
    date: '2026-11-22',
    owns: (values) => items(getIn(values, 'servingEngineSpec', 'modelSpec')).length > 0,
    blocks: (values) => {
      const engine = getIn(values, 'servingEngineSpec');
      const runs = asBoolean(getIn(engine, 'enableEngine')) !== false;
      return items(getIn(engine, 'modelSpec')).flatMap((model) => vllmModel(model, engine, runs));
    },
  },
  {
    names: ['chart-vllm', 'vllm'],
    source: 'https://github.com/vllm-project/vllm/tree/main/examples/online_serving/chart-helm',
    date: '2026-11-30',
    owns: (values) =>
      items(getIn(values, 'image', 'command')).length > 0 &&
      (getIn(values, 'extraInit') !== undefined || getIn(values, 'gpuModels') !== undefined),
    blocks: (values) => {
      const block = one(values, containerOf({ at: values, name: 'vllm', ownChart: true }));
      return [{ ...block, podSet: { ...block.podSet, ...gpuModelNodes(values) } }];
    },
  },
  {
    names: ['nim-llm'],
    source: 'https://github.com/NVIDIA/nim-deploy/blob/main/helm/nim-llm/values.yaml',
    date: '2026-11-22',
    owns: (values) => {
      const image = getIn(values, 'image');
      if (!isMap(getIn(values, 'resources', 'limits'))) return false;
      return (
        (asText(getIn(image, 'repository')) ?? '').startsWith('nvcr.io/nim/') ||
        getIn(values, 'model', 'ngcAPISecret') !== undefined
      );
    },
    blocks: (values) => {
      const spansNodes = asBoolean(getIn(values, 'multiNode', 'enabled')) === true;
      const requests = getIn(values, 'resources') === undefined ? [unwritten('nvidia.com/gpu', 1)] : [];
      const block = one(values, containerOf({ at: values, name: 'nim', requests }));
      if (!spansNodes) return [block];
      // A LeaderWorkerSet of so many pods for each replica, or an MPIJob with so many workers.
      const size = getIn(values, 'multiNode', 'workers');
      const pods = size === undefined ? exactly(null) : times(replicasOf(values), lowerCount(size, 1));
      return [{ ...block, podSet: { ...block.podSet, pods } }];
    },
  },
  {
    names: ['tritoninferenceserver', 'triton-inference-server'],
    source: 'https://github.com/triton-inference-server/server/tree/main/deploy',
    date: '2026-11-22',
    owns: (values) =>
      getIn(values, 'image', 'numGpus') !== undefined && getIn(values, 'image', 'imageName') !== undefined,
    blocks: (values) => {
      const image = getIn(values, 'image');
      const count = getIn(image, 'numGpus');
      const container = containerOf({
        at: values,
        name: 'triton',
        image: getIn(image, 'imageName'),
        requests: count === undefined ? [unwritten('nvidia.com/gpu', 1)] : requestOf('nvidia.com/gpu', count),
      });
      return [one(values, container)];
    },
  },
  {
    names: ['ollama'],
    source: 'https://github.com/otwld/ollama-helm/blob/main/templates/deployment.yaml',
    date: '2026-11-22',
    owns: (values) => {
      const gpu = getIn(values, 'ollama', 'gpu');
      // In a project's own chart, it may be a component.
      const isComponent = getIn(gpu, 'image') !== undefined || getIn(gpu, 'resources') !== undefined;
      return getIn(gpu, 'enabled') !== undefined && !isComponent;
    },
    blocks: (values) => {
      const container = containerOf({ at: values, name: 'ollama', repository: 'ollama/ollama' });
      // The template merges its own limit into those of the values.
      const gpu = getIn(values, 'ollama', 'gpu');
      const own = ollamaGpus(gpu).filter(
        ({ resource }) => !container.accelerators.some((written) => written.resource === resource),
      );
      const storage = ollamaStorage(getIn(values, 'persistentVolume'));
      const block = one(values, {
        ...container,
        accelerators: [...container.accelerators, ...own],
        ...(storage && { modelStorage: storage }),
      });
      const enabled = getIn(gpu, 'enabled');
      return [enabled === undefined || asBoolean(enabled) === false ? { ...block, wholeResources: true } : block];
    },
    shared: ['ollama'],
  },
  modelserviceChart,
  {
    names: ['kubeai-models'],
    source: 'https://github.com/kubeai-project/kubeai/tree/main/charts/models',
    date: '2026-11-23',
    owns: (values) => entries(getIn(values, 'catalog')).some((model) => getIn(model, 'resourceProfile') !== undefined),
    blocks: (values) => {
      const all = asBoolean(getIn(values, 'all', 'enabled')) === true;
      return entries(getIn(values, 'catalog'))
        .filter((model) => model.node.kind === 'map' && (all || asBoolean(getIn(model, 'enabled')) === true))
        .map((model) => ({ root: model, podSet: kubeAiServer(model), role: 'serving' }));
    },
  },
  {
    names: ['local-ai', 'localai'],
    source: 'https://github.com/go-skynet/helm-charts/tree/main/charts/local-ai/templates',
    date: '2026-11-29',
    owns: (values) => {
      const server = getIn(values, 'deployment');
      return firstOf(getIn(server, 'env'), ['modelsPath', 'threads', 'context_size']) !== undefined && isMap(server);
    },
    blocks: (values) => {
      const image = getIn(values, 'deployment', 'image') ?? imageAt(values);
      return [
        {
          ...one(values, containerOf({ at: values, name: 'local-ai', image, repository: 'go-skynet/local-ai' })),
          wholeResources: true,
        },
      ];
    },
    shared: ['deployment'],
  },
  {
    names: ['text-generation-inference', 'text-embeddings-inference', 'tgi', 'sglang'],
    source: 'https://helm.sh/docs/helm/helm_create/',
    date: '2026-11-22',
    owns: () => false,
    blocks: (values) => {
      const container = containerOf({ at: values, name: 'server', image: imageAt(values), ownChart: true });
      const block = one(values, container);
      const gpus = namesAccelerators(container) ? undefined : plainGpus(values);
      const podSet = gpus === undefined ? block.podSet : { ...block.podSet, implicitDevices: [gpus] };
      return [{ ...block, podSet, wholeResources: true }];
    },
  },
];

function one(values: Cursor, container: Container): ChartBlock {
  return { root: values, podSet: { ...podSetOf(values, [container]), pods: replicasOf(values) }, role: 'serving' };
}

/** The template makes required node affinity of `gpuModels`, if both the requests and the limits have GPUs. */
function gpuModelNodes(values: Cursor): Partial<PodSetSource> {
  const models = getIn(values, 'gpuModels');
  const resources = getIn(values, 'resources');
  const counts = ['requests', 'limits'].map((part) => getIn(resources, part, 'nvidia.com/gpu'));
  if (models === undefined || isTemplated(models) || counts.some((count) => !((lowerCount(count, 0) ?? 0) > 0)))
    return {};
  const named = items(models).flatMap((model) => text(model) ?? []);
  // The chart's own value stands for a name.
  if (named.length === 0 || named.some(({ value }) => value === 'TYPE_GPU_USED')) return {};
  return { selectors: [{ key: 'nvidia.com/gpu.product', values: named, from: 'affinity', at: models }] };
}

/** A Deployment per model. With `raySpec`, the model has a Ray cluster, whose head takes the parts of `headNode`. */
function vllmModel(model: Cursor, engine: Cursor | undefined, runs: boolean): readonly ChartBlock[] {
  const disabled = !runs || asBoolean(getIn(model, 'enabled')) === false;
  const ray = getIn(model, 'raySpec');
  const requests = integerRequest(model);
  const made = containerOf({
    at: model,
    name: 'vllm',
    requests,
    ...(ray === undefined && { command: vllmCommand(model) }),
  });
  const securityContext = getIn(engine, 'containerSecurityContext');
  const container: Container = {
    ...made,
    ...(securityContext && { securityContext }),
    ...(ray === undefined && { fromTemplate: true, ...vllmStorage(model) }),
  };
  const pods = disabled ? exactly(0) : replicasOf(model);
  const set: PodSetSource = { ...podSetOf(model, [container]), pods };
  const head = getIn(ray, 'headNode');
  if (ray === undefined || head === undefined)
    return [{ root: model, podSet: set, role: 'serving', wholeResources: true }];
  const inHead = containerOf({ at: head, name: 'vllm', image: getIn(model, 'image'), requests: integerRequest(head) });
  const headSet = { ...podSetOf(head, [inHead]), name: 'head', replicas: undefined, pods: exactly(disabled ? 0 : 1) };
  return [
    { root: model, podSet: { ...set, name: 'worker' }, role: 'serving' },
    { root: head, podSet: headSet, role: 'serving' },
  ];
}

/** `requestGPU`, which the template reads with `int`: it requests nothing below 1. */
function integerRequest(model: Cursor): readonly AcceleratorRequest[] {
  const amount = getIn(model, 'requestGPU');
  if (amount === undefined) return [];
  return requestOf(asText(getIn(model, 'requestGPUType')) ?? 'nvidia.com/gpu', amount).map((request) => {
    const value = request.limit?.value ?? null;
    return value !== null && value >= 0 && value < 1 ? { ...request, count: 0 } : request;
  });
}

/** What the template mounts: /dev/shm for its own key of tensor parallelism only, the claim for models, and what is passed on. */
function vllmStorage(model: Cursor): Pick<Container, 'volumeMounts' | 'modelStorage'> {
  const modelStorage = getIn(model, 'pvcStorage');
  const disaggregated = getIn(model, 'lmcacheConfig', 'enablePD');
  // With disaggregation the pod shares the host's /dev/shm.
  const shm = getIn(model, 'vllmConfig', 'tensorParallelSize') ?? disaggregated;
  const passed = items(getIn(model, 'extraVolumeMounts')).map((at) => ({
    name: asText(getIn(at, 'name')) ?? '',
    mountPath: asText(getIn(at, 'mountPath')) ?? '',
    at,
  }));
  const own = shm === undefined ? [] : [{ name: 'shm', mountPath: '/dev/shm', at: shm }];
  return { volumeMounts: [...own, ...passed], ...(modelStorage && { modelStorage }) };
}

/** The command line that the template writes from `modelURL` and `vllmConfig`. */
function vllmCommand(model: Cursor): readonly Located<string>[] {
  const url = text(getIn(model, 'modelURL'));
  if (url === undefined) return [];
  const at = url.at;
  return [{ value: 'vllm', at }, { value: 'serve', at }, url, ...vllmFlagsOf(getIn(model, 'vllmConfig'))];
}

/** The size of the claim that the template makes for all models. */
function ollamaStorage(volume: Cursor | undefined): Cursor | undefined {
  const isOwn = asBoolean(getIn(volume, 'enabled')) === true && (asText(getIn(volume, 'existingClaim')) ?? '') === '';
  return isOwn ? getIn(volume, 'size') : undefined;
}

function ollamaGpus(gpu: Cursor | undefined): readonly AcceleratorRequest[] {
  const count = getIn(gpu, 'number');
  if (asBoolean(getIn(gpu, 'enabled')) !== true) return [];
  if (asBoolean(getIn(gpu, 'mig', 'enabled')) === true || asBoolean(getIn(gpu, 'draEnabled')) === true) return [];
  const unset = asText(getIn(gpu, 'type')) === 'amd' ? 'amd.com/gpu' : 'nvidia.com/gpu';
  const resource = asText(getIn(gpu, 'nvidiaResource')) ?? unset;
  return count === undefined ? [unwritten(resource, 1)] : requestOf(resource, count);
}

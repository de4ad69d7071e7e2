import { acceleratorResourceNames, acceleratorResourcePrefixes, nodeLabels, shapeWords } from '../catalog/index.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { kindWords } from './kinds/index.ts';

/**
 * Words related to accelerators outside the tables of resources, labels and kinds: in misspelled names, chart values, environment variables,
 * images and claims.
 */
const topics: readonly string[] = [
  ...['gpu', 'cuda', 'nvidia', 'tpu', 'neuron', 'gaudi', 'habana', 'ascend', 'accelerator', 'mig-'],
  // Objects around the pods, which need not name what they limit or protect.
  ...[
    'kind: LimitRange',
    'kind: LocalModelCache',
    'kind: LocalModelNamespaceCache',
    'kind: LocalQueue',
    'kind: ModelAdapter',
    'kind: PersistentVolumeClaim',
    'kind: PodDisruptionBudget',
    'kind: PodGroup',
    'kind: PriorityClass',
    'kind: ResourceQuota',
    'kind: RuntimeClass',
  ],
  ...['spot', 'preemptible', 'instance-type', 'instanceType', 'resourceClaim'],
  // Programs that need a GPU, requested or not.
  ...['vllm', 'sglang', 'text-generation-inference', 'comfyui', 'stable-diffusion', 'vram', 'xformers', 'ray start'],
  ...['deepspeed', 'axolotl', 'llamafactory', 'unsloth', 'fp16', 'nccl', 'in_4bit', 'in-4bit', 'in_8bit', 'in-8bit'],
  ...['llamacpp:kv_cache', 'llamacpp_kv_cache'],
  // Images, programs and variables for AMD's GPUs.
  ...['rocm', 'amd-smi', 'HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'HSA_OVERRIDE_GFX_VERSION'],
  // Tokens by which servers download models.
  ...['nvapi-', 'HF_TOKEN', 'hf-token', 'wandb-api-key', 'HUGGING_FACE_HUB_TOKEN', 'huggingface-cli', 'hf download'],
  // Keys for models of others.
  'API_KEY',
  // The folder of Ollama's models, which is lost or misread on CPUs in the same way.
  'OLLAMA_MODELS',
  // Device files of GPUs.
  ...['/dev/dri', '/dev/kfd'],
];

/** The words of which a document related to accelerators contains at least one. No word contains another. */
export const concernWords: readonly string[] = shortest([
  ...topics,
  ...acceleratorResourceNames(),
  ...acceleratorResourcePrefixes(),
  ...shapeWords,
  ...nodeLabels(),
  ...kindWords(),
]);

/** An alternation of fixed words, which matches in linear time. */
const pattern = alternation(concernWords);

/** Whether a text may be related to accelerators. The editor does not parse other documents. */
export function mayConcernAccelerators(text: string): boolean {
  return pattern.test(text.toLowerCase());
}

const resources = alternation(shortest([...acceleratorResourceNames(), ...acceleratorResourcePrefixes()]));

/** Whether a text names resources of accelerators: all objects of its file belong to their pods. */
export function namesAcceleratorResources(text: string): boolean {
  return resources.test(text.toLowerCase());
}

/**
 * Whether a document is an object that pods use and that names nothing of them, or a client that may call them.
 * @param item it is an item of a list, whose first kind is its own
 */
export function mayServePods(text: string, item: boolean): boolean {
  const kind = kindIn(text, item);
  return servedKinds.has(kind) || (clientKinds.has(kind) && text.includes('://'));
}

/** Whether a document is a route that names a model server, wherever that runs. */
export function mayRouteToModels(text: string, item: boolean): boolean {
  return routeKinds.has(kindIn(text, item)) && modelServers.test(text);
}

function kindIn(text: string, item: boolean): string {
  const [, kind = ''] =
    (item ? /^[ \t]*(?:-[ \t]+)?kind:[ \t]*["']?(\w+)/m : /^kind:[ \t]*["']?(\w+)/m).exec(text) ?? [];
  return kind.toLowerCase();
}

const routeKinds = wordSet('ingress httproute');
const modelServers = partOf('ollama llama triton localai whisper diffusion', '(?<![a-z])llms?(?![a-z])');

const servedKinds = wordSet(
  'configmap secret httproute grpcroute tcproute tlsroute route virtualservice ingressroute ingressroutetcp ingress networkpolicy',
  'service servicemonitor podmonitor podmonitoring vmservicescrape vmpodscrape inferencepool persistentvolume',
  'rayservice rayjob role clusterrole rolebinding clusterrolebinding serviceaccount',
);
const clientKinds = wordSet('deployment statefulset pod job cronjob');

/** A pattern for texts in lower case: one that ignores case takes nearly twice as long to compile, which the first file waits for. */
function alternation(words: readonly string[]): RegExp {
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'));
}

function shortest(words: readonly string[]): readonly string[] {
  const lower = [...new Set(words.map((word) => word.toLowerCase()))].sort((a, b) => a.length - b.length);
  const kept: string[] = [];
  for (const word of lower) if (!kept.some((shorter) => word.includes(shorter))) kept.push(word);
  return kept.sort();
}

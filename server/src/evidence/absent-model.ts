import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';
import { brings, modelPath } from './empty-model-volume.ts';
import { isBelow } from './model-volume.ts';

/** A local path of a model that neither the image of its server nor a volume has. */
export interface AbsentModel {
  readonly path: string;
  /** The last part of the image's name. */
  readonly image: string;
  readonly at: Cursor;
}

/** Images that the makers of servers publish: they have the server and no models. */
const published = wordSet(
  'vllm/vllm-openai vllm/vllm-openai-rocm rocm/vllm lmsysorg/sglang pytorch/torchserve tensorflow/serving',
  'ghcr.io/huggingface/text-generation-inference ghcr.io/huggingface/text-embeddings-inference',
  'nvcr.io/nvidia/tritonserver ghcr.io/ggml-org/llama.cpp ghcr.io/ggerganov/llama.cpp openvino/model_server',
  'michaelf34/infinity',
);

/** Folders in which images have files of their own, and the one that KServe fills. */
const ofImages =
  /^\/(?:app|bin|dev|etc|home|lib|mnt\/models|opt|proc|root|sbin|sgl-workspace|srv|sys|tmp|usr|var|vllm-workspace|workspace)(?:\/|$)/;

/** Groups whose controllers add no files to a container. */
const plainGroups = wordSet('apps batch leaderworkerset.x-k8s.io jobset.x-k8s.io');

/** The model of a published server that is a path on no volume, if nothing else can bring it: no shell, hook, webhook or request. */
export function absentModel(container: Container, podSet: PodSet, workload: Workload): AbsentModel | undefined {
  const { at, image, command, args, env, volumeMounts, type } = container;
  const group = groupOf(workload.apiVersion);
  if (type !== 'app' || image === undefined || isTemplated(image.at) || (group !== '' && !plainGroups.has(group)))
    return undefined;
  const repository = imageParts(image.value).repository.replace(/^(?:docker\.io|index\.docker\.io)\//, '');
  if (!published.has(repository)) return undefined;
  const lines = [...command, ...args];
  if (isIncomplete(at) || isIncomplete(podSet.pod) || lines.some((line) => isTemplated(line.at))) return undefined;
  if (env.some(({ name }) => /^LLAMA_ARG_(?:HF|MODEL_URL|DOCKER)/.test(name))) return undefined;
  if (lines.some(({ value }) => brings.test(value)) || ['lifecycle', 'volumeDevices'].some((key) => getIn(at, key)))
    return undefined;
  const path = modelPath(container) ?? ownPath(container, repository);
  if (path === undefined || ofImages.test(path) || /\/path\/|your|example/i.test(path)) return undefined;
  if (volumeMounts.some(({ mountPath }) => isBelow(path, mountPath) || isBelow(mountPath, path))) return undefined;
  // Webhooks add volumes to pods that ask for them.
  if ([...podSet.labels, ...podSet.annotations].some((one) => /inject|mount|fluid|juicefs/i.test(keyOf(one.at))))
    return undefined;
  // Kubeflow's PodDefaults add volumes to pods with a label of any name.
  if (podSet.labels.some(({ value }) => value === 'true')) return undefined;
  const line = [...lines, ...env.flatMap(({ value }) => value ?? [])].find(({ value }) => value.includes(path));
  return { path, image: repository.slice(repository.lastIndexOf('/') + 1), at: line?.at ?? image.at };
}

/** The path in the words and variables of a server that others do not have. */
function ownPath({ command, args, env }: Container, repository: string): string | undefined {
  const settingOf = (name: string) => env.find((one) => one.name === name)?.value?.value;
  const words = [...command, ...args].map(({ value }) => value);
  const isLlama = repository.endsWith('/llama.cpp');
  const flag = isLlama ? words.findIndex((word) => word === '-m' || word === '--model') : -1;
  const name = settingOf('MODEL_NAME');
  const isServing = repository === 'tensorflow/serving' && words.length === 0 && name !== undefined;
  const path = isServing ? `${settingOf('MODEL_BASE_PATH') ?? '/models'}/${name}` : (words[flag + 1] ?? '');
  const written = flag < 0 && !isServing ? (settingOf('MODEL_ID') ?? '') : path;
  return /^(?:\/[\w.-]+)+$/.test(written) ? written : undefined;
}

import { imageParts } from '../catalog/images.ts';
import { modelByName } from '../catalog/index.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { brings, modelPath } from './empty-model-volume.ts';
import { servedFlags } from './launch.ts';
import { isBelow } from './model-volume.ts';
import { soleServer } from './sole-server.ts';

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
const ofImages = new RegExp(
  `^/(?:${oneOf('app bin dev etc home lib mnt/models opt proc root sbin sgl-workspace srv sys tmp usr var', 'vllm-workspace workspace')})(?:/|$)`,
);

/** Groups whose controllers add no files to a container. */
const plainGroups = wordSet('apps batch leaderworkerset.x-k8s.io jobset.x-k8s.io');

/** The model of a published server that is a path on no volume, if nothing else can bring it: no shell, hook, webhook or request. */
export function absentModel(container: Container, podSet: PodSet, workload: Workload): AbsentModel | undefined {
  const { image, command, args, env, volumeMounts } = container;
  const repository = closedServer(container, podSet, workload);
  if (repository === undefined || image === undefined) return undefined;
  const path = modelPath(container) ?? ownPath(container, repository);
  if (path === undefined || ofImages.test(path) || /\/path\/|your|example/i.test(path)) return undefined;
  if (volumeMounts.some(({ mountPath }) => isBelow(path, mountPath) || isBelow(mountPath, path))) return undefined;
  const lines = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])];
  const line = lines.find(({ value }) => value.includes(path));
  return { path, image: repository.slice(repository.lastIndexOf('/') + 1), at: line?.at ?? image.at };
}

/**
 * The folder that KServe fills with models, if a custom container reads it but nothing names the model: only `model.storageUri` and
 * STORAGE_URI do.
 * https://kserve.github.io/website/docs/model-serving/predictive-inference/frameworks/custom-predictor/custom-predictor
 */
export function unfilledByKserve(
  container: Container,
  { manifest, podSets }: Workload,
): { readonly message: string; readonly at: Cursor } | undefined {
  const { type, at, image, command, args, env, volumeMounts } = container;
  if (manifest.kind !== 'InferenceService' || groupOf(manifest.apiVersion) !== 'serving.kserve.io') return undefined;
  const predictor = getIn(manifest.root, 'spec', 'predictor');
  const isOwn = getIn(predictor, 'containers') !== undefined && getIn(predictor, 'model') === undefined;
  if (type !== 'app' || image === undefined || !isOwn || isIncomplete(predictor) || isIncomplete(at)) return undefined;
  const lines = [...command, ...args];
  const path = modelPath(container) ?? '';
  const others = [...entries(predictor), ...entries(at)].map(keyOf);
  const isFilled =
    volumeMounts.some(({ mountPath }) => isBelow(path, mountPath) || isBelow(mountPath, path)) ||
    env.some(({ name }) => name === '' || /URI|STORAGE/.test(name)) ||
    others.some((key) => /^(?:storageUris?|storage|initContainers|envFrom|lifecycle)$/.test(key)) ||
    podSets.some(({ annotations }) => annotations.some((one) => /storage|inject/i.test(keyOf(one.at)))) ||
    lines.some((line) => isTemplated(line.at) || /^-\w*c$/.test(line.value));
  const line = lines.find(({ value }) => value.includes(path));
  if (!/^\/mnt\/models(?:\/|$)/.test(path) || isFilled || line === undefined) return undefined;
  const message = `KServe downloads no model to ${shorten(path, 32)} for a custom container without STORAGE_URI: the server finds none there`;
  return { message, at: line.at };
}

/** Flags of servers with the path of a file, without which they exit. */
const fileFlags = wordSet('chat-template chat-template-file tool-parser-plugin reasoning-parser-plugin config mmproj');

/** A file that a flag of a published server names, and that neither its image nor a volume has. */
export function absentFile(container: Container, podSet: PodSet, workload: Workload): AbsentModel | undefined {
  const server = soleServer(container)?.command;
  const flags = readFlags(server?.words ?? []).filter(({ name, isVariable, dynamic }) => {
    return fileFlags.has(name) && !isVariable && !dynamic;
  });
  const flag = flags.find(({ value = '' }) => /^(?:\/[\w.-]+)+\.\w{2,6}$/.test(value) && !ofImages.test(value));
  const path = flag?.value ?? adapterPath(server?.words ?? [], container);
  const repository = path === undefined ? undefined : closedServer(container, podSet, workload);
  if (repository === undefined || path === undefined || /\/path\/|your|example/i.test(path)) return undefined;
  if (container.volumeMounts.some(({ mountPath }) => isBelow(path, mountPath))) return undefined;
  const line = [...container.command, ...container.args].find(({ value }) => value.includes(path));
  return line && { path, image: repository.slice(repository.lastIndexOf('/') + 1), at: line.at };
}

/** Flags of servers with adapters: `name=/path`, several of them, or JSON with a path. */
const adapterFlags = /^--?(?:lora[-_]modules|lora[-_]paths|lora[-_]adapters|lora)(?:=|$)/;

/** The first folder of an adapter that is neither on a volume nor above one. */
function adapterPath(words: readonly Word[], { volumeMounts }: Container): string | undefined {
  let isAdapter = false;
  for (const { text, dynamic } of words) {
    if (text.startsWith('-')) isAdapter = adapterFlags.test(text);
    const path = isAdapter && !dynamic ? /(?:^|=|"path": *")((?:\/[\w.-]+)+)(?:$|["@,])/.exec(text)?.[1] : undefined;
    const isHeld = (one: string) =>
      volumeMounts.some(({ mountPath }) => isBelow(one, mountPath) || isBelow(mountPath, one));
    if (path !== undefined && !ofImages.test(path) && !isHeld(path)) return path;
  }
  return undefined;
}

/** A name without an organization, which no hub has, of a model that is known under the name with one. */
export interface BareModel {
  readonly name: string;
  /** With the organization of its publisher, if that is known. */
  readonly full: string | undefined;
  /** `llama3.1:8b`: a model and a tag of Ollama's library. */
  readonly isOllama: boolean;
  readonly words: readonly [Word, Word];
}

/** Folders in which published servers start: a relative name may be one below them. */
const startFolder = /^\/(?:$|app(?:\/|$)|sgl-workspace|usr|vllm-workspace|workspace)/;

/** A relative path of a model in a volume at the root of the file system. */
export interface RelativeModel {
  readonly path: string;
  readonly meant: string;
  readonly words: readonly [Word, Word];
}

/** The model of a published server that is a path below the folder in which the image starts, while a volume has the same path below the root. */
export function relativeModel(container: Container, podSet: PodSet, workload: Workload): RelativeModel | undefined {
  const model = servedFlags(container)?.model;
  const [, dot, own = ''] = /^(\.\/)?((?:[\w-]+\/)+[\w.-]+)$/.exec(model?.value ?? '') ?? [];
  const meant = `/${own}`;
  // Two words may be a name on Hugging Face, but of no organization with such a name.
  const isName =
    dot === undefined && /^[^/]+\/[^/]+$/.test(own) && !/^(?:models?|data|mnt|weights)\/|\.gguf$/.test(own);
  if (model === undefined || own === '' || isName || getIn(container.at, 'workingDir') !== undefined) return undefined;
  const repository = closedServer(container, podSet, workload);
  // The first images of llama.cpp, in its former registry, start at the root.
  if (repository === undefined || repository.includes('ggerganov')) return undefined;
  const { volumeMounts } = container;
  if (volumeMounts.some(({ mountPath }) => startFolder.test(mountPath))) return undefined;
  const isMounted = volumeMounts.some(({ mountPath }) => mountPath !== '/' && isBelow(meant, mountPath));
  return isMounted ? { path: model.value, meant, words: model.words } : undefined;
}

/** Models that Hugging Face keeps under names without an organization. https://huggingface.co/models */
const unowned = /^(?:albert|bert|camembert|ctrl|distil|gpt2|openai-gpt|roberta|t5|transfo|xlm|xlnet)/i;

/** Models that only the services of their makers serve. */
const ofServices = /^(?:gpt-(?:3\.5|4|5)|claude-|gemini-|text-embedding-)/;

/** The model of a published server that is a name without an organization, if nothing else can bring a folder of this name. */
export function bareModel(container: Container, podSet: PodSet, workload: Workload): BareModel | undefined {
  const { at, volumeMounts } = container;
  const model = servedFlags(container)?.model;
  const name = model?.value ?? '';
  const isOllama = /^[a-z][\w.-]{1,60}:[\w.-]{1,40}$/.test(name);
  if (model === undefined || !(isOllama || /^[A-Za-z][\w.-]{5,80}$/.test(name)) || unowned.test(name)) return undefined;
  const repository = closedServer(container, podSet, workload);
  if (repository === undefined || getIn(at, 'workingDir') !== undefined) return undefined;
  // No name on Hugging Face has a colon.
  if (isOllama)
    return /vllm|sglang|text-/.test(repository) ? { name, full: undefined, isOllama, words: model.words } : undefined;
  const isMounted = volumeMounts.some(({ mountPath }) => startFolder.test(mountPath) || mountPath.endsWith(name));
  if (isMounted) return undefined;
  if (ofServices.test(name)) return { name, full: undefined, isOllama, words: model.words };
  const known = modelByName(name) ?? modelByName(`${name}:latest`);
  if (known === undefined || known.basis !== 'name' || !known.shape.name.includes('/')) return undefined;
  const [organization, own = ''] = known.shape.name.split('/');
  // Others publish models of the same shape.
  const isOwn = name.toLowerCase().startsWith(own.toLowerCase());
  return { name, full: isOwn ? `${organization}/${name}` : undefined, isOllama, words: model.words };
}

/** The repository of a published server to which only its image and its volumes can bring a model. */
function closedServer(container: Container, podSet: PodSet, workload: Workload): string | undefined {
  const { at, image, command, args, env, type } = container;
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
  // Webhooks add volumes to pods that ask for them.
  if ([...podSet.labels, ...podSet.annotations].some((one) => /inject|mount|fluid|juicefs/i.test(keyOf(one.at))))
    return undefined;
  // Kubeflow's PodDefaults add volumes to pods with a label of any name.
  return podSet.labels.some(({ value }) => value === 'true') ? undefined : repository;
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

import { imageParts } from '../catalog/images.ts';
import { oneOf, partOf, wordSet } from '../catalog/word-patterns.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Volume } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, isUnseen, items } from '../yaml/cursor.ts';
import { someText } from '../yaml/texts.ts';
import { mayMountMore, volumeNamed } from './volume-lifetime.ts';

/** The directory into which a model server downloads its weights, and the volume that is mounted there. */
export interface ModelDirectory {
  readonly path: string;
  /** Undefined: the claim template of a StatefulSet has it. */
  readonly volume: Volume | undefined;
  readonly mount: Container['volumeMounts'][number];
}

/**
 * The volume into which a container downloads models: where the Hugging Face libraries, vLLM's --download-dir or TGI's image put them.
 * https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
 * https://huggingface.co/docs/text-generation-inference/reference/launcher
 * https://docs.nvidia.com/nim/large-language-models/latest/configuration.html
 * @param program the server, as `useOf` names it
 */
export function modelDirectory(container: Container, podSet: PodSet, program: string): ModelDirectory | undefined {
  const path = downloadPath(container, program);
  const mount = path === undefined ? undefined : mountAbove(path, container);
  return path === undefined || mount === undefined
    ? undefined
    : { path, mount, volume: volumeNamed(podSet, mount.name) };
}

/** The mount that holds a path. */
export function mountAbove(path: string, { volumeMounts }: Container): Container['volumeMounts'][number] | undefined {
  return volumeMounts
    .filter(({ mountPath }) => isBelow(path, mountPath))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
}

/** Whether the directory into which a container downloads models may have files when its pod starts. */
export function mayKeepDownloads(container: Container, podSet: PodSet, program: string): boolean {
  const path = downloadPath(container, program);
  if (path === undefined || mayMountMore(container)) return true;
  const mount = mountAbove(path, container);
  if (mount !== undefined && volumeNamed(podSet, mount.name)?.source !== 'emptyDir') return true;
  return container.volumeMounts.some(({ mountPath }) => mountPath !== path && isBelow(mountPath, path));
}

/** The directory into which a container downloads models, if no volume holds it or a part of it. */
export function unmountedDownloads(container: Container, program: string): string | undefined {
  const path = downloadPath(container, program);
  if (path === undefined || mountAbove(path, container) !== undefined || mayMountMore(container)) return undefined;
  return container.volumeMounts.some(({ mountPath }) => isBelow(mountPath, path)) ? undefined : path;
}

/** A volume that was mounted for models, although the server downloads them to another place. */
export interface UnusedModelVolume {
  /** Where the server puts them, which is in the container's own file system. */
  readonly path: string;
  readonly mount: Container['volumeMounts'][number];
}

/**
 * A volume with the name or the path of one for models, which outlives the pod, and which nothing in it names: the server downloads its models to
 * a directory that no volume holds.
 */
export function unusedModelVolume(
  container: Container,
  podSet: PodSet,
  program: string,
): UnusedModelVolume | undefined {
  const path = unmountedDownloads(container, program);
  if (path === undefined) return undefined;
  const { volumeMounts } = container;
  const names = [getIn(podSet.pod, 'volumes'), getIn(container.at, 'volumeMounts')].flatMap(items);
  // A variable may name the place.
  const isOpen =
    isUnseen(getIn(podSet.pod, 'volumes')) ||
    isUnseen(getIn(container.at, 'env')) ||
    names.some((one) => isTemplated(getIn(one, 'name')));
  if (isOpen) return undefined;
  const [mount, ...others] = volumeMounts.filter(
    (one) =>
      (isForModels(one) ||
        (program === 'ollama' && mayBeForOllama(one, container)) ||
        (isGoogleTgi(container) && withoutSlash(one.mountPath) === '/data')) &&
      (keepsFiles(volumeNamed(podSet, one.name)) || isOwnCache(one, podSet)) &&
      !isUsed(one, container, podSet, program),
  );
  return mount === undefined || others.length > 0 ? undefined : { path, mount };
}

/** The image of a server that stores nothing but its models. */
const onlyOllama = /^(?:docker\.io\/)?ollama\/ollama(?:[:@]|$)/;

/** Whether a volume of Ollama can be meant for its models: time zones, drivers, certificates and logs have places of the system. */
function mayBeForOllama({ name, mountPath }: Container['volumeMounts'][number], { image }: Container): boolean {
  return onlyOllama.test(image?.value ?? '') && !ofSystem.test(mountPath) && !otherFiles.test(`${name} ${mountPath}`);
}

const ofSystem = new RegExp(`^/(?:${oneOf('bin dev etc lib lib64 opt proc run sbin sys tmp usr var')})(?:/|$)`);

/** Whether the name or the path of a mount is that of models. */
export function isForModels({
  name,
  mountPath,
}: Pick<Container['volumeMounts'][number], 'name' | 'mountPath'>): boolean {
  // The name of a user is not that of the files.
  const words = `${name} ${mountPath.replace(/^\/home\/[\w.-]+(?=\/)/, '')}`;
  return !otherFiles.test(words) && modelFiles.test(words);
}

/** Caches of compilers and package managers are small, and their volumes are used. */
const otherFiles = partOf(
  'vllm torch triton inductor flashinfer compile',
  'pip \\buv\\b nltk',
  'adapter lora dataset log backup',
);
const modelFiles = partOf('model weight hugging \\bhf\\b \\bhub\\b ollama cache');

function keepsFiles(volume: Volume | undefined): boolean {
  return volume === undefined || !withoutFiles.has(volume.source);
}

/** An emptyDir outlives the container, so one at the path of the hub's cache is meant for models. */
function isOwnCache({ name, mountPath }: Container['volumeMounts'][number], podSet: PodSet): boolean {
  return volumeNamed(podSet, name)?.source === 'emptyDir' && /\/\.cache\/huggingface(?:\/hub)?\/?$/.test(mountPath);
}

const withoutFiles = wordSet('emptyDir configMap secret projected downwardAPI image');

/** Whether a hook of a container, which may copy or link the models, names a path. */
function namesInHook(container: Cursor, path: string): boolean {
  const hooks = getIn(container, 'lifecycle');
  return hooks !== undefined && someText(hooks.node, (text) => namesPath(text, path));
}

/** Whether a command or a variable that the program reads names the mount, or another container has it. */
function isUsed(
  { name, mountPath }: Container['volumeMounts'][number],
  container: Container,
  podSet: PodSet,
  program: string,
): boolean {
  const plain = withoutSlash(mountPath);
  // The entrypoint of a custom image may read any variable.
  const isPlain = container.command.length > 0 || published.test(container.image?.value ?? '');
  const isRead = (variable: string) =>
    !usesHub.has(program) ||
    !(
      variable === 'TRANSFORMERS_CACHE' ||
      (isPlain && invented.has(variable)) ||
      (program === 'text-embeddings-router' && variable === 'HF_HOME')
    );
  const isNamed = ({ at, command, args, env, scripts }: Container) =>
    namesInHook(at, plain) ||
    [...command, ...args, ...env.flatMap((one) => (isRead(one.name) ? (one.value ?? []) : []))].some(({ value }) =>
      namesPath(value, plain),
    ) ||
    scripts.some(({ text }) => namesPath(text, plain));
  return podSet.containers.some(
    (other) => isNamed(other) || (other !== container && other.volumeMounts.some((mount) => mount.name === name)),
  );
}

/** Whether a text has a path, and not only one that ends like it: `/data/models` is not at `/models`. */
function namesPath(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1))
    if (!/[\w.-]/.test(text[at - 1] ?? ' ')) return true;
  return false;
}

/** Images that servers publish, whose entrypoints read no variables of other names. */
const published = /^(?:docker\.io\/)?(?:vllm\/vllm-openai|lmsysorg\/sglang):|^ghcr\.io\/huggingface\/text-/;

/** Names for the folder of downloads that no library has. */
const invented = wordSet(
  'HF_CACHE HF_CACHE_DIR HUGGINGFACE_CACHE HUGGINGFACE_CACHE_DIR HUGGINGFACE_HOME HUGGING_FACE_CACHE MODEL_CACHE',
  'MODEL_CACHE_DIR MODEL_CACHE_PATH MODELS_CACHE VLLM_CACHE_DIR VLLM_MODEL_CACHE VLLM_DOWNLOAD_DIR DOWNLOAD_DIR',
);

/** Whether a model could be stored on any volume of a container. */
export function mayStoreModels(container: Container, podSet: PodSet): boolean {
  const { volumeMounts, modelStorage } = container;
  if (modelStorage !== undefined || mayMountMore(container)) return true;
  return volumeMounts.some(({ name }) => {
    const volume = volumeNamed(podSet, name);
    const memory = asText(getIn(volume?.at, 'emptyDir', 'medium')) === 'Memory';
    return volume === undefined || !(memory || /^(?:configMap|secret|projected|downwardAPI)$/.test(volume.source));
  });
}

function downloadPath(container: Container, program: string): string | undefined {
  const { command, args, env } = processInput(container);
  const words = [...command, ...args].flatMap((line) => line.split(/\s+/));
  const flag = /^--?(?:download[-_]dir|models[-_]path|huggingface[-_]hub[-_]cache)(?:=(.+))?$/;
  for (const [index, word] of words.entries()) {
    const match = flag.exec(word);
    if (match !== null) return absolute(match[1] ?? words[index + 1]);
  }
  const value = (name: string) => env.find((one) => one.name === name)?.value;
  // ModelScope has its own cache.
  if (value('VLLM_USE_MODELSCOPE') !== undefined) return undefined;
  // Images of model servers run as root, unless their pod says otherwise.
  const user = value('HOME') ?? '/root';
  // https://docs.ollama.com/faq#where-are-models-stored
  if (program === 'nim') return absolute(value('NIM_CACHE_PATH') ?? '/opt/nim/.cache');
  // Newer builds use the folder of huggingface_hub: https://github.com/ggml-org/llama.cpp/blob/master/common/download.cpp
  if (program === 'llama-server' && value('LLAMA_CACHE') !== undefined) return absolute(value('LLAMA_CACHE'));
  if (program === 'llama-server')
    return env.some(({ name }) => /^HF_H|^HUGGING|_CACHE/.test(name)) ? undefined : `${user}/.cache`;
  if (program === 'local-ai')
    return absolute(value('MODELS_PATH') ?? value('LOCALAI_MODELS_PATH') ?? cacheOfImage(container));
  if (program === 'ollama') return absolute(value('OLLAMA_MODELS') ?? `${user}/.ollama`);
  for (const name of ['HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'TRANSFORMERS_CACHE']) {
    if (value(name) !== undefined && !(name.startsWith('T') && usesHub.has(program))) return absolute(value(name));
  }
  // Its image sets the folder: https://github.com/huggingface/text-embeddings-inference/blob/main/Dockerfile-cuda
  if (program === 'text-embeddings-router') return '/data';
  const home = value('HF_HOME');
  if (home !== undefined) return absolute(home);
  if (program === 'text-generation-launcher') return isGoogleTgi(container) ? '/tmp' : '/data';
  const ofImage = cacheOfImage(container);
  if (ofImage !== undefined) return ofImage;
  const cache = value('XDG_CACHE_HOME');
  if (cache !== undefined) return absolute(`${cache}/huggingface`);
  return absolute(`${user}/.cache/huggingface`);
}

/** Where published images with another user, or with a variable for it, keep the cache of the hub; undefined for the home of root. */
export function cacheOfImage({ image }: Pick<Container, 'image'>): string | undefined {
  const { repository, tag = '' } = imageParts(image?.value ?? '');
  if (localAi.test(repository)) {
    const [, major = '9', minor = '0'] = /^v?(\d+)\.(\d+)\./.exec(tag) ?? [];
    return Number(major) * 100 + Number(minor) < 301 ? '/build/models' : '/models';
  }
  return imageCaches.find(([name]) => repository === name || repository === `docker.io/${name}`)?.[1];
}

/** Its models moved in 3.1. https://github.com/mudler/LocalAI/pull/5721 */
const localAi = /^(?:docker\.io\/)?localai\/localai$|^quay\.io\/go-skynet\/local-ai$/;

/** Whether an image is Google's build of TGI since 2.1, which downloads to /tmp; TGI's own uses /data. */
function isGoogleTgi({ image }: Container): boolean {
  const [, major = '0', minor = '0'] = googleTgi.exec(image?.value ?? '') ?? [];
  return Number(major) * 100 + Number(minor) >= 201;
}

/** https://github.com/huggingface/Google-Cloud-Containers/blob/232ad711587f/containers/tgi/gpu/2.1.1/Dockerfile */
const googleTgi = /\bdeeplearning-platform-release\/.*\bhuggingface-text-generation-inference-cu\d+\.(\d+)-(\d+)\b/;

/** https://speaches.ai/installation/, https://github.com/michaelfeil/infinity/blob/8870ac7c8168/README.md */
const imageCaches: readonly (readonly [repository: string, cache: string])[] = [
  ['ghcr.io/speaches-ai/speaches', '/home/ubuntu/.cache/huggingface'],
  ['michaelf34/infinity', '/app/.cache'],
];

/**
 * Servers that leave downloads to huggingface_hub, which does not read the variable of Transformers.
 * https://github.com/vllm-project/vllm/blob/main/vllm/model_executor/model_loader/weight_utils.py
 */
const usesHub = wordSet('vllm sglang text-generation-launcher text-embeddings-router');

function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') === true && !path.includes('$') ? path : undefined;
}

function withoutSlash(path: string): string {
  return path.replace(/(?<!\/)\/+$/, '');
}

/** Whether a path is a directory or below it. The root is not a directory of its own. */
export function isBelow(path: string, directory: string): boolean {
  const plain = withoutSlash(directory);
  return plain !== '' && (path === plain || path.startsWith(`${plain}/`));
}

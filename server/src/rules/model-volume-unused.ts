import { imageParts } from '../catalog/images.ts';
import { formatGiB } from '../cost/money.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { endingCache } from '../evidence/ending-cache.ts';
import {
  cacheOfImage,
  isForModels,
  mayStoreModels,
  modelDirectory,
  unmountedDownloads,
  unusedModelVolume,
} from '../evidence/model-volume.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { imageUser, otherUser, runsAsRoot } from '../evidence/root-images.ts';
import { type ModelLoader, modelLoader } from '../evidence/server-start.ts';
import { mayMountMore, volumeNamed } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { useOf } from '../model/process-input.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, getIn, isIncomplete, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A volume for models is mounted, but the server downloads its model to another directory, or no volume outlives its pod.
 *
 * ## Why
 *
 * Hugging Face's libraries, vLLM, TGI and Ollama each have their own directory for downloads, which variables and flags move. If the volume is
 * mounted somewhere else, it stays empty: each new pod downloads the weights again, while its GPUs wait and are paid for.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=Qwen/Qwen2.5-7B-Instruct"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: models
 *           mountPath: /models
 *   volumes:
 *     - name: models
 *       persistentVolumeClaim:
 *         claimName: models
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=Qwen/Qwen2.5-7B-Instruct"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: models
 *           mountPath: /root/.cache/huggingface
 *   volumes:
 *     - name: models
 *       persistentVolumeClaim:
 *         claimName: models
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: what the volume already holds may be meant for another path.
 *
 * ## When it is silent
 *
 * For models that are paths; if a command, a variable, a script or another container uses the volume; for volumes that end with the pod or whose
 * name and path indicate another purpose; for several such volumes; if the container runs as another user than root, except for volumes below /root; and
 * for shell commands. A cache below /root in an image of another user (Ray, Jupyter) is information, and so is Ollama without any volume, in Deployments
 * and StatefulSets. The severity is info if the size of the model is unknown, and for volumes below /.cache, which is a home on OpenShift.
 *
 * The cache of a server in an emptyDir or in the container is information, once per file, in Deployments and StatefulSets: if the model has 5 GiB or
 * more (or, in an emptyDir, an unknown size), its image is published by its maker (or the cache is an emptyDir), no mirror, proxy or other container with volumes may bring it, and the project has
 * no kustomizations. The same holds for a NIM, and for the emptyDir of a server of one's own that has the name of one for models, or that a
 * variable of Hugging Face's libraries names.
 *
 * ## Sources
 *
 * - [Hugging Face: environment variables](https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables)
 * - [Ollama: where models are stored](https://docs.ollama.com/faq#where-are-models-stored)
 */
export default defineRule({
  topic: 'cost',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload, options, document, report, crossReferences } = context;
    if (mayBeCompleted(workload) || !isPlain(container)) return;
    const { program, confidence } = useOf(container);
    const hasGpu = requestsAccelerators(container);
    if (hasGpu) checkImageHome(container, podSet, report);
    if (hasGpu && (program === null || confidence !== 'certain')) checkOwn(container, context);
    // Ollama is a GPU's program also where its request is missing.
    if (program === null || !(hasGpu || program === 'ollama')) return;
    if (program === 'nim' && checkNim(container, context)) return;
    if (runsAsOther(container, podSet)) {
      checkHome(container, podSet, report);
      return;
    }
    if (program === 'ollama' && hasGpu && keepsNothing(container, workload) && !crossReferences.mayBePatch()) {
      report({
        severity: 'info',
        message:
          'Ollama stores its models in the container, without a volume: each restart downloads them again while the GPU waits',
        span: spanOf(container.image?.at ?? container.at),
      });
      return;
    }
    const loader = modelLoader(container, podSet, workload, options);
    const isOther = program === 'text-embeddings-router' || program === 'llama-server';
    const model = isOther ? servedModel(container, workload).model?.name : loader?.model;
    const isName = model !== undefined && /^[\w.-]+\/[\w.-]+(?::[\w.-]+)?$/.test(model) && !/^\.|\.gguf$/i.test(model);
    if (loader !== undefined && checkLostCache(loader, container, context)) return;
    const isOwnCache = cacheOfImage(container) !== undefined;
    if (program !== 'ollama' && !isName && !isOwnCache) return;
    const found = unusedModelVolume(container, podSet, program);
    const at = getIn(found?.mount.at, 'mountPath');
    if (found === undefined || at === undefined || isTemplated(at)) return;
    const { path, mount } = found;
    // The name is also a path, which a server looks up first: in its working directory, or below the root.
    const folder = model?.split('/', 1)[0] ?? '';
    const start = asText(getIn(container.at, 'workingDir'));
    if (folder !== '' && (mount.mountPath.endsWith(`/${folder}`) || start?.startsWith(mount.mountPath) === true))
      return;
    // A custom image may have another user, whose home this is.
    if (/\/\.cache(?:\/|$)/.test(mount.mountPath) && !isOwnCache && !isPublishers(container)) return;
    const gib = loader?.weightsGiB;
    const what = model === undefined ? 'its models' : shorten(model.slice(model.indexOf('/') + 1), 40);
    const size = gib === undefined ? '' : ` (${formatGiB(gib)} GiB)`;
    const isUnknown = gib === undefined && program !== 'ollama' && !isOther && !isOwnCache;
    const endsWithPod = /^(?:emptyDir|ephemeral)$/.test(volumeNamed(podSet, mount.name)?.source ?? '');
    const again = endsWithPod ? 'each restart' : 'each new pod';
    report({
      // OpenShift runs images as a user whose home is the root of the file system.
      severity: isUnknown || mount.mountPath.startsWith('/.cache') ? 'info' : 'warning',
      message: `The server downloads ${what}${size} to ${shorten(path, 40)}, not to volume ${shorten(mount.name, 30)}: ${again} downloads ${model === undefined ? 'them' : 'it'} again${hasGpu ? ' while its GPUs wait' : ''}`,
      span: spanOf(at),
      fixes: () => [fix(`Mount ${shorten(mount.name, 30)} at ${path}`, 'unsafe', replaceScalar(document, at, path))],
    });
  },
});

/** Reports a server that downloads a large model again in each new pod: its cache is an emptyDir, or in the container. */
function checkLostCache(loader: ModelLoader, container: Container, context: PodSetContext): boolean {
  const { podSet, report } = context;
  const { model = '', program, weightsGiB } = loader;
  if (program === 'nim' || !mayLoseCache(container, context)) return false;
  if ((weightsGiB ?? largeGiB) < largeGiB || !/^[\w.-]+\/[\w.-]+$/.test(model)) return false;
  const directory = modelDirectory(container, podSet, program);
  const what = `${shorten(model.slice(model.indexOf('/') + 1), 40)}${weightsGiB === undefined ? '' : ` (${formatGiB(weightsGiB)} GiB)`}`;
  if (endsWithPod(directory, what, report)) return true;
  // An own image may have the model.
  if (directory !== undefined || mayStoreModels(container, podSet) || !runsAsRoot(container)) return false;
  if (weightsGiB === undefined) return false;
  report({
    severity: 'info',
    message: `No volume keeps ${what}: each restart downloads it again while its GPUs wait`,
    span: keySpanOf(getIn(container.at, 'volumeMounts') ?? getIn(container.at, 'image') ?? container.at),
    oncePerFile: true,
  });
  return true;
}

/** Reports an emptyDir to which a server downloads its model. */
function endsWithPod(
  directory: ReturnType<typeof modelDirectory>,
  what: string,
  report: PodSetContext['report'],
): boolean {
  const emptyDir = getIn(directory?.volume?.at, 'emptyDir');
  if (directory === undefined || emptyDir === undefined) return false;
  report({
    severity: 'info',
    message: `Volume ${shorten(directory.mount.name, 30)} ends with its pod: each new pod downloads ${what} again while its GPUs wait; a claim keeps it`,
    span: keySpanOf(emptyDir),
    oncePerFile: true,
  });
  return true;
}

/** Whether nothing else than what is written may keep the files of a server that stays up. */
function mayLoseCache(container: Container, { podSet, workload, document, crossReferences }: PodSetContext): boolean {
  if (kindOf(workload).staysUp !== true || document.template || !isWholePod(podSet, workload)) return false;
  return !crossReferences.mayBePatch() && !isPrepared(container, podSet);
}

/**
 * Reports a NIM that stores its model in the container or in an emptyDir. Its cache does not depend on the user.
 * https://docs.nvidia.com/nim/large-language-models/latest/deploy-helm.html
 */
function checkNim(container: Container, context: PodSetContext): boolean {
  const { podSet, workload, options, report } = context;
  const { image, env } = container;
  // A private copy may have its model.
  if (!/^nvcr\.io\/nim\//.test(image?.value ?? '') || !mayLoseCache(container, context)) return false;
  // It reads a folder instead. https://docs.nvidia.com/nim/large-language-models/latest/ft-support.html
  if (env.some(({ name, value }) => readsFolder.test(name) && !/^[\w.-]+(?:\/[\w.-]+)?$/.test(value?.value ?? '')))
    return false;
  const loader = modelLoader(container, podSet, workload, options);
  // The weights of a NIM may be half as large as those of its model.
  if (loader?.model === undefined || (loader.weightsGiB ?? 0) < largeGiB / 2) return false;
  const directory = modelDirectory(container, podSet, 'nim');
  const path = unmountedDownloads(container, 'nim');
  const model = shorten(loader.model.slice(loader.model.indexOf('/') + 1), 40);
  if (endsWithPod(directory, model, report)) return true;
  if (directory !== undefined || path === undefined) return false;
  // A volume in a wrong place is said to be unused.
  if (unusedModelVolume(container, podSet, 'nim') !== undefined || container.modelStorage !== undefined) return false;
  report({
    severity: 'info',
    message: `No volume is mounted at ${shorten(path, 40)}: each restart downloads ${model} again while its GPUs wait`,
    span: keySpanOf(getIn(container.at, 'volumeMounts') ?? getIn(container.at, 'image') ?? container.at),
    oncePerFile: true,
  });
  return true;
}

const readsFolder = /^NIM_(?:MODEL_(?:NAME|PATH)|FT_MODEL)$/;

const largeGiB = 5;

/** Reports the models of a program of one's own that end with its pod. */
function checkOwn(container: Container, context: PodSetContext): void {
  const { podSet, workload, options, report } = context;
  if (workload.role !== 'serving' || !mayLoseCache(container, context)) return;
  if (modelLoader(container, podSet, workload, options) !== undefined) return;
  const cache = endingCache(container, podSet, largeGiB);
  if (cache === undefined) return;
  report({
    severity: 'info',
    message: `Volume ${shorten(cache.name, 30)} ends with its pod: each new pod fetches its models again while its GPUs wait; a claim keeps them`,
    span: keySpanOf(cache.at),
    oncePerFile: true,
  });
}

/** Whether another container, or a cache or a mirror near the pods, may bring the model. */
function isPrepared(container: Container, { containers }: PodSet): boolean {
  const others = containers.filter((one) => one !== container && one.volumeMounts.length > 0);
  return others.length > 0 || container.env.some(({ name }) => /HF_ENDPOINT|OFFLINE|MODELSCOPE|PROXY/i.test(name));
}

/** Whether a server of Ollama's own image, which has no models, runs without any volume. */
function keepsNothing(container: Container, workload: Workload): boolean {
  const { image, volumeMounts, modelStorage } = container;
  const isOwn = /(?:^|\/)ollama\/ollama$/.test(imageParts(image?.value ?? '').repository);
  const isBare = volumeMounts.length === 0 && modelStorage === undefined && !mayMountMore(container);
  return isOwn && isBare && kindOf(workload).staysUp === true && !workload.partial;
}

/** Whether the image is a server's own, which runs as root. */
function isPublishers({ image }: Container): boolean {
  const { repository } = imageParts(image?.value ?? '');
  return /^(?:docker\.io\/)?(?:vllm|lmsysorg|ollama|rocm|lmcache)\/|^ghcr\.io\/(?:huggingface|ggml-org|ggerganov)\/|^nvcr\.io\/nim\//.test(
    repository,
  );
}

/** Reports a volume in the home of root, for which the server of another user does not look. Images may have opened that home. */
function checkHome(container: Container, podSet: PodSet, report: RuleContext['report']): void {
  const user = runsAsRoot(container) ? otherUser(container, podSet) : undefined;
  const mount = container.volumeMounts.find(
    ({ name, mountPath }) =>
      /^\/root\/\.(?:cache|ollama)(?:\/|$)/.test(mountPath) &&
      isForModels({ name, mountPath }) &&
      volumeNamed(podSet, name)?.source !== 'emptyDir',
  );
  const at = getIn(mount?.at, 'mountPath');
  if ([...container.command, ...container.args].some(({ value }) => value.includes('/root'))) return;
  if (user === undefined || mount === undefined || at === undefined || isTemplated(at)) return;
  report({
    message: `The home of user ${user} is not /root: the server does not look for its models in volume ${shorten(mount.name, 30)}`,
    span: spanOf(at),
  });
}

/** Reports a cache in the home of root in an image of another user, who may not even enter that home. */
function checkImageHome(container: Container, podSet: PodSet, report: RuleContext['report']): void {
  const { command, args, env, volumeMounts } = container;
  const owner = imageUser(container, podSet);
  if (owner === undefined) return;
  const mount = volumeMounts.find(({ mountPath }) => /^\/root\/\.cache(?:\/|$)/.test(mountPath));
  const at = getIn(mount?.at, 'mountPath');
  const texts = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])];
  if (mount === undefined || at === undefined || isTemplated(at) || texts.some(({ value }) => value.includes('/root')))
    return;
  report({
    severity: 'info',
    message: `The image runs as ${owner.user}, whose home is ${owner.home}: its programs do not use volume ${shorten(mount.name, 30)} in /root/.cache`,
    span: spanOf(at),
  });
}

/** A shell may move or link directories. */
function isPlain({ at, command, args, env, type }: Container): boolean {
  if (type !== 'app' || isIncomplete(at) || getIn(at, 'envFrom') !== undefined) return false;
  if (command.some(({ value }) => /^-\w*c$/.test(value))) return false;
  const isOpen = env.some(({ value }) => value !== undefined && isTemplated(value.at));
  return !isOpen && ![...command, ...args].some((line) => isTemplated(line.at));
}

/** Another user has another home. */
function runsAsOther({ at, env }: Container, { pod }: PodSet): boolean {
  if (env.some(({ name }) => /^(?:HOME|OLLAMA_MODELS|HF_HOME|\w+_CACHE|XDG_CACHE_HOME)$/.test(name))) return false;
  return [getIn(at, 'securityContext'), getIn(pod, 'securityContext')].some(
    (context) =>
      asText(getIn(context, 'runAsNonRoot')) === 'true' ||
      !['0', undefined].includes(asText(getIn(context, 'runAsUser'))),
  );
}

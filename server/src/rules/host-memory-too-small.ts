import { imageParts } from '../catalog/images.ts';
import { oneOf, partOf, wordSet } from '../catalog/word-patterns.ts';
import { programWords } from '../command/programs.ts';
import { doesNothing } from '../command/waiting.ts';
import { formatGiB, plural } from '../cost/money.ts';
import { cpuStepOf } from '../evidence/cpu-steps.ts';
import { isDemo } from '../evidence/demo-image.ts';
import { hostCacheGiB, largestMemory, lmcacheSize } from '../evidence/host-cache.ts';
import { seesDevicesOfNode } from '../evidence/other-devices.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { modelsOfOllama } from '../evidence/stored-models.ts';
import { isTrial, volumeNamed } from '../evidence/volume-lifetime.ts';
import { weightsSize } from '../memory/weights.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { parametersStated } from '../model/model-params.ts';
import { commandsIn, processInput, useOf } from '../model/process-input.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { servedModel } from '../model/served-model.ts';
import { trainingRun } from '../model/training-run.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The memory limit of a container is too small to start its model server or its training.
 *
 * ## Why
 *
 * `memory` is the memory of the node, not of the GPU. A server with PyTorch and CUDA takes several GiB of it before it has loaded any weights,
 * and the weights pass through it. The kernel kills a process that exceeds the limit, so the server never becomes ready while it holds its GPU.
 * Training with such a limit is killed and restarted in the same way. At 1 GiB or less per GPU, any training is reported, because its framework
 * alone takes that much, and as information any server with PyTorch, and Ray's head. At 256 MiB or less, information is also given
 * for unknown programs with a GPU. A model server with 256 MiB or less, and vLLM or SGLang with 2 GiB or less, loads no model, with or without
 * a GPU. Weights that a server moves there (`--cpu-offload-gb`) count in full. The same applies to a memory-backed volume, such as /dev/shm,
 * whose `sizeLimit` is above the limit of its container: its data counts against the limit.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen2.5-14B-Instruct"]
 *       resources:
 *         limits:
 *           memory: 4Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen2.5-14B-Instruct"]
 *       resources:
 *         limits:
 *           memory: 32Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * With a limit of more than 4 GiB (for training: and of more than 1 GiB per GPU), and for models that are unknown or have fewer than about
 * 7 billion parameters, unless they are trained or served by PyTorch, by Ollama, in a notebook or by Ray, with 1 GiB or less per GPU. Tests and benchmarks need less.
 *
 * Ollama without a GPU reads the weights into the node's memory: a limit below those of the model that it pulls is reported.
 *
 * A KV cache in the node's memory (LMCache, `--kv-offloading-size`, `--swap-space` of releases before 0.8) must be smaller than the limit, or than the machine's memory. LMCache keeps its cache once for each GPU. A memory-backed volume that may grow beyond the memory limit is information.
 *
 * ## Sources
 *
 * - [Kubernetes: memory limits](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run)
 * - [Kubernetes: memory-backed emptyDir](https://kubernetes.io/docs/concepts/storage/volumes/#emptydir)
 * - [PyTorch: 1.3 GiB of host memory for a single layer on a GPU, 1.9 GiB after its first use](https://github.com/pytorch/pytorch/issues/12873)
 * - [vLLM: a container killed at its memory limit while it loads a model](https://github.com/vllm-project/vllm/issues/28923)
 */
export default defineRule({
  topic: 'memory-fit',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet, options, report } = context;
    if (container.type === 'init' || isExempt(workload)) return;
    checkMachine(container, context);
    const limit = getIn(container.resources, 'limits', 'memory');
    const bytes = limit && lowerQuantity(limit).value;
    if (limit === undefined || bytes === undefined || bytes === null || bytes <= 0) return;
    checkMemoryVolumes(container, limit, bytes, context);
    const offloaded = offloadedGiB(container, context);
    if (offloaded !== undefined && offloaded.gib * 2 ** 30 > bytes) {
      report({
        message: `${shorten(offloaded.name.slice(offloaded.name.lastIndexOf('/') + 1), 40)} keeps ${formatGiB(offloaded.gib)} GiB of its weights in the node's memory, but the limit is ${shorten(asText(limit) ?? '', 20)}: the kernel kills the server`,
        span: spanOf(limit),
      });
      return;
    }
    const cache = hostCacheGiB(container, servedModel(container, workload).model);
    if (cache !== undefined && cache.gib * 2 ** 30 >= bytes) {
      report({
        message: `${cache.setting} keeps ${cache.upFront ? '' : 'up to '}${formatGiB(cache.gib)} GiB of KV cache in the node's memory, but the limit is ${shorten(asText(limit) ?? '', 20)}: the kernel kills the server`,
        span: spanOf(limit),
      });
      return;
    }
    if (checkOwnNeeds(container, limit, bytes, context) || checkOllama(container, limit, bytes, context)) return;
    const trains = hasRole(workload, 'training');
    if (bytes > largestTooSmall && !(trains && bytes <= leastPerGpu * mostGpus)) return;
    const requests = knownRequests(container).filter(({ resource }) => /^(?:nvidia|amd)\.com\//.test(resource));
    if (requests.length === 0) return;
    const written = `A memory limit of ${shorten(asText(limit) ?? '', 20)}`;
    const name = trains ? trainedName(container, workload) : servedName(container, workload);
    const weights =
      name === undefined
        ? undefined
        : weightsSize(name, 2, parametersStated(workload.manifest, podSet, options, name))?.gib;
    if (bytes <= largestTooSmall && name !== undefined && weights !== undefined && weights >= largeGiB) {
      const what = trains ? 'the training' : 'the server';
      report({
        message: `${written} is too small for ${shorten(name.slice(name.lastIndexOf('/') + 1), 40)}: the kernel kills ${what} while it loads the model`,
        span: spanOf(limit),
      });
      return;
    }
    const [request] = requests;
    const gpus = request?.form === 'whole' ? Math.max(request.count ?? 1, 1) : 1;
    const user = trains ? undefined : (frameworkUser(container, workload) ?? ollamaOf(container, podSet));
    if (
      !trains &&
      user === undefined &&
      bytes <= leastOfProgram &&
      bytes >= leastWithUnit &&
      mayCompute(container, workload)
    ) {
      report({
        severity: 'info',
        message: `${written} is likely too small for a program on a GPU: its libraries take more of the node's memory before they load any data`,
        span: spanOf(limit),
      });
      return;
    }
    if ((trains ? isTrial(workload) : user === undefined) || bytes > leastPerGpu * gpus) return;
    const [what, next] = user === undefined ? ['to train', 'data'] : [`for ${user}`, 'model'];
    const takes =
      user === 'ollama'
        ? 'its processes with CUDA take about as much while they load a model'
        : `a framework with CUDA takes 1–2 GiB per GPU before it loads any ${next}`;
    report({
      ...(!trains && { severity: 'info' }),
      message: `${written} is likely too small ${what} on ${plural(gpus, 'GPU')}: ${takes}`,
      span: spanOf(limit),
    });
  },
});

/** Reports a cache that is larger than the memory of the machine that the pod selects. A limit, which is smaller, is reported instead. */
function checkMachine(container: Container, { workload, podSet, report }: PodSetContext): void {
  const written = container.env.find(({ name }) => name === lmcacheSize)?.value;
  if (written === undefined || getIn(container.resources, 'limits', 'memory') !== undefined) return;
  const cache = hostCacheGiB(container, servedModel(container, workload).model);
  const machine = largestMemory(podSet);
  if (cache === undefined || machine === undefined || cache.gib < machine.gib) return;
  report({
    message: `${cache.setting} keeps up to ${formatGiB(cache.gib)} GiB of KV cache in the node's memory, but ${shorten(machine.name, 30)} has ${formatGiB(machine.gib)} GiB: the server does not start`,
    span: spanOf(written.at),
  });
}

/** Reports a limit below what a program takes by itself, on GPUs or not: Ray's head, or a model server with any model. */
function checkOwnNeeds(container: Container, limit: Cursor, bytes: number, context: PodSetContext): boolean {
  const written = `A memory limit of ${shorten(asText(limit) ?? '', 20)}`;
  const isHead = bytes <= leastOfHead && isRayHead(container, context);
  const named = bytes >= leastWithUnit && bytes <= leastOfEngine ? serverOf(container) : undefined;
  const isEngine = engines.has(named ?? '');
  const server = isEngine || bytes <= leastOfServer ? named : undefined;
  if (!isHead && server === undefined) return false;
  context.report({
    ...(isHead && { severity: 'info' }),
    message: isHead
      ? `${written} is likely too small for Ray's head: its own processes take about 1 GiB, and without them the cluster is lost`
      : `${written} is too small for ${server}: the kernel kills it ${isEngine ? 'before' : 'as soon as'} it loads a model`,
    span: spanOf(limit),
  });
  return true;
}

/** Reports an Ollama on CPUs whose model is larger than its limit: it reads the weights into the memory of its node. */
function checkOllama(container: Container, limit: Cursor, bytes: number, context: PodSetContext): boolean {
  const { workload, podSet, report } = context;
  if (!startsOllama(container) || !isWholePod(podSet, workload)) return false;
  const mayHaveGpu =
    namesAccelerators(podSet) ||
    getIn(podSet.pod, 'runtimeClassName') !== undefined ||
    container.env.some(({ name }) => name.startsWith('NVIDIA_')) ||
    seesDevicesOfNode(podSet);
  const pulled = mayHaveGpu ? undefined : modelsOfOllama(container, podSet);
  if (pulled === undefined || pulled.more > 0 || bytes < leastWithUnit || pulled.gib * 2 ** 30 <= bytes) return false;
  report({
    message: `A memory limit of ${shorten(asText(limit) ?? '', 20)} is less than the ${formatGiB(pulled.gib)} GiB of weights of ${shorten(pulled.model, 24)}: on the CPU, ollama fails to load them or reads them again for each token`,
    span: spanOf(limit),
  });
  return true;
}

/** Whether the container is the head of a Ray cluster: of a kind with GPUs, or by `ray start --head`. */
function isRayHead(container: Container, { workload, podSet }: PodSetContext): boolean {
  const [ray] = podSet.containers.filter(({ type }) => type === 'app');
  if (podSet.name === 'head' && kindOf(workload).rayCluster !== undefined)
    return ray === container && namesAccelerators(workload) && !isTrial(workload);
  return commandsIn(container).some((command) =>
    /^ray start (?:.* )?--head(?:$| )/.test(programWords(command).join(' ')),
  );
}

/** The model server that the image of a container starts, or its only command; not a client or a download. */
function serverOf(container: Container): string | undefined {
  const { image, command, args } = container;
  const repository = image === undefined ? '' : imageParts(image.value).repository;
  if (!serverImages.test(repository) || commandsIn(container).length > 1) return undefined;
  const { program, use, confidence } = useOf(container);
  const isStarted = command.length === 0 && (args.length === 0 || /^(?:-|serve$)/.test(args[0]?.value ?? ''));
  return program !== null && use === 'serving' && (isStarted || confidence === 'certain')
    ? (program.split(' ')[0] ?? program)
    : undefined;
}

const serverImages = new RegExp(
  `(?:^|/)(?:${oneOf('ollama vllm-openai sglang lmdeploy localai koboldcpp llama[.]cpp text-generation-inference')})$`,
);

/** What a server moves from its GPUs to the node's memory (`--cpu-offload-gb`, for each GPU), at most its weights. */
function offloadedGiB(
  container: Container,
  { workload, podSet, options }: PodSetContext,
): { readonly name: string; readonly gib: number } | undefined {
  const served = servedModel(container, workload).model;
  const each = served?.offloadGiB ?? 0;
  if (served === null || served.open.length > 0 || each === 0) return undefined;
  const { name, tensor, pipeline, quantization } = served;
  const weights = weightsSize(name, 2, parametersStated(workload.manifest, podSet, options, name))?.gib;
  // A format of fewer bits makes the weights smaller.
  if (weights === undefined || quantization !== null) return undefined;
  return { name, gib: Math.min(each * (tensor ?? 1) * pipeline, weights) };
}

/** Reports a volume in memory that is larger than the limit of the container that writes to it. */
function checkMemoryVolumes(container: Container, limit: Cursor, bytes: number, { podSet, report }: PodSetContext) {
  if (knownRequests(container).length === 0) return;
  for (const { name } of container.volumeMounts) {
    const volume = getIn(volumeNamed(podSet, name)?.at, 'emptyDir');
    const size = getIn(volume, 'sizeLimit');
    if (size === undefined || isTemplated(size) || asText(getIn(volume, 'medium')) !== 'Memory') continue;
    // 4Gi and 4000Mi are the same to their author.
    if ((lowerQuantity(size).value ?? 0) <= bytes * 1.1) continue;
    report({
      severity: 'info',
      message: `Volume ${shorten(name, 20)} may take ${shorten(asText(size) ?? '', 12)} of memory, but the limit of its container is ${shorten(asText(limit) ?? '', 12)}: the kernel kills the container before the volume is full`,
      span: spanOf(size),
    });
  }
}

/** What computes with PyTorch or a framework like it: a server, a notebook, the tasks of Ray. */
function frameworkUser(container: Container, workload: Workload): string | undefined {
  const { program, confidence, use } = useOf(container);
  if (program !== null && pictureServers.has(program)) return program;
  if (program !== null && confidence === 'certain' && torchServers.has(program)) return program;
  if (use === 'interactive') return 'a notebook';
  return kindOf(workload).rayCluster !== undefined ? 'the tasks of Ray' : undefined;
}

/** Ollama as a server, unless all that it downloads is small. */
function ollamaOf(container: Container, podSet: PodSet): 'ollama' | undefined {
  const pulled = modelsOfOllama(container, podSet);
  const isSmall = pulled !== undefined && pulled.more === 0 && pulled.gib < 1;
  return !isSmall && startsOllama(container) ? 'ollama' : undefined;
}

/** Whether a container is a server of Ollama, rather than a client of one. */
function startsOllama(container: Container): boolean {
  const lines = [...container.command, ...container.args].map(({ value }) => value);
  const isServer = lines.length === 0 || lines.some((line) => /^serve$|\bollama serve\b/.test(line));
  return isServer && useOf(container).program === 'ollama';
}

const torchServers = wordSet('vllm sglang torchserve text-generation-launcher huggingfaceserver lmdeploy');
const pictureServers = wordSet('comfyui stable-diffusion-webui invokeai fooocus');

/** Whether a container may run a program that computes on its GPU, rather than an example, a check of the devices or a wait. */
function mayCompute(container: Container, workload: Workload): boolean {
  const { type, command, args, image } = container;
  if (type !== 'app' || image === undefined || isDemo(container) || doesNothing(processInput(container))) return false;
  const name = image.value.slice(image.value.lastIndexOf('/') + 1);
  const words = [workload.name ?? '', name, ...[...command, ...args].map(({ value }) => value)].join(' ');
  return !checks.test(words) && cpuStepOf(container) === undefined;
}

const checks = partOf(
  'test demo hello example sample check smi\\b rocminfo vector-?add',
  'burn bench sleep pause placeholder busybox',
);

function servedName(container: Container, workload: Workload): string | undefined {
  const served = servedModel(container, workload).model;
  return served?.open.length === 0 ? served.name : undefined;
}

function trainedName(container: Container, workload: Workload): string | undefined {
  const { run, unknown } = trainingRun(container, workload);
  return run?.name ?? (unknown !== null && 'known' in unknown ? unknown.known?.name : undefined);
}

/** Assumption: the processes of a server with PyTorch and CUDA take 4 GiB or more before the first weights are loaded. */
const largestTooSmall = 4 * 2 ** 30;

/** Models of about 7 billion parameters and more. */
const largeGiB = 12;

/** What the processes of an idle head take together: the GCS, the dashboard, the agents and the raylet. */
const leastOfHead = 2 ** 30;

/** Less than any chat model needs next to its weights: the server, its buffers and the KV cache. */
const leastOfServer = 2 ** 28;

/** What the processes of an engine take before any weights: the API and the engine, each with PyTorch, and the engine with CUDA. */
const leastOfEngine = 2 ** 31;

const engines = wordSet('vllm sglang');

/** Smaller amounts lack their unit, which another rule reports. */
const leastWithUnit = 2 ** 24;

/** Less than CUDA or ROCm take with the libraries of any framework. It is also the default of many editors' snippets: 128Mi. */
const leastOfProgram = 2 ** 28;

/** What PyTorch takes with CUDA, per process, before its data; there is usually one process per GPU. */
const leastPerGpu = 2 ** 30;

/** Nodes have no more GPUs than this. */
const mostGpus = 16;

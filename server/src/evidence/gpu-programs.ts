import { imageParts } from '../catalog/images.ts';
import { either, partOf } from '../catalog/word-patterns.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { useOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { addLimit } from '../rewrite/accelerator-limit.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { amdVariable } from './amd-use.ts';
import { isForAllPods } from './chart-pods.ts';

/** Servers whose usual builds do not run without an accelerator. Others (Triton, Ollama, llama.cpp) fall back to the CPU. */
const gpuOnly = new Set([
  'vllm',
  'sglang',
  'text-generation-launcher',
  'trtllm-serve',
  'lmdeploy',
  'aphrodite',
  'nim',
  'gpu-burn',
  'cuda-sample',
  // https://github.com/comfyanonymous/ComfyUI (without --cpu), https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Command-Line-Arguments-and-Settings
  'comfyui',
  'stable-diffusion-webui',
]);

/** Programs that list the GPUs of a container. */
const deviceTools = new Set(['nvidia-smi', 'rocm-smi', 'amd-smi', 'rocminfo']);

/** What an image is called whose name does not contain the program's. */
const products: ReadonlyMap<string, string> = new Map([
  ['text-generation-launcher', 'Text Generation Inference'],
  ['trtllm-serve', 'TensorRT-LLM'],
  ['vllm', 'vLLM'],
  ['sglang', 'SGLang'],
  ['lmdeploy', 'LMDeploy'],
  ['aphrodite', 'Aphrodite'],
  ['nim', 'NIM'],
  ['comfyui', 'ComfyUI'],
  ['stable-diffusion-webui', 'Stable Diffusion web UI'],
]);

/** Programs that are started by another name. */
const scriptOf: ReadonlyMap<string, RegExp> = new Map([
  ['comfyui', /main\.py/],
  ['stable-diffusion-webui', /launch\.py|webui\./],
]);

/** The program of a container that certainly needs an accelerator, and the place that names it. */
export function gpuProgram(container: Container): { readonly name: string; readonly at: Cursor } | undefined {
  const { program } = useOf(container);
  const image = container.image?.value ?? '';
  const words = [...container.command, ...container.args];
  for (const { value, at } of words) {
    const name = value.slice(value.lastIndexOf('/') + 1);
    if (deviceTools.has(name) && !/\s/.test(value)) return { name, at };
  }
  if (program === null || !gpuOnly.has(program) || isForCpus(container)) return undefined;
  // A placeholder that a kustomization replaces, which may also add the requests.
  if (container.image !== undefined && !/[/:@]/.test(image)) return undefined;
  // A build for another purpose (a router, a benchmark client, a simulator) may contain the server's name.
  if (otherPurpose.test(image)) return undefined;
  const started = words.find(({ value }) => value.includes(program) || (scriptOf.get(program)?.test(value) ?? false));
  const at = started?.at ?? container.image?.at;
  const name = started === undefined || scriptOf.has(program) ? (products.get(program) ?? program) : program;
  return at && { name: shorten(name, 40), at };
}

const otherPurpose = partOf(
  'router proxy operator controller lmcache-server',
  'simulat sim(?:[-:]|$) mock fake client bench',
  'front-?end bot(?:[-:]|$)',
);

/** The resource that the container's image is built for; undefined if that is not certain, or if the image moves. */
function resourceNameFor(container: Container): string | undefined {
  const name = container.image?.value.slice(0, 500) ?? '';
  if (!/@sha256:|:v?\d[\w.-]*$|:[\w.-]+[-_v]\d[\w.-]*$/.test(name) || /:(?:latest|nightly|main|master|dev)/.test(name))
    return undefined;
  const words = [...container.command, ...container.args];
  const listsAmd = words.some(({ value }) => /^(?:\S*\/)?(?:rocm-smi|amd-smi|rocminfo)$/.test(value));
  if (listsAmd || amdVariable(container) !== undefined || /rocm|amd(?!64)/i.test(name)) return 'amd.com/gpu';
  return /tpu|neuron|gaudi|hpu|habana|xpu|ascend|npu/i.test(name) ? undefined : 'nvidia.com/gpu';
}

/** Publishers whose plain tag is for CUDA, by the end of the repository. */
const plainCuda: ReadonlySet<string> = new Set([
  'vllm/vllm-openai',
  'lmsysorg/sglang',
  'huggingface/text-generation-inference',
]);
const otherBuild = partOf(
  'rocm hip mi[23]\\d gfx amd',
  'cpu arm intel [xnht]pu gaudi neuron',
  'ascend cann musa vulkan',
);

/** Whether an image is its publisher's build for CUDA, by a tag that names no other. A digest without a tag may be any build. */
export function isPlainCudaBuild(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  const isPlain = (tag !== '' || !image.includes('@')) && !otherBuild.test(tag);
  return isPlain && plainCuda.has(repository.split('/').slice(-2).join('/'));
}

/** A flag that needs a GPU, with what follows without a request: ends before "another pod's GPU". */
export interface GpuFlag {
  readonly text: string;
  readonly span: Span;
  readonly effect: string;
  /** The container may be meant to do without, so no fix is offered. */
  readonly isChoice?: boolean;
}

/** The number of layers that a server's command line moves to a GPU: `--n-gpu-layers 40`. */
export function offloadedLayers(container: Container): GpuFlag | undefined {
  if (isForCpus(container)) return undefined;
  const words = [...container.command, ...container.args];
  // The layers go to the servers that it names.
  if (words.some(({ value }) => /^--rpc\b/.test(value))) return undefined;
  for (const [index, { value, at }] of words.entries()) {
    const [, flag = '', own] = /^(--?[a-z-]{3,20})(?:=(.*))?$/.exec(value) ?? [];
    const count = own ?? words[index + 1]?.value ?? '';
    const name = { name: flag.replace(/^-+/, ''), written: flag.replace(/^-+/, '') };
    if (flag !== '' && /^[1-9]\d*$/.test(count) && meaningOf(name, 'gpu-layers', 'llama-server') !== undefined)
      return {
        text: `${flag} ${count}`,
        span: spanOf(at),
        effect: 'moves layers to a GPU, but the container requests none: the server runs on the CPU, or on',
      };
  }
  return undefined;
}

/** Builds and settings that run on CPUs, or on devices that are not requested by name. */
export function isForCpus({ image, env, command, args }: Container): boolean {
  if (/(?:^|[^a-z])(?:cpu|arm64|macos|xeon|no-?gpu)(?:[^a-z]|$)/i.test(image?.value ?? '')) return true;
  const words = [...command, ...args].map(({ value }) => value).join(' ');
  if (cpuSetting.test(words)) return true;
  return env.some(
    ({ name, value }) =>
      /_CPU_|CPU_ONLY/.test(name) ||
      // Images of ComfyUI and of the web UI have their flags in a variable.
      (/ARGS/.test(name) && (value === undefined || cpuSetting.test(value.value))) ||
      (/DEVICE/.test(name) && /^(?:cpu|openvino|none)?$/i.test(value?.value ?? '')),
  );
}

const cpuSetting = either(
  /--(?:device|target[-_]device)[= ]+["']?(?:cpu|openvino)\b/,
  /\bCPU\b|_CPU_/,
  /--(?:use-)?cpu\b|--directml\b|--skip-torch-cuda-test\b/,
  /disable-custom-kernels.{0,500}--dtype/,
);

/** The image of a server whose settings are for CPUs, although its publisher builds it for CUDA: other images have the build for CPUs. */
export function cudaBuildOnCpu(container: Container): Cursor | undefined {
  const { image, env, command, args } = container;
  if (image === undefined || useOf(container).program !== 'vllm' || !isPlainCudaBuild(image.value)) return undefined;
  const words = [...command, ...args].map(({ value }) => value).join(' ');
  // The container may install another build, or run no server.
  if (!/\bvllm\b|^\s*(?:--|$)/.test(words) || /\b(?:install|sync|make|build)\b/.test(words)) return undefined;
  const isSet = env.some(
    ({ name, value }) => name.startsWith('VLLM_CPU_') || (name === 'VLLM_TARGET_DEVICE' && value?.value === 'cpu'),
  );
  return isSet || /--device[= ]+["']?cpu\b/.test(words) ? image.at : undefined;
}

/** The image of a container whose name says that it is built for GPUs. */
export function gpuImage(container: Container): Cursor | undefined {
  const { image } = container;
  const name = image?.value ?? '';
  if (
    image === undefined ||
    isForCpus(container) ||
    !/(?:^|[^a-z])(?:cuda|cudnn|gpu|rocm)(?:[^a-z]|$)|cuda\d|cu1\d\d/i.test(name)
  )
    return undefined;
  return isTool(container) ? undefined : image.at;
}

/** Whether an image is called after a program that serves its node or other pods. */
export function isTool({ image }: Container): boolean {
  return tools.test(image?.value.toLowerCase() ?? '');
}

const tools = either(
  /driver|plugin|discovery|toolkit|validator/,
  /operator|controller|manager|scheduler/,
  /exporter|dcgm|monitor|agent|proxy/,
);

/** The runtime class of a pod that gives its containers NVIDIA's GPUs, unless a chart gives it to all its pods. */
export function nvidiaRuntime(pod: Cursor, workload: Workload): Cursor | undefined {
  const runtime = getIn(pod, 'runtimeClassName');
  if (runtime === undefined || isForAllPods(runtime, workload)) return undefined;
  return /^nvidia(?:-|$)/.test(asText(runtime) ?? '') ? runtime : undefined;
}

/** Whether a container of a pod without requests uses GPUs all the same: its program needs one, or NVIDIA's runtime is there for it alone. */
export function usesUnrequestedGpu(container: Container, { pod, containers }: PodSet, workload: Workload): boolean {
  const isDefinition = workload.role === 'definition' && !isValues(workload);
  // Other values may request it. Next to pods with devices, one without runs another program of the same image.
  if ((workload.partial && workload.wholeResources !== true) || namesAccelerators(workload)) return false;
  if (container.type !== 'app' || isDefinition) return false;
  if (gpuProgram(container) !== undefined) return true;
  const isAlone = containers.filter(({ type }) => type === 'app').length === 1;
  return isAlone && !isTool(container) && nvidiaRuntime(pod, workload) !== undefined;
}

/** Whether pods without replicas are for a server that never starts without a GPU, whatever scales them up. */
export function isParked({ containers }: PodSet): boolean {
  return containers.some(
    (one) => one.type === 'app' && isPlainCudaBuild(one.image?.value ?? '') && gpuProgram(one) !== undefined,
  );
}

/** A toleration of nodes with GPUs only, by the keys that their taints have. */
export function toleratesGpuNodes({ tolerations }: PodSet): boolean {
  return tolerations.some(({ key }) => /^(?:(?:nvidia|amd)\.com\/gpu|gpu|nvidia-gpu|sku)$/i.test(key?.value ?? ''));
}

/** An option that gives GPUs to a container of Docker, among the arguments of an image. A program in the command may have it itself. */
export function dockerGpus({ command, args }: Container): { readonly text: string; readonly span: Span } | undefined {
  if (command.length > 0 || args[0]?.value.startsWith('-') !== true) return undefined;
  for (const [index, { value, at }] of args.entries()) {
    const next = args[index + 1]?.value;
    const text = value === '--gpus' || value === '--runtime' ? `${value} ${next ?? ''}` : value;
    if (/^--(?:gpus[ =]["']?all["']?|runtime[ =]nvidia)$/.test(text)) return { text, span: spanOf(at) };
  }
  return undefined;
}

/** NVIDIA's own image of CUDA: it has no program, so what runs in it is added for a GPU. */
export function isCudaItself({ image }: Container): boolean {
  return /(?:^|\/)nvidia\/cuda(?:gl)?$/.test(imageParts(image?.value ?? '').repository);
}

/** Whether pods of the kind keep running: builds end. */
export function staysUp({ apiVersion, kind }: Workload): boolean {
  return likeKind(groupOf(apiVersion), kind)?.staysUp === true;
}

/** A request for one device of the resource that the container's image is built for. */
export function requestOne(container: Container, document: YamlDocument): Fix | undefined {
  const resource = resourceNameFor(container);
  return resource === undefined
    ? undefined
    : fix(`Request 1 ${resource}`, 'unsafe', addLimit(container, resource, document));
}

/** A container in a message: of several in its pod, by its name. */
export function nounOf(container: Container | undefined, { containers }: PodSet, noun = 'container'): string {
  const isOnly = containers.filter(({ type }) => type !== 'init').length < 2;
  if (container !== undefined && !isOnly && container.name !== '') return `${noun} ${shorten(container.name, 12)}`;
  return noun === 'container' ? 'the container' : 'The container';
}

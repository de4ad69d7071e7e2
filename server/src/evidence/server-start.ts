import { modelServers, readModelServer } from '../command/model-server.ts';
import { leastWeightsGiB, weightsSize } from '../memory/weights.ts';
import { downloadedModel } from '../model/downloaded-model.ts';
import { parametersStated } from '../model/model-params.ts';
import type { ModelOptions } from '../model/options.ts';
import { processInput, useOf } from '../model/process-input.ts';
import { imageModel } from '../model/served-model.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { mayStoreModels, modelDirectory } from './model-volume.ts';
import { plainWeights } from './unreadable-form.ts';

/** A server of language models, and the model that it loads. */
export interface ModelLoader {
  readonly program: string;
  /** As written; undefined if it is not on the command line. */
  readonly model: string | undefined;
  /** When it is downloaded, if it is large enough to matter; undefined: perhaps never. */
  readonly downloads: Download | undefined;
  /** The same for a model of 2 to 4 GiB, whose download only a tight budget does not allow. */
  readonly brief: Download | undefined;
  /** Undefined if unknown. */
  readonly weightsGiB: number | undefined;
  /** Whether the model has so few parameters that its server starts in half the time; fewer bits per weight do not make the start shorter. */
  readonly startsSoon: boolean;
}

/**
 * `each`: by every container, or every pod. `first`: the directory for downloads is on a volume that outlives the pod, so only the first pod
 * downloads the model, unless something else has stored it there.
 */
export type Download = 'each' | 'first';

/** Servers of language models that load all weights before they answer, besides those whose flags are known. */
const otherServers = new Set(['text-generation-server', 'trtllm-serve', 'lmdeploy', 'aphrodite', 'mindie', 'nim']);

/** The model server that a container runs; undefined for other programs. */
export function modelLoader(
  container: Container,
  podSet: PodSet,
  { manifest }: Workload,
  options: ModelOptions,
): ModelLoader | undefined {
  if (container.type !== 'app') return undefined;
  const { use, program } = useOf(container);
  if (isLlmTriton(container))
    return {
      program: 'tritonserver',
      model: undefined,
      downloads: undefined,
      brief: undefined,
      weightsGiB: undefined,
      startsSoon: false,
    };
  if (use !== 'serving' || program === null) return undefined;
  if (!modelServers.has(program) && !otherServers.has(program)) return undefined;
  const server = readModelServer(processInput(container), program);
  const isNim = program === 'nim';
  const written = isNim ? imageModel(container) : server?.model;
  const model = (written && downloadedModel(written, container, podSet)) ?? written;
  const stated = parametersStated(manifest, podSet, options, model);
  const [size, asFloats] = ([server?.bytes ?? 2, 4] as const).map((bytes) =>
    model === undefined && stated === undefined ? undefined : weightsSize(model ?? '', bytes, stated),
  );
  // With a format of fewer bits, the files may be smaller, unless their own format is known; NIM chooses FP8 on GPUs that support it.
  const isOpen = server?.bytes === null && size?.gib !== asFloats?.gib && !hasPlainWeights(model ?? '', container);
  const isUnknown = size === undefined || isOpen;
  const weightsGiB = isUnknown ? undefined : isNim ? size.gib / 2 : size.gib;
  const isLarge = (weightsGiB ?? 0) >= smallGiB;
  const found =
    model !== undefined && (weightsGiB ?? 0) >= 2 ? downloadOf(container, podSet, written ?? '', program) : undefined;
  const in4Bits = stated === undefined ? leastWeightsGiB(model ?? '') : undefined;
  const in16Bits = in4Bits === undefined ? weightsGiB : in4Bits * 4;
  return {
    program,
    model,
    downloads: isLarge ? found : undefined,
    brief: isLarge ? undefined : found,
    weightsGiB,
    startsSoon: weightsGiB !== undefined && (in16Bits ?? 0) < smallGiB,
  };
}

/** Whether the files of a model are those of its publisher, in 16 bits: a server that makes them smaller reads them first. */
function hasPlainWeights(model: string, { command, args }: Container): boolean {
  if ([...command, ...args].some(({ value }) => storedFormat.test(value))) return false;
  const [organization = '', name, ...more] = model.split('/');
  return name !== undefined && more.length === 0 && plainWeights.has(organization.toLowerCase());
}

/** A format that no server makes itself: it looks for files that have it, and ends without them. */
const storedFormat = /(?:^|[= ])(?:awq|gptq|marlin|gguf|compressed-tensors|modelopt)/i;

/**
 * Whether a container serves a language model with Triton, by its probe or port and its backend. Triton loads all models of the repository before
 * it answers. https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md
 */
function isLlmTriton({ at, image, command, args, env }: Container): boolean {
  const words = [...command, ...args];
  const isProbed = (probe: string) => asText(getIn(at, probe, 'httpGet', 'path'))?.startsWith('/v2/health/') === true;
  const isStarted = words.some(({ value }) => value.includes('tritonserver'));
  if (!isStarted && !isProbed('livenessProbe') && !isProbed('readinessProbe')) return false;
  const texts = [...words, ...env.flatMap(({ value }) => value ?? []), ...(image ? [image] : [])];
  // In its explicit mode, it answers without models.
  if (texts.some(({ value }) => /model-control-mode[= ]?(?:explicit|poll)/.test(value))) return false;
  return texts.some(({ value }) => /trt-?llm|tensorrt[-_]?llm|(?:^|[-_/])vllm/i.test(value));
}

/**
 * The least time in seconds from the start of a model server to its first answer. Starting Python, creating the CUDA context, compiling and
 * capturing graphs take about a minute with any model of several billion parameters; the weights are then read at no more than 1 GiB/s, from
 * disk or from the network. Assumptions: measured starts are longer (kserve/kserve#5062, llm-d/llm-d-benchmark#83).
 */
export function leastStartSeconds({ weightsGiB, downloads, startsSoon }: ModelLoader): number {
  const start = startsSoon ? 30 : 60;
  const gib = Math.min(weightsGiB ?? 0, ofOneHostGiB);
  return start + Math.floor(gib) + (downloads !== undefined ? Math.floor(downloadSeconds(gib)) : 0);
}

/**
 * huggingface_hub downloads up to 8 files at a time, and models are published in files of up to 5 GB. Assumption: 50 MiB/s for each file.
 * https://huggingface.co/docs/huggingface_hub/package_reference/file_download
 */
function downloadSeconds(gib: number): number {
  const files = Math.min(8, Math.max(1, Math.ceil((gib * 2 ** 30) / 5e9)));
  return (gib * 1024) / (files * 50);
}

/** When a server downloads its model from the Hub. Nothing else must be able to store the model for it. */
export function downloadOf(container: Container, podSet: PodSet, model: string, program: string): Download | undefined {
  const local = /HF_HUB_ENABLE_HF_TRANSFER|HF_XET_HIGH_PERFORMANCE|HF_ENDPOINT|OFFLINE|MODELSCOPE/;
  const { env } = processInput(container);
  if (!/^[\w.-]+\/[\w.-]+$/.test(model) || container.modelStorage !== undefined) return undefined;
  if (env.some(({ name }) => local.test(name)) || mayHaveVariables(container)) return undefined;
  if (!mayStoreModels(container, podSet)) return 'each';
  const directory = modelDirectory(container, podSet, program);
  const shared = podSet.containers.some(
    (other) => other !== container && other.volumeMounts.some(({ name }) => name === directory?.mount.name),
  );
  if (directory === undefined || shared) return undefined;
  return directory.volume?.source === 'emptyDir' ? 'each' : 'first';
}

/** Several hosts share the weights of larger models, and have faster networks: only this much bounds the time. */
const ofOneHostGiB = 200;

/** Models of up to about 2 billion parameters. */
const smallGiB = 4;

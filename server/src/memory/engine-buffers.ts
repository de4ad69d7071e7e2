import { gpus, type ModelShape } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import type { ServedModel } from '../model/served-model.ts';

// What servers use besides weights and cache, on one device. docs/memory.md has each formula with its source, and the errors against published
// measurements. The numbers in `tuned` were read off test/memory/serving-measurements.jsonl.

/** The devices of a server's container, as far as they are known. */
export interface Hardware {
  /** The memory that a process sees on one of them. */
  readonly cardGiB: number | null;
  /** Their number. */
  readonly gpus: number | null;
  /** The catalog's id of their model. */
  readonly card?: string;
  /** The memory of the whole card, if the process reads that but shares it: a time slice has no size of its own. */
  readonly seenGiB?: number;
  /** The parameters of the served model, if an annotation states them. */
  readonly parameters?: number;
  /** A model without a known shape may be sized by the number of parameters in its name. */
  readonly bySizeInName?: true;
}

/** The settings that an engine uses if no flag sets them. */
export interface EngineDefaults {
  /** The part of a device that the engine reserves for everything except CUDA graphs; null: it takes what it needs. */
  readonly fraction: number | null;
  readonly sequences: number;
  readonly batchedTokens: number;
}

/** Numbers fitted to measurements. GiB, if nothing else is stated. */
export const tuned = {
  /** Bytes per sequence and entry of the vocabulary while tokens are sampled: vLLM before 0.17 and since. */
  samplingBefore: 38.4,
  sampling: 14.9,
  /** Widths of the hidden state that live at the same time in a forward pass, besides the feed-forward part. */
  hiddenCopies: 4.2,
  /** CUDA graphs: per engine process, and per layer. */
  graphs: 0.38,
  graphsPerLayer: 0.0167,
  graphsOfExperts: 0.45,
  graphsPerLayerBefore: 0.0075,
  /** Libraries and communication buffers beyond PyTorch: one device; several that share layers; several stages. */
  runtimeAlone: 0.25,
  runtimeAloneBefore: 0.13,
  runtimeTensor: 2.1,
  runtimeTensorBefore: 0.5,
  /** CUDA graphs of TGI, for batches of up to 32: an assumption. */
  graphsOfTgi: 0.3,
  /** The CUDA context of a process. */
  context: 0.45,
};

const latest = 21;

/** The minor version of vLLM; the newest if it is unknown. */
function vllmMinor({ version }: ServedModel): number {
  return version === null ? latest : version[0] > 0 ? latest : version[1];
}

/**
 * Whether CUDA graphs are a part of what the engine reserves: vLLM measures them before it sizes the cache since 0.21.
 * https://github.com/vllm-project/vllm/blob/main/vllm/v1/worker/gpu_worker.py, VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS
 */
export function reservesGraphs(served: ServedModel): boolean {
  return served.engine === 'vllm' && vllmMinor(served) >= 21;
}

/** The engine's settings on a device; an unknown one is taken as one with less than 70 GiB. */
export function defaultsOf(
  served: ServedModel,
  shape: ModelShape,
  { cardGiB, card, seenGiB = cardGiB ?? 24 }: Hardware,
): EngineDefaults {
  // vLLM excepts A100 by its name.
  const large = seenGiB >= 70 && card?.startsWith('a100') !== true;
  switch (served.engine) {
    case 'vllm':
    case 'nim': {
      const minor = vllmMinor(served);
      const fraction = minor >= 20 ? 0.92 : 0.9;
      if (minor >= 8 && !(minor < 10 && isOld(card)))
        return { fraction, sequences: large ? 1024 : 256, batchedTokens: large ? 8192 : 2048 };
      // Without chunked prefill, a step takes a whole request; long contexts turn it on.
      const context = served.context ?? shape.context;
      return { fraction, sequences: 256, batchedTokens: context > 32_768 ? 2048 : Math.max(context, 2048) };
    }
    case 'sglang':
      return {
        fraction: sglangFraction(served, seenGiB),
        sequences: 256,
        batchedTokens: sglangChunk(seenGiB),
      };
    case 'tgi':
      return { fraction: null, sequences: 128, batchedTokens: 4096 };
    case 'llama-cpp':
    case 'ollama':
      return { fraction: null, sequences: 1, batchedTokens: 512 };
    case 'embeddings':
      return { fraction: null, sequences: 32, batchedTokens: 16_384 };
    case 'transformers':
      // A prompt is one step.
      return { fraction: null, sequences: 1, batchedTokens: served.context ?? shape.context };
    default:
      return { fraction: null, sequences: 256, batchedTokens: 8192 };
  }
}

/** Cards before Ampere, on which vLLM 0.8 and 0.9 run their first engine. https://docs.vllm.ai/en/v0.8.5/serving/usage_v1_guide.html */
function isOld(card: string | undefined): boolean {
  const capability = gpus.get(card ?? '')?.computeCapability ?? null;
  return capability !== null && Number(capability) < 8;
}

/** https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/server_args.py */
function sglangChunk(cardGiB: number): number {
  return cardGiB < 35 ? 2048 : cardGiB < 60 ? 4096 : 8192;
}

/** What SGLang keeps free for activations, graphs and large groups; the rest is its static fraction. */
function sglangFraction({ tensor, pipeline }: ServedModel, cardGiB: number): number {
  const graphs = cardGiB < 20 ? 8 : cardGiB < 35 ? 24 : cardGiB < 60 ? 32 : 256;
  const mebibytes = 512 + sglangChunk(cardGiB) * 1.5 + graphs * 2 + ((tensor ?? 1) * pipeline * 1024) / 8;
  const kept = cardGiB > 60 ? Math.max(mebibytes, 10 * 1024) : mebibytes;
  return Math.max(0.5, Math.round(1000 * (1 - kept / 1024 / cardGiB)) / 1000);
}

/** What one device needs besides weights and cache. GiB. */
export interface EngineBuffers {
  readonly activationsGiB: number;
  readonly graphsGiB: number;
  /** Libraries and communication buffers. */
  readonly runtimeGiB: number;
}

const gibibyte = 2 ** 30;

/** The buffers of an engine on one device. */
export function buffersOf(
  served: ServedModel,
  shape: ModelShape,
  settings: {
    readonly sequences: number;
    readonly batchedTokens: number;
    readonly tensor: number;
    readonly quantizedExperts: boolean;
  },
): EngineBuffers {
  const { engine } = served;
  if (engine === 'llama-cpp' || engine === 'ollama') return ggmlBuffers(served, shape, settings.batchedTokens);
  const isLanguage = shape.kind === 'language' || shape.kind === 'vision' || shape.kind === 'speech';
  const forward = forwardBytes(shape, settings);
  const activations = isLanguage ? Math.max(forward, samplingBytes(served, shape, settings)) : forward;
  const eager = served.eager || !graphEngines.has(engine) || !isLanguage;
  const pictures = crossesPictures(served, shape) ? pictureBytes(shape, settings.sequences) : 0;
  return {
    activationsGiB: (activations + expertBytes(shape, settings) + pictures) / gibibyte,
    graphsGiB: eager ? 0 : graphsGiB(served, shape),
    runtimeGiB: runtimeGiB(served, settings.tensor),
  };
}

function graphsGiB(served: ServedModel, { layers, experts }: ModelShape): number {
  if (served.engine === 'tgi') return tuned.graphsOfTgi;
  const ofExperts = experts === null ? 0 : tuned.graphsOfExperts;
  const minor = vllmMinor(served);
  // vLLM 0.8 to 0.11 captures as many batch sizes as since 0.17; the versions between share their memory.
  const isSmall = served.engine === 'vllm' && (minor < 8 || (minor >= 12 && minor < 17));
  return ofExperts + (isSmall ? tuned.graphsPerLayerBefore * layers : tuned.graphs + tuned.graphsPerLayer * layers);
}

const graphEngines: ReadonlySet<Engine> = new Set(['vllm', 'nim', 'sglang', 'tgi', 'tensorrt-llm']);

/**
 * Whether a server computes the pictures of all its sequences in one step, and has places for them in the cache of all layers: the first engine of
 * vLLM, which ran Llama 3.2 Vision. https://github.com/vllm-project/vllm/blob/v0.8.5/vllm/model_executor/models/mllama.py
 */
export function crossesPictures({ engine, version }: ServedModel, { name }: ModelShape): boolean {
  const isFirst = engine === 'vllm' && version !== null && version[0] === 0 && version[1] < 11;
  return isFirst && /\/Llama-3\.2-\d+B-Vision/i.test(name);
}

/** Per sequence 6,404 places: the outputs of five layers, kept and joined to the last one, a feed-forward part of four widths, and the result. */
function pictureBytes({ hidden }: ModelShape, sequences: number): number {
  return sequences * 6404 * 2 * ((5 + 6 + 4) * 1280 + hidden);
}

/** The feed-forward part with its input and output, and the hidden states around it, in 16 bits. */
function forwardBytes(
  { feedForward, feedForwardMatrices, hidden, experts }: ModelShape,
  { batchedTokens, tensor }: { readonly batchedTokens: number; readonly tensor: number },
): number {
  const width = experts === null || experts.layers === 0 ? feedForward : experts.sharedWidth;
  return batchedTokens * 2 * ((feedForwardMatrices * width) / tensor + tuned.hiddenCopies * hidden);
}

/** Logits of all sequences in 32 bits with what sampling derives from them, and the hidden states of the last layer. */
function samplingBytes(
  served: ServedModel,
  { vocabulary, hidden, lastLogits }: ModelShape,
  { sequences, batchedTokens, tensor }: Omit<Parameters<typeof buffersOf>[2], 'quantizedExperts'>,
): number {
  const states = batchedTokens * hidden * 2;
  // Before 3, TGI warms up with the probabilities of all tokens of a prompt: logits and softmax, or the parts of all devices and their sum, in 16 bits.
  // https://huggingface.co/docs/text-generation-inference/en/conceptual/chunking
  if (served.engine === 'tgi' && served.version !== null && served.version[0] < 3)
    return states + batchedTokens * vocabulary * 2 * (tensor > 1 ? 2 + 1 / tensor : 2);
  // Before 4.45, logits of the whole prompt were computed, and converted to 32 bits. https://github.com/huggingface/transformers/pull/31292
  const isWhole = served.engine === 'transformers' && served.version !== null && isOlder(served.version, [4, 45]);
  if (isWhole && lastLogits !== true) return states + batchedTokens * vocabulary * 6;
  if (served.engine !== 'vllm' && served.engine !== 'nim') return states + sequences * vocabulary * 4;
  const minor = vllmMinor(served);
  // With chunked prefill, the first engine of vLLM did not profile sampling.
  if (minor < 8 && (served.context ?? Number.POSITIVE_INFINITY) > 32_768) return states;
  return states + sequences * vocabulary * (minor >= 17 ? tuned.sampling : tuned.samplingBefore);
}

function isOlder([major, minor]: readonly [number, number], [than, andThan]: readonly [number, number]): boolean {
  return major < than || (major === than && minor < andThan);
}

/** The workspace of grouped experts, which is kept: tokens × experts of a token × (the wider side, and the product). */
function expertBytes(
  { experts, hidden }: ModelShape,
  {
    batchedTokens,
    tensor,
    quantizedExperts,
  }: { readonly batchedTokens: number; readonly tensor: number; readonly quantizedExperts: boolean },
): number {
  if (experts === null || quantizedExperts) return 0;
  const width = experts.width / tensor;
  return batchedTokens * experts.active * 2 * (Math.max(2 * width, hidden) + width);
}

function runtimeGiB(served: ServedModel, tensor: number): number {
  if (served.engine === 'transformers') return 0;
  const isNew = (served.engine === 'vllm' || served.engine === 'nim') && vllmMinor(served) >= 17;
  if (tensor > 1) return isNew ? tuned.runtimeTensor : tuned.runtimeTensorBefore;
  return isNew ? tuned.runtimeAlone : tuned.runtimeAloneBefore;
}

/**
 * llama.cpp's compute buffer: logits of one batch in 32 bits, or the scores of attention if they are written out (without flash attention), and
 * the context of CUDA.
 */
function ggmlBuffers(
  served: ServedModel,
  { name, kind, vocabulary, heads, hidden, towerParameters }: ModelShape,
  batch: number,
): EngineBuffers {
  // Ollama's own engine computes the logits of one token per request.
  const outputs = kind === 'embedding' || runsOwnEngine(served, name) ? 0 : vocabulary;
  const logits = batch * (outputs + 2 * hidden) * 4;
  const writesScores = served.flash === null ? writesScoresByDefault(served, name, kind) : !served.flash;
  const context = served.context ?? 4096;
  const scores = writesScores ? batch * context * heads * 4 : 0;
  // The mask of attention, in 16 bits.
  const mask = kind === 'embedding' ? 0 : batch * context * 2;
  const reads = served.engine === 'ollama' && towerParameters > 0;
  const pictures = (reads && picturesGiB.find(([pattern]) => pattern.test(name))?.[1]) || 0;
  const activationsGiB = (Math.max(logits, scores) + mask) / gibibyte;
  return { activationsGiB, graphsGiB: 0, runtimeGiB: tuned.context + pictures };
}

/**
 * What Ollama reserves for the largest picture. Gemma 3: 4,096 patches squared × 16 heads × 4 bytes
 * (https://github.com/ollama/ollama/blob/main/fs/ggml/ggml.go, VisionGraphSize). Qwen3-VL and later: by the totals of its logs.
 */
const picturesGiB: readonly (readonly [RegExp, number])[] = [
  [/\/gemma-3-\d/i, 1],
  [/\/qwen3(?:-vl|\.5)/i, 4],
];

/**
 * llama.cpp uses flash attention by default, Ollama since 0.12 for these architectures only.
 * https://github.com/ollama/ollama/blob/main/fs/ggml/ggml.go, FlashAttention
 */
function writesScoresByDefault(served: ServedModel, name: string, kind: ModelShape['kind']): boolean {
  if (served.engine !== 'ollama') return kind === 'embedding';
  return kind === 'embedding' || !runsOwnEngine(served, name);
}

/** https://github.com/ollama/ollama/blob/main/runner/ollamarunner/runner.go, reserveWorstCaseGraph */
function runsOwnEngine(served: ServedModel, name: string): boolean {
  return served.engine === 'ollama' && !isBefore(served, 12) && flashByDefault.test(name);
}

const flashByDefault =
  /\/(?:gemma-[34]|gpt-oss|qwen3|mistral-small-3|ministral-3|olmo-3|lfm2|glm-4\.7-flash|nvidia-nemotron)/i;

function isBefore({ version }: ServedModel, minor: number): boolean {
  return version !== null && version[0] === 0 && version[1] < minor;
}

import { type LanguageModel, languageModel } from '../catalog/index.ts';
import { readModelServer } from '../command/model-server.ts';
import { containerUse } from '../command/programs.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';

/** What a model server needs of a device's memory to answer at all. More lets it answer more requests at a time. GiB. */
export interface MemoryEstimate {
  readonly model: LanguageModel;
  /** As the manifest names it, without its organisation. */
  readonly name: string;
  readonly weightsGiB: number;
  /** The KV cache of one request of the longest length. */
  readonly cacheGiB: number;
  /** Tokens of that request. */
  readonly context: number;
  readonly contextFrom: 'flag' | 'model';
  /** Of a number in weights and cache. */
  readonly bits: 16 | 32;
  /** What the runtime and the server's buffers take beside it. No source tells it for all servers, so it is an assumption. */
  readonly overheadGiB: number;
  readonly neededGiB: number;
  /** Somebody has sized the server for many requests at a time: it has use for all memory that it gets. */
  readonly tuned: boolean;
}

const gibibyte = 2 ** 30;
const overheadGiB = 2;

/**
 * The memory that a container's model server needs on all its devices together: weights = parameters × bytes of one, cache = tokens × (2 × layers
 * × KV heads × head size × bytes of one number; the catalogue has this product at 2 bytes). Undefined where the model, its format or its longest
 * request is not known, where a template may tell more, and for what does not serve.
 */
export function estimateServing(container: Container, workload: Workload): MemoryEstimate | undefined {
  if (container.type !== 'app' || workload.role !== 'serving' || workload.roleConfidence === 'guess') return undefined;
  if (mayTellMore(container)) return undefined;
  const stored = storedModel(container, workload);
  const entrypoint = stored === undefined ? entrypointOf(container) : 'huggingfaceserver';
  const server = readModelServer(processInput(container), entrypoint);
  if (server === undefined || server.bytes === null || server.context === null) return undefined;
  const name = stored ?? server.model;
  const model = name === undefined ? undefined : languageModel(name);
  if (name === undefined || model === undefined) return undefined;
  const context = server.context ?? model.context;
  const weightsGiB = (model.weightsGiB * server.bytes) / 2;
  const cacheGiB = (context * model.cacheBytes * server.bytes) / 2 / gibibyte;
  return {
    model,
    name: name.slice(name.indexOf('/') + 1),
    weightsGiB,
    cacheGiB,
    context,
    contextFrom: server.context === undefined ? 'model' : 'flag',
    bits: server.bytes === 4 ? 32 : 16,
    overheadGiB,
    neededGiB: weightsGiB + cacheGiB + overheadGiB,
    tuned: server.tuned,
  };
}

/** Flags that a template, a runtime or another object may add are not seen. */
function mayTellMore({ at: container, command, args, scripts }: Container): boolean {
  const lists = ['command', 'args', 'env'].map((key) => getIn(container, key));
  const written: readonly (Cursor | undefined)[] = [...command, ...args].map((one) => one.at);
  return (
    scripts.length > 0 ||
    ['envFrom', 'runtime', 'storage'].some((key) => getIn(container, key) !== undefined) ||
    [container, ...lists, ...written.map((one) => one?.parent)].some(isIncomplete) ||
    written.some(isTemplated)
  );
}

/** What the image starts by itself. KServe's own images have one name for several servers. */
function entrypointOf({ image }: Container): string | undefined {
  if (image === undefined) return undefined;
  if (/(^|\/)huggingfaceserver(-gpu)?[:@]/.test(image.value)) return 'huggingfaceserver';
  return containerUse({ image: image.value, command: [], args: [] }).program ?? undefined;
}

/** KServe loads what its object names; flags then name the place that it is put at. The empty string where that is not understood. */
function storedModel(container: Container, { kind, manifest }: Workload): string | undefined {
  const place =
    kind === 'LLMInferenceService' ? getIn(manifest.root, 'spec', 'model', 'uri') : getIn(container.at, 'storageUri');
  if (place === undefined) return undefined;
  return /^hf:\/\/([\w.-]+\/[\w.-]+?)(?::[\w.-]+)?$/.exec(asText(place) ?? '')?.[1] ?? '';
}

/**
 * The part of a device's memory that a server may need and still leave the headroom free.
 * @param memoryGiB of the device or the part of one
 * @param headroom 0.1 leaves a tenth free
 */
export function usableGiB(memoryGiB: number, headroom: number): number {
  return memoryGiB * (1 - headroom);
}

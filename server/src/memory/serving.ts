import { type LanguageModel, servedModel } from '../catalog/index.ts';
import { readModelServer } from '../command/model-server.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { asText, at } from '../yaml/cursor.ts';

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
  /** What CUDA and the server take beside it. No source tells it for all servers, so it is an assumption. */
  readonly overheadGiB: number;
  readonly neededGiB: number;
  /** Somebody has sized the server for many requests at a time: it has use for all memory that it gets. */
  readonly tuned: boolean;
}

const gibibyte = 2 ** 30;
const overheadGiB = 2;

/**
 * The memory that a container's model server needs on all its devices together: weights = parameters × bytes of one, cache = tokens × (2 × layers
 * × KV heads × head size × bytes of one number; the catalogue has this product). Undefined where the model, its format or its longest
 * request is not known.
 */
export function estimateServing(container: Container, workload: Workload): MemoryEstimate | undefined {
  const server = readModelServer(processInput(container));
  if (server === undefined || server.weightBytes === null || server.context === null) return undefined;
  const name = storedModel(container, workload) ?? server.model;
  const model = name === undefined ? undefined : servedModel(name);
  if (name === undefined || model === undefined) return undefined;
  const context = server.context ?? model.context;
  const weightsGiB = (model.weightsGiB * server.weightBytes) / 2;
  const cacheGiB = (context * model.cacheBytes) / gibibyte;
  return {
    model,
    name: name.slice(name.indexOf('/') + 1),
    weightsGiB,
    cacheGiB,
    context,
    contextFrom: server.context === undefined ? 'model' : 'flag',
    overheadGiB,
    neededGiB: weightsGiB + cacheGiB + overheadGiB,
    tuned: server.tuned,
  };
}

/** KServe loads what its object names; flags then name the place that it is put at. */
function storedModel(container: Container, { kind, manifest }: Workload): string | undefined {
  const uri =
    kind === 'LLMInferenceService' ? at(manifest.root, 'spec', 'model', 'uri') : at(container.at, 'storageUri');
  return /^hf:\/\/([\w.-]+\/[\w.-]+)$/.exec(asText(uri) ?? '')?.[1];
}

/**
 * The part of a device's memory that a server may need and still leave the headroom free.
 * @param memoryGiB of the device or the part of one
 * @param headroom 0.1 leaves a tenth free
 */
export function usableGiB(memoryGiB: number, headroom: number): number {
  return memoryGiB * (1 - headroom);
}

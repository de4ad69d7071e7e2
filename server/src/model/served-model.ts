import { readModelServer } from '../command/model-server.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { imageUseOf, processInput } from './process-input.ts';
import type { Container, Workload } from './workload.ts';

/** The model that a container serves, and the settings of its server. */
export interface ServedModel {
  /** `organization/model`, a path or an address. */
  readonly name: string;
  /** Bytes per parameter and per number in the cache. */
  readonly bytes: 2 | 4;
  /** The longest request, in tokens; null: the model's own limit. */
  readonly context: number | null;
  /** The server is sized for many concurrent requests and uses all memory that it gets. */
  readonly tuned: boolean;
}

/** Why a container's model is unknown. */
export type NoServedModel =
  | { readonly kind: 'notServing' }
  /** A template, a runtime or another object may add flags. */
  | { readonly kind: 'incomplete' }
  /** Not the only server, or a server whose flags are unknown. */
  | { readonly kind: 'noServer' }
  /** Quantized weights also contain scales and unquantized layers. */
  | { readonly kind: 'format' }
  | { readonly kind: 'context' }
  | { readonly kind: 'unnamed' };

export type Served =
  | { readonly model: ServedModel; readonly unknown: null }
  | { readonly model: null; readonly unknown: NoServedModel };

/** The model that a container serves, or why it is unknown. */
export function servedModel(container: Container, workload: Workload): Served {
  const serves = container.type === 'app' && workload.role === 'serving' && workload.roleConfidence !== 'guess';
  if (!serves) return without('notServing');
  if (mayHaveMoreFlags(container)) return without('incomplete');
  const stored = storedModel(container, workload);
  const entrypoint = stored === undefined ? entrypointOf(container) : 'huggingfaceserver';
  const server = readModelServer(processInput(container), entrypoint);
  if (server === undefined) return without('noServer');
  const { bytes, context = null, tuned } = server;
  if (bytes === null) return without('format');
  if (server.context === null) return without('context');
  const name = stored ?? server.model;
  return name === undefined || name === ''
    ? without('unnamed')
    : { model: { name, bytes, context, tuned }, unknown: null };
}

function without(kind: NoServedModel['kind']): Served {
  return { model: null, unknown: { kind } };
}

/** Whether a template, a runtime or another object may add flags. */
function mayHaveMoreFlags({ at: container, command, args, scripts }: Container): boolean {
  const lists = ['command', 'args', 'env'].map((key) => getIn(container, key));
  const written: readonly (Cursor | undefined)[] = [...command, ...args].map((one) => one.at);
  return (
    scripts.length > 0 ||
    ['envFrom', 'runtime', 'storage'].some((key) => getIn(container, key) !== undefined) ||
    [container, ...lists, ...written.map((one) => one?.parent)].some(isIncomplete) ||
    written.some(isTemplated)
  );
}

/** The program that the image starts by default. */
function entrypointOf(container: Container): string | undefined {
  const { image } = container;
  if (image === undefined) return undefined;
  if (/(^|\/)huggingfaceserver(-gpu)?[:@]/.test(image.value)) return 'huggingfaceserver';
  return imageUseOf(container).program ?? undefined;
}

/** The model that KServe downloads, in which case flags name only its path. Undefined if KServe downloads none; empty if its address is unknown. */
function storedModel(container: Container, { kind, manifest }: Workload): string | undefined {
  const place =
    kind === 'LLMInferenceService' ? getIn(manifest.root, 'spec', 'model', 'uri') : getIn(container.at, 'storageUri');
  if (place === undefined) return undefined;
  return /^hf:\/\/([\w.-]+\/[\w.-]+?)(?::[\w.-]+)?$/.exec(asText(place) ?? '')?.[1] ?? '';
}

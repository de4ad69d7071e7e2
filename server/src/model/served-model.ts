import { readModelServer } from '../command/model-server.ts';
import { containerUse } from '../command/programs.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { processInput } from './process-input.ts';
import type { Container, Workload } from './workload.ts';

/** The model that a container serves, and what its server is set to. */
export interface ServedModel {
  /** `organisation/model`, a path, an address. */
  readonly name: string;
  /** Of one parameter, and of one number of the cache. */
  readonly bytes: 2 | 4;
  /** Tokens of the longest request; null: the model's own limit. */
  readonly context: number | null;
  /** Somebody has sized the server for many requests at a time: it has use for all memory that it gets. */
  readonly tuned: boolean;
}

/** Why it is unknown what a container serves. */
export type NoServedModel =
  | { readonly kind: 'notServing' }
  /** A template, a runtime or another object may add flags. */
  | { readonly kind: 'incomplete' }
  /** Not the one server that runs, or none whose flags are known. */
  | { readonly kind: 'noServer' }
  /** Quantised weights have scales, and layers that are left as they were. */
  | { readonly kind: 'format' }
  | { readonly kind: 'context' }
  | { readonly kind: 'unnamed' };

export type Served =
  | { readonly model: ServedModel; readonly unknown: null }
  | { readonly model: null; readonly unknown: NoServedModel };

/** The model that a container serves, or why that is unknown. */
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

/** Flags that a template, a runtime or another object may add are not seen. */
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

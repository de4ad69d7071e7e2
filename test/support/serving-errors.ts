import { readFileSync } from 'node:fs';
import { gpus, modelByName, usableCardGiB } from '../../server/src/catalog/index.ts';
import type { Engine } from '../../server/src/command/engines.ts';
import { versionOf } from '../../server/src/command/engines.ts';
import { cacheBytes } from '../../server/src/memory/cache-size.ts';
import { fitOnCard } from '../../server/src/memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../../server/src/memory/serving.ts';
import type { ServedModel } from '../../server/src/model/served-model.ts';
import type { LaterList } from './measurement-lists.ts';

/** One published measurement, of the most loaded device. GiB; `cacheGiB` is that of `cacheTokens` tokens. */
export interface Measurement {
  readonly engine: Engine;
  readonly version: string;
  readonly versionBy?: 'date';
  readonly model: string;
  readonly gpu: string | null;
  readonly settings: {
    readonly context?: number;
    /** The part of the longest request that is read in one step; the rest is generated. */
    readonly prompt?: number;
    readonly fraction?: number;
    readonly tensor?: number;
    readonly pipeline?: number;
    readonly data?: number;
    readonly expert?: boolean;
    readonly dtype?: string;
    readonly quantization?: string;
    readonly cacheType?: string;
    readonly sequences?: number;
    readonly batchedTokens?: number;
    readonly eager?: boolean;
    readonly textOnly?: true;
    readonly flash?: boolean;
  };
  readonly measured: {
    readonly weightsGiB?: number;
    readonly cacheGiB?: number;
    readonly cacheTokens?: number;
    readonly activationGiB?: number;
    readonly runtimeGiB?: number;
    readonly graphsGiB?: number;
    readonly totalGiB?: number;
    /** Weights and the cache of the longest request, after the peak of the prompt. */
    readonly heldGiB?: number;
    readonly fits?: boolean;
  };
  readonly source: string;
  readonly date: string | null;
}

export type MeasurementList = 'first' | LaterList;

function measurementsOf(list: MeasurementList): readonly Measurement[] {
  const file = `../memory/serving-measurements${list === 'first' ? '' : `-${list}`}.jsonl`;
  return readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Measurement);
}

/**
 * What the errors are of. `weightsAndCache`: what the model itself needs. `total`: weights, activations, graphs and libraries, without a cache if
 * its size is that of the free memory; `totalWithCache`: with the cache of the measured tokens.
 */
export const parts = ['weights', 'cache', 'weightsAndCache', 'total', 'totalWithCache'] as const;
export type Part = (typeof parts)[number];

export interface Evaluated {
  readonly row: Measurement;
  /** By a hash; docs/memory.md says how far the second half was used. */
  readonly half: 'tuned' | 'held out';
  readonly estimate: MemoryEstimate | null;
  /** Relative: estimate / measured - 1. */
  readonly errors: Partial<Record<Part, number>>;
  /** The verdict of the estimate; undefined without a measured one or without a known card. */
  readonly verdict: boolean | null | undefined;
  /** The verdict on the card of a server that started, whose settings are known; undefined if the card is unknown. */
  readonly starts: boolean | null | undefined;
}

/** Each measurement of a list with the estimate for its settings. */
export function evaluate(list: MeasurementList = 'first'): readonly Evaluated[] {
  return measurementsOf(list).map((row) => {
    const cardGiB = cardOf(row.gpu);
    const { estimate } = estimateServing(
      { model: servedOf(row), unknown: null },
      { cardGiB, gpus: row.settings.tensor ?? 1, ...(row.gpu !== null && { card: row.gpu }) },
    );
    const half = isTuned(row) ? 'tuned' : 'held out';
    if (estimate === null) return { row, half, estimate, errors: {}, verdict: undefined, starts: undefined };
    const fits = cardGiB === null ? undefined : fitOnCard(estimate, cardGiB).fits;
    const verdict = row.measured.fits === undefined ? undefined : fits;
    const starts = row.settings.context === undefined || omitsShare(row, estimate, cardGiB) ? undefined : fits;
    return { row, half, estimate, errors: errorsOf(row, estimate), verdict, starts };
  });
}

/** Whether weights and cache took more than the share of the card that the stated settings allow: the source omits that setting. */
function omitsShare({ measured }: Measurement, { fraction }: MemoryEstimate, cardGiB: number | null): boolean {
  const held = (measured.weightsGiB ?? 0) + (measured.cacheGiB ?? 0);
  return cardGiB !== null && fraction !== null && held > fraction * cardGiB;
}

function cardOf(gpu: string | null): number | null {
  const known = gpus.get(gpu ?? '');
  return known === undefined ? null : usableCardGiB(known);
}

function servedOf({ model, engine, version, settings }: Measurement): ServedModel {
  const { prompt, ...others } = settings;
  const step = prompt === undefined ? {} : { batchedTokens: prompt };
  return servedWith({ ...others, ...step, name: model, engine, version: versionOf(version) });
}

/** A served model whose other settings are those of its server. */
export function servedWith(
  given: Partial<Omit<ServedModel, 'open' | 'extras'>> & Pick<ServedModel, 'name' | 'engine'>,
): ServedModel {
  return {
    version: null,
    dtype: null,
    quantization: null,
    context: null,
    sequences: null,
    batchedTokens: null,
    fraction: null,
    cacheGiB: null,
    cacheType: null,
    flash: null,
    eager: false,
    tensor: null,
    allDevices: false,
    pipeline: 1,
    data: 1,
    attentionReplicas: 1,
    offloadGiB: 0,
    gpuLayers: null,
    tuned: false,
    ...given,
    extras: [],
    open: [],
  };
}

function errorsOf({ measured, settings, engine }: Measurement, estimate: MemoryEstimate): Evaluated['errors'] {
  const { weightsGiB, cacheTokens, activationGiB, runtimeGiB, totalGiB } = measured;
  const errors: Partial<Record<Part, number>> = {};
  if (weightsGiB !== undefined) errors.weights = estimate.weightsGiB / weightsGiB - 1;
  const cache = cacheTokens === undefined ? undefined : cacheOf(estimate, cacheTokens);
  if (cache !== undefined && measured.cacheGiB !== undefined) errors.cache = cache / measured.cacheGiB - 1;
  if (cache !== undefined && measured.cacheGiB !== undefined && weightsGiB !== undefined)
    errors.weightsAndCache = (estimate.weightsGiB + cache) / (weightsGiB + measured.cacheGiB) - 1;
  if (measured.heldGiB !== undefined)
    errors.weightsAndCache = (estimate.weightsGiB + estimate.cacheGiB) / measured.heldGiB - 1;
  if (totalGiB !== undefined) errors.total = estimate.neededGiB / totalGiB - 1;
  else if (weightsGiB !== undefined && activationGiB !== undefined && runtimeGiB !== undefined) {
    const graphs = measured.graphsGiB ?? (settings.eager ? 0 : undefined);
    const estimated = estimate.weightsGiB + estimate.activationsGiB + estimate.runtimeGiB;
    const total = weightsGiB + activationGiB + runtimeGiB;
    errors.total = (estimated + (graphs === undefined ? 0 : estimate.graphsGiB)) / (total + (graphs ?? 0)) - 1;
    if (cache !== undefined && measured.cacheGiB !== undefined)
      errors.totalWithCache =
        (estimated + (graphs === undefined ? 0 : estimate.graphsGiB) + cache) /
          (total + (graphs ?? 0) + measured.cacheGiB) -
        1;
  } else if (weightsGiB !== undefined && activationGiB !== undefined && (engine === 'ollama' || engine === 'llama-cpp'))
    errors.total = (estimate.weightsGiB + estimate.activationsGiB) / (weightsGiB + activationGiB) - 1;
  return errors;
}

/** The cache of a number of tokens. A pool for many sequences keeps all tokens in layers without a window. */
function cacheOf({ shape, layout, context }: MemoryEstimate, tokens: number): number {
  const sequences = Math.max(1, tokens / Math.max(1, Math.min(context, tokens)));
  return (sequences * cacheBytes(shape, tokens / sequences, layout)) / 2 ** 30;
}

/** Half of the measurements, by a hash of what was run. */
function isTuned({ engine, model, settings, source }: Measurement): boolean {
  const text = `${engine} ${model} ${JSON.stringify(settings)} ${source}`;
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash % 2 === 0;
}

/** The median and the 90th percentile of absolute errors. */
export function spreadOf(errors: readonly number[]): {
  readonly median: number;
  readonly ninetieth: number;
  readonly worst: number;
} {
  const sorted = errors.map(Math.abs).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { median: at(0.5), ninetieth: at(0.9), worst: sorted.at(-1) ?? Number.NaN };
}

/** Whether the catalog has the model of a measurement. */
export function isKnown({ model }: Measurement): boolean {
  return modelByName(model) !== undefined;
}

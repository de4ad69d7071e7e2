/**
 * The catalog's JSON files as stored, before lookups are built on them. Each file stores the parts of its sources once; a record refers to
 * them by index. test/catalog.test.ts checks every record against these types.
 */
import {
  gpusJson,
  instancesJson,
  interruptionsJson,
  migJson,
  modelsJson,
  platformsJson,
  pricesJson,
  salesJson,
} from './data.ts';
import type { ModelKind } from './model-shape.ts';
import type { GpuModel, InstanceType, MigProfile, MigTable, PlatformFacts, Provider, Sale } from './types.ts';
import type { FormatId } from './weight-formats.ts';

/** Indexes into a file's `sources`. */
export type SourcePlaces = readonly number[];
type Stored<T> = Omit<T, 'source'> & { readonly source: SourcePlaces };

export interface StoredGpus {
  readonly sources: readonly string[];
  readonly gpus: readonly Stored<GpuModel>[];
}

export interface StoredMig {
  readonly sources: readonly string[];
  readonly bases: readonly string[];
  readonly tables: readonly Omit<MigTable, 'profiles'>[];
  readonly profiles: readonly (Omit<Stored<MigProfile>, 'placements' | 'placementsBasis'> & {
    readonly table: number;
    readonly placements: readonly (readonly [start: number, size: number])[];
    readonly basis: number;
  })[];
}

export type StoredInstance = readonly [
  provider: Provider,
  name: string,
  gpu: string | null,
  gpuCount: number | null,
  vcpu: number | null,
  memoryGiB: number | null,
  rdma: string | null,
  rdmaDevices: number | null,
  unsourced: InstanceType['unsourced'],
  date: string | null,
  source: SourcePlaces,
  localDisk?: number,
];

export interface StoredInstances {
  readonly sources: readonly string[];
  readonly columns: readonly string[];
  readonly instances: readonly StoredInstance[];
}

/** US dollars per hour for the whole instance. `region` is an index into the file's table; the last two prices are for committed use. */
export type StoredPrice = readonly [
  region: number,
  onDemand: number | null,
  spot?: number | null,
  oneYear?: number,
  threeYears?: number,
];

/** Prices from one source; `asOf` and `spotBasis` are indexes into the file's tables. */
export type StoredPrices = readonly [asOf: number, spotBasis: number | null, rows: readonly StoredPrice[]];

export type StoredPriceGroup = readonly [
  provider: Provider,
  instanceType: string,
  gpu: string,
  gpuCount: number,
  prices: readonly StoredPrices[],
];

export interface StoredPriceFile {
  readonly sources: readonly string[];
  readonly asOf: readonly (readonly [date: string | null, source: SourcePlaces])[];
  readonly bases: readonly string[];
  readonly regions: readonly string[];
  readonly columns: readonly unknown[];
  readonly groups: readonly StoredPriceGroup[];
}

export interface StoredInterruptions {
  readonly sources: readonly string[];
  readonly date: string | null;
  readonly source: SourcePlaces;
  readonly bands: readonly string[];
  readonly regions: readonly string[];
  /** For each instance type, the indexes of the regions in each band. */
  readonly types: readonly (readonly [instanceType: string, regions: readonly (readonly number[])[]])[];
}

export interface StoredSales {
  readonly sources: readonly string[];
  readonly sales: readonly Stored<Sale>[];
}

/** `source` is an index into the file's table. */
export type StoredModel = readonly [
  name: string,
  billions: number,
  layers: number,
  hidden: number,
  feedForward: number,
  heads: number,
  kvHeads: number,
  headSize: number,
  vocabulary: number,
  context: number,
  source: number,
  other: StoredModelDetails,
];

/** What differs from a dense language model in bfloat16 whose layers all attend to all tokens. Parameters in billions. */
export interface StoredModelDetails {
  readonly kind?: ModelKind;
  readonly format?: FormatId;
  /** The output layer is the embedding. */
  readonly tied?: true;
  /** The feed-forward part has 2 matrices instead of 3. */
  readonly ungated?: true;
  readonly experts?: readonly [count: number, active: number, width: number, sharedWidth: number, layers: number];
  readonly active?: number;
  readonly latent?: readonly [query: number, latent: number, rope: number, nope: number, value: number];
  /** Layers that attend to the last tokens only. */
  readonly window?: readonly [layers: number, tokens: number];
  /** Layers with a window divide the tokens into chunks of its size. */
  readonly chunked?: true;
  readonly lastLogits?: true;
  readonly causal?: true;
  readonly headsInGguf?: true;
  readonly cache?: readonly StoredCache[];
  readonly encoder?: number;
  readonly tower?: number;
  /** Parameters that no other field explains: linear attention, convolutions, several models. Only the check of the parameters uses it. */
  readonly other?: number;
}

export type StoredCache =
  | readonly [kind: 'attention', layers: number, kvHeads: number, headSize: number, window?: number]
  | readonly [kind: 'latent', layers: number, width: number]
  | readonly [kind: 'state', layers: number, numbers: number];

export interface StoredModels {
  readonly sources: readonly (readonly [source: string, date: string | null])[];
  readonly columns: readonly string[];
  readonly models: readonly StoredModel[];
  /** Other names of a shape, with what differs. Those of the organization `ollama` are tags without a size. */
  readonly copies: readonly (readonly [
    name: string,
    shape: string,
    differs: {
      readonly context?: number;
      readonly format?: FormatId;
      readonly kind?: ModelKind;
      readonly causal?: true;
    },
  ])[];
}

export interface StoredPlatforms {
  readonly sources: readonly string[];
  readonly platforms: readonly (Omit<PlatformFacts, 'sources'> & {
    readonly sources: Readonly<Record<string, SourcePlaces>>;
    readonly date: string | null;
  })[];
}

// The compiler widens JSON tuples to arrays of unions, so they are cast here, once.
export const storedGpus = gpusJson as unknown as StoredGpus;
export const storedMig = migJson as unknown as StoredMig;
export const storedInstances = instancesJson as unknown as StoredInstances;
export const storedPrices = pricesJson as unknown as StoredPriceFile;
export const storedInterruptions = interruptionsJson as unknown as StoredInterruptions;
export const storedSales = salesJson as unknown as StoredSales;
export const storedModels = modelsJson as unknown as StoredModels;
export const storedPlatforms = platformsJson as unknown as StoredPlatforms;

/** The full text of a source. */
export function sourceText(sources: readonly string[], places: SourcePlaces): string {
  return places.map((place) => sources[place] ?? '').join('; ');
}

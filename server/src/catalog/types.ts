import type { Table } from '../yaml/table.ts';

/** Where a fact comes from. `date` is ISO (YYYY-MM-DD) or null when the source carries none. */
export interface Source {
  readonly source: string;
  readonly date: string | null;
}

export type Vendor = 'nvidia' | 'amd' | 'intel' | 'habana' | 'aws' | 'google' | 'qualcomm' | 'huawei';

/** What of a device an accelerator resource stands for. Percent: of a device's compute or memory. */
export type AcceleratorForm = 'whole' | 'mig' | 'shared' | 'core' | 'memory' | 'percent';

/** One accelerator model. */
export interface GpuModel extends Source {
  /** kebab-case, for instance `h100-80gb-sxm`. */
  readonly id: string;
  /** As people write it, for instance `H100 80GB SXM`. */
  readonly name: string;
  readonly vendor: Vendor;
  readonly architecture: string;
  /** As marketed (GB for many parts), per device. */
  readonly memoryGiB: number | null;
  /** GB/s. */
  readonly memoryBandwidth: number | null;
  /** Dense, without sparsity. */
  readonly tflops: { readonly bf16: number | null; readonly fp16: number | null; readonly fp8: number | null };
  readonly nvlink: boolean;
  readonly computeCapability: string | null;
  readonly migCapable: boolean;
  /** Node label key -> values that select this model. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  /** Names of the fields that rest on memory alone: they may inform, and never raise an error or a warning. */
  readonly unsourced: readonly string[];
}

/** One model of an open catalogue, as far as its size goes. */
export interface LanguageModel extends Source {
  /** As Hugging Face names it: `organisation/model`. */
  readonly id: string;
  /** GiB of the weights as they are published, within about 2 %. */
  readonly weightsGiB: number;
  /** Bytes that one token takes in the KV cache at 16 bits: 2 × layers × KV heads × head size × 2; an upper bound where attention slides. */
  readonly cacheBytes: number;
  /** Tokens of the longest context. */
  readonly context: number;
}

/** One way to cut a MIG-capable GPU. */
export interface MigProfile extends Source {
  /** NVIDIA's name, `1g.10gb+me`. */
  readonly name: string;
  /** The extended resource under the mixed strategy, `nvidia.com/mig-1g.10gb.me`. */
  readonly resource: string;
  readonly computeSlices: number;
  readonly memorySlices: number;
  /** In MiB, as the driver reports it; null where no table says it. */
  readonly memoryMiB: number | null;
  /** In the profile's name. */
  readonly memoryGiB: number;
  readonly maxInstances: number;
  /** Start slots, in memory slices. */
  readonly placements: readonly { readonly start: number; readonly size: number }[];
  readonly placementsBasis: string;
}

/** The profiles that a group of GPU models shares. */
export interface MigTable {
  readonly gpus: readonly string[];
  readonly computeSlices: number;
  readonly memorySlices: number;
  readonly profiles: readonly MigProfile[];
}

export type Provider =
  | 'aws'
  | 'azure'
  | 'gcp'
  | 'oci'
  | 'coreweave'
  | 'crusoe'
  | 'hyperstack'
  | 'lambda'
  | 'nebius'
  | 'runpod';

export interface InstanceType extends Source {
  readonly provider: Provider;
  readonly name: string;
  readonly gpu: string | null;
  /** Devices; a fraction for vGPU sizes; null where no source says it. */
  readonly gpuCount: number | null;
  readonly vcpu: number | null;
  readonly memoryGiB: number | null;
  readonly rdma: string | null;
  readonly rdmaDevices: number | null;
  /** Names of the fields that rest on memory alone; ['all'] for a wholly unsourced record. */
  readonly unsourced: readonly string[];
}

/** What one provider asks for one instance type in one region, in US dollars an hour for the whole instance. */
export interface Offer {
  readonly provider: Provider;
  readonly instanceType: string;
  readonly region: string;
  readonly gpu: string;
  readonly gpuCount: number;
  readonly onDemand: number | null;
  readonly spot: number | null;
  /** How the spot figure came about. */
  readonly spotBasis: string | null;
  /** null: the source has no date; such an offer is shown as "date unknown" and never chosen as the cheapest. */
  readonly date: string | null;
  readonly source: string;
}

/** What an offer must match; what is left out matches all. */
export interface OfferQuery {
  /** Catalogue id. */
  readonly gpu?: string;
  readonly provider?: Provider;
  readonly region?: string;
  readonly instanceType?: string;
}

/** What a platform does with GPU nodes. */
export interface PlatformFacts {
  readonly id: string;
  readonly provider: Provider | null;
  /** Labels that select spot capacity: key -> values. */
  readonly spotLabels: Table<readonly string[]>;
  readonly spotNoticeSeconds: number | null;
  readonly nodePoolLabels: readonly string[];
  readonly sources: Table<string>;
}

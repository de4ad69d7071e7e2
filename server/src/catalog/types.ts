import type { Table } from '../yaml/table.ts';

/** The source of a fact. `date` is ISO (YYYY-MM-DD), or null if the source has none. */
export interface Source {
  readonly source: string;
  readonly date: string | null;
}

export type Vendor =
  | ('nvidia' | 'amd' | 'intel' | 'habana' | 'aws' | 'google' | 'qualcomm' | 'huawei' | 'ibm' | 'xilinx')
  | ('biren' | 'cambricon' | 'enflame' | 'furiosa' | 'graphcore' | 'hygon' | 'iluvatar' | 'kunlunxin' | 'metax')
  | ('moore-threads' | 'rebellions' | 'tenstorrent' | 'vastai');

/** The part of a device that an accelerator resource stands for. `percent`: of a device's compute or memory. */
export type AcceleratorForm = 'whole' | 'mig' | 'shared' | 'core' | 'memory' | 'percent';

/** One accelerator model. */
export interface GpuModel extends Source {
  /** In kebab case, for example `h100-80gb-sxm`. */
  readonly id: string;
  /** The usual spelling, for example `H100 80GB SXM`. */
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
  /** The fields without a source: they may be shown but never cause an error or a warning. */
  readonly unsourced: readonly string[];
}

/** The size of a published language model. */
export interface LanguageModel extends Source {
  /** The Hugging Face name: `organization/model`. */
  readonly id: string;
  /** GiB of the published weights, within about 2 %. */
  readonly weightsGiB: number;
  /** Bytes per token in a 16-bit KV cache: 2 × layers × KV heads × head size × 2; an upper bound for sliding-window attention. */
  readonly cacheBytes: number;
  /** The longest context, in tokens. */
  readonly context: number;
}

/** One way to partition a MIG-capable GPU. */
export interface MigProfile extends Source {
  /** NVIDIA's name, `1g.10gb+me`. */
  readonly name: string;
  /** The extended resource under the mixed strategy, `nvidia.com/mig-1g.10gb.me`. */
  readonly resource: string;
  readonly computeSlices: number;
  readonly memorySlices: number;
  /** In MiB, as the driver reports it; null if no table lists it. */
  readonly memoryMiB: number | null;
  /** The figure in the profile's name. */
  readonly memoryGiB: number;
  readonly maxInstances: number;
  /** Start positions and sizes, in memory slices. */
  readonly placements: readonly { readonly start: number; readonly size: number }[];
  readonly placementsBasis: string;
}

/** The profiles shared by a group of GPU models. */
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
  /** Number of devices; a fraction for vGPU sizes; null if no source gives it. */
  readonly gpuCount: number | null;
  readonly vcpu: number | null;
  readonly memoryGiB: number | null;
  readonly rdma: string | null;
  readonly rdmaDevices: number | null;
  /** All local disks together, as the provider counts them: GB at AWS, GiB at Google Cloud (there the most that can be added); absent: unknown. */
  readonly localDisk?: number;
  /** The fields without a source; ['all'] for a record without any source. */
  readonly unsourced: readonly string[];
}

/** How a provider sells instance types that cannot be had on demand. */
export interface Sale extends Source {
  readonly provider: Provider;
  readonly types: readonly string[];
  /** The day on which they were retired: no machine of these types exists. */
  readonly retired?: string;
  /** The source only announces that day. */
  readonly planned?: true;
  /** The series that the provider recommends instead. */
  readonly successor?: string;
  /** The ways to get one; empty: new machines are not started. */
  readonly ways?: readonly ('spot' | 'flex-start' | 'reservation' | 'capacity block' | 'commitment')[];
}

/** A provider's price of one instance type in one region, in US dollars per hour for the whole instance. */
export interface Offer {
  readonly provider: Provider;
  readonly instanceType: string;
  readonly region: string;
  readonly gpu: string;
  readonly gpuCount: number;
  readonly onDemand: number | null;
  readonly spot: number | null;
  /** For committed use, for one year and for three years; absent if the sheet has no such prices. */
  readonly committed?: readonly [oneYear: number, threeYears: number];
  /** Date and source of the prices for committed use, if they are not those of the on-demand price. */
  readonly committedFrom?: Source;
  /** How the spot price was derived. */
  readonly spotBasis: string | null;
  /** null: the source has no date; such an offer is shown as "date unknown" and is never chosen as the cheapest. */
  readonly date: string | null;
  readonly source: string;
  /** Date and source of the spot price, if they are not those of the on-demand price. */
  readonly spotFrom?: Source;
}

/** What an offer must match; a missing field matches every offer. */
export interface OfferQuery {
  /** Catalog id. */
  readonly gpu?: string;
  readonly provider?: Provider;
  readonly region?: string;
  readonly instanceType?: string;
}

/** How a platform labels and reclaims GPU nodes. */
export interface PlatformFacts {
  readonly id: string;
  readonly provider: Provider | null;
  /** Labels that select spot capacity: key -> values. */
  readonly spotLabels: Table<readonly string[]>;
  readonly spotNoticeSeconds: number | null;
  readonly nodePoolLabels: readonly string[];
  readonly sources: Table<string>;
}

import type { SelectedCapacity, Vendor } from '../catalog/index.ts';
import type { Table } from '../yaml/table.ts';
import type { NodePool, NodeTaint } from './node-pool.ts';

/** What the config sets for facts that are missing in manifests. */
export interface ModelOptions {
  /** A catalog platform id. */
  readonly platform: string | null;
  /** A catalog provider id, for prices. */
  readonly provider: string | null;
  readonly region: string | null;
  /** Catalog id of the GPU for requests without a selector that names one. */
  readonly gpu: string | null;
  /** The same for AWS Neuron, Google's TPUs and Intel Gaudi, of which a cluster can have some next to its GPUs. */
  readonly neuron: string | null;
  readonly tpu: string | null;
  readonly gaudi: string | null;
  readonly capacity: SelectedCapacity | null;
  readonly kserve: { readonly deploymentMode: 'Knative' | 'Standard' | null; readonly version: string | null };
  /** For example `1.34`; null if unknown. */
  readonly kubernetesVersion: string | null;
  readonly migStrategy: 'none' | 'single' | 'mixed' | null;
  readonly sharing: SharingOptions;
  readonly serving: { readonly idleHoursPerDay: number | null };
  /** The duration of a training step, for intervals in steps; what writing a checkpoint takes, and how often a job is interrupted. Missing: unknown. */
  readonly training?: {
    readonly stepSeconds: number | null;
    readonly checkpointSeconds?: number | null;
    readonly checkpointGiBPerSecond?: number | null;
    readonly hoursBetweenInterruptions?: number | null;
  };
  /** The share of a GPU's memory to keep free in addition to a model's needs. */
  readonly headroom: number;
  /** The number of parameters of models, as written (`13B`), by the name or path that a server loads. */
  readonly modelParams?: Table<string>;
  /** Taints of GPU nodes. */
  readonly taints: readonly NodeTaint[];
  readonly nodePools: readonly NodePool[];
}

/** How nodes share a GPU among pods. */
export interface SharingOptions {
  readonly strategy: 'time-slicing' | 'mps' | null;
  /** Pods per GPU. */
  readonly replicas: number | null;
}

export const defaultModelOptions: ModelOptions = {
  platform: null,
  provider: null,
  region: null,
  gpu: null,
  neuron: null,
  tpu: null,
  gaudi: null,
  capacity: null,
  kserve: { deploymentMode: null, version: null },
  kubernetesVersion: null,
  migStrategy: null,
  sharing: { strategy: null, replicas: null },
  serving: { idleHoursPerDay: null },
  headroom: 0.1,
  taints: [],
  nodePools: [],
};

/** The minor version of a Kubernetes version: 34 for `1.34` and `v1.34.2`; undefined if there is none. */
export function minorOf(version: string | null): number | undefined {
  const minor = /^v?1\.(\d+)/.exec(version ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** The key of the config with the default model of a vendor's accelerators. */
export function modelKey(vendor: Vendor | null | undefined): 'gpu' | 'neuron' | 'tpu' | 'gaudi' {
  return vendor === 'aws' ? 'neuron' : vendor === 'google' ? 'tpu' : vendor === 'habana' ? 'gaudi' : 'gpu';
}

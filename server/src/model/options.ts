import type { SelectedCapacity } from '../catalog/index.ts';
import type { NodePool, NodeTaint } from './node-pool.ts';

/** What the project says of its platform, for what the manifests leave out. */
export interface ModelOptions {
  /** A catalogue platform id. */
  readonly platform: string | null;
  /** A catalogue provider id. Where prices are read for. */
  readonly provider: string | null;
  readonly region: string | null;
  /** Catalogue id of the GPU that a request means where no selector names one. */
  readonly gpu: string | null;
  readonly capacity: SelectedCapacity | null;
  readonly kserve: { readonly deploymentMode: 'Knative' | 'Standard' | null; readonly version: string | null };
  /** As `1.34`; null where it is not told. */
  readonly kubernetesVersion: string | null;
  readonly migStrategy: 'none' | 'single' | 'mixed' | null;
  readonly sharing: SharingOptions;
  readonly serving: { readonly idleHoursPerDay: number | null };
  /** How long a step of training takes, for what trainers count in steps. Left out: not known. */
  readonly training?: { readonly stepSeconds: number | null };
  /** The share of a GPU's memory to keep free beside what a model needs. */
  readonly headroom: number;
  /** Taints of the nodes with GPUs. */
  readonly taints: readonly NodeTaint[];
  readonly nodePools: readonly NodePool[];
}

/** How nodes share one GPU among pods. */
export interface SharingOptions {
  readonly strategy: 'time-slicing' | 'mps' | null;
  /** Pods to a GPU. */
  readonly replicas: number | null;
}

export const defaultModelOptions: ModelOptions = {
  platform: null,
  provider: null,
  region: null,
  gpu: null,
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

/** What the project says of its platform, for what the manifests leave out. */
export interface ModelOptions {
  /** A catalogue platform id. */
  readonly platform: string | null;
  /** A catalogue provider id. Where prices are read for. */
  readonly provider: string | null;
  readonly region: string | null;
  /** Catalogue id of the GPU that a request means where no selector names one. */
  readonly gpu: string | null;
  readonly capacity: 'spot' | 'on-demand' | null;
  readonly kserve: { readonly deploymentMode: 'Knative' | 'Standard' | null };
  /** How long a step of training takes, for what trainers count in steps. Left out: not known. */
  readonly training?: { readonly stepSeconds: number | null };
  /** Taints of the nodes with GPUs. */
  readonly taints: readonly NodeTaint[];
}

/** A taint of nodes, as far as it is told. */
export interface NodeTaint {
  readonly key: string;
  /** null where it is not told. */
  readonly value: string | null;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export const defaultModelOptions: ModelOptions = {
  platform: null,
  provider: null,
  region: null,
  gpu: null,
  capacity: null,
  kserve: { deploymentMode: null },
  taints: [],
};

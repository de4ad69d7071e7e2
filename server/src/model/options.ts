/** What the project says of its platform, for what the manifests leave out. */
export interface ModelOptions {
  /** A catalogue provider id. Where prices are read for. */
  readonly provider: string | null;
  readonly region: string | null;
  /** Catalogue id of the GPU that a request means where no selector names one. */
  readonly gpu: string | null;
  readonly capacity: 'spot' | 'on-demand' | null;
  readonly kserve: { readonly deploymentMode: 'Knative' | 'Standard' | null };
  /** How long a step of training takes, for what trainers count in steps. Left out: not known. */
  readonly training?: { readonly stepSeconds: number | null };
}

export const defaultModelOptions: ModelOptions = {
  provider: null,
  region: null,
  gpu: null,
  capacity: null,
  kserve: { deploymentMode: null },
};

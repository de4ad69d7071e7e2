/** What only one cloud has. It decides prices, and no findings. */
export interface CloudSign {
  readonly provider: string;
  /** The region of an image's registry, which is usually that of the cluster; null: unknown. */
  readonly region: string | null;
  /** `image in ECR`, `StorageClass premium-rwo`. */
  readonly text: string;
  /** All clusters are GKE Autopilot, which charges for pods. */
  readonly isAutopilot?: true;
}

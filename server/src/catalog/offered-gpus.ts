import type { GpuModel, Provider } from './types.ts';

/**
 * The label by which a cloud says which GPU a node has. The catalog has its value for each GPU since Maxwell that the cloud has offered:
 * the GPU guides of Google Kubernetes Engine and the instance types of Karpenter for AWS (2026-11-22).
 */
const ownLabels: readonly (readonly [provider: Provider, key: string])[] = [
  ['gcp', 'cloud.google.com/gke-accelerator'],
  ['aws', 'karpenter.k8s.aws/instance-gpu-name'],
];

/** Whether a cloud has no nodes with any of some GPUs. Never for the newest generation, which clouds still add, and for the oldest ones. */
export function hasNone(provider: string, models: readonly GpuModel[]): boolean {
  const key = ownLabels.find(([known]) => known === provider)?.[1];
  if (key === undefined || models.length === 0) return false;
  return models.every(({ vendor, computeCapability, labels }) => {
    const generation = Number(computeCapability ?? 0);
    return vendor === 'nvidia' && generation >= 5 && generation < 10 && labels[key] === undefined;
  });
}

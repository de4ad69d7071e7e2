import type { Provider } from './types.ts';

/** A provider's name as the provider writes it. */
export function providerName(provider: string): string {
  return providerNames[provider as Provider] ?? provider;
}

const providerNames: Readonly<Record<Provider, string>> = {
  aws: 'AWS',
  azure: 'Azure',
  gcp: 'Google Cloud',
  oci: 'Oracle Cloud',
  coreweave: 'CoreWeave',
  crusoe: 'Crusoe',
  hyperstack: 'Hyperstack',
  lambda: 'Lambda',
  nebius: 'Nebius',
  runpod: 'RunPod',
};

/** Every provider in the catalog. */
export const providers: readonly string[] = Object.keys(providerNames);

/**
 * Whether a provider's clusters add a toleration for each resource that a pod requests, by the admission plugin ExtendedResourceToleration: GKE and
 * AKS (https://learn.microsoft.com/azure/aks/faq), and EKS since Kubernetes 1.19 (https://docs.aws.amazon.com/eks/latest/userguide/platform-versions.html,
 * 2026-11-30).
 */
export function addsTolerations(provider: Provider | null): boolean {
  return provider === 'aws' || provider === 'azure' || provider === 'gcp';
}

/** Whether a provider's machines can be the nodes of a cluster. RunPod rents containers: https://docs.runpod.io/pods/overview */
export function hasNodes(provider: string): boolean {
  return provider !== 'runpod';
}

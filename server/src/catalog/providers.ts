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

/** Whether a provider's machines can be the nodes of a cluster. RunPod rents containers: https://docs.runpod.io/pods/overview */
export function hasNodes(provider: string): boolean {
  return provider !== 'runpod';
}

import type { Provider } from './types.ts';

/** As the provider writes itself. */
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

/** Every provider of the catalogue. */
export const providers: readonly string[] = Object.keys(providerNames);

import type { Provider } from '../catalog/index.ts';

/** Every provider of the catalog; the compiler reports a missing one. */
export const providers = Object.keys({
  aws: true,
  azure: true,
  gcp: true,
  oci: true,
  coreweave: true,
  crusoe: true,
  hyperstack: true,
  lambda: true,
  nebius: true,
  runpod: true,
} satisfies Record<Provider, true>);

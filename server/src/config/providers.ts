import type { Provider } from '../catalog/index.ts';

/** Every provider of the catalogue; the compiler says when one is missing. */
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

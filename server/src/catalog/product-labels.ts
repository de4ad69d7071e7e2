import { gpus } from './gpus.ts';

// GPU feature discovery writes the driver's name of a card with hyphens for spaces: `NVIDIA-GeForce-RTX-3090`, `NVIDIA-RTX-A6000`. Old drivers omit
// `NVIDIA`. Source: NVIDIA/k8s-device-plugin@1b826acc:docs/gpu-feature-discovery (2026-08-19).

/**
 * The product label that a value of nvidia.com/gpu.product stands for, if no driver gives a GeForce or an RTX A card that name: another brand
 * (`NVIDIA-GeForce-RTX-1080-Ti`), no brand (`NVIDIA-A6000`) or other letters (`rtx-3090`). Undefined for every other value.
 */
export function meantProductLabel(value: string): string | undefined {
  const [suffix] = /-(?:SHARED|MIG-.*)$/.exec(value) ?? [''];
  const written = value.slice(0, value.length - suffix.length);
  const right = geForceLabel(written) ?? workstationLabel(written);
  if (right === undefined || written === right || `NVIDIA-${written}` === right) return undefined;
  return `${right}${suffix}`;
}

function geForceLabel(value: string): string | undefined {
  const parts = /^(?:nvidia-)?(?:geforce-)?(?:[gr]tx-?)?(\d{3,4})(-?ti)?(-?super)?$/i.exec(value);
  if (parts === null) return undefined;
  const [, number = '', ti, superior] = parts;
  const rest = `${number}${ti === undefined ? '' : '-Ti'}${superior === undefined ? '' : '-SUPER'}`;
  const brand = ['GTX', 'RTX'].find((one) => gpus.has(`${one}-${rest}`.toLowerCase()));
  return brand && `NVIDIA-GeForce-${brand}-${rest}`;
}

/** Early drivers named the first of these cards `Quadro RTX A6000`. */
function workstationLabel(value: string): string | undefined {
  const [, number = ''] = /^(?:nvidia-)?(?:geforce-)?(?:rtx-?)?(a\d{4})$/i.exec(value) ?? [];
  return gpus.has(`rtx-${number.toLowerCase()}`) ? `NVIDIA-RTX-${number.toUpperCase()}` : undefined;
}

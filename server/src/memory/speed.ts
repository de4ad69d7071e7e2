import type { GpuModel, ModelShape } from '../catalog/index.ts';

// Bounds on speed from the data sheet: nothing is faster, and most runs are slower.

/**
 * The most tokens per second that decoding yields on a number of devices: each step reads the weights once and the cache of each sequence once.
 * @param weightsGiB read in one step, over all devices
 * @param cacheGiB of one sequence, over all devices
 * @param sequences decoded together
 */
export function decodeBound(
  { memoryBandwidth }: Pick<GpuModel, 'memoryBandwidth'>,
  devices: number,
  {
    weightsGiB,
    cacheGiB,
    sequences,
  }: { readonly weightsGiB: number; readonly cacheGiB: number; readonly sequences: number },
): number | null {
  const bytes = (weightsGiB + sequences * cacheGiB) * 2 ** 30;
  return memoryBandwidth === null || bytes <= 0 ? null : (sequences * memoryBandwidth * 1e9 * devices) / bytes;
}

/** The most prompt tokens per second: two operations for each parameter that a token uses. */
export function prefillBound(
  { tflops }: Pick<GpuModel, 'tflops'>,
  devices: number,
  { active }: Pick<ModelShape, 'active'>,
  format: 'bf16' | 'fp8' = 'bf16',
): number | null {
  const peak = tflops[format] ?? tflops.bf16;
  return peak === null || active <= 0 ? null : (peak * 1e12 * devices) / (2 * active);
}

/** US dollars for a million tokens at a speed. */
export function perMillionTokens(hourly: number, tokensPerSecond: number): number {
  return (hourly / (tokensPerSecond * 3600)) * 1e6;
}

/**
 * The hours that one device needs to train on a number of tokens: 6 operations per parameter and token (Kaplan et al., 2020), 4 if the weights are
 * frozen, at a share of the peak.
 * @param mfu model FLOPS utilization: 0.5 is half of the peak
 */
export function trainingGpuHours(
  { tflops }: Pick<GpuModel, 'tflops'>,
  { active }: Pick<ModelShape, 'active'>,
  tokens: number,
  mfu: number,
  frozen: boolean,
): number | null {
  const peak = tflops.bf16 ?? tflops.fp16;
  return peak === null ? null : ((frozen ? 4 : 6) * active * tokens) / (mfu * peak * 1e12) / 3600;
}

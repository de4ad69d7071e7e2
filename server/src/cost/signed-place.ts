import { type PriceSheet, type Provider, regionsOf } from '../catalog/index.ts';
import type { Placement } from '../model/workload.ts';

/** The placement at the cloud of a sign; undefined if it has other regions. */
export function signedPlace(placement: Placement, sheet: PriceSheet): Placement | undefined {
  const { region, regions } = placement;
  const sign = placement.sign?.();
  if (sign === undefined) return undefined;
  const own = regionsOf(sign.provider as Provider, sheet);
  const isThere = (one: string) => own.length === 0 || own.includes(one);
  if (![region ?? regions ?? []].flat().every(isThere)) return undefined;
  const isNear = region === null && regions === undefined && sign.region !== null && isThere(sign.region);
  const billing = billingOf(placement);
  const place = { provider: sign.provider, region: isNear ? sign.region : region };
  return { ...placement, ...place, ...(billing !== undefined && { billing }) };
}

/** Who charges for the pods, also if only the clusters of the project say so. */
export function billingOf({ billing, sign }: Placement): Placement['billing'] {
  return billing ?? (sign?.()?.isAutopilot ? 'autopilot' : undefined);
}

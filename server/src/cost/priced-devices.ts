import { migByResource, migPriceShare, migShare, migTable } from '../catalog/index.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodAccelerator } from '../model/workload.ts';

/** The devices that the price counts: those of the request, or more if its slices do not fill a card. Pods may share a slice. */
export function pricedDevices(
  model: string,
  { devices, perPod, requested }: Pick<PodAccelerator, 'devices' | 'perPod' | 'requested'>,
): number {
  const table = migTable(model);
  if (table === undefined || devices === null || !perPod || devices >= perPod) return devices ?? 0;
  const share = devices / perPod;
  const named = migByResource(resourceName(requested) ?? '').find(({ gpu }) => gpu.id === model)?.profile;
  const profile = named ?? table.profiles.find((one) => Math.abs(migShare(table, one) - share) < 1e-9);
  if (profile === undefined) return devices;
  return ((migPriceShare(table, profile) * share) / migShare(table, profile)) * perPod;
}

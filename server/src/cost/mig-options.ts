import { type MigProfile, migPriceShare, migTable } from '../catalog/index.ts';
import type { Range } from './types.ts';

/** A legal slice of a GPU and its price. */
export interface MigOption {
  readonly profile: MigProfile;
  /** Share of the GPU: the larger of its compute share and its memory share. */
  readonly share: number;
  /** US dollars per hour for one slice; null if the price of the GPU is unknown. */
  readonly hourly: Range | null;
}

/**
 * The slices of a GPU, smallest first. Excludes the media-engine variants (`+me`, `+gfx`, `-me`): each is for one special case, and none
 * differs for a compute workload.
 * @param perDeviceHourly US dollars per hour for the whole GPU, or null
 */
export function migOptions(gpuId: string, perDeviceHourly: Range | null): readonly MigOption[] {
  const table = migTable(gpuId);
  if (table === undefined) return [];
  return table.profiles
    .filter((profile) => /^\d+g\.\d+gb$/.test(profile.name))
    .map((profile) => {
      const share = migPriceShare(table, profile);
      const hourly = perDeviceHourly && { min: perDeviceHourly.min * share, max: perDeviceHourly.max * share };
      return { profile, share, hourly };
    })
    .sort((a, b) => a.share - b.share || a.profile.memoryGiB - b.profile.memoryGiB);
}

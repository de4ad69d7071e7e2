import { type MigProfile, migShare, migTable } from '../catalog/index.ts';
import type { Range } from './types.ts';

/** A legal slice of a GPU, with what it costs. */
export interface MigOption {
  readonly profile: MigProfile;
  /** Of a whole card: the larger of its compute and its memory share. */
  readonly share: number;
  /** Dollars an hour for one slice; null when the card has no known price. */
  readonly hourly: Range | null;
}

/**
 * What a GPU can be cut into, smallest first. Media-engine variants (`+me`, `+gfx`, `-me`) are left out: they fit one special case
 * each and differ in nothing that a compute workload sees.
 * @param perDeviceHourly dollars an hour for the whole card, or null
 */
export function migOptions(gpuId: string, perDeviceHourly: Range | null): readonly MigOption[] {
  const table = migTable(gpuId);
  if (table === undefined) return [];
  return table.profiles
    .filter((profile) => /^\d+g\.\d+gb$/.test(profile.name))
    .map((profile) => {
      const share = migShare(table, profile);
      const hourly = perDeviceHourly && { min: perDeviceHourly.min * share, max: perDeviceHourly.max * share };
      return { profile, share, hourly };
    })
    .sort((a, b) => a.share - b.share || a.profile.memoryGiB - b.profile.memoryGiB);
}

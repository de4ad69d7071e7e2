import type { MigProfile, MigTable } from '../catalog/index.ts';
import { migTables } from '../catalog/index.ts';

/** The profiles that one card should hold, with the number of instances of each. */
export type MigMix = readonly { readonly name: string; readonly count: number }[];

/** Whether any card has a profile with this name in mig-parted's spelling (`1g.10gb+me`). */
export function isMigProfile(name: string): boolean {
  return isWithoutTable(name) || migTables().some((table) => profileOf(table, name) !== undefined);
}

/** Whether some card can hold the mix: it has every profile and room for all instances. */
export function anyCardHolds(mix: MigMix): boolean {
  return mix.some(({ name }) => isWithoutTable(name)) || migTables().some((table) => holds(table, mix));
}

/**
 * The largest part of a mix that a card can hold: one of each profile, then more of the largest. Undefined if no card has all profiles, or
 * if one of each does not fit.
 */
export function mixThatFits(mix: MigMix): MigMix | undefined {
  const size = (part: MigMix) => part.reduce((sum, { count }) => sum + count, 0);
  const fitting = migTables().flatMap((table) => partThatFits(table, mix));
  return fitting.sort((a, b) => size(b) - size(a))[0];
}

/** A list of at most one mix. */
function partThatFits(table: MigTable, mix: MigMix): readonly MigMix[] {
  let part = mix.map(({ name }) => ({ name, count: 1 }));
  if (!holds(table, part)) return [];
  const order = mix
    .map(({ name, count }, index) => ({ count, index, memory: profileOf(table, name)?.memorySlices ?? 0 }))
    .sort((a, b) => b.memory - a.memory);
  for (const { count, index } of order) {
    for (let more = 2; more <= count; more++) {
      const larger = part.map((one, position) => (position === index ? { ...one, count: more } : one));
      if (!holds(table, larger)) break;
      part = larger;
    }
  }
  return [part];
}

/**
 * Profiles in mig-parted's default configuration for a variant of the GB200 whose table no source publishes.
 * https://github.com/NVIDIA/mig-parted/blob/main/deployments/systemd/config-default.yaml
 */
export function isWithoutTable(profile: string): boolean {
  return /^(3g\.95gb|4g\.95gb|7g\.189gb)([+.]me)?$/.test(profile);
}

function profileOf({ profiles }: MigTable, name: string): MigProfile | undefined {
  return profiles.find((profile) => profile.name === name);
}

/**
 * An exact search: instances take memory slices at the positions that the driver allows, and any compute slices.
 * https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#mig-device-profiles
 */
function holds(table: MigTable, mix: MigMix): boolean {
  const instances: MigProfile[] = [];
  for (const { name, count } of mix) {
    const profile = profileOf(table, name);
    if (profile === undefined || count > profile.maxInstances) return false;
    for (let added = 0; added < count; added++) instances.push(profile);
  }
  const compute = instances.reduce((sum, { computeSlices }) => sum + computeSlices, 0);
  if (compute > table.computeSlices || instances.length > table.memorySlices) return false;
  // The largest first: they have the fewest placements.
  instances.sort((a, b) => b.memorySlices - a.memorySlices);
  return place(instances, 0, 0);
}

/** `taken` has one bit for each memory slice. */
function place(instances: readonly MigProfile[], index: number, taken: number): boolean {
  const instance = instances[index];
  if (instance === undefined) return true;
  return instance.placements.some(({ start, size }) => {
    const bits = ((1 << size) - 1) << start;
    return (taken & bits) === 0 && place(instances, index + 1, taken | bits);
  });
}

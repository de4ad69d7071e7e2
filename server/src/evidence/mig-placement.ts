import type { MigProfile, MigTable } from '../catalog/index.ts';
import { migTables } from '../catalog/index.ts';

/** How many instances of which profiles one card is to hold. */
export type MigMix = readonly { readonly name: string; readonly count: number }[];

/** Whether any card has a profile of that name, as mig-parted spells it (`1g.10gb+me`). */
export function isMigProfile(name: string): boolean {
  return isWithoutTable(name) || migTables().some((table) => profileOf(table, name) !== undefined);
}

/** Whether some card can hold the mix: every profile is its own, and all instances find a place side by side. */
export function anyCardHolds(mix: MigMix): boolean {
  return mix.some(({ name }) => isWithoutTable(name)) || migTables().some((table) => holds(table, mix));
}

/**
 * The most of a mix that a card can hold: one of each profile, then more of the largest. Undefined where no card has all of its profiles, or
 * where one of each is too much already.
 */
export function mixThatFits(mix: MigMix): MigMix | undefined {
  const size = (made: MigMix) => made.reduce((sum, { count }) => sum + count, 0);
  const fitting = migTables().flatMap((table) => mostOf(table, mix));
  return fitting.sort((a, b) => size(b) - size(a))[0];
}

/** As a list of at most one. */
function mostOf(table: MigTable, mix: MigMix): readonly MigMix[] {
  let made = mix.map(({ name }) => ({ name, count: 1 }));
  if (!holds(table, made)) return [];
  const order = mix
    .map(({ name, count }, index) => ({ count, index, memory: profileOf(table, name)?.memorySlices ?? 0 }))
    .sort((a, b) => b.memory - a.memory);
  for (const { count, index } of order) {
    for (let wanted = 2; wanted <= count; wanted++) {
      const more = made.map((one, at) => (at === index ? { ...one, count: wanted } : one));
      if (!holds(table, more)) break;
      made = more;
    }
  }
  return [made];
}

/**
 * Profiles that mig-parted's default configuration has for a variant of the GB200, of which no source gives the table.
 * https://github.com/NVIDIA/mig-parted/blob/main/deployments/systemd/config-default.yaml
 */
export function isWithoutTable(profile: string): boolean {
  return /^(3g\.95gb|4g\.95gb|7g\.189gb)([+.]me)?$/.test(profile);
}

function profileOf({ profiles }: MigTable, name: string): MigProfile | undefined {
  return profiles.find((profile) => profile.name === name);
}

/**
 * An exact search: instances take memory slices at the starts that the driver allows, and compute slices without a place of their own.
 * https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#mig-device-profiles
 */
function holds(table: MigTable, mix: MigMix): boolean {
  const instances: MigProfile[] = [];
  for (const { name, count } of mix) {
    const profile = profileOf(table, name);
    if (profile === undefined || count > profile.maxInstances) return false;
    for (let made = 0; made < count; made++) instances.push(profile);
  }
  const compute = instances.reduce((sum, { computeSlices }) => sum + computeSlices, 0);
  if (compute > table.computeSlices || instances.length > table.memorySlices) return false;
  // The largest first: they have the fewest places.
  instances.sort((a, b) => b.memorySlices - a.memorySlices);
  return place(instances, 0, 0);
}

/** `taken`: a bit for each memory slice. */
function place(instances: readonly MigProfile[], index: number, taken: number): boolean {
  const instance = instances[index];
  if (instance === undefined) return true;
  return instance.placements.some(({ start, size }) => {
    const bits = ((1 << size) - 1) << start;
    return (taken & bits) === 0 && place(instances, index + 1, taken | bits);
  });
}

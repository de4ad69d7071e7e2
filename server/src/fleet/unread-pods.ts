import type { Coverage, LiveNode, LivePool } from './cluster-view.ts';

// Without the right to read pods, devices look free that others hold.

/** Whether no pod at all may be read. */
export function arePodsUnread(coverage: readonly Coverage[]): boolean {
  return coverage.some(({ resource, state }) => resource === 'pods' && state === 'forbidden');
}

/** A pool or node whose use is unknown. */
export function withoutUse<T extends LiveNode | LivePool>(one: T): T {
  return {
    ...one,
    devices: { ...one.devices, free: null, used: null },
    resources: one.resources.map((each) => ({ ...each, requested: null, free: null })),
    cost: { ...one.cost, idle: null },
    ...('fits' in one
      ? { largestFit: null, fits: [], scattered: 0 }
      : { mig: one.mig && { ...one.mig, profiles: one.mig.profiles.map((each) => ({ ...each, free: null })) } }),
  };
}

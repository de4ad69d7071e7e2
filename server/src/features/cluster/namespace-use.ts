import type { MoneyRange } from '../../fleet/cluster-view.ts';
import type { DrawnCluster } from './drawn-cluster.ts';

/** What the pods of a namespace hold. */
export interface NamespaceUse {
  readonly namespace: string;
  /** Physical devices, as far as they are known. */
  readonly devices: number;
  /** US dollars per hour; null if a part is unknown. */
  readonly hourly: MoneyRange | null;
  /** GPU-hours since the pods were created. */
  readonly hours: number;
}

/** What each namespace holds now, and for how long its pods have held it. Reads each pod once. */
export function namespaceUse({ view, nodesOf, now }: DrawnCluster): readonly NamespaceUse[] {
  const uses = new Map<string, NamespaceUse>();
  const change = (namespace: string, add: (use: NamespaceUse) => NamespaceUse) => {
    const none: NamespaceUse = { namespace, devices: 0, hourly: { min: 0, max: 0 }, hours: 0 };
    uses.set(namespace, add(uses.get(namespace) ?? none));
  };
  for (const { namespace, deviceSum, hourly, pods } of view.owners) {
    if (pods === 0) continue;
    change(namespace, (use) => ({
      ...use,
      devices: use.devices + (deviceSum ?? 0),
      hourly:
        use.hourly === null || hourly === null
          ? null
          : { min: use.hourly.min + hourly.min, max: use.hourly.max + hourly.max },
    }));
  }
  for (const pool of view.pools) {
    for (const node of nodesOf(pool.id)) {
      const shares = new Map(node.resources.map(({ resource, share }) => [resource, share ?? 0]));
      for (const { namespace, devices, created } of node.pods) {
        if (created === null) continue;
        const held = devices.reduce((sum, { resource, count }) => sum + count * (shares.get(resource) ?? 0), 0);
        const hours = (held * Math.max(0, now - created)) / 3_600_000;
        change(namespace, (use) => ({ ...use, hours: use.hours + hours }));
      }
    }
  }
  return [...uses.values()];
}

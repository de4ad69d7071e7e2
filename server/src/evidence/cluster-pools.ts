import { countIn } from '../model/count.ts';
import type { NodePool } from '../model/node-pool.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { tableOf } from '../yaml/table.ts';
import { fieldOf, isFields } from './fields.ts';
import { poolInFields } from './pool-fields.ts';
import { taintsOf } from './pool-nodes.ts';

// Pools inside the objects of whole clusters, of Rancher and k0rdent.

/** A pool with the mapping that describes it. */
export interface LocatedPool {
  readonly pool: NodePool;
  readonly at: Cursor;
}

/** The API group of the objects that describe the machines of Rancher's pools. */
export const rancherMachines = 'rke-machine-config.cattle.io';

/**
 * The machine pools of Rancher, without their machines, which objects of another kind describe.
 * https://ranchermanager.docs.rancher.com/reference-guides/cluster-configuration/rancher-server-configuration/rke2-cluster-configuration
 */
export function rancherPools({ root }: Manifest): readonly LocatedPool[] {
  return items(getIn(root, 'spec', 'rkeConfig', 'machinePools')).flatMap((at) => {
    const reference = getIn(at, 'machineConfigRef');
    const [kind, named] = ['kind', 'name'].map((key) => asText(getIn(reference, key)));
    if (kind === undefined || named === undefined || entries(reference).some(isTemplated)) return [];
    const labels = tableOf(
      entries(getIn(at, 'labels')).flatMap((entry) =>
        isTemplated(entry) ? [] : [[keyOf(entry), asText(entry) ?? ''] as const],
      ),
    );
    const pool: NodePool = {
      name: asText(getIn(at, 'name')) ?? null,
      labels,
      ...taintsOf(at),
      terms: [Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }))],
      size: sizeOf(at),
      machines: { kind: `${rancherMachines}/${kind}`, name: named },
    };
    return [{ pool, at }];
  });
}

/** The number of nodes, or the bounds of the autoscaler. */
function sizeOf(at: Cursor): NonNullable<NodePool['size']> {
  const [min, max, fixed] = ['autoscalingMinSize', 'autoscalingMaxSize', 'quantity'].map((key) => {
    const count = getIn(at, key);
    return count === undefined ? undefined : countIn(asText(count));
  });
  return { min: (min === undefined ? fixed : min) ?? null, max: (max === undefined ? fixed : max) ?? null };
}

/** The workers of a cluster of k0rdent, by the values of its templates. https://docs.k0rdent.io/latest/reference/template/ */
export function workerPools({ root, name }: Manifest): readonly LocatedPool[] {
  const config = getIn(root, 'spec', 'config');
  const worker = getIn(config, 'worker');
  const fields = worker && fieldOf(worker);
  if (worker === undefined || !isFields(fields)) return [];
  const around = ['region', 'location', 'workersNumber'].flatMap((key) => {
    const at = getIn(config, key);
    return at === undefined ? [] : [[key === 'workersNumber' ? 'nodeCount' : key, fieldOf(at)] as const];
  });
  const pool = poolInFields(new Map([...fields, ...around]), null);
  return pool === undefined ? [] : [{ pool: { ...pool, name }, at: worker }];
}

import { countIn } from '../model/count.ts';
import { groupOf } from '../model/manifest.ts';
import type { NodePool } from '../model/node-pool.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import { tableOf } from '../yaml/table.ts';
import { type LocatedPool, rancherMachines, rancherPools } from './cluster-pools.ts';
import { type Fields, fieldOf, isFields } from './fields.ts';
import { poolInFields, regionIn } from './pool-fields.ts';

// Cluster API: a MachineDeployment names the labels of its nodes, and a template of the cloud's provider their machine.
// https://cluster-api.sigs.k8s.io/developer/core/controllers/machine-deployment

/** The machines of a template, as the terms of a pool without labels; null unless all of them have accelerators. */
export function templateMachines({ root, apiVersion }: Manifest): Machines | null {
  // Rancher's objects have no spec.
  const isFlat = groupOf(apiVersion) === rancherMachines;
  const spec = isFlat ? root : getIn(root, 'spec', 'template', 'spec');
  const fields = spec === undefined ? undefined : fieldOf(spec);
  const pool = isFields(fields) ? poolInFields(isFlat ? inPoolWords(fields) : fields, null) : undefined;
  return pool === undefined ? null : { terms: pool.terms ?? [], gpus: pool.gpus ?? [] };
}

/** Rancher's drivers have names of their own: `size` of a machine on Azure, `requestSpotInstance` on AWS. */
function inPoolWords(fields: Fields): Fields {
  const words = new Map([
    ['size', 'vmSize'],
    ['requestSpotInstance', 'spot'],
  ]);
  return new Map([...fields].map(([key, value]) => [words.get(key) ?? key, value]));
}

/** The nodes that a template makes: their labels and GPUs. */
export type Machines = Required<Pick<NodePool, 'terms' | 'gpus'>>;

/**
 * The pool of a MachineDeployment, without its machines. Cluster API copies only labels of these domains to nodes:
 * https://cluster-api.sigs.k8s.io/reference/api/metadata-propagation
 */
function machinePools({ root, name }: Manifest): readonly NodePool[] {
  const template = getIn(root, 'spec', 'template');
  const reference = getIn(template, 'spec', 'infrastructureRef');
  const [version, kind, named] = ['apiVersion', 'kind', 'name'].map((key) => asText(getIn(reference, key)));
  if (kind === undefined || named === undefined || entries(reference).some(isTemplated)) return [];
  const group = asText(getIn(reference, 'apiGroup')) ?? groupOf(version ?? '');
  const labels = tableOf(
    entries(getIn(template, 'metadata', 'labels')).flatMap((entry) =>
      copied.test(keyOf(entry)) && !isTemplated(entry) ? [[keyOf(entry), asText(entry) ?? ''] as const] : [],
    ),
  );
  const region = regionIn([asText(getIn(template, 'spec', 'failureDomain')) ?? null]);
  const place = region === null ? [] : [['topology.kubernetes.io/region', region] as const];
  return [
    {
      name,
      labels,
      taints: null,
      terms: [[...Object.entries(labels), ...place].map(([key, value]) => ({ key, operator: 'In', values: [value] }))],
      size: sizeOf(root),
      machines: { kind: `${group}/${kind}`, name: named },
    },
  ];
}

const copied =
  /^(?:node-role\.kubernetes\.io\/|(?:[\w.-]+\.)?(?:node-restriction\.kubernetes\.io|node\.cluster\.x-k8s\.io)\/)/;

/** The number of nodes, or the bounds that annotations give to the autoscaler. */
function sizeOf(root: Cursor): NonNullable<NodePool['size']> {
  const annotations = getIn(root, 'metadata', 'annotations');
  const bound = (end: string) => getIn(annotations, `cluster.x-k8s.io/cluster-api-autoscaler-node-group-${end}-size`);
  const [min, max] = [bound('min'), bound('max')].map((at) => at && countIn(asText(at)));
  const replicas = getIn(root, 'spec', 'replicas');
  const fixed = replicas === undefined ? null : countIn(asText(replicas));
  return { min: min === undefined ? fixed : min, max: max === undefined ? fixed : max };
}

/** The pools whose machines other objects describe, without these; undefined for other kinds. */
export function poolsWithTemplates(manifest: Manifest): readonly LocatedPool[] | undefined {
  const group = groupOf(manifest.apiVersion);
  if (manifest.kind === 'MachineDeployment') return machinePools(manifest).map((pool) => ({ pool, at: manifest.root }));
  return manifest.kind === 'Cluster' && group === 'provisioning.cattle.io' ? rancherPools(manifest) : undefined;
}

/** The pools whose templates are among the objects. */
export function withTemplates(pools: readonly LocatedPool[], all: readonly Manifest[]): readonly LocatedPool[] {
  return pools.flatMap(({ pool, at }) => {
    const template = all.find(
      ({ apiVersion, kind, name }) =>
        name === pool.machines?.name && `${groupOf(apiVersion)}/${kind}` === pool.machines.kind,
    );
    const machines = template && templateMachines(template);
    return machines ? [{ pool: onMachines(pool, machines), at }] : [];
  });
}

/** The pool with the machines of its template. */
export function onMachines(pool: NodePool, { terms, gpus: models }: Machines): NodePool {
  const own = pool.terms ?? [[]];
  return { ...pool, gpus: models, terms: own.flatMap((term) => terms.map((more) => [...term, ...more])) };
}

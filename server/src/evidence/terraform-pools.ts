import type { Provider } from '../catalog/index.ts';
import type { NodePool } from '../model/node-pool.ts';
import { table } from '../yaml/table.ts';
import { type Field, type Fields, isFields, isTemplateText, type Template } from './fields.ts';
import { readHcl } from './hcl.ts';
import { poolInFields, regionIn } from './pool-fields.ts';
import { filledWith, noValues, type TerraformValues } from './terraform-values.ts';

/** A block of Terraform that may describe a pool, with the name by which messages call it: `aws_eks_node_group.gpu`. */
export interface TerraformBlock {
  readonly block: string;
  readonly fields: Fields;
  /** The pool's name, if the fields have none. */
  readonly name: string | null;
  /** A provider of its own decides its place. */
  readonly isElsewhere: boolean;
}

/** More pools in one file are generated. */
const maxPools = 200;

/** The blocks of a file of Terraform that may describe pools: resources of pools, and maps of pools that a module gets. */
export function terraformBlocks(text: string): readonly TerraformBlock[] {
  if (!namesMachines(text)) return [];
  const found: TerraformBlock[] = [];
  for (const { type, labels, body } of readHcl(text)) {
    const isElsewhere = body.has('provider') || body.has('providers');
    const block = (type === 'resource' ? labels : [type, ...labels]).join('.');
    const add = (fields: Fields, name: string | null) =>
      found.push({ block, fields: type === 'module' ? inModule(fields, name, body) : fields, name, isElsewhere });
    if (type === 'resource' && isPool.test(labels[0] ?? '')) add(body, labels[1] ?? null);
    else if (type === 'resource' || type === 'module' || type === 'locals') look(body, null, add);
    if (found.length >= maxPools) break;
  }
  return found;
}

/**
 * The fields of a pool with those that a module has for all its pools: its place, and labels by the names of pools.
 * https://registry.terraform.io/modules/terraform-google-modules/kubernetes-engine/google
 */
function inModule(fields: Fields, name: string | null, module: Fields): Fields {
  const labels = module.get('node_pools_labels');
  const own = fields.get('name') ?? name;
  const named = isFields(labels) && typeof own === 'string' ? ['all', own].map((key) => labels.get(key)) : [];
  const added = named.flatMap((some) => (isFields(some) ? [...some] : []));
  const place = placeKeys.some((key) => fields.has(key)) ? undefined : placeKeys.find((key) => module.has(key));
  return new Map([
    ...(place === undefined ? [] : [[place, module.get(place) ?? null] as const]),
    ...(added.length === 0 ? [] : [['labels', new Map(added)] as const]),
    ...fields,
  ]);
}

const placeKeys = ['region', 'location', 'zones'];

/** The pool of GPU nodes that a block describes with the values of its folder; undefined for other nodes. */
export function terraformPool(
  { fields, name, isElsewhere }: TerraformBlock,
  values: TerraformValues = noValues,
): NodePool | undefined {
  const filled = filledWith(fields, values);
  const pool = isFields(filled) ? poolInFields(filled, name) : undefined;
  if (pool === undefined) return undefined;
  const { placedBy, ...described } = pool;
  return isElsewhere || placedBy === undefined ? described : pool;
}

/** Whether a text can describe pools. Other files are not read. */
export function namesMachines(text: string): boolean {
  return /\b(?:machine_type|instance_types?|vm_size|node_shape|preset)\b/.test(text);
}

const isPool = /node_?(?:pool|group)|machine_?pool|worker_?pool/;
const machineKey = /^(?:machine_type|instance_types?|vm_size|node_shape)$/;

/** Maps with a machine: `eks_managed_node_groups = { gpu = { instance_types = [...] } }`. */
function look(
  field: Field,
  name: string | null,
  onPool: (fields: Fields, name: string | null) => void,
  depth = 0,
): void {
  if (depth > 8) return;
  if (Array.isArray(field)) for (const item of field) look(item, null, onPool, depth + 1);
  if (!isFields(field)) return;
  if ([...field.keys()].some((key) => machineKey.test(key))) onPool(field, name);
  else for (const [key, value] of field) look(value, key, onPool, depth + 1);
}

/** What a file states about the region of a cloud's pools. */
export interface TerraformRegion {
  readonly cloud: Provider;
  /** The cluster takes precedence over the provider. */
  readonly by: 'cluster' | 'provider';
  /** As written, with variables; null: unknown. */
  readonly place: string | Template | null;
}

const cloudOfWord = table<Provider>({ aws: 'aws', google: 'gcp', azurerm: 'azure' });

/** The regions of the clusters and of the default providers in a file. */
export function terraformRegions(text: string): readonly TerraformRegion[] {
  if (!statesRegions(text)) return [];
  return readHcl(text).flatMap(({ type, labels: [label = ''], body }): TerraformRegion | readonly TerraformRegion[] => {
    const cloud = cloudOfWord[label.split(/[-_]/, 1)[0] ?? ''];
    const isProvider = type === 'provider' && !body.has('alias');
    if (cloud === undefined || !(isProvider || (type === 'resource' && isCluster.test(label)))) return [];
    const [stated] = (isProvider ? ['region', 'zone'] : ['location', 'region']).flatMap((key) => {
      const field = body.get(key);
      return field === undefined ? [] : [field];
    });
    if (stated === undefined) return [];
    const place = typeof stated === 'string' || isTemplateText(stated) ? stated : null;
    return { cloud, by: isProvider ? 'provider' : 'cluster', place };
  });
}

const isCluster = /_(?:kubernetes|container|eks)_cluster$/;

/** Whether a text can state regions. */
export function statesRegions(text: string): boolean {
  return /\bprovider\s{1,9}"|_cluster"/.test(text);
}

/** The region of a cloud by all statements of a folder and its values; null if it is unknown, or if there are several. */
export function regionBy(
  statements: readonly TerraformRegion[],
  cloud: Provider,
  values: TerraformValues = noValues,
): string | null {
  const about = statements.filter((one) => one.cloud === cloud);
  const clusters = about.filter(({ by }) => by === 'cluster');
  const [region = null, ...others] = new Set(
    (clusters.length > 0 ? clusters : about).map(({ place }) => {
      const text = filledWith(place, values);
      // Azure's regions are also written as `West Europe`.
      return regionIn([typeof text === 'string' ? text.toLowerCase().replaceAll(' ', '') : null]);
    }),
  );
  return others.length > 0 ? null : region;
}

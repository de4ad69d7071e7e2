import { either, oneOf } from '../catalog/word-patterns.ts';
import { type Field, type Fields, isFields, isTemplateText, type Template } from './fields.ts';
import { isMachineKey } from './machine-keys.ts';

// Where the blocks of Terraform have their pools: in maps, in clusters of GKE, and in the node groups of modules.

/** Takes the fields of a pool, its name if they have none, and the local value that has it. */
type OnPool = (fields: Fields, name: string | null, local?: string) => void;

/** Looks for the pools in a block that is not one itself. `type`: `variables` for a file that sets them. */
export function lookInBlock(type: string, kind: string, body: Fields, onPool: OnPool): void {
  if (kind === defaultPoolOwner) lookInCluster(body, onPool);
  else if (type === 'locals') lookInValues(body, onPool);
  else if (type === 'variables') lookInVariables(body, onPool);
  else if (!isElsewhereRun(type, kind, body)) look(type === 'module' ? withDefaults(body) : body, null, onPool);
}

/** Local values that are maps of pools. A machine among them, and what groups have unless they state it, are not pools themselves. */
function lookInValues(values: Fields, onPool: OnPool): void {
  for (const [key, value] of values) {
    if (isChoice(key)) continue;
    const parts = isFields(value) && isOfMaps(value) ? [...value] : [];
    for (const [part, map] of parts) look(map, part, (fields, name) => onPool(fields, name, `${key}.${part}`));
    if (parts.length === 0) look(value, key, (fields, name) => onPool(fields, name, key));
  }
}

/** Whether a mapping has maps of pools, and no pools. */
function isOfMaps(value: Fields): boolean {
  const hasMachine = (fields: Fields) => [...fields.keys()].some(isMachineKey);
  return !hasMachine(value) && [...value.values()].every((one) => isFields(one) && !hasMachine(one));
}

/** What a file sets for a pool, and maps of pools. */
function lookInVariables(values: Fields, onPool: OnPool): void {
  const maps = [...values].filter(([, value]) => [value].flat().some(isFields));
  const own = new Map([...values].filter(([key]) => !maps.some(([other]) => other === key)));
  for (const [key, value] of [['', own] as const, ...maps]) look(value, key === '' ? null : key, onPool);
}

/** Whether a local value is one from which pools choose, by its name. */
export function isChoice(name: string): boolean {
  return choices.test(name);
}

const choiceWords = oneOf(
  'defaults? common base',
  'sizes? flavou?rs? tiers? profiles? presets? skus? shapes? machines types',
);
const choices = new RegExp(`(?:^|_)(?:${choiceWords})$`);

/** Blocks without pools: single machines, and services that run their own. */
function isElsewhereRun(type: string, kind: string, body: Fields): boolean {
  if (type !== 'resource' && type !== 'module') return true;
  const source = body.get('source');
  return otherMachines.test(type === 'module' ? (typeof source === 'string' ? source : '') : kind);
}

const otherMachines = either(
  /sagemaker|\bemr|_emr_|dataproc|databricks|workbench|notebook|vertex|machine_learning/,
  /^(?:aws|google_compute)(?:_spot)?_instance|ec2-instance|_virtual_machine$/,
);

/** More fields of all groups together are generated. */
const maxFields = 20_000;

/** A module's node groups, with what they have unless they state it: `eks_managed_node_group_defaults`. */
function withDefaults(module: Fields): Fields {
  return new Map(
    [...module].flatMap(([key, value]): [string, Field][] => {
      if (key.endsWith('_defaults')) return [];
      const all = module.get(`${key.replace(/s$/, '')}_defaults`);
      if (!isFields(all) || !isFields(value) || all.size * value.size > maxFields) return [[key, value]];
      return [[key, new Map([...value].map(([name, one]) => [name, isFields(one) ? new Map([...all, ...one]) : one]))]];
    }),
  );
}

const defaultPoolOwner = 'google_container_cluster';

/**
 * The pools within a cluster of GKE, and its default pool, unless it is removed.
 * https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_cluster
 */
function lookInCluster(cluster: Fields, onPool: OnPool): void {
  const within = cluster.get('node_pool');
  if (Array.isArray(within)) for (const pool of within) if (isFields(pool)) onPool(pool, null);
  const nodes = cluster.get('node_config');
  if (nodes === undefined || (cluster.get('remove_default_node_pool') ?? 'false') !== 'false') return;
  const size = cluster.get('initial_node_count') ?? null;
  onPool(
    new Map([
      ['node_config', nodes],
      ['node_count', size],
    ]),
    'default-pool',
  );
}

const isPoolArgument = /pool|node_?group/;

/** Maps with a machine: `eks_managed_node_groups = { gpu = { instance_types = [...] } }`. */
function look(field: Field, name: string | null, onPool: OnPool, depth = 0): void {
  if (depth > 8) return;
  if (Array.isArray(field)) for (const item of field) look(item, null, onPool, depth + 1);
  if (!isFields(field)) return;
  if ([...field.keys()].some(isMachineKey)) onPool(field, name);
  else
    for (const [key, value] of field)
      if (isTemplateText(value) && isPoolArgument.test(key)) onPool(eachIn(value), null);
      else if (key === 'compute_resources') look(named(value, field), name, onPool, depth + 1);
      else look(value, key, onPool, depth + 1);
}

/** The machines of a compute environment of AWS Batch, with its name. */
function named(resources: Field, environment: Fields): Field {
  const name = nameKeys.map((key) => environment.get(key)).find((one) => one !== undefined);
  const [one] = [resources].flat();
  return isFields(one) && name !== undefined ? new Map([['name', name], ...one]) : resources;
}

const nameKeys = ['compute_environment_name', 'name', 'name_prefix', 'compute_environment_name_prefix'];

/** The pools of a variable that a module gets: `eks_managed_node_groups = var.groups`. */
function eachIn(pools: Template): Fields {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of Terraform
  const [name, pool] = ['${each.key}', '${each.value}'].map((template) => ({ template }));
  return new Map<string, Field>([
    ['for_each', pools],
    ['name', name ?? null],
    ['pool', pool ?? null],
  ]);
}

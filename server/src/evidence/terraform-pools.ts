import type { Provider } from '../catalog/index.ts';
import { either } from '../catalog/word-patterns.ts';
import type { NodePool } from '../model/node-pool.ts';
import { table } from '../yaml/table.ts';
import { type Field, type Fields, isFields, isTemplateText, type Template } from './fields.ts';
import { readHcl } from './hcl.ts';
import { mixedPolicy, templateInPolicy } from './mixed-instances.ts';
import { poolInFields, regionIn } from './pool-fields.ts';
import { lookInBlock } from './pools-in-blocks.ts';
import { valuesOfEach } from './terraform-copies.ts';
import { filledWith, isVariables, noValues, type TerraformValues, templateField } from './terraform-values.ts';
import { isTerragrunt, terragruntUnit } from './terragrunt.ts';
import { unpricedPool } from './unpriced-pools.ts';

/** A block of Terraform that may describe a pool, with the name by which messages call it: `aws_eks_node_group.gpu`. */
export interface TerraformBlock {
  readonly block: string;
  readonly fields: Fields;
  /** The pool's name, if the fields have none. */
  readonly name: string | null;
  /** A provider of its own decides its place. */
  readonly isElsewhere: boolean;
  /** The block around the fields, which may have a number of copies itself; null for a resource of a pool. */
  readonly parent: Fields | null;
  /** The local value that has the pool. */
  readonly local?: string;
  /** The fields are the inputs of a unit of Terragrunt, to which it adds those of the files that it includes. */
  readonly isUnit?: true;
}

/** More pools in one file are generated. */
const maxPools = 200;

/**
 * The blocks of a file of Terraform that may describe pools: resources of pools, and maps of pools that a module gets.
 * @param name the file's name: one that sets variables may have such maps
 */
export function terraformBlocks(text: string, name = ''): readonly TerraformBlock[] {
  if (isTerragrunt(name)) return terragruntBlocks(text, name);
  if (!namesMachines(text)) return [];
  const found: TerraformBlock[] = [];
  const blocks = readHcl(isVariables(name) ? `locals {\n${text}\n}` : text);
  const groups = blocks.filter(({ labels: [kind = ''], body }) => isPool.test(kind) || body.has(mixedPolicy));
  const templates = new Set(groups.map(({ body }) => templateOf(body)));
  for (const { type, labels, body } of blocks) {
    const isElsewhere = body.has('provider') || body.has('providers');
    const block = (type === 'resource' ? labels : [type, ...labels]).join('.');
    const [kind = '', called = null] = labels;
    const isWhole = type === 'resource' && (isPool.test(kind) || body.has(mixedPolicy));
    const add = (fields: Fields, name: string | null, local?: string) =>
      found.push({
        ...{ block, name, isElsewhere },
        ...(local !== undefined && { local }),
        ...(isWhole
          ? { fields, parent: null }
          : { fields: inParent(fields, name, body), parent: type === 'locals' ? new Map() : body }),
      });
    if (isWhole) add(withTemplate(body), called);
    // The node group has the size and the labels.
    else if (kind === 'aws_launch_template' && templates.has(called ?? undefined)) continue;
    else lookInBlock(isVariables(name) ? 'variables' : type, kind, body, add);
    if (found.length >= maxPools) break;
  }
  return found;
}

/** The inputs of a unit of Terragrunt are a module's, unless the files of the module are here. */
function terragruntBlocks(text: string, name: string): readonly TerraformBlock[] {
  const { source, module, inputs } = terragruntUnit(text);
  if (source !== null || !/(?:^|\/)terragrunt\.hcl$/.test(name)) return [];
  const fields = new Map([...inputs, ['source', module]]);
  return [{ block: 'terragrunt', name: null, isElsewhere: false, fields, parent: null, isUnit: true }];
}

/** The pools among the inputs of a unit. */
function blocksOfUnit(inputs: Fields): readonly TerraformBlock[] {
  const found: TerraformBlock[] = [];
  lookInBlock('module', 'terragrunt', inputs, (fields, name) =>
    found.push({
      block: 'terragrunt',
      name,
      isElsewhere: false,
      fields: inParent(fields, name, inputs),
      parent: inputs,
    }),
  );
  return found;
}

/**
 * The fields of a pool with those that its module or cluster has for all its pools: its place, and labels and taints by the names of pools.
 * https://registry.terraform.io/modules/terraform-google-modules/kubernetes-engine/google
 */
function inParent(fields: Fields, name: string | null, parent: Fields): Fields {
  const own = fields.get('name') ?? name;
  const ofPool = (map: Field | undefined) =>
    isFields(map) && typeof own === 'string' ? ['all', own].map((key) => map.get(key)) : [];
  const added = ofPool(parent.get('node_pools_labels')).flatMap((some) => (isFields(some) ? [...some] : []));
  const taints = ofPool(parent.get('node_pools_taints')).flatMap((some) => (Array.isArray(some) ? some : []));
  const hasOwn = [...placeKeys, 'zone'].some((key) => fields.has(key));
  const place = hasOwn ? undefined : placeKeys.find((key) => parent.has(key));
  const zones = ofGoogle(parent) && !fields.has('node_locations') ? parent.get('zones') : undefined;
  return new Map([
    ...(zones === undefined ? [] : [['node_locations', zones] as const]),
    ...[place, 'node_locations'].flatMap((key) =>
      key && parent.has(key) ? [[key, parent.get(key) ?? null] as const] : [],
    ),
    ...(added.length === 0 ? [] : [['labels', new Map(added)] as const]),
    ...(taints.length === 0 ? [] : [['taints', taints] as const]),
    ...fields,
  ]);
}

/** Pools of Google's module are in all its zones. https://registry.terraform.io/modules/terraform-google-modules/kubernetes-engine/google */
function ofGoogle(parent: Fields): boolean {
  const source = parent.get('source');
  return typeof source === 'string' && clusterModule.exec(source)?.[1] === 'google';
}

const placeKeys = ['region', 'location', 'zones'];

/** The fields of a node group, with the machine of its launch template if it names none. */
function withTemplate(fields: Fields): Fields {
  const name = templateOf(fields);
  if (name === undefined || fields.has('instance_types')) return fields;
  const ofTemplate = (field: string) => ({ template: `\${${templateField(name, field)}}` });
  return new Map<string, Field>([
    ...fields,
    ['instance_types', ofTemplate('instance_type')],
    ...(fields.has('capacity_type') ? [] : [['market_type', ofTemplate('market_type')] as const]),
  ]);
}

/** The launch template of a node group. */
function templateOf(group: Fields): string | undefined {
  const [template] = [group.get('launch_template') ?? templateInPolicy(group)].flat();
  const id = isFields(template) ? idKeys.map((key) => template.get(key)).find((one) => one !== undefined) : null;
  return isTemplateText(id) ? launchTemplate.exec(id.template)?.[1] : undefined;
}

const idKeys = ['id', 'name', 'launch_template_id', 'launch_template_name'];

const launchTemplate = /^\$\{aws_launch_template\.([\w-]+)\.(?:id|name)\}$/;

/**
 * The pools of GPU nodes that a block describes with the values of its folder: several with `for_each`, none for other nodes.
 * @param placeOf the place of a cloud's clusters, for a pool that states none
 */
export function terraformPoolsOf(
  block: TerraformBlock,
  values: TerraformValues = noValues,
  placeOf: (cloud: Provider) => string | null = () => null,
): readonly NodePool[] {
  const { fields, name, isElsewhere, parent } = block;
  if (block.isUnit) return blocksOfUnit(fields).flatMap((one) => terraformPoolsOf(one, values, placeOf));
  const single = new Map([...fields].filter(([key]) => key !== 'for_each'));
  // In a mapping, `count` is the number of nodes.
  const copied = parent === null ? fields : new Map([...fields].filter(([key]) => key !== 'count'));
  const times = filledWith(parent?.get('count') ?? '1', values);
  const isOff = isSwitchedOff(parent?.get('count'), values) || isSwitchedOff(copied.get('count'), values);
  if (times === '0' && !isOff) return [];
  // The folder is a module, of which there are several copies.
  const isModules = values.has('var.for_each') || (values.has('var.count') && values.get('var.count') !== '1');
  const isRepeated = isModules || times !== '1' || parent?.has('for_each');
  return valuesOfEach(copied, values, parent === null).flatMap((own) => {
    const filled = filledWith(single, own);
    const count = isFields(filled) ? (isOff ? '1' : filled.get('count')) : '0';
    if (!isFields(filled) || count === '0') return [];
    const alone = poolInFields(filled, name);
    const placed =
      alone?.placedBy &&
      new Map([...filled, ['location', isElsewhere ? null : (placeOfCluster(fields, own) ?? placeOf(alone.placedBy))]]);
    const pool = placed ? poolInFields(placed, name) : (alone ?? unpricedPool(block.block, filled, name));
    const isSingle =
      !isRepeated &&
      (count === undefined || count === '1' || own.has('count.index')) &&
      (single.size === fields.size || own.has('each.key'));
    if (pool === undefined) return [];
    return isOff ? { ...pool, size: noNodes } : isSingle ? pool : { ...pool, size: { min: null, max: null } };
  });
}

/** A pool that is off has no nodes until its variable turns it on. */
const noNodes = { min: 0, max: 0 };

/** Whether a number of copies is 0 because a variable says so: `var.has_gpus ? 1 : 0`. */
function isSwitchedOff(count: Field | undefined, values: TerraformValues): boolean {
  return isTemplateText(count) && count.otherwise !== undefined && filledWith(count, values) === '0';
}

/** The place of the cluster to which a pool refers; undefined if the folder does not state it. */
function placeOfCluster(fields: Fields, values: TerraformValues): string | undefined {
  const [place] = ['cluster', 'kubernetes_cluster_id'].flatMap((key) => {
    const reference = fields.get(key);
    const [, cluster] = (isTemplateText(reference) && namedCluster.exec(reference.template)) || [];
    return cluster === undefined ? [] : (placeText(filledWith({ template: `\${${cluster}.location}` }, values)) ?? []);
  });
  return place;
}

const namedCluster = /^\$\{(\w+_cluster\.[\w.-]+)\.(?:id|name|self_link)\}$/;

/** Whether a text can describe pools. Other files are not read. */
export function namesMachines(text: string): boolean {
  return machineWords.test(text);
}

const machineWords = either(
  /\b(?:machine_type|instance_types?|launch_template|vm_size|node_shape|preset)\b/,
  // Pools of clouds whose machines have other names.
  /"(?:digitalocean|civo|ibm|linode|ovh|scaleway|vultr)_\w{1,40}pools?"|"yandex_kubernetes_node_group"|"crusoe_kubernetes_node_pool"/,
  // A list of pools, which a variable holds.
  /(?:pool|group)s?\s{1,20}=\s{1,3}var\./,
);

const isPool = /node_?(?:pool|group)|machine_?pool|worker_?pool|^scaleway_k8s_pool$|^aws_autoscaling_group$/;
/** What a file states about the region of a cloud's pools. */
export interface TerraformRegion {
  readonly cloud: Provider;
  /** The cluster takes precedence over the provider. */
  readonly by: 'cluster' | 'provider';
  /** As written, with variables; null: unknown; undefined: the cluster states none. */
  readonly place: string | Template | null | undefined;
  /** A cluster of GKE Autopilot. */
  readonly isAutopilot?: true;
}

const cloudOfWord = table<Provider>({ aws: 'aws', google: 'gcp', azurerm: 'azure' });

/** The regions of the clusters and of the default providers in a file. */
export function terraformRegions(text: string): readonly TerraformRegion[] {
  if (!statesRegions(text)) return [];
  return readHcl(text).flatMap(({ type, labels: [label = ''], body }): TerraformRegion | readonly TerraformRegion[] => {
    const source = body.get('source');
    const [, owner] = (type === 'module' && typeof source === 'string' && clusterModule.exec(source)) || [];
    const ofModule = cloudOfWord[owner ?? ''];
    const isAutopilot = body.get('enable_autopilot') === 'true' || /\/modules\/[\w-]*autopilot/.test(String(source));
    const mode = isAutopilot ? ({ isAutopilot } as const) : {};
    if (ofModule !== undefined) return { cloud: ofModule, by: 'cluster', place: undefined, ...mode };
    const cloud = cloudOfWord[label.split(/[-_]/, 1)[0] ?? ''];
    const isProvider = type === 'provider' && !body.has('alias');
    if (cloud === undefined || !(isProvider || (type === 'resource' && isCluster.test(label)))) return [];
    const [stated] = (isProvider ? ['region', 'zone'] : ['location', 'region']).flatMap((key) => {
      const field = body.get(key);
      return field === undefined ? [] : [field];
    });
    if (stated === undefined) return isProvider ? [] : { cloud, by: 'cluster', place: undefined, ...mode };
    const place = typeof stated === 'string' || isTemplateText(stated) ? stated : null;
    return { cloud, by: isProvider ? 'provider' : 'cluster', place, ...mode };
  });
}

const isCluster = /_(?:kubernetes|container|eks)_cluster$/;

/** `terraform-aws-modules/eks/aws`. */
const clusterModule = /^[\w.-]+\/(?:eks|kubernetes-engine|aks)\/(aws|google|azurerm)\b/;

/** Whether a text can state regions. */
export function statesRegions(text: string): boolean {
  return /\bprovider\s{1,9}"|_cluster"|\/(?:eks|kubernetes-engine|aks)\//.test(text);
}

/** The zone or region of a cloud by all statements of a folder and its values; null if it is unknown, or if there are several regions. */
export function placeBy(
  statements: readonly TerraformRegion[],
  cloud: Provider,
  values: TerraformValues = noValues,
): string | null {
  const about = statements.filter((one) => one.cloud === cloud && one.place !== undefined);
  const clusters = about.filter(({ by }) => by === 'cluster');
  const places = (clusters.length > 0 ? clusters : about).map(({ place }) =>
    placeText(filledWith(place ?? null, values)),
  );
  const region = regionIn(places);
  return region !== null && new Set(places).size === 1 ? (places[0] ?? null) : region;
}

/** Azure's regions are also written as `West Europe`. */
function placeText(field: Field): string | null {
  return typeof field === 'string' ? field.toLowerCase().replaceAll(' ', '') : null;
}

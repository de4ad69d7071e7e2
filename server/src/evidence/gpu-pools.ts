import { gpusByLabel, instanceType, isGpuLabel, isInstanceTypeLabel, type Vendor } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { poolOfFields } from '../model/kinds/object-kinds.ts';
import { groupOf } from '../model/manifest.ts';
import type { NodePool } from '../model/node-pool.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asString,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { type LocatedPool, workerPools } from './cluster-pools.ts';
import { type Field, fieldOf, isFields } from './fields.ts';
import { poolsWithTemplates, withTemplates } from './machine-templates.ts';
import { poolInFields, withCount } from './pool-fields.ts';
import { computeClassPools, eksctlPool, karpenterPool } from './pool-nodes.ts';
import { pulumiPools } from './pulumi-pools.ts';
import { stackPools } from './stack-pools.ts';

/** A pool of nodes that all have accelerators, with its place in an autoscaler's object. */
export interface GpuPool {
  readonly kind: 'NodePool' | 'Provisioner' | 'node group';
  readonly pool: NodePool;
  /** Why all its nodes have accelerators: `p5.48xlarge`, `instance-category p`. */
  readonly because: string;
  /** null if it is unknown, or if the nodes have devices of several vendors. */
  readonly vendor: Vendor | null;
  /** The mapping that holds (or should hold) the taints. */
  readonly owner: Cursor;
  readonly taints: Cursor | undefined;
  /** The mapping that holds its limits; undefined for pools with other bounds. */
  readonly spec: Cursor | undefined;
}

/** The pools of GPU nodes that an object of a file describes, each with the mapping that describes it. `all`: the objects of the file. */
export function locatedPools(manifest: Manifest, all: () => readonly Manifest[]): readonly LocatedPool[] {
  const described = poolsWithTemplates(manifest);
  if (described !== undefined) return withTemplates(described, all());
  const listed = listedPools(manifest);
  if (listed !== undefined) return listed;
  if (manifest.kind === 'ClusterConfig') return gpuPools(manifest).map(({ pool, owner }) => ({ pool, at: owner }));
  const found = poolsByFields(manifest);
  return found.length > 0 ? found : poolsOf(manifest).map((pool) => ({ pool, at: manifest.root }));
}

/** The pools of GPU nodes that an object describes. */
export function poolsOf(manifest: Manifest): readonly NodePool[] {
  if (manifest.kind === 'ComputeClass') return computeClassPools(manifest);
  const found = listedPools(manifest) ?? poolsByFields(manifest);
  return (found.length === 0 ? gpuPools(manifest) : found).map(({ pool }) => pool);
}

/** The pools in a file that lists the resources of a cloud, or of a whole cluster; undefined for other objects. */
function listedPools(manifest: Manifest): ReturnType<typeof locatedPools> | undefined {
  const group = groupOf(manifest.apiVersion);
  if (group === 'cloudformation') return stackPools(manifest);
  if (group === 'k0rdent.mirantis.com') return workerPools(manifest);
  return manifest.kind === 'Project' && group === 'pulumi.com' ? pulumiPools(manifest) : undefined;
}

/** The pools of a provider's own kind, each with the mapping that describes it. */
export function poolsByFields(manifest: Manifest): readonly LocatedPool[] {
  const { root, apiVersion, kind } = manifest;
  const described = poolOfFields(groupOf(apiVersion), kind);
  if (described === undefined) return [];
  const { pools: path, label } = described;
  const spec = getIn(root, 'spec');
  const region = getIn(spec, 'region');
  return (path === undefined ? [root] : items(getIn(spec, ...path))).flatMap((at) => {
    const written = path === undefined ? null : fieldOf(at);
    const place = region === undefined ? [] : [['region', fieldOf(region)] as const];
    const several = isFields(written) ? poolInFields(new Map([...written, ...place]), null) : undefined;
    const pool = path === undefined ? poolByFields(manifest) : several;
    return pool === undefined ? [] : [{ pool: label === undefined ? pool : withName(pool, label), at }];
  });
}

/** The pool with its name as a label of its nodes. */
function withName(pool: NodePool, key: string): NodePool {
  const { name, labels, terms = [[]] } = pool;
  if (name === null) return pool;
  const added = { key, operator: 'In' as const, values: [name] };
  return {
    ...{ ...pool, labels: table(labels, { [key]: name }), terms: terms.map((term) => [...term, added]) },
    // kOps runs no such admission plugin.
    ...(key.startsWith('kops.') && { toleratesRequested: false }),
  };
}

/** The pool of an object: its nodes are in `spec`, or under `template` in Cluster API and OpenShift. */
function poolByFields({ root, name }: Manifest): NodePool | undefined {
  const spec = getIn(root, 'spec');
  const region = getIn(root, 'metadata', 'annotations', regionOfController);
  const place = region === undefined ? [] : [['region', fieldOf(region)] as const];
  const nodes = getIn(spec, 'template', 'spec');
  const fields = [spec, nodes].map((at) => (at === undefined ? new Map<string, Field>() : fieldOf(at)));
  const [outer, inner] = fields;
  if (!isFields(outer) || !isFields(inner)) return undefined;
  return poolInFields(
    nodes === undefined
      ? new Map([...place, ...withCount(outer)])
      : new Map([...outer].filter(([key]) => key === 'replicas').concat([...inner])),
    name,
  );
}

/** Where a controller of AWS makes what an object describes. https://aws-controllers-k8s.github.io/community/docs/user-docs/multi-region-resource-management */
const regionOfController = 'services.k8s.aws/region';

/** The pools of an object that offer only nodes with accelerators. Pools that may also start CPU nodes are excluded. */
export function gpuPools(manifest: Manifest): readonly GpuPool[] {
  const { root, kind, apiVersion } = manifest;
  if (!poolKinds.has(kind)) return [];
  const group = groupOf(apiVersion);
  const spec = getIn(root, 'spec');
  if (group === 'karpenter.sh' && kind === 'NodePool') {
    return fromRequirements(manifest, 'NodePool', getIn(spec, 'template', 'spec'), spec);
  }
  if (group === 'karpenter.sh' && kind === 'Provisioner') return fromRequirements(manifest, 'Provisioner', spec, spec);
  if (group === 'eksctl.io' && kind === 'ClusterConfig') {
    return [...items(getIn(root, 'nodeGroups')), ...items(getIn(root, 'managedNodeGroups'))].flatMap((group) =>
      eksctlGroup(root, group),
    );
  }
  return [];
}

const poolKinds = wordSet('NodePool Provisioner ClusterConfig');

/** What a message calls the nodes of a pool: Neuron devices and TPUs are not GPUs. */
export function nodeWord(vendor: Vendor | null): string {
  return vendor === 'aws' || vendor === 'google' ? 'accelerator' : 'GPU';
}

function fromRequirements(
  manifest: Manifest,
  kind: 'NodePool' | 'Provisioner',
  owner: Cursor | undefined,
  spec: Cursor | undefined,
): readonly GpuPool[] {
  if (owner === undefined || spec === undefined || isIncomplete(owner) || isIncomplete(spec)) return [];
  const requirements = items(getIn(owner, 'requirements'));
  // Simulated nodes.
  if (requirements.some((requirement) => /kwok/.test(asText(getIn(requirement, 'key')) ?? ''))) return [];
  const because = requirements.map(meansGpu).find((reason) => reason !== undefined);
  if (because === undefined) return [];
  return [{ kind, pool: karpenterPool(manifest, owner), ...because, owner, taints: getIn(owner, 'taints'), spec }];
}

type Reason = Pick<GpuPool, 'because' | 'vendor'>;

/** Why a requirement allows only nodes with accelerators; undefined if it allows others. */
function meansGpu(requirement: Cursor): Reason | undefined {
  const key = asText(getIn(requirement, 'key')) ?? '';
  const operator = asString(getIn(requirement, 'operator'));
  const values = items(getIn(requirement, 'values'));
  const texts = values.map((value) => asText(value) ?? '');
  const short = key.slice(key.indexOf('/') + 1);
  const [first = ''] = texts;
  const reason = { because: `${short} ${first}`, vendor: vendorIn(key, texts) };
  if (/\/(?:instance-(?:gpu|accelerator)|sku-gpu)-(?:name|count|manufacturer|memory)$/.test(key)) {
    if (operator === 'Exists' || operator === 'Gt') return { because: short, vendor: vendorOf(key, '') };
    return operator === 'In' && texts.length > 0 && !texts.includes('0') ? reason : undefined;
  }
  if (operator !== 'In' || texts.length === 0 || values.some(isTemplated)) return undefined;
  const each = (test: (text: string) => boolean) => (texts.every(test) ? reason : undefined);
  if (/\/instance-category$/.test(key)) return each((text) => /^(?:p|g|inf|trn|dl)$/.test(text));
  if (/\/instance-family$/.test(key)) return each((text) => /^(?:p|gr?)\d[\w-]*$|^(?:inf|trn|dl)\d/.test(text));
  if (isInstanceTypeLabel(key)) return each((text) => hasAccelerator(text));
  // Azure's N series, whose cards are of several vendors.
  if (/\/sku-family$/.test(key)) return each((text) => text === 'N') && { because: reason.because, vendor: null };
  return isGpuLabel(key) ? each((text) => gpusByLabel(key, text).length > 0) : undefined;
}

/** The vendor of all values of a label. */
function vendorIn(key: string, values: readonly string[]): Vendor | null {
  const [vendor = null, ...others] = new Set(values.map((value) => vendorOf(key, value)));
  return others.length === 0 ? vendor : null;
}

/** The vendor of the accelerators that a label value names. AWS machines missing from the catalog are recognized by their family. */
function vendorOf(key: string, value: string): Vendor | null {
  if (key.endsWith('-manufacturer') && value !== '') return manufacturers[value.toLowerCase()] ?? null;
  const [model] = gpusByLabel(key, value);
  if (model !== undefined) return model.vendor;
  if (/^(?:inf|trn|trainium)/.test(value)) return 'aws';
  if (/^(?:dl|gaudi)/.test(value)) return 'habana';
  // The label that is about Gaudi, Inferentia and Trainium.
  return key.includes('/instance-accelerator-') ? null : 'nvidia';
}

/** https://karpenter.sh/docs/reference/instance-types/ */
const manufacturers = table<Vendor>({ aws: 'aws', amd: 'amd', habana: 'habana', nvidia: 'nvidia' });

function hasAccelerator(type: string): boolean {
  return (instanceType(type)?.gpu ?? null) !== null || /^(?:p|g)\d\w*\.|^(?:inf|trn|dl)\d\w*\./.test(type);
}

function eksctlGroup(cluster: Cursor, group: Cursor): readonly GpuPool[] {
  const types = [getIn(group, 'instanceType'), ...items(getIn(group, 'instanceTypes'))].filter(
    (type) => type !== undefined,
  );
  const mixed = items(getIn(group, 'instancesDistribution', 'instanceTypes'));
  const all = [...types.filter((type) => asText(type) !== 'mixed'), ...mixed];
  if (all.length === 0 || isIncomplete(group) || all.some(isTemplated)) return [];
  const names = all.map((type) => asText(type) ?? '');
  if (!names.every(hasAccelerator)) return [];
  return [
    {
      kind: 'node group',
      pool: eksctlPool(cluster, group, names),
      because: names[0] ?? '',
      vendor: vendorIn('node.kubernetes.io/instance-type', names),
      owner: group,
      taints: getIn(group, 'taints'),
      spec: undefined,
    },
  ];
}

/** Whether the pool has a taint that stays, in a list (Karpenter, eksctl) or in a mapping (older eksctl). */
export function hasTaints({ taints }: GpuPool): boolean {
  return (
    items(taints).some((taint) => !isStartupTaint(taint)) ||
    entries(taints).some((entry) => keyOf(entry) !== '') ||
    isIncomplete(taints) ||
    isTemplated(taints)
  );
}

/** The effects of a pool's taints if all that stay are only preferences of the scheduler. */
export function softEffects({ taints }: GpuPool): readonly Cursor[] {
  const staying = items(taints).filter((taint) => !isStartupTaint(taint));
  const effects = staying.flatMap((taint) => getIn(taint, 'effect') ?? []);
  const isSoft = effects.length === staying.length && effects.every((effect) => asText(effect) === 'PreferNoSchedule');
  return isSoft && !isIncomplete(taints) ? effects : [];
}

/** Whether an agent or an autoscaler removes the taint once the node is ready. */
function isStartupTaint(taint: Cursor): boolean {
  return /(?:(?:not-ready|uninitialized|unregistered)$|\/startup-taint|\/ignore-taint)/.test(
    asText(getIn(taint, 'key')) ?? '',
  );
}

/** The resource of a pool's nodes, used in limits and taints; undefined for unknown vendors and for vendors with few machines. */
export function poolResource(vendor: Vendor | null): string | undefined {
  if (vendor === 'aws') return 'aws.amazon.com/neuron';
  return vendor === 'nvidia' || vendor === 'amd' ? `${vendor}.com/gpu` : undefined;
}

import { isGpuLabel, knownAccelerator } from '../catalog/index.ts';
import { either, wordSet } from '../catalog/word-patterns.ts';
import { onMachines } from '../evidence/machine-templates.ts';
import { isVariables } from '../evidence/terraform-values.ts';
import { tolerates } from '../fleet/tolerations.ts';
import type { CloudSign } from '../model/cloud-sign.ts';
import type { Landing, RequiredLabel } from '../model/cross-references.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import { onDisk } from '../model/node-disk.ts';
import type { NodePool, NodeTaint, Tolerated } from '../model/node-pool.ts';
import type { NodeTerm } from '../model/node-terms.ts';
import { providerOfTerms, regionsOfTerms } from '../model/placement.ts';
import { termsWithinLimits } from '../model/pool-limits.ts';
import { lazy } from '../yaml/lazy.ts';
import { agreed, candidates, factsAs, referenced, type Scope } from './named.ts';
import { isInNodesFolder } from './nodes-folder.ts';
import { indexByPlace, type PlaceIndex } from './place-index.ts';
import { withSize } from './pool-sizes.ts';
import { canMeet } from './pool-terms.ts';
import { isTerraform, terraformKind } from './terraform.ts';
import { cloudOfClusters, terraformFolders, terraformKinds, terraformPools } from './terraform-folders.ts';
import { anyObject, type Found, type Workspace } from './workspace.ts';

/** The kinds on which the pools of a landing depend. */
export const poolKinds = [...kindsFor('pool'), ...kindsFor('nodes'), ...terraformKinds];

/**
 * The pools on which a pod must land: those whose own label it selects. A pod without selectors lands on the pools that need none, if all of
 * those are defined in its folder or above, or in the one folder of the project that has its nodes.
 */
export function landingOf(
  scope: Scope,
  wanted: readonly RequiredLabel[],
  isFree: boolean,
  tolerated?: readonly Tolerated[],
): Landing | undefined {
  scope.workspace.dependOn(poolKinds);
  const pools = poolsIn(scope.workspace);
  const linked = pools.linked(wanted);
  if (linked.places.all.length > 0) return landing(scope, openTo(tolerated, linked));
  return isFree ? landingNear(scope, pools.unselected, openTo(tolerated, pools.unselected)) : undefined;
}

/**
 * The pools whose nodes meet what a pod says about machines, cards and places, if they tolerate it and are near, as for a pod without selectors. They
 * decide prices; the pod may have other nodes.
 */
export function poolsFor(
  scope: Scope,
  wanted: readonly NodeTerm[],
  cards: number,
  tolerated?: readonly Tolerated[],
): Landing | undefined {
  scope.workspace.dependOn(poolKinds);
  const fitting = poolsIn(scope.workspace).fitting(wanted, cards);
  const open = openIn(tolerated, fitting);
  return landingNear(scope, fitting, open.length === fitting.places.all.length ? fitting : poolGroup(open));
}

/** The open pools, if all pools of a group are in the folder of the pod or above, or in the one folder of the project that has its nodes. */
function landingNear(scope: Scope, { places: { all, countAbove } }: PoolGroup, open: PoolGroup): Landing | undefined {
  if (all.length === 0) return undefined;
  const isAll = countAbove(scope) === all.length;
  if (!isAll && !isInNodesFolder(all, scope)) return undefined;
  const found = landing(scope, open);
  return found && (isAll ? found : { ...found, isElsewhere: true });
}

/** The cloud of all pools, or without any, of all clusters in Terraform: one repository is mostly about one cloud, whatever its folders. */
export function cloudOfPools(workspace: Workspace): CloudSign | undefined {
  workspace.dependOn(poolKinds);
  const pools = poolsIn(workspace);
  return pools.all.length > 0 ? pools.cloud() : cloudOfClusters(workspace);
}

/** The pools with accelerators that one file describes. */
export function poolsInFile(workspace: Workspace, uri: string): readonly NodePool[] {
  return poolsIn(workspace).all.flatMap((one) => (one.uri === uri ? one.pool : []));
}

/** @param clusters the cloud of the clusters, whose region is that of pools that state none */
function cloudOf(pools: readonly Pool[], clusters: () => CloudSign | undefined): CloudSign | undefined {
  const [first] = pools;
  const [provider = null, ...others] = new Set(pools.map(({ pool }) => providerOfTerms(pool.terms ?? [])));
  if (first === undefined || provider === null || others.length > 0) return undefined;
  const text = first.pool.name === null ? 'node pool' : `node pool ${first.pool.name}`;
  const each = pools.map(({ pool, object }) => ({ regions: regionsOfTerms(pool.terms ?? []), object }));
  // Terraform states the region of a pool unless it is another one.
  if (each.some(({ regions, object }) => regions.length === 0 && object.kind === terraformKind))
    return { provider, region: null, text };
  const [region, ...more] = new Set(each.flatMap(({ regions }) => regions));
  const around = region === undefined ? clusters() : undefined;
  if (around?.provider === provider && around.region !== null) return around;
  return { provider, region: region === undefined || more.length > 0 ? null : region, text };
}

/** The pools whose taints are tolerated; all of them if there is none: the tolerations are still missing, which is for a rule to say. */
function openTo(tolerated: readonly Tolerated[] | undefined, group: PoolGroup): PoolGroup {
  const { all } = group.places;
  const open = openIn(tolerated, group);
  return open.length === 0 || open.length === all.length ? group : poolGroup(open);
}

function openIn(tolerated: readonly Tolerated[] | undefined, { places: { all } }: PoolGroup): readonly Pool[] {
  const admits = ({ key, value, effect }: NodeTaint) =>
    effect === 'PreferNoSchedule' ||
    tolerated?.some((one) => tolerates(one, { key, value: value ?? one.value, effect })) === true;
  return tolerated === undefined
    ? all
    : all.filter(({ pool: { taints, toleratesRequested } }) => {
        // The provider adds the toleration for the devices that a pod requests.
        const own = taints?.filter(({ key }) => toleratesRequested !== true || knownAccelerator(key) === undefined);
        return own?.every(admits) ?? true;
      });
}

/** A pool, with the place of its definition. */
interface Pool extends Found {
  readonly pool: NodePool;
}

type Common = Pick<Landing, 'taints' | 'toleratesRequested' | 'gpus' | 'terms' | 'startable' | 'most'>;

interface PoolGroup {
  readonly places: PlaceIndex<Pool>;
  /** What all of them have in common; undefined if one of them is incomplete. */
  readonly alike: () => Common | undefined;
}

interface Pools {
  readonly all: readonly Pool[];
  /** The number of objects that describe a pool under this name: the pool itself, and patches of it. */
  readonly namesakes: (pool: Pool) => number;
  readonly unselected: PoolGroup;
  readonly cloud: () => CloudSign | undefined;
  readonly linked: (wanted: readonly RequiredLabel[]) => PoolGroup;
  readonly fitting: (wanted: readonly NodeTerm[], cards: number) => PoolGroup;
}

/** More pools are generated, or those of many projects. */
const maxFitting = 40;

function landing(scope: Scope, { places, alike }: PoolGroup): Landing | undefined {
  const [first] = places.all;
  const common = alike();
  if (first === undefined || common === undefined) return undefined;
  const siblingFolder = places.isAnyInSiblingFolder(scope);
  const near = places.nearest(scope);
  const isNearest = near.length < places.all.length;
  const { gpus, terms, startable } = (isNearest ? machinesOf(near) : undefined) ?? common;
  const isPart = isNearest || places.all.some((one) => poolsIn(scope.workspace).namesakes(one) > 1);
  const shown = { ...common, gpus, terms, startable, ...(isPart && { isPart }) };
  return { ...shown, first: referenced(scope, near[0] ?? first, null), others: places.all.length - 1, siblingFolder };
}

/** What the nearest pools have in common: those of other folders may be other examples. */
function machinesOf(near: readonly Pool[]): Common | undefined {
  const before = machinesNear.get(near);
  if (before !== undefined) return before;
  const found = alike(near.map(({ pool }) => pool));
  if (found !== undefined) machinesNear.set(near, found);
  return found;
}

const machinesNear = new WeakMap<readonly Pool[], Common>();

const known = new WeakMap<Workspace, { readonly stamp: number; readonly pools: Pools }>();

/** More pools of Terraform are generated: each block of a module with copies may have copies itself. */
const maxCopies = 5_000;

/** The pools of all files, grouped once for all scopes. */
function poolsIn(workspace: Workspace): Pools {
  const stamp = workspace.stampOf(poolKinds);
  const before = known.get(workspace);
  if (before?.stamp === stamp) return before.pools;
  const folders = terraformFolders(workspace);
  let copies = 0;
  const inTerraform = (one: Found) => {
    const made = copies < maxCopies ? terraformPools(one, folders) : [];
    copies += made.length;
    return made;
  };
  const found = poolKinds.flatMap((kind) =>
    workspace.objects(kind, anyObject, '').all.flatMap((one) =>
      (factsAs(one.object, 'pools') ?? inTerraform(one)).flatMap((described): Pool | readonly Pool[] => {
        const pool = withMachines(described, one.object.namespace, { ...one, workspace });
        return pool === undefined
          ? []
          : { ...one, pool: withDisk(withSize(pool, one.object, { ...one, workspace }), { ...one, workspace }) };
      }),
    ),
  );
  // What a file of variables sets becomes pools by other files, if these are here and name its machines.
  const stated = new Set(
    found.flatMap(({ fileName, pool }) => (isTerraform(fileName) && !isVariables(fileName) ? String(pool.gpus) : [])),
  );
  const all = found.filter(({ fileName, pool }) => !(isVariables(fileName) && stated.has(String(pool.gpus))));
  const byLabel = new Map<string, Pool[]>();
  for (const one of all) {
    for (const [key, value] of Object.entries(one.pool.labels)) {
      if (!isPoolLabel(key) && !isGpuLabel(key)) continue;
      const word = JSON.stringify([key, value]);
      const same = byLabel.get(word);
      if (same === undefined) byLabel.set(word, [one]);
      else same.push(one);
    }
  }
  const order = new Map(all.map((one, index) => [one, index]));
  const answers = new Map<string, PoolGroup>();
  const unselected = poolGroup(all.filter(({ pool }) => pool.needsSelector !== true));
  const named = new Map<string, Set<string>>();
  for (const { key, object } of all) {
    const places = named.get(nameOf(object)) ?? new Set();
    named.set(nameOf(object), places.add(key));
  }
  const pools: Pools = {
    all,
    namesakes: ({ object }) => named.get(nameOf(object))?.size ?? 0,
    unselected,
    cloud: lazy(() => cloudOf(all, () => cloudOfClusters(workspace))),
    linked(wanted) {
      const question = JSON.stringify(wanted);
      const answer = answers.get(question);
      if (answer !== undefined) return answer;
      const under = (isKey: (key: string) => boolean) =>
        wanted.flatMap(({ key, values }) => {
          const each = isKey(key) ? values.map((value) => byLabel.get(JSON.stringify([key, value])) ?? []) : [];
          // The nodes of a value without pools are elsewhere.
          return each.every((pools) => pools.length > 0) ? each.flat() : [];
        });
      const named = under(isPoolLabel);
      const linked = [...new Set(named.length > 0 ? named : inOneFolder(under(isGpuLabel)))].filter(({ pool }) =>
        wanted.every((label) => canHave(pool, label)),
      );
      const made = poolGroup(linked.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)));
      answers.set(question, made);
      return made;
    },
    fitting(wanted, cards) {
      const question = `fitting ${cards} ${JSON.stringify(wanted)}`;
      const answer = answers.get(question);
      if (answer !== undefined) return answer;
      // Cards alone do not say which of several clouds has the pods.
      const isIn = providerOfTerms(wanted) !== null || pools.cloud() !== undefined;
      const open = !isIn || unselected.places.all.length > maxFitting ? [] : unselected.places.all;
      const made = poolGroup(open.filter(({ pool }) => canMeet(pool, wanted, cards)));
      answers.set(question, made);
      return made;
    },
  };
  known.set(workspace, { stamp, pools });
  return pools;
}

/** The pool with the machines of its template; undefined if they are unknown or have no accelerators. */
function withMachines(pool: NodePool, namespace: string | null, scope: Scope): NodePool | undefined {
  const { machines } = pool;
  if (machines === undefined) return pool;
  const known = agreed(scope, candidates(scope, machines.kind, namespace, machines.name), 'machines')?.facts;
  return known && onMachines(pool, known);
}

function nameOf({ kind, name }: Found['object']): string {
  return `${kind} ${name}`;
}

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/** The pool with the disks of its node class. */
function withDisk(pool: NodePool, scope: Scope): NodePool {
  const { nodeClass, terms } = pool;
  if (nodeClass === undefined || terms === undefined) return pool;
  const group = candidates(scope, nodeClass.kind, null, nodeClass.name);
  const disk = agreed(scope, group, 'disk')?.facts;
  return disk === undefined ? pool : { ...pool, terms: terms.map((term) => [...term, ...onDisk(disk)]) };
}

/** Pools with the same cards are those of the pods only if they are all of one project. */
function inOneFolder(pools: readonly Pool[]): readonly Pool[] {
  const open = pools.filter(({ pool }) => pool.needsSelector !== true);
  const folders = new Set(open.map(({ key }) => folderOf(key)));
  return folders.size === 1 ? open : [];
}

function poolGroup(pools: readonly Pool[]): PoolGroup {
  return { places: indexByPlace(pools), alike: lazy(() => alike(pools.map(({ pool }) => pool))) };
}

function alike(pools: readonly NodePool[]): Common | undefined {
  const [first, ...others] = pools;
  if (first === undefined || pools.some(({ incomplete }) => incomplete === true)) return undefined;
  const terms = pools.map((pool) => pool.terms ?? []);
  const isKnown = terms.every((some) => some.length > 0);
  const shared = (taint: NodeTaint) => others.every(({ taints }) => taints?.some((one) => same(one, taint)) === true);
  const taints = first.taints?.filter(shared) ?? [];
  const gpus = pools.map((pool) => pool.gpus ?? []);
  return {
    taints,
    toleratesRequested: pools.some(({ toleratesRequested }) => toleratesRequested === true),
    gpus: gpus.every((ids) => ids.length > 0) ? [...new Set(gpus.flat())] : [],
    terms: isKnown ? terms.flat() : [],
    startable: isKnown ? pools.flatMap(termsWithinLimits) : [],
    most: pools.reduce<number | null>((sum, pool) => (sum === null ? null : add(sum, mostOf(pool))), 0),
  };
}

function add(sum: number, most: number | null): number | null {
  return most === null ? null : sum + most;
}

/** The most GPUs that a pool may have at once. */
function mostOf({ limits, size, devices }: NodePool): number | null {
  const nodes = size?.max == null || devices == null ? null : size.max * devices;
  const limit = limits?.['nvidia.com/gpu'] ?? null;
  return nodes === null || limit === null ? (nodes ?? limit) : Math.min(nodes, limit);
}

function canHave({ labels }: NodePool, { key, values }: RequiredLabel): boolean {
  return !Object.hasOwn(labels, key) || values.length === 0 || values.includes(labels[key] ?? '');
}

/** Whether a label identifies the pool. Other labels describe the kind of node. */
function isPoolLabel(key: string): boolean {
  return (
    poolLabels.has(key) ||
    /^karpenter\.sh\/(?:nodepool|provisioner-name)|^(?:alpha\.eksctl\.io|eks\.amazonaws\.com)\/nodegroup/.test(key) ||
    /^node-role\.kubernetes\.io\/|^(?:.*\.)?node-restriction\.kubernetes\.io\//.test(key) ||
    !vendorLabel.test(key)
  );
}

const poolLabels = wordSet(
  'cloud.google.com/gke-nodepool cloud.google.com/compute-class kubernetes.azure.com/agentpool',
  'kops.k8s.io/instancegroup nvidia.com/gpu amd.com/gpu',
);

/** Labels of clouds, Kubernetes and device plugins describe nodes. */
const vendorLabel = either(
  /(?:^|\.)(?:kubernetes\.io|k8s\.io|k8s\.aws|karpenter\.sh)\//,
  /(?:^|\.)(?:amazonaws|azure|google)\.com\//,
  /(?:^|\.)(?:nvidia|amd)\.com\//,
);

function same(a: NodeTaint, b: NodeTaint): boolean {
  return a.key === b.key && a.value === b.value && a.effect === b.effect;
}

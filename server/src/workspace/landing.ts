import type { Landing, RequiredLabel } from '../model/cross-references.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import type { NodePool, NodeTaint } from '../model/node-pool.ts';
import { lazy } from '../yaml/lazy.ts';
import { type Asker, factsAs, seen } from './named.ts';
import { type Places, placesOf } from './places.ts';
import { everyOne, type Found, type Workspace } from './workspace.ts';

export const poolKinds = kindsFor('pool');

/**
 * The pools on which a pod lands for sure, if on any: those whose own label it selects; for one that selects nothing all there are, where none of
 * them is described in another folder than its own or one above.
 */
export function landingOf(asker: Asker, wanted: readonly RequiredLabel[], isFree: boolean): Landing | undefined {
  asker.workspace.restOn(poolKinds);
  const pools = poolsIn(asker.workspace);
  const linked = pools.linked(wanted);
  if (linked.places.all.length > 0) return landed(asker, linked);
  const { places } = pools.open;
  return isFree && places.countAbove(asker) === places.all.length ? landed(asker, pools.open) : undefined;
}

/** A pool, where it is described. */
interface Pool extends Found {
  readonly pool: NodePool;
}

interface Together {
  readonly places: Places<Pool>;
  /** What they are all like; undefined where one of them leaves it open. */
  readonly alike: () => Pick<Landing, 'taints' | 'toleratesRequested'> | undefined;
}

interface Pools {
  readonly open: Together;
  readonly linked: (wanted: readonly RequiredLabel[]) => Together;
}

function landed(asker: Asker, { places, alike }: Together): Landing | undefined {
  const [first] = places.all;
  const common = alike();
  if (first === undefined || common === undefined) return undefined;
  const siblingFolder = places.isAnyApart(asker);
  return { ...common, first: seen(asker, first, null), others: places.all.length - 1, siblingFolder };
}

const known = new WeakMap<Workspace, { readonly stamp: number; readonly pools: Pools }>();

/** The pools of all files, sorted once for all that ask. */
function poolsIn(workspace: Workspace): Pools {
  const stamp = workspace.stampOf(poolKinds);
  const before = known.get(workspace);
  if (before?.stamp === stamp) return before.pools;
  const all = poolKinds.flatMap((kind) =>
    workspace
      .objects(kind, everyOne, '')
      .all.flatMap((found) => (factsAs(found.object, 'pools') ?? []).map((pool): Pool => ({ ...found, pool }))),
  );
  const byLabel = new Map<string, Pool[]>();
  for (const one of all) {
    for (const [key, value] of Object.entries(one.pool.labels)) {
      if (!isOwn(key)) continue;
      const word = JSON.stringify([key, value]);
      const same = byLabel.get(word);
      if (same === undefined) byLabel.set(word, [one]);
      else same.push(one);
    }
  }
  const order = new Map(all.map((one, index) => [one, index]));
  const answers = new Map<string, Together>();
  const pools: Pools = {
    open: together(all.filter(({ pool }) => pool.needsSelector !== true)),
    linked(wanted) {
      const question = JSON.stringify(wanted);
      const answer = answers.get(question);
      if (answer !== undefined) return answer;
      const named = wanted.flatMap(({ key, values }) =>
        values.length === 1 ? (byLabel.get(JSON.stringify([key, values[0]])) ?? []) : [],
      );
      const linked = [...new Set(named)].filter(({ pool }) => wanted.every((label) => mayHave(pool, label)));
      const made = together(linked.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)));
      answers.set(question, made);
      return made;
    },
  };
  known.set(workspace, { stamp, pools });
  return pools;
}

function together(pools: readonly Pool[]): Together {
  return { places: placesOf(pools), alike: lazy(() => alike(pools.map(({ pool }) => pool))) };
}

function alike(pools: readonly NodePool[]): ReturnType<Together['alike']> {
  const [first, ...others] = pools;
  if (first === undefined || pools.some(({ incomplete }) => incomplete === true)) return undefined;
  const shared = (taint: NodeTaint) => others.every(({ taints }) => taints?.some((one) => same(one, taint)) === true);
  const taints = first.taints?.filter(shared) ?? [];
  return { taints, toleratesRequested: pools.some(({ toleratesRequested }) => toleratesRequested === true) };
}

function mayHave({ labels }: NodePool, { key, values }: RequiredLabel): boolean {
  return !Object.hasOwn(labels, key) || values.length === 0 || values.includes(labels[key] ?? '');
}

/** A label that the pool gives its nodes itself; other labels say what kinds of nodes there are at all. */
function isOwn(key: string): boolean {
  return (
    /^(?:karpenter\.sh\/(?:nodepool|provisioner-name)|(?:alpha\.eksctl\.io|eks\.amazonaws\.com)\/nodegroup)/.test(
      key,
    ) ||
    !/(?:^|\.)(?:kubernetes\.io|k8s\.io|k8s\.aws|azure\.com|karpenter\.sh|nvidia\.com|amd\.com|amazonaws\.com)\//.test(
      key,
    )
  );
}

function same(a: NodeTaint, b: NodeTaint): boolean {
  return a.key === b.key && a.value === b.value && a.effect === b.effect;
}

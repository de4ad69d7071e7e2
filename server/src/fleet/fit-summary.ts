import { knownAccelerator } from '../catalog/index.ts';
import type { FitResult, GroupFit, PoolFit } from './fit-question.ts';

// What an answer means, in one line: for lenses, hovers, reports and the list of pending pods.

/** `fits now in pool a100 (6 free)`, `waits: …`, for all pods of the question together. */
export function fitLine(answer: FitResult, about: LineContext): string {
  const line = lineOf(answer, about);
  if (!about.isPartial || !/^(?:fits|\d)/.test(line)) return line;
  return `${line.replace(/\((\d+ free)\)/, '(at most $1)')}, but not all objects are readable`;
}

/** What the line says besides the answer. */
export interface LineContext {
  /** Some objects are not readable, so less may be free. */
  readonly isPartial: boolean;
  /** The pools on which the pods already run. */
  readonly used: readonly string[];
}

function lineOf(answer: FitResult, { used }: LineContext): string {
  const { outcome, fitting, pods, running } = answer;
  const [growth] = answer.growth.filter(({ blocked }) => blocked === null);
  switch (outcome) {
    case 'runs': {
      const more = used.length > 1 ? ` and ${used.length - 1} more` : '';
      return `runs in pool ${used[0] ?? 'unknown'}${more} (${running === 1 ? '1 pod' : `${running} pods`})`;
    }
    case 'fits':
      return `fits now in ${whereText(answer)}`;
    case 'fits-some':
      return `${fitting} of ${pods} pods fit now in ${whereText(answer)}`;
    case 'preempts':
      return `fits now if it preempts ${preemptedText(answer)}`;
    case 'grows':
      return growth === undefined
        ? 'waits for new nodes'
        : `waits for ${nodesText(growth.nodes)} in pool ${growth.pool}`;
    case 'quota':
    case 'waits':
      return `waits: ${fitReason(answer)}`;
    case 'never':
      return `cannot run: ${fitReason(answer)}`;
    case 'unknown':
      return `may wait: ${fitReason(answer)}`;
  }
}

/** Why not all pods fit, in plain words. */
export function fitReason(answer: FitResult): string {
  const { groups, pods, gaps } = answer;
  const quota = answer.quotas.find(({ exceeded }) => exceeded);
  if (quota !== undefined) return quota.plain;
  if (answer.outcome === 'quota') return gaps.at(-1) ?? 'the queue is stopped';
  const refused = groups.find(({ plain }) => plain !== null);
  if (refused?.plain != null) return refused.plain;
  if (answer.outcome === 'fits') return 'fits now';
  return `only ${mostAtOnce(groups)} of ${pods} pods fit at once`;
}

function mostAtOnce(groups: readonly GroupFit[]): number {
  return groups.reduce((all, { pools }) => all + pools.reduce((sum, { fits }) => sum + fits, 0), 0);
}

/** What would let the pods run; null if nothing is known to. */
export function wayOut(answer: FitResult): string | null {
  const growth = answer.growth.find(({ blocked }) => blocked === null);
  if (answer.outcome === 'runs') return null;
  if (answer.outcome === 'fits') return 'wait until the scheduler places it';
  if (answer.outcome === 'quota') return 'raise the quota, or wait until other workloads in it finish';
  if (answer.preempted.length > 0) return `preempt ${preemptedText(answer)}`;
  if (growth !== undefined) return `wait until ${growth.by} adds ${nodesText(growth.nodes)} to pool ${growth.pool}`;
  const pools = answer.groups.flatMap((group) => group.pools.map((pool) => ({ pool, group })));
  const admitting = pools.filter(({ pool, group }) => pool.missing !== null && (pool.free ?? 0) >= neededBy(group));
  // A taint named after the device only keeps other pods away; others may reserve the pool for somebody.
  const open = admitting.find(({ pool }) => isOnlyForDevices(pool));
  if (open !== undefined) return admit(open.pool);
  const waiting = pools.find(({ pool }) => pool.missing === null && pool.fitsEmpty > 0);
  if (waiting !== undefined) {
    const blocked = answer.growth.find((one) => one.pool === waiting.pool.name);
    const limit = blocked?.blocked == null ? '' : ` (${blocked.by}: ${blocked.blocked})`;
    return `wait until pods in pool ${waiting.pool.name} finish${limit}`;
  }
  const [reserved] = admitting;
  if (reserved !== undefined) return admit(reserved.pool);
  const [wanted] = answer.groups.flatMap(({ devices }) => devices);
  if (pools.length === 0 && wanted !== undefined)
    return `add nodes that offer ${wanted.resource}, or install its device plugin`;
  const tooLarge = pools.find(({ pool }) => pool.missing === null && (pool.free ?? 0) > 0);
  return tooLarge === undefined ? null : 'request less: no node is large enough';
}

function neededBy({ devices }: GroupFit): number {
  return devices[0]?.count ?? 1;
}

function isOnlyForDevices({ missing }: PoolFit): boolean {
  return (
    missing !== null &&
    missing.labels.length === 0 &&
    missing.taints.every(({ key }) => knownAccelerator(key) !== undefined)
  );
}

/** What the pod needs for a pool that has free devices. */
function admit({ name, free, missing }: PoolFit): string {
  const taints = (missing?.taints ?? []).map(({ key }) => key);
  const labels = (missing?.labels ?? []).map(({ key }) => key);
  const parts = [
    ...(taints.length === 0 ? [] : [`add a toleration for ${listed(taints)}`]),
    ...(labels.length === 0 ? [] : [`remove the selector ${listed(labels)}`]),
  ];
  return `${parts.join(' and ')}: pool ${name} has ${free} free`;
}

function listed(names: readonly string[]): string {
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(' and ');
}

function whereText({ groups }: FitResult): string {
  const used = [
    ...new Map(groups.flatMap(({ pools }) => pools.slice(0, 1).map((pool) => [pool.pool, pool] as const))).values(),
  ];
  const [first, ...others] = used;
  if (first === undefined) return 'the cluster';
  const free = first.free === null ? '' : ` (${first.free} free)`;
  return `pool ${first.name}${free}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

function preemptedText({ preempted }: FitResult): string {
  const [first] = preempted;
  if (first === undefined) return 'pods of lower priority';
  const more = preempted.length - 1;
  return `${first.namespace}/${first.name}${more === 0 ? '' : ` and ${more} more`}`;
}

function nodesText(nodes: number | null): string {
  return nodes === null ? 'new nodes' : nodes === 1 ? '1 new node' : `${nodes} new nodes`;
}

import { meaningOf } from '../command/flag-meaning.ts';
import type { Word } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asNumber, getIn } from '../yaml/cursor.ts';
import { isNodeCount, ownFlags } from './torchrun-nodes.ts';

/** A rank that a pod takes from its index in its task, although a pod of another task has it. */
export interface RepeatedRank {
  readonly text: string;
  readonly words: readonly [Word, Word];
  readonly rank: number;
  readonly tasks: string;
}

/** https://volcano.sh/en/docs/env_plugin/ */
const taskIndex: ReadonlySet<string> = new Set(
  ['VK_TASK_INDEX', 'VC_TASK_INDEX'].flatMap((name) => [`$${name}`, `\${${name}}`, `$(${name})`]),
);

/** The rank of a launch by torchrun that is the index in its task alone, if the group has further tasks whose ranks are numbers. */
export function repeatedRank(container: Container, podSet: PodSet, workload: Workload): RepeatedRank | undefined {
  const pods = podSet.pods.max;
  if (pods === null || pods < 1 || workload.podSets.length < 2) return undefined;
  const own = ranksOf(container).find(({ value, nodes }) => taskIndex.has(value) && nodes > pods);
  if (own === undefined) return undefined;
  const other = fixedRanks(workload).find(({ set, rank }) => set !== podSet && rank < pods);
  return other && { ...own, rank: other.rank, tasks: `${podSet.name} and ${other.set.name}` };
}

/**
 * A fixed rank that a role of a job shares with an earlier role, although all pods of the job are the nodes of one launch; undefined if each role
 * has its own.
 */
export function sharedRank(container: Container, podSet: PodSet, workload: Workload): RepeatedRank | undefined {
  const { partial } = workload;
  const { gang, tasks } = kindOf(workload);
  const isGroup = gang === 'object' || tasks === true;
  if (partial || !isGroup || podSet.pods.min !== podSet.pods.max || container.type !== 'app') return undefined;
  const own = ranksOf(container).find(({ value, nodes }) => /^\d{1,5}$/.test(value) && nodes === leastPods(workload));
  const first = own && firstOfRank(workload).get(Number(own.value));
  return own === undefined || first === undefined || first === podSet
    ? undefined
    : { ...own, rank: Number(own.value), tasks: first.name };
}

/** The first role with each fixed rank. */
const firstOfRank = once((workload: Workload) => {
  const roles = new Map<number, PodSet>();
  for (const { set, rank } of fixedRanks(workload)) if (!roles.has(rank)) roles.set(rank, set);
  return roles;
});

/** The ranks that tasks have as numbers. A job may have thousands of tasks. */
const fixedRanks = once(({ podSets }: Workload) =>
  podSets.flatMap((set) => {
    const written = set.pods.max === 0 ? [] : set.containers.flatMap(ranksOf);
    return written.flatMap(({ value }) => (/^\d{1,5}$/.test(value) ? [{ set, rank: Number(value) }] : []));
  }),
);

interface WrittenRank {
  readonly text: string;
  readonly value: string;
  readonly words: readonly [Word, Word];
  readonly nodes: number;
}

function ranksOf(container: Container): readonly WrittenRank[] {
  return commandsIn(container).flatMap((launch) => {
    const flags = ownFlags(launch);
    const nodes = Number(flags.find(isNodeCount)?.value);
    return flags.flatMap((flag) => {
      const last = flag.valueWord ?? flag.word;
      if (!Number.isInteger(nodes) || meaningOf(flag, 'node-rank') === undefined) return [];
      const text = last === flag.word ? flag.word.text : `${flag.word.text} ${last.text}`;
      return [{ text, value: flag.value ?? '', words: [flag.word, last] as const, nodes }];
    });
  });
}

/** Whether the scheduler starts all pods of a task together or none, so that they are meant to work together. */
export function startsTogether(workload: Workload): boolean {
  if (kindOf(workload).tasks !== true) return false;
  const pods = leastPods(workload);
  return pods > 1 && asNumber(getIn(workload.manifest.root, 'spec', 'minAvailable')) === pods;
}

/** How many pods of known numbers a workload has at least. A job may have thousands of tasks. */
export const leastPods = once(({ podSets }: Workload): number =>
  podSets.reduce((sum, { pods }) => sum + (pods.min ?? 0), 0),
);

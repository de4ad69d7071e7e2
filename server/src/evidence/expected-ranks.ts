import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { plural } from '../cost/money.ts';
import { kindOf } from '../model/kinds/index.ts';
import { lowerCount } from '../model/pod.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { wholeGpus } from './launch.ts';

/** The pods of one group of a LeaderWorkerSet that train together; null if a part of the group may be a job of its own. */
export function podsOfLeaderGroup({ kind, role, manifest }: Workload): number | null {
  const template = kind === 'LeaderWorkerSet' ? getIn(manifest.root, 'spec', 'leaderWorkerTemplate') : undefined;
  const isOne = getIn(template, 'subGroupPolicy') === undefined && !isIncomplete(template) && role === 'training';
  return template !== undefined && isOne ? lowerCount(getIn(template, 'size'), 1) : null;
}

/** A variable with the number of ranks that a script waits for. */
export interface ExpectedRanks {
  readonly at: Cursor;
  /** What is wrong, for a message. */
  readonly problem: string;
}

/** Numbers of ranks in variables that the pods of an object cannot reach, although they look for each other by its name. */
export function excessRanks(podSet: PodSet, workload: Workload): readonly ExpectedRanks[] {
  return podSet.containers.flatMap((container) =>
    container.env.some(({ name }) => nodeCounts.has(name) || rankCounts.has(name))
      ? (excessOf(container, podSet, workload) ?? [])
      : [],
  );
}

function excessOf(container: Container, podSet: PodSet, workload: Workload): ExpectedRanks | undefined {
  const { name, podSets, partial } = workload;
  const { addresses, gang } = kindOf(workload);
  // An operator sets the variables of its ranks itself.
  const spec = getIn(workload.manifest.root, 'spec');
  if (isIncomplete(spec) || isUnseen(getIn(spec, 'replicatedJobs'))) return undefined;
  if (partial || name === null || addresses === undefined || gang === 'object' || podSets.length > 1) return undefined;
  const { min, max } = podSet.pods;
  // All groups of a LeaderWorkerSet may meet at the same pod.
  const pods = min;
  if (pods === null || pods === 0 || min !== max || !meetsByName(container, name, workload.kind)) return undefined;
  // Its ranks are also in the pods of other objects.
  if (leaders.test(name)) return undefined;
  const gpus = wholeGpus(container, podSet);
  for (const { name: variable, value } of container.env) {
    const isNodes = nodeCounts.has(variable);
    if (value === undefined || (!isNodes && !rankCounts.has(variable)) || isTemplated(value.at)) continue;
    const isPerPod = isNodes || container.env.some(isPodIndex);
    const count = /^\d{1,5}$/.test(value.value) ? Number(value.value) : 0;
    if ((!isPerPod && gpus === null) || count <= pods * (isPerPod ? 1 : Math.max(1, gpus ?? 1))) continue;
    const each = isPerPod ? '' : ` with ${plural(Math.max(1, gpus ?? 1), 'GPU')} each`;
    const what = isNodes ? 'nodes' : 'ranks';
    const problem = `${variable} is ${count}, but the job has ${plural(pods, 'pod')}${each}: they wait for ${what} that never start`;
    return { at: value.at, problem };
  }
  return undefined;
}

const rankCounts = wordSet('WORLD_SIZE JAX_NUM_PROCESSES NUM_PROCESSES');
const nodeCounts = wordSet('NNODES NUM_NODES NUM_MACHINES PET_NNODES');

/** Names of objects that are one part of a job. */
const leaders = new RegExp(
  `(?:^|-)(?:(?:${oneOf('master head leader chief coordinator launcher worker')})s?-?\\d*|(?:rank|node)-?\\d+)$`,
);

/** Whether a flag or a variable has the name of a pod of the object. */
function meetsByName({ command, args, env }: Container, name: string, kind: string): boolean {
  const rest = kind === 'JobSet' ? /-\d+$/ : /^(?:-\d+)+$/;
  return [...command, ...args, ...env.flatMap(({ value }) => value ?? [])].some(({ value }) =>
    value.split(/[^a-z0-9-]+/).some((word) => word.startsWith(`${name}-`) && rest.test(word.slice(name.length))),
  );
}

/** Whether a variable gives each pod one rank: its index. */
function isPodIndex({ name, at }: Container['env'][number]): boolean {
  const path = asText(getIn(at, 'valueFrom', 'fieldRef', 'fieldPath')) ?? '';
  const isIndex = /(?:completion|pod|worker)-index/.test(path);
  return isIndex && wordsOf(name).some((word) => word === 'rank' || word === 'id');
}

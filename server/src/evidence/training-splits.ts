import type { FlagMeaning } from '../catalog/flag-records.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { findLocalProcesses, findNodeCounts } from '../command/processes.ts';
import { recognizeProgram } from '../command/programs.ts';
import { allCommands } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import { commandLineOf, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import { mayUseOtherGpus } from './gpu-assignment.ts';
import { runsOnCpu } from './gpu-launch.ts';
import { mayHaveVariables, mayRunMore, wholeGpus } from './launch.ts';
import { namedSettings } from './settings-files.ts';

/** Sizes by which training divides one model: each copy of it takes that many processes. */
export interface TrainingSplit {
  readonly flags: readonly Flag[];
  /** What is wrong, for a message. */
  readonly problem: string;
}

const splits: readonly FlagMeaning[] = ['tensor-split', 'pipeline-split', 'context-split'];

/**
 * The sizes of a trainer that its job cannot have: the processes are not a multiple of their product. Megatron, NeMo, torchtitan and verl stop
 * with an error. Undefined if they fit, and if the number of processes is unknown.
 */
export function misfitSplit(container: Container, podSet: PodSet, workload: Workload): TrainingSplit | undefined {
  const line = commandLineOf(container);
  if (!line.complete || mayRunMore(container) || mayUseOtherGpus(container) || runsOnCpu(container)) return undefined;
  const own = allCommands(line.statements).filter(
    (one) => recognizeProgram([one])?.use !== 'serving' && readFlags(one.words).some(isSplit),
  );
  const fromFiles = namedSettings(container).filter(({ flags }) => flags.some(isSplit));
  // Several programs, or a program and a file, may be different runs.
  const [only, ...others] = [...own.map(({ words }) => readFlags(words)), ...fromFiles.map(({ flags }) => flags)];
  if (only === undefined || others.length > 0) return undefined;
  const processes = processesOf(container, podSet, workload);
  if (processes === null) return undefined;
  // `actor.tensor_model_parallel_size` and `rollout.tensor_model_parallel_size` divide two models.
  const models = new Map<string, Flag[]>();
  for (const flag of only.filter(isSplit)) {
    const model = flag.name.slice(0, flag.name.lastIndexOf('.') + 1);
    models.set(model, [...(models.get(model) ?? []), flag]);
  }
  for (const flags of models.values()) {
    const last = splits.flatMap((means) => flags.filter((flag) => meaningOf(flag, means) !== undefined).at(-1) ?? []);
    const sizes = last.map((flag) => (flag.dynamic ? null : (countIn(flag.value) ?? null)));
    if (sizes.some((size) => size === null || size < 1)) continue;
    const size = sizes.reduce<number>((product, one) => product * (one ?? 1), 1);
    const counted = last.filter((_, index) => (sizes[index] ?? 1) > 1);
    const { most, exact } = processes;
    const all = `${most} ${most === 1 ? 'process' : 'processes'}`;
    const names = counted.map(nameOf).join(' × ');
    if (size > most) return { flags: counted, problem: `${names} needs ${size} processes, but the job has ${most}` };
    if (!exact) continue;
    if (most % size !== 0)
      return { flags: counted, problem: `${names} is ${size}, which does not divide the job's ${all}` };
    const batch = last.some(({ written }) => wordsOf(written).includes('model'))
      ? misfitBatch(only, most / size)
      : undefined;
    if (batch !== undefined) return batch;
  }
  return undefined;
}

/** Megatron's batch over all processes, which each copy of the model takes in equal parts. */
function misfitBatch(flags: readonly Flag[], copies: number): TrainingSplit | undefined {
  const [all, ...otherTotals] = flags.filter((flag) => meaningOf(flag, 'global-batch') !== undefined);
  const [micro, ...others] = flags.filter(
    (flag) => meaningOf(flag, 'device-batch') !== undefined && wordsOf(flag.written).includes('micro'),
  );
  if (all === undefined || micro === undefined || otherTotals.length + others.length > 0) return undefined;
  const [total, part] = [all, micro].map((flag) => (flag.dynamic ? null : (countIn(flag.value) ?? null)));
  if (total == null || part == null || part === 0 || total % (part * copies) === 0) return undefined;
  const problem = `${nameOf(all)} ${total} is not a multiple of ${nameOf(micro)} ${part} × ${copies} ${copies === 1 ? 'copy' : 'copies'} of the model`;
  return { flags: [all], problem };
}

function nameOf({ written }: Flag): string {
  return shorten(written.slice(written.lastIndexOf('.') + 1), 32);
}

function isSplit(flag: Flag): boolean {
  return splits.some((means) => meaningOf(flag, means) !== undefined);
}

/** All processes of a training job, one per GPU; `exact` if they are certainly one group. */
function processesOf(container: Container, podSet: PodSet, workload: Workload) {
  const gpus = wholeGpus(container, podSet);
  if (gpus === null || gpus === 0 || mayHaveVariables(container) || kindOf(workload).rayCluster !== undefined)
    return null;
  const input = processInput(container);
  const [launch, ...launches] = findLocalProcesses(input).filter(({ kind }) => kind === 'launch');
  const local = launch === undefined || launch.count === 'all' ? gpus : launch.count;
  // nproc-per-node reports a launch of more processes than GPUs.
  if (local === null || local > gpus || launches.length > 0) return null;
  const [nodes, ...more] = findNodeCounts(input);
  if (more.length > 0 || (nodes !== undefined && typeof nodes.count !== 'number')) return null;
  if (typeof nodes?.count === 'number') return { most: nodes.count * local, exact: true };
  const { podSets } = workload;
  const trainers = podSets.filter(({ accelerators }) => accelerators.length > 0);
  const pods = trainers.reduce<number | null>(
    (sum, { pods: { max } }) => (sum === null || max === null ? null : sum + max),
    0,
  );
  // Roles may have other devices, and each replica of a group its own job.
  const isAlike = trainers.every(({ containers }) => containers.every((one) => isLike(one, container)));
  if (pods === null || pods === 0 || !isAlike || isGroupKind(workload)) return null;
  return { most: pods * local, exact: pods === 1 || (kindOf(workload).gang === 'object' && launch !== undefined) };
}

/** Whether a container has no devices, or as many as another. */
function isLike({ accelerators }: Container, other: Container): boolean {
  const count = accelerators[0]?.count;
  return accelerators.length === 0 || count === other.accelerators[0]?.count;
}

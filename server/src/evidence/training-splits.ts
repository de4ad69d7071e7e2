import type { FlagMeaning } from '../catalog/flag-records.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { findLocalProcesses, findNodeCounts } from '../command/processes.ts';
import { allCommands, baseName, type Word } from '../command/shell.ts';
import { settingsIn } from '../command/training-flags.ts';
import { countIn } from '../model/count.ts';
import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import { commandLineOf, commandsIn, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import { mayUseOtherGpus } from './gpu-assignment.ts';
import { runsOnCpu } from './gpu-launch.ts';
import { mayHaveVariables, mayRunMore, wholeGpus } from './launch.ts';
import { namedSettings } from './settings-files.ts';

/** A size by which training divides its model, but that its job cannot have. */
export interface TrainingSplit {
  readonly flag: Flag;
  /** What is wrong, for a message. */
  readonly problem: string;
}

/** Behind a launcher, the short flags of servers are those of a trainer: `colossalai run train.py --tp 2 --pp 2`. */
const splits: readonly (readonly FlagMeaning[])[] = [
  ['tensor-split', 'tensor-parallel'],
  ['pipeline-split', 'pipeline-parallel'],
  ['context-split'],
];

/**
 * The sizes of a trainer whose processes are not a multiple of their product. Megatron, NeMo, torchtitan and verl stop with an error. Undefined if
 * they fit, and if the number of processes is unknown.
 */
export function misfitSplit(container: Container, podSet: PodSet, workload: Workload): TrainingSplit | undefined {
  const { statements, complete } = commandLineOf(container);
  const runs = [
    ...allCommands(statements).map(({ words }) => readFlags(words)),
    ...namedSettings(container).map(({ flags }) => flags),
  ].filter((flags) => flags.some(isSplit));
  // Several programs, or a program and a file, may be different runs.
  const [flags, ...others] = runs;
  if (flags === undefined || others.length > 0 || !complete || mayRunMore(container)) return undefined;
  if (mayUseOtherGpus(container) || runsOnCpu(container)) return undefined;
  const processes = processesOf(container, podSet, workload);
  if (processes === undefined) return undefined;
  const { most, exact } = processes;
  // `actor.tensor_model_parallel_size` and `rollout.tensor_model_parallel_size` divide two models.
  const modelOf = ({ name }: Flag) => name.slice(0, name.lastIndexOf('.') + 1);
  for (const model of new Set(flags.filter(isSplit).map(modelOf))) {
    const last = splits.flatMap((all) =>
      flags.filter((one) => modelOf(one) === model && all.some((means) => is(one, means))).slice(-1),
    );
    // tensor-parallel-mismatch knows servers.
    if (!processes.launched && last.some((one) => is(one, 'tensor-parallel') && !is(one, 'tensor-split'))) continue;
    const size = last.reduce((product, flag) => product * sizeOf(flag), 1);
    const [first = last[0], ...more] = last.filter((flag) => sizeOf(flag) > 1);
    if (first === undefined || Number.isNaN(size)) continue;
    // Ranks that divide a sequence may be those that divide the tensors.
    if (more.length > 0 && last.some(({ written }) => wordsOf(written).includes('sequence'))) continue;
    const names = [first, ...more].map(nameOf).join(' × ');
    if (size > most) return { flag: first, problem: `${names} needs ${size} processes, but the job has ${most}` };
    if (!exact) continue;
    if (most % size !== 0)
      return { flag: first, problem: `${names} is ${size}, which does not divide the job's ${most} processes` };
    const batch = wordsOf(first.written).includes('model') ? misfitBatch(flags, most / size) : undefined;
    if (batch !== undefined) return batch;
  }
  return undefined;
}

/** Megatron's batch over all processes, which each copy of the model takes in equal parts. */
function misfitBatch(flags: readonly Flag[], copies: number): TrainingSplit | undefined {
  const [flag, micro, ...others] = [
    ...flags.filter((one) => is(one, 'global-batch')),
    ...flags.filter((one) => is(one, 'device-batch') && wordsOf(one.written).includes('micro')),
  ];
  if (flag === undefined || micro === undefined || others.length > 0) return undefined;
  if (flags.some(({ name }) => name === 'decrease-batch-size-if-needed')) return undefined;
  const [total, part] = [sizeOf(flag), sizeOf(micro)];
  if (!(total % (part * copies) > 0)) return undefined;
  const problem = `${nameOf(flag)} ${total} is not a multiple of ${nameOf(micro)} ${part} × ${copies} copies of the model`;
  return { flag, problem };
}

/** A batch that is not what the processes of a job add up to. */
interface MisfitBatch {
  readonly words: readonly [Word, Word];
  readonly problem: string;
}

const sharesModel = /parallel|autotp|elasticity|pipeline/i;

/** DeepSpeed's batch over all processes, which must be what they and their steps add up to. https://www.deepspeed.ai/docs/config-json/ */
export function misfitDeepSpeed(container: Container, podSet: PodSet, workload: Workload): MisfitBatch | undefined {
  const named =
    (container.settingsFiles ?? []).length === 0 ? [] : commandsIn(container).flatMap(({ words }) => readFlags(words));
  for (const { value, valueWord: word, written } of named) {
    const file = container.settingsFiles?.find(({ path }) => path === value);
    if (file === undefined || word === undefined || !wordsOf(written).includes('deepspeed')) continue;
    const settings = settingsIn(file);
    const [total, part, steps] = [
      'train_batch_size',
      'train_micro_batch_size_per_gpu',
      'gradient_accumulation_steps',
    ].map((key) => settings.find((one) => one.written === key));
    if (total === undefined || part === undefined || mayRunMore(container)) continue;
    // Processes that share a model count once.
    if (named.some((one) => isSplit(one) && sizeOf(one) !== 1) || settings.some((one) => sharesModel.test(one.written)))
      continue;
    const processes = mayUseOtherGpus(container) ? undefined : processesOf(container, podSet, workload);
    if (processes?.exact !== true || !processes.launched) continue;
    const [all, micro, each] = [total, part, steps ?? { value: '1' }].map((one) => countIn(one.value) || Number.NaN);
    if (all === undefined || micro === undefined || each === undefined) continue;
    const product = micro * each * processes.most;
    if (Number.isNaN(product + all) || all === product) continue;
    const sum = `${micro} per GPU × ${each} steps × ${processes.most} processes`;
    return {
      words: [word, word],
      problem: `train_batch_size ${all} in ${shorten(baseName(file.path), 30)} is not ${sum}`,
    };
  }
  return undefined;
}

function is(flag: Flag, means: FlagMeaning): boolean {
  return meaningOf(flag, means) !== undefined;
}

function isSplit(flag: Flag): boolean {
  return splits.some((all) => all.some((means) => is(flag, means)));
}

/** Not a number if it is unknown, or not a size. */
function sizeOf({ value, dynamic }: Flag): number {
  return (dynamic ? undefined : countIn(value)) || Number.NaN;
}

function nameOf({ written }: Flag): string {
  return shorten(written.slice(written.lastIndexOf('.') + 1), 32);
}

/** Whether a text has words for processes of other objects: those of Ray, of a file of hosts, or of a number of nodes. */
function namesOthers(text: string): boolean {
  return /\bray\b|nnodes(?!=1\b)|num[-_](?:nodes|machines)|node_?rank|hostfile|world_?size/i.test(text);
}

/** All processes of a training job, one per GPU; `exact` if they are certainly one group. */
function processesOf(container: Container, podSet: PodSet, workload: Workload) {
  const gpus = wholeGpus(container, podSet);
  if (!gpus || mayHaveVariables(container) || kindOf(workload).rayCluster !== undefined) return undefined;
  const input = processInput(container);
  const [launch, ...launches] = findLocalProcesses(input).filter(({ kind }) => kind === 'launch');
  const local = launch === undefined || launch.count === 'all' ? gpus : launch.count;
  // nproc-per-node reports a launch of more processes than GPUs.
  if (local === null || local > gpus || launches.length > 0) return undefined;
  const [nodes, ...more] = findNodeCounts(input);
  if (more.length > 0) return undefined;
  if (nodes !== undefined)
    return typeof nodes.count === 'number' ? { most: nodes.count * local, exact: true, launched: true } : undefined;
  const { command, args, env } = input;
  if (kindOf(workload).gang !== 'object' && [...command, ...args, ...env.map(({ name }) => name)].some(namesOthers))
    return undefined;
  const trainers = workload.podSets.filter(({ accelerators }) => accelerators.length > 0);
  const pods = trainers.reduce((sum, one) => sum + (one.pods.max ?? Number.NaN), 0);
  // Roles may have other devices, and each replica of a group its own job.
  const isAlike = trainers.every(({ accelerators: [only] }) => only?.perPod === gpus);
  if (!(pods > 0) || !isAlike || isGroupKind(workload)) return undefined;
  const launched = launch !== undefined;
  return { most: pods * local, exact: pods === 1 || (kindOf(workload).gang === 'object' && launched), launched };
}

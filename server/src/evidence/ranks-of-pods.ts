import { partOf } from '../catalog/word-patterns.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type Word } from '../command/shell.ts';
import { groupOf } from '../model/manifest.ts';
import { commandLineOf, commandsIn, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { runsOnCpu } from './gpu-launch.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { hasRole } from './role-confidence.ts';
import { isHarmless } from './sole-server.ts';

/** A Python program that runs without a launcher where each pod is one rank. */
export interface OneRank {
  /** The script, as written. */
  readonly script: string;
  /** All ranks: the pods. */
  readonly ranks: number;
  readonly words: readonly [Word, Word];
}

/**
 * A script without a launcher in a pod that is one rank of several. DistributedDataParallel uses one GPU per rank; a script may start further
 * processes itself.
 */
export function oneRankPerPod(container: Container, podSet: PodSet, workload: Workload): OneRank | undefined {
  const ranks = ranksOfPods(container, podSet, workload);
  const found = ranks === null || ranks < 2 ? undefined : plainScript(container);
  return found === undefined || ranks === null ? undefined : { ...found, ranks };
}

/** A script of PyTorch that trains without a launcher in the only pod of a job: its code may use several GPUs, but nothing written shows it. */
export function loneScript(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): Pick<OneRank, 'script' | 'words'> | undefined {
  const { partial, podSets } = workload;
  if (partial || podSets.length > 1 || podSet.pods.max !== 1 || !hasRole(workload, 'training')) return undefined;
  const isTorch =
    /torch/.test(container.image?.value ?? '') || container.env.some(({ name }) => /^(?:PY)?TORCH_/.test(name));
  if (!isTorch || container.env.some(({ name }) => mayDistribute.test(name) || startsMore.test(name))) return undefined;
  const found = plainScript(container);
  const texts = commandsIn(container).flatMap(({ words }) => words.map(({ text }) => text));
  return texts.some((text) => mayDistribute.test(text)) ? undefined : found;
}

/** Files of settings, libraries and settings by which one process may use several GPUs or start others. */
const mayDistribute = partOf(
  'config setting [.]ya?ml [.]json [.]toml ddp fsdp strategy world rank nnodes shard tensor pipeline',
  'lightning sft vllm ultralytics yolo hydra device_?id',
);

/** The only program of a container, if it is a script that Python runs without a launcher, and nothing written starts further processes. */
function plainScript(container: Container): Pick<OneRank, 'script' | 'words'> | undefined {
  if (mayRunMore(container) || mayHaveVariables(container) || runsOnCpu(container)) return undefined;
  const { complete, statements } = commandLineOf(container);
  if (!complete || statements.some(({ kind }) => kind !== 'command')) return undefined;
  const [only, ...others] = commandsIn(container).filter((one) => !isHarmless(one));
  if (only === undefined || others.length > 0 || only.background) return undefined;
  const [program = '', ...rest] = programWords(only);
  // The entrypoint of an image may be a launcher, and so may what the command is put behind.
  if (!/^python[\d.]*$/.test(baseName(program)) || only.words[0]?.text !== program) return undefined;
  const script = rest.find((text) => !/^-[uOBIsSE]+$/.test(text));
  const word = only.words.find(({ text }) => text === script);
  if (script === undefined || word === undefined || !script.endsWith('.py') || word.dynamic) return undefined;
  const texts = [...only.words.map(({ text }) => text), ...container.scripts.map(({ text }) => text)];
  if (texts.some((text) => startsMore.test(text)) || findLocalProcesses(processInput(container)).length > 0)
    return undefined;
  return { script, words: [word, word] };
}

/** Words in a command or a script by which it may use several GPUs: its own launch, a number of them, or a library that starts processes. */
const startsMore = partOf(
  'spawn launch multi parallel gpus devices nproc num[-_]proc local[-_]rank accelerat deepspeed fabric',
  'subprocess torchrun ray device_map jax tensorflow keras horovod',
);

/** The ranks that a job gives its pods, one each; null if another number is possible, or none. */
function ranksOfPods(container: Container, podSet: PodSet, workload: Workload): number | null {
  const { manifest, kind, apiVersion, partial, podSets } = workload;
  const spec = getIn(manifest.root, 'spec');
  if (partial || spec === undefined || isIncomplete(spec)) return null;
  if (kind === 'PyTorchJob' && groupOf(apiVersion) === 'kubeflow.org') {
    const field = getIn(spec, 'nprocPerNode');
    const isOne = !isUnseen(field) && /^(?:|auto|gpu|cpu|1)$/.test(asText(field) ?? '');
    // The operator gives the ranks of elastic jobs, and of those without a master, to torchrun only.
    const hasMaster = podSets.some(({ name }) => name === 'Master');
    return isOne && hasMaster && getIn(spec, 'elasticPolicy') === undefined ? podsOf(podSets) : null;
  }
  // https://github.com/volcano-sh/volcano/blob/master/docs/user-guide/how_to_use_pytorch_plugin.md
  if (kind === 'Job' && groupOf(apiVersion) === 'batch.volcano.sh')
    return getIn(spec, 'plugins', 'pytorch') === undefined ? null : podsOf(podSets);
  return byVariables(container, podSet);
}

function podsOf(podSets: readonly PodSet[]): number | null {
  const pods = podSets.map(({ pods: { min, max } }) => (min === max ? min : null));
  return pods.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);
}

/** A WORLD_SIZE of as many as there are pods, whose ranks are their numbers. */
function byVariables({ env }: Container, { pods }: PodSet): number | null {
  const written = (wanted: string): Cursor | undefined => env.find(({ name }) => name === wanted)?.at;
  const size = asText(getIn(written('WORLD_SIZE'), 'value'));
  const rank = asText(getIn(written('RANK'), 'valueFrom', 'fieldRef', 'fieldPath')) ?? '';
  // Without an address to meet at, the numbers only divide the work.
  if (written('MASTER_ADDR') === undefined) return null;
  const isOfPod = /job-completion-index|pod-index|worker-index/.test(rank);
  return isOfPod && pods.min === pods.max && size === String(pods.min) ? pods.min : null;
}

import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { getIn, isIncomplete } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { isHarmless } from './sole-server.ts';
import { launchOf } from './unmet-nodes.ts';

/** A launch in the launcher of an MPI job that starts no processes in its workers. */
export interface LocalLaunch {
  readonly program: string;
  readonly words: readonly [Word, Word];
}

/**
 * torchrun, or DeepSpeed without the operator's file of hosts, as all that the launcher of an MPI job runs: only mpirun and DeepSpeed with that
 * file reach the workers. https://github.com/kubeflow/mpi-operator https://www.deepspeed.ai/getting-started/#resource-configuration-multi-node
 */
export function localLaunch(container: Container, podSet: PodSet, workload: Workload): LocalLaunch | undefined {
  const { kind, apiVersion, manifest } = workload;
  const spec = getIn(manifest.root, 'spec');
  if (kind !== 'MPIJob' || !apiVersion.startsWith('kubeflow.org/') || podSet.name !== 'Launcher') return undefined;
  if (isIncomplete(spec) || getIn(spec, 'runLauncherAsWorker') !== undefined) return undefined;
  if (workload.podSets.find(({ name }) => name === kindOf(workload).launcher?.driven)?.pods.min === 0) return undefined;
  if (container.type !== 'app' || container.accelerators.length > 0 || mayHaveVariables(container)) return undefined;
  const commands = commandsIn(container).filter((one) => !isHarmless(one));
  const [launch, ...others] = commands;
  const program = launch && programOf(launch);
  if (launch === undefined || program === undefined || others.length > 0 || container.scripts.length > 0)
    return undefined;
  const { flags } = launchOf(launch);
  const names = [...flags.map(({ name }) => name), ...processInput(container).env.map(({ name }) => name)];
  if (mayHaveHosts(container)) return undefined;
  if (names.some((name) => namesNodes.test(name))) return undefined;
  const [first, last] = [launch.words[0], launch.words.at(-1)];
  return first && last && { program, words: [first, last] };
}

/** Whether a command or a volume may have DeepSpeed's default file, which it ignores if it does not exist. */
function mayHaveHosts({ command, args, volumeMounts }: Container): boolean {
  const lines = [...command, ...args].map(({ value }) => value.replace(/--hostfile[= ]\/job\/hostfile/, ''));
  return (
    lines.some((line) => line !== '/job/hostfile' && /(?<!^--)hostfile|\/etc\/mpi|mpirun|\bssh\b/.test(line)) ||
    volumeMounts.some(({ mountPath }) => /^\/(?:job)?(?:\/|$)/.test(mountPath))
  );
}

function programOf({ words }: SimpleCommand): string | undefined {
  const [first, second] = words.map(({ text }) => baseName(text));
  if (first === 'torchrun' || first === 'deepspeed') return first;
  return first === 'accelerate' && second === 'launch' ? 'accelerate' : undefined;
}

/** Whether nothing tells the only pod of an object where the other nodes of its launch are. */
export function knowsNobody(container: Container, { pods }: PodSet, workload: Workload): boolean {
  const { kind, apiVersion, podSets, name } = workload;
  if (pods.min !== 1 || pods.max !== 1 || podSets.length > 1 || !/^(?:batch\/v1|apps\/v1|v1)$/.test(apiVersion))
    return false;
  // One object for each node.
  if (kind === 'DaemonSet' || /\d$|node|worker|master|leader|head|rank|peer/i.test(name ?? '0')) return false;
  const { command, args, env } = processInput(container);
  if (container.accelerators.length === 0 || mayHaveVariables(container) || container.scripts.length > 0) return false;
  const texts = [...command, ...args, ...env.map((one) => one.name)].join('\n');
  // A file of variables may tell it.
  if (/(?:^|[\s;&|])(?:source|eval|\.)\s/.test(texts)) return false;
  return !mayTellNodes.test(texts);
}

/** Flags and variables that tell a launcher its nodes: a host file, a rendezvous, a number of nodes, an address, or a file with these. */
const namesNodes = /^(?:DLTS_HOSTFILE|PET_|H$|rdzv|nnodes|num-nodes|num-machines|master|no-ssh|launcher|config)/;

/** Words in a command line or in names of variables by which a process may learn its rank or the address of the first one. */
const mayTellNodes = /master|rank|rdzv|main[-_]process|host|addr|pet_|ssh|deepspeed|config[-_]file|slurm|index|\$\{?@/i;

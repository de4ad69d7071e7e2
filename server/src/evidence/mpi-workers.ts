import { commandNamed, type ProgramRecord } from '../catalog/program-records.ts';
import { either } from '../catalog/word-patterns.ts';
import { hostSlots } from '../command/host-slots.ts';
import { findMpiProcesses, type MpiProcesses } from '../command/processes.ts';
import { baseName } from '../command/shell.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { lowerCount } from '../model/pod.ts';
import type { Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { processInput, wholeGpus } from './launch.ts';
import { mpiTasks } from './mpi-tasks.ts';

/** The whole GPUs of one worker, which are in one of its containers; null if that is unknown or if it has none. */
function gpusOfWorker({ kind, apiVersion, podSets }: Workload): number | null {
  const driven = kindOf({ kind, apiVersion }).launcher?.driven;
  const worker = podSets.find(({ name }) => name === driven);
  const [only, ...others] = worker?.containers.filter(namesAccelerators) ?? [];
  if (worker === undefined || only === undefined || others.length > 0) return null;
  const gpus = wholeGpus(only, worker);
  return gpus === 0 ? null : gpus;
}

function slotsPerWorker({ manifest }: Workload): number | null {
  const written = getIn(manifest.root, 'spec', 'slotsPerWorker');
  return written === undefined ? null : lowerCount(written, 1);
}

/** The slots of all workers of an MPI job; null if they are unknown or if the launcher is also a worker. */
function slotsOfWorkers(workload: Workload): number | null {
  const { kind, manifest, podSets } = workload;
  const tasks = mpiTasks(workload);
  if (tasks?.slotPerHost === true) return tasks.workers.pods.min;
  const spec = getIn(manifest.root, 'spec');
  const written = getIn(spec, 'slotsPerWorker');
  if (kind !== 'MPIJob' || (written === undefined && !hasOneSlot(manifest.apiVersion, spec))) return null;
  const slots = lowerCount(written, 1);
  const workers = podSets.find(({ name }) => name === 'Worker')?.pods.min ?? null;
  const launches = getIn(manifest.root, 'spec', 'runLauncherAsWorker') !== undefined;
  return slots === null || workers === null || launches ? null : slots * workers;
}

/**
 * Whether a worker without slotsPerWorker has one slot: the first versions counted processing units, and MPICH and Intel MPI do not keep to slots.
 * https://github.com/kubeflow/mpi-operator/blob/master/pkg/apis/kubeflow/v2beta1/default.go
 */
function hasOneSlot(apiVersion: string, spec: Cursor | undefined): boolean {
  const implementation = getIn(spec, 'mpiImplementation');
  const isOpenMpi = implementation === undefined || asText(implementation) === 'OpenMPI';
  return (
    /\/v(?:1|2beta1)$/.test(apiVersion) && isOpenMpi && spec !== undefined && !isIncomplete(spec) && !isUnseen(spec)
  );
}

/** The slots in which a launch starts its processes: those of the hosts in its command line, else of the job's workers. */
export function slotsFor(launch: MpiProcesses, workload: Workload) {
  const hosts = hostSlots(launch)?.slots;
  // Another file than the operator's may give each host more slots.
  if (
    workload.kind === 'MPIJob' &&
    /\s-{1,2}(?:default-)?(?:host|machine)file[ =](?!\/etc\/mpi\/|\$OMPI)/.test(launch.line)
  )
    return { slots: null, owner: 'workers' };
  return hosts === undefined ? { slots: slotsOfWorkers(workload), owner: 'workers' } : { slots: hosts, owner: 'hosts' };
}

/** The fix that sets `slotsPerWorker` to a worker's GPUs; undefined unless the slots are then exactly as many as the processes. */
export function giveEachGpuASlot(workload: Workload, processes: number, document: YamlDocument): Fix | undefined {
  const at = getIn(workload.manifest.root, 'spec', 'slotsPerWorker');
  const [slots, gpus] = [slotsPerWorker(workload), gpusOfWorker(workload)];
  const workers = workload.podSets.find(({ name }) => name === 'Worker')?.pods.min ?? null;
  if (at === undefined || slots === null || gpus === null || workers === null) return undefined;
  if (slots >= gpus || gpus * workers !== processes) return undefined;
  return fix(`Set slotsPerWorker to ${gpus}`, 'unsafe', replaceScalar(document, at, gpus));
}

/** Whether mpirun starts more processes than the new slots allow: then no single number is the fix. */
export function startsMore({ podSets }: Workload, slots: number): boolean {
  const workers = podSets.find(({ name }) => name === 'Worker')?.pods.min ?? 0;
  const containers = podSets.flatMap((podSet) => podSet.containers);
  return containers.some((one) =>
    findMpiProcesses(processInput(one)).some(({ count }) => typeof count !== 'number' || count > slots * workers),
  );
}

/** Whether options of mpirun, or a script, set the processes per node independently of the slots. */
function controlsPlacement({ podSets }: Workload): boolean {
  const launcher = podSets.find(({ name }) => name === 'Launcher');
  const words = launcher?.containers.flatMap(({ command, args }) => [...command, ...args]) ?? [];
  const line = words.map(({ value }) => value).join(' ');
  return !/\b(mpirun|mpiexec|horovodrun)\b/.test(line) || /npernode|\bppr\b|-ppn|map-by|bind-to|rankfile|\$/.test(line);
}

/** Slots of the workers that are not one for each of their GPUs. */
export function wrongSlots(workload: Workload) {
  const at = getIn(workload.manifest.root, 'spec', 'slotsPerWorker');
  const [slots, gpus] = [slotsPerWorker(workload), gpusOfWorker(workload)];
  if (at === undefined || slots === null || gpus === null) return undefined;
  if (slots > gpus && !controlsPlacement(workload))
    return { at, slots, gpus, effect: 'several processes share one GPU' };
  // One process for each worker may use all its GPUs.
  if (slots >= gpus || !fillsSlots(workload) || (slots < 2 && !usesOneGpu(workload))) return undefined;
  return { at, slots, gpus, effect: `mpirun starts no process for the other ${gpus - slots}` };
}

/** Whether mpirun starts a process in each slot, because nothing says otherwise. */
function fillsSlots(workload: Workload): boolean {
  const line = lineOfMpi(workload);
  return line !== undefined && !setsCount.test(line) && !usesSeveralGpus.test(line);
}

/** Whether a program uses one GPU for each of its processes, as DeepSpeed does. https://www.deepspeed.ai/getting-started/#mpi-and-azureml-compatibility */
function usesOneGpu(workload: Workload): boolean {
  return /\s--deepspeed(?:[-_](?:mpi|config))?(?=[\s=]|$)/.test(lineOfMpi(workload) ?? '');
}

/** What follows the only mpirun of the launcher. */
function lineOfMpi({ podSets }: Workload): string | undefined {
  const launcher = podSets.find(({ name }) => name === 'Launcher');
  const words = launcher?.containers.flatMap(({ command, args }) => [...command, ...args]) ?? [];
  const lines = words.map(({ value }) => value).join(' ');
  const [, line, ...others] = lines.split(/\bmpi(?:run|exec)\b/);
  return others.length > 0 ? undefined : line;
}

const setsCount = either(/\s-{1,2}(?:np?|N|c|npernode|ppn)\b/, /\bppr\b|map-by|rankfile|hostfile|-H\b|\$/);

/** Whether mpirun starts fewer processes than the workers have GPUs, with one GPU for each process. */
export function leavesGpusIdle({ line }: MpiProcesses, count: number, slots: number, workload: Workload): boolean {
  const gpus = gpusOfWorker(workload);
  if (gpus === null || count >= slots || count === 0) return false;
  const workers = slots / gpus;
  const [, perNode, perResource] =
    /\s(?:(?:-N|-{1,2}npernode|-ppn)[ =]|ppr:)(?:(\d{1,3})(?=\s)|(\d{1,3}):node)/.exec(line) ?? [];
  // Without such an option, each process takes a slot, on one worker after another or in turn; one for each worker may use all GPUs there.
  const onWorker = Number(perNode ?? perResource ?? (count > workers || gpus === 1 ? gpus : 0));
  const words = line.split(' ');
  // A check whether the workers answer: mpirun -np 1 true.
  if (words.some((word) => isTrivial(commandNamed(baseName(word))))) return false;
  return slotsPerWorker(workload) === gpus && onWorker === gpus && !usesSeveralGpus.test(line);
}

function isTrivial(program: ProgramRecord | undefined): boolean {
  return program?.runs === undefined && (program?.does === 'nothing' || program?.does === 'lists');
}

/** Programs and options by which a process uses several GPUs or starts more processes, and options of elastic jobs. */
const usesSeveralGpus = either(
  /(?<!-)\b(?:torchrun|accelerate|deepspeed|srun)\b/,
  /nproc[-_]per[-_]node/,
  /\s(?:-[gt]|--n(?:gpu|thread)s)[ =]?(?:[2-9]|\d\d)/,
  /min-np|max-np|host-discovery/,
);

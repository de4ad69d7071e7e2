import { defaultLaunch } from '../command/default-launch.ts';
import { hostSlots } from '../command/host-slots.ts';
import { findLocalProcesses, findMpiProcesses, type MpiProcesses } from '../command/processes.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asNumber, asText, type Cursor, getIn, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { processInput, scriptInput } from './launch.ts';

/** The words that start several processes on the container's GPUs. */
export function launchOfSeveral(
  container: Container,
  gpus: number,
  podSet: PodSet,
  workload: Workload,
): string | undefined {
  const inputs = [processInput(container), ...container.scripts.map((script) => scriptInput(script, container))];
  for (const { kind, count, text } of inputs.flatMap(findLocalProcesses)) {
    // More processes than GPUs is a mistake of its own: its fix must not reveal this one.
    if (count === 'all' || (typeof count === 'number' && count >= 2)) return shorten(text);
    if (kind === 'launch' && count === null) return shorten(text);
  }
  const launch = inputs.length === 1 ? inputs.map(defaultLaunch)[0] : undefined;
  if (launch?.count === 'all') return launch.name;
  const { processesPerPod, launcher: role } = kindOf(workload);
  if (processesPerPod !== undefined) return nprocPerNodeOf(container, processesPerPod(workload.manifest.root), gpus);
  if (role?.driven === undefined) {
    const hasHosts = container.env.some(({ name }) => /host_?file/i.test(name));
    return hasHosts
      ? undefined
      : inputs
          .flatMap(findMpiProcesses)
          .map(launchInPod)
          .find((text) => text !== undefined);
  }
  if (role.driven !== podSet.name) return undefined;
  // The first versions of MPIJob had one template, whose command runs in the launcher.
  const { containers } = workload.podSets.find(({ name }) => name === role.waits) ?? podSet;
  if (containers.some((one) => isNcclBenchmark(one))) return undefined;
  const started = containers.flatMap((one) => findMpiProcesses(processInput(one)));
  const several = started.find(({ count }) => typeof count === 'number' && count >= 2 * (podSet.pods.min ?? 1));
  if (several !== undefined) return `mpirun ${shorten(several.text)}`;
  const slots = slotsOf(workload, gpus);
  return started.length === 0 && slots !== undefined && containers.some(fillsSlots)
    ? `mpirun with ${slots}`
    : undefined;
}

/** Several processes that mpirun or horovodrun starts in its own pod, of a program that uses NCCL: Python, not a simulation with MPI. */
function launchInPod(launch: MpiProcesses): string | undefined {
  const { count, line, text, program } = launch;
  const isOne = hostSlots(launch)?.local ?? !/\s-{1,2}(?:H|host(?:s|file)?|machinefile|f)[ =]/.test(line);
  const several = typeof count === 'number' && count >= 2;
  return several && isOne && /\bpython|\.py\b/.test(line) ? `${program} ${shorten(text)}` : undefined;
}

/** The processes per worker of an mpirun without a number, if there are several; the first versions counted a slot for each GPU. */
function slotsOf({ manifest: { root, apiVersion } }: Workload, gpus: number): string | undefined {
  const field = getIn(root, 'spec', 'slotsPerWorker');
  const slots = asNumber(field);
  if (slots !== undefined) return slots >= 2 && slots <= gpus ? `slotsPerWorker ${slots}` : undefined;
  return field === undefined && apiVersion.endsWith('/v1alpha1') ? `a slot for each of ${gpus} GPUs` : undefined;
}

/** Whether a container runs mpirun without options that place the processes. */
function fillsSlots({ command, args }: Container): boolean {
  const text = [...command, ...args].map(({ value }) => value).join(' ');
  return (
    /(?:^|[\s/;&])(?:mpirun|mpiexec|orterun)\s/.test(text) &&
    !/npernode|\bppr\b|-ppn|map-by|\s-{1,2}(?:N|npersocket|rankfile|rf)\b/.test(text)
  );
}

/** The training operator passes nprocPerNode to torchrun as PET_NPROC_PER_NODE. */
function nprocPerNodeOf(container: Container, field: Cursor | undefined, gpus: number): string | undefined {
  const launches = [...container.command, ...container.args].some(({ value }) => /\btorchrun\b/.test(value));
  if (!launches || isNcclBenchmark(container)) return undefined;
  const text = asText(field) ?? '';
  if (field === undefined || !/^\d{1,4}$/.test(text)) return undefined;
  return Number(text) >= 2 && Number(text) <= gpus ? `${keyOf(field)} ${text}` : undefined;
}

/** Network benchmarks select their transports themselves. */
export function isNcclBenchmark({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) => /(_perf\b|nccl-?tests|\bosu_|nvbandwidth)/.test(value));
}

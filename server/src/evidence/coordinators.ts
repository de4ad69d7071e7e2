import { readFlags } from '../command/flags.ts';
import { findMpiProcesses } from '../command/processes.ts';
import { baseName, type SimpleCommand } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';

/** A pod or container that does not compute: its name and its task. */
export type Helper = readonly [name: string, task: string];

/** What the pods of a set do if their command lines show that all computing is in the other pods of the object. */
export function coordinatorOf(podSet: PodSet, workload: Workload): Helper | undefined {
  if (startsOnlyElsewhere(podSet, workload)) return ['The launcher', 'starts processes in the other pods'];
  return podSet.containers.some(isEmptyRayHead) ? ['The Ray head', 'coordinates (--num-gpus 0)'] : undefined;
}

/** mpirun with one process for each device of pods that only run an SSH server: none is left for its own pod. */
function startsOnlyElsewhere(podSet: PodSet, workload: Workload): boolean {
  const { containers, pods } = podSet;
  if (pods.max !== 1 || !workload.podSets.some((other) => other !== podSet && requestsAccelerators(other)))
    return false;
  if (containers.some((container) => commandsOf(container).some(computes))) return false;
  const started = containers.flatMap((container) => findMpiProcesses(processInput(container)));
  if (started.length !== 1) return false;
  const { known, others } = serversOf(workload);
  if (others.some((other) => other !== podSet)) return false;
  return (
    known > 0 &&
    started[0]?.count === known - (others.length === 0 && requestsAccelerators(podSet) ? (devicesOf(podSet) ?? 0) : 0)
  );
}

/** The devices of all pods that run only an SSH server, and the other pods with devices. A job may have thousands of roles. */
const serversOf = once(({ podSets }: Workload) => {
  let known = 0;
  const others: PodSet[] = [];
  for (const podSet of podSets) {
    if (!requestsAccelerators(podSet)) continue;
    const devices = devicesOf(podSet);
    if (devices !== null && podSet.containers.every(runsSshServer)) known += devices;
    else others.push(podSet);
  }
  return { known, others };
});

/** Whether a command computes in its own pod. */
function computes({ words }: SimpleCommand): boolean {
  return /^(?:python[\d.]*|torchrun|accelerate|deepspeed)$/.test(baseName(words[0]?.text ?? ''));
}

function devicesOf({ accelerators, pods }: PodSet): number | null {
  const [only, ...others] = accelerators;
  if (only === undefined || others.length > 0 || only.perPod === null || pods.min === null) return null;
  return pods.min === pods.max && only.form === 'whole' ? only.perPod * pods.min : null;
}

/** Whether an SSH server is the last that a container starts. */
function runsSshServer(container: Container): boolean {
  if (container.type === 'init') return true;
  const last = commandsOf(container).at(-1);
  return last !== undefined && baseName(last.words[0]?.text ?? '') === 'sshd';
}

/** Whether a container only runs the head of a Ray cluster that gives it no GPU for tasks. */
function isEmptyRayHead(container: Container): boolean {
  const commands = commandsOf(container);
  const last = commands.at(-1)?.words ?? [];
  const [program, task] = last;
  if (baseName(program?.text ?? '') !== 'ray' || task?.text !== 'start') return false;
  const flags = readFlags(last);
  const has = (name: string) => flags.some((flag) => flag.name === name);
  return has('head') && has('block') && flags.some(({ name, value }) => name === 'num-gpus' && value === '0');
}

function commandsOf(container: Container): readonly SimpleCommand[] {
  return commandsIn(container).filter(({ words }) => words.length > 0);
}

import { readFlags } from '../command/flags.ts';
import { findMpiProcesses } from '../command/processes.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';

/** A pod or container that does not compute: its name and its task. */
export type Helper = readonly [name: string, task: string];

/** What the pods of a set do if their command lines show that all computing is in the other pods of the object. */
export function coordinatorOf(podSet: PodSet, workload: Workload): Helper | undefined {
  const others = workload.podSets.filter((other) => other !== podSet && requestsAccelerators(other));
  if (startsOnlyElsewhere(podSet, others)) return ['The launcher', 'starts processes in the other pods'];
  return podSet.containers.some(isEmptyRayHead) ? ['The Ray head', 'coordinates (--num-gpus 0)'] : undefined;
}

/** mpirun with one process for each device of pods that only run an SSH server: none is left for its own pod. */
function startsOnlyElsewhere({ containers, pods }: PodSet, others: readonly PodSet[]): boolean {
  if (pods.max !== 1 || others.length === 0 || !others.every((other) => other.containers.every(runsSshServer)))
    return false;
  if (containers.some((container) => commandsOf(container).some(computes))) return false;
  const devices = others.reduce<number | null>((sum, other) => add(sum, devicesOf(other)), 0);
  const started = containers.flatMap((container) => findMpiProcesses(processInput(container)));
  return started.length === 1 && devices !== null && devices > 0 && started[0]?.count === devices;
}

/** Whether a command computes in its own pod. */
function computes({ words }: SimpleCommand): boolean {
  return /^(?:python[\d.]*|torchrun|accelerate|deepspeed)$/.test(baseName(words[0]?.text ?? ''));
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
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
  const { command, args, env } = processInput(container);
  return allCommands(readCommandLine(command, args, env).statements).filter(({ words }) => words.length > 0);
}

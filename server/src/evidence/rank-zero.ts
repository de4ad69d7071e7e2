import { either, partOf } from '../catalog/word-patterns.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { usesAccelerators } from './launch.ts';

/**
 * The container of a job's master that saves what this one trains: with data parallelism, only rank 0 saves. Undefined in the master itself, in jobs
 * without one, and if each process may save its part of the model.
 */
export function rankZeroOf(container: Container, podSet: PodSet, workload: Workload): RankZero | undefined {
  if (container.type !== 'app' || leads.test(podSet.name) || savesParts(container)) return undefined;
  const [master, ...others] = workload.podSets.filter(({ name }) => leads.test(name));
  if (master === undefined || others.length > 0) return undefined;
  const [trainer, ...more] = master.containers.filter((one) => one.type === 'app' && usesAccelerators(one, master));
  if (trainer === undefined || more.length > 0 || savesParts(trainer)) return undefined;
  return { container: trainer, podSet: master };
}

export interface RankZero {
  readonly container: Container;
  readonly podSet: PodSet;
}

/** The roles of jobs whose only pod has rank 0: the operators' names, and the ones that people give to tasks. */
const leads = /^(?:master|chief|leader)$/i;

/** Whether a container has a word for training whose processes each hold, and save, a part of the model. */
function savesParts({ command, args, env, scripts, settingsFiles = [] }: Container): boolean {
  const texts = [
    ...[...command, ...args].map(({ value }) => value),
    ...env.map(({ name, value }) => `${name}=${value?.value ?? ''}`),
    ...[...scripts, ...settingsFiles].map(({ text }) => text),
  ];
  return texts.some((text) => parts.test(text));
}

const parts = either(
  partOf('deepspeed fsdp full_shard megatron \\bnemo\\b colossal torchtitan dist_checkpoint distributed_checkpoint'),
  partOf('(?:model|tensor|pipeline)[-_]parallel'),
  /\bzero[-_ ]?(?:stage)?[-_ ]?[123]\b/i,
);

import type { Container } from '../model/workload.ts';
import { at, isOpen, isTemplated } from '../yaml/cursor.ts';
import type { PodSetContext } from './rule.ts';

/** Whether a resource that may stand in the requests of a container surely stands there without a limit. */
export function lacksLimitOf(resource: string, container: Container, { workload }: PodSetContext): boolean {
  const limits = at(container.resources, 'limits');
  if (at(limits, resource) !== undefined) return false;
  // A count that is written at the wrong level is gpu-misplaced's.
  if (at(container.resources, resource) !== undefined || at(container.at, 'limits', resource) !== undefined)
    return false;
  if ((workload.partial || workload.role === 'definition') && !wholeResources.has(workload.kind)) return false;
  return !isOpen(container.at) && !isOpen(container.resources) && !isOpen(limits) && !isTemplated(limits);
}

/** Kinds that leave things out, but whose `resources` is written in one piece: nothing adds the limits. */
const wholeResources: ReadonlySet<string> = new Set([
  'TrainJob',
  'TrainingRuntime',
  'ClusterTrainingRuntime',
  'HyperJob',
]);

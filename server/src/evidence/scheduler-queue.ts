import { lookUp } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { asNumber, asText, getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';

/** The queue of Volcano or KAI that limits a workload. */
export interface SchedulerQueue {
  readonly group: 'scheduling.volcano.sh' | 'scheduling.run.ai';
  readonly name: string;
  /** All pods start together; otherwise some can run without the others. */
  readonly isGang: boolean;
}

/**
 * https://volcano.sh/en/docs/queue/, https://github.com/kai-scheduler/KAI-Scheduler/blob/main/docs/queues/README.md.
 * Volcano's queue is a field of its jobs, a field that the training operator passes on, or an annotation.
 */
export function schedulerQueue({ manifest, apiVersion, podSets }: Workload): SchedulerQueue | undefined {
  const spec = getIn(manifest.root, 'spec');
  const isVolcano = apiVersion.startsWith('batch.volcano.sh/');
  const policy = getIn(spec, 'runPolicy', 'schedulingPolicy');
  const marks = podSets.flatMap(({ annotations }) => annotations);
  const at =
    (isVolcano ? getIn(spec, 'queue') : getIn(policy, 'queue')) ??
    lookUp(marks, 'scheduling.volcano.sh/queue-name')?.at;
  if (at !== undefined) {
    const minimum = getIn(isVolcano ? spec : policy, 'minAvailable');
    const isGang = isVolcano && !isUnseen(minimum) && asNumber(minimum) === podCount(podSets);
    return isTemplated(at) ? undefined : { group: 'scheduling.volcano.sh', name: asText(at) ?? '', isGang };
  }
  const labels = [...manifest.labels, ...podSets.flatMap((podSet) => podSet.labels)];
  const label = lookUp(labels, 'kai.scheduler/queue');
  if (label === undefined || isTemplated(label.at)) return undefined;
  return { group: 'scheduling.run.ai', name: label.value, isGang: false };
}

function podCount(podSets: Workload['podSets']): number {
  return podSets.reduce((sum, { pods }) => sum + (pods.min ?? Number.NaN), 0);
}

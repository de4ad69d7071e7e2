import type { PodSet } from '../model/workload.ts';
import { asText, getIn, keyOf } from '../yaml/cursor.ts';

/** Whether KAI, or Run:ai with the same annotations, schedules the pod. */
export function isScheduledByKai({ pod, labels }: PodSet): boolean {
  const scheduler = asText(getIn(pod, 'schedulerName')) ?? '';
  return /^(?:kai|runai)-scheduler/.test(scheduler) || labels.some(({ at }) => queues.has(keyOf(at)));
}

const queues: ReadonlySet<string> = new Set(['kai.scheduler/queue', 'runai/queue']);

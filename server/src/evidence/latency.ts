import { once } from '../model/once.ts';
import type { Workload } from '../model/workload.ts';
import { keyOf } from '../yaml/cursor.ts';

/** Whether a label or annotation marks the workload as latency-critical: cold starts are not acceptable. */
export const isLatencyCritical = once(({ manifest, podSets }: Workload): boolean => {
  const marks = [
    ...manifest.labels,
    ...manifest.annotations,
    ...podSets.flatMap(({ labels, annotations }) => [...labels, ...annotations]),
  ];
  return marks.some(
    ({ value, at }) => value !== 'false' && /latency[-_.]?(critical|sensitive)/i.test(`${keyOf(at)}=${value}`),
  );
});

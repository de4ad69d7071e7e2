import { once } from '../model/once.ts';
import type { Workload } from '../model/workload.ts';
import { keyOf } from '../yaml/cursor.ts';

/** Somebody has said that a cold start is not acceptable. */
export const isLatencyCritical = once(({ manifest, podSets }: Workload): boolean => {
  const said = [
    ...manifest.labels,
    ...manifest.annotations,
    ...podSets.flatMap(({ labels, annotations }) => [...labels, ...annotations]),
  ];
  return said.some(
    ({ value, at }) => value !== 'false' && /latency[-_.]?(critical|sensitive)/i.test(`${keyOf(at)}=${value}`),
  );
});

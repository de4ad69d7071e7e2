import { lookUp } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import type { Located } from '../yaml/cursor.ts';

const queueName = 'kueue.x-k8s.io/queue-name';

/** Kueue's label of the object, or of the pod template for kinds that Kueue manages by their pods. */
export function queueLabel({ manifest, podSets }: Workload): Located<string> | undefined {
  return lookUp(manifest.labels, queueName) ?? podSets.flatMap(({ labels }) => lookUp(labels, queueName) ?? [])[0];
}

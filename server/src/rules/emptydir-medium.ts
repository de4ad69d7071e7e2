import { isPodSpec } from '../evidence/rejection.ts';
import { placesAt, writtenText } from '../evidence/written.ts';
import { isValues } from '../model/values.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The medium of an emptyDir is not one that the kubelet knows.
 *
 * ## Why
 *
 * The API server accepts any text, but the kubelet mounts only `Memory` and `HugePages`: with `memory`, the volume is never mounted, and the pod
 * stays in ContainerCreating with its GPUs.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *       volumeMounts:
 *         - name: shm
 *           mountPath: /dev/shm
 *   volumes:
 *     - name: shm
 *       emptyDir:
 *         medium: memory
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *       volumeMounts:
 *         - name: shm
 *           mountPath: /dev/shm
 *   volumes:
 *     - name: shm
 *       emptyDir:
 *         medium: Memory
 * ```
 *
 * ## Fix safety
 *
 * Safe for a misspelled `Memory`: the pod could not start before.
 *
 * ## When it is silent
 *
 * For templates.
 *
 * ## Sources
 *
 * - [Kubernetes: emptyDir](https://kubernetes.io/docs/concepts/storage/volumes/#emptydir)
 * - [Kubernetes: the kubelet's emptyDir plugin](https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/emptydir/empty_dir.go)
 */
export default defineRule({
  topic: 'shm',
  severity: 'error',
  podSet(podSet, { report, document, workload }) {
    const written = isPodSpec(podSet, workload)
      ? placesAt(podSet.pod, 'volumes.*.emptyDir.medium')
      : ofChart(podSet, workload);
    for (const at of written) {
      const medium = writtenText(at);
      if (medium === undefined || /^(?:Memory|HugePages(?:-.+)?)$/.test(medium)) continue;
      const meant = /^(?:mem(?:ory)?|ram|tmpfs)$/i.test(medium)
        ? 'Memory'
        : /^huge-?pages$/i.test(medium)
          ? 'HugePages'
          : undefined;
      report({
        message: `medium must be Memory or HugePages, not "${shorten(medium, 30)}": the pod never starts`,
        span: spanOf(at),
        fixes: () => [meant && fix(`Change to ${meant}`, 'safe', replaceScalar(document, at, meant))],
      });
    }
  },
});

/** Those of volumes that a chart's values describe, once for all pods that have them. */
function ofChart({ pod, volumes }: PodSet, { podSets, ...workload }: Workload): readonly Cursor[] {
  if (!isValues(workload) || podSets[0]?.pod.node !== pod.node) return [];
  return volumes.flatMap(({ at }) => getIn(at, 'emptyDir', 'medium') ?? []);
}

import { knownRequests } from '../evidence/requested-accelerators.ts';
import { hasDurableMount, volumeNamed } from '../evidence/volume-lifetime.ts';
import { useOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A notebook or an IDE has no volume for its files.
 *
 * ## Why
 *
 * Notebooks, results and trained models are written to the file system of the container, which ends with it: after a restart, an eviction
 * or the loss of the node, the work of days is gone. A claim mounted at the home or work directory keeps it.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: lab
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/workbench:3.1
 *       command: [jupyter, lab, --ip=0.0.0.0]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: lab
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/workbench:3.1
 *       command: [jupyter, lab, --ip=0.0.0.0, --notebook-dir=/work]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: work
 *           mountPath: /work
 *   volumes:
 *     - name: work
 *       persistentVolumeClaim:
 *         claimName: work
 * ```
 *
 * ## When it is silent
 *
 * If a volume outlives the pod or may, also a directory of the node; if another container, a hook or a command can copy the files elsewhere; for values of
 * charts, patches and templates, and for workloads without accelerators. The finding is information only: the files may be copies.
 *
 * ## Sources
 *
 * - [Kubernetes: volumes](https://kubernetes.io/docs/concepts/storage/volumes/#background)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'info',
  container(container, { workload, podSet, report }) {
    const { image, type, at } = container;
    if (type !== 'app' || workload.partial || isValues(workload) || useOf(container).use !== 'interactive') return;
    if (knownRequests(container).length === 0 || podSet.containers.some((one) => one !== container)) return;
    if (isIncomplete(at) || isIncomplete(podSet.pod) || isUnseen(getIn(podSet.pod, 'volumes'))) return;
    if (hasDurableMount(container, podSet) || mayCopyFiles(container)) return;
    if (container.volumeMounts.some(({ name }) => volumeNamed(podSet, name)?.source === 'hostPath')) return;
    if (image === undefined || isTemplated(image.at)) return;
    report({
      message: 'The notebook has no volume that outlives its pod: its files are lost when the pod ends',
      span: spanOf(image.at),
    });
  },
});

/** Whether something in the container may fetch the files from elsewhere or store them there. */
function mayCopyFiles({ at, command, args, env, scripts }: Container): boolean {
  const texts = [...command, ...args].map(({ value }) => value);
  return (
    getIn(at, 'lifecycle') !== undefined ||
    scripts.length > 0 ||
    [...texts, ...env.map(({ name }) => name)].some((text) => copies.test(text))
  );
}

const copies = /\bgit\b|s3|gs:|gcs|rclone|rsync|bucket|contents?.?manager|sync/i;

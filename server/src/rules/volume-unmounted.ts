import { isWholePod } from '../evidence/rejection.ts';
import { mayMountMore } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { asText, getIn, isIncomplete, isTemplated, isUnseen, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A pod has the volume of a claim, but none of its containers mounts it.
 *
 * ## Why
 *
 * The claim is bound and attached to the node, and is paid for, but nothing reads or writes it. Data that should be kept there, such as
 * checkpoints or a model, is written to the container and lost with it.
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
 *           nvidia.com/gpu: 1
 *   volumes:
 *     - name: checkpoints
 *       persistentVolumeClaim:
 *         claimName: checkpoints
 * ```
 *
 * ```yaml valid
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
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: checkpoints
 *           mountPath: /checkpoints
 *   volumes:
 *     - name: checkpoints
 *       persistentVolumeClaim:
 *         claimName: checkpoints
 * ```
 *
 * ## When it is silent
 *
 * For patches, definitions, templates and projects with kustomizations, which may add the mount, and for volumes of other kinds, which
 * sidecars of webhooks also use.
 *
 * ## Sources
 *
 * - [Kubernetes: volumes](https://kubernetes.io/docs/concepts/storage/volumes/#background)
 */
export default defineRule({
  topic: 'other',
  severity: 'info',
  podSet(podSet, { workload, document, crossReferences, report }) {
    const { pod, volumes, containers } = podSet;
    const claims = volumes.filter(({ source }) => source === 'persistentVolumeClaim');
    if (claims.length === 0 || document.template || !requestsAccelerators(podSet)) return;
    if (!isWholePod(podSet, workload) || crossReferences.mayBePatch()) return;
    const lists = ['containers', 'initContainers'].flatMap((key) => getIn(pod, key) ?? []);
    if ([pod, ...lists].some(isUnseen) || containers.some((one) => isIncomplete(one.at) || mayMountMore(one))) return;
    const devices = lists.flatMap(items).flatMap((one) => items(getIn(one, 'volumeDevices')));
    if (devices.some((one) => isUnseen(one) || isTemplated(getIn(one, 'name')))) return;
    const used = new Set([
      ...containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)),
      ...devices.map((one) => asText(getIn(one, 'name')) ?? ''),
    ]);
    const unused = claims.find(
      ({ at, name }) => !used.has(name) && !isIncomplete(at) && !isTemplated(getIn(at, 'name')),
    );
    const name = getIn(unused?.at, 'name');
    if (unused === undefined || name === undefined || keyOf(name) !== 'name') return;
    report({
      message: `No container mounts volume ${shorten(unused.name, 40)}: nothing reads or writes its claim`,
      span: spanOf(name),
    });
  },
});

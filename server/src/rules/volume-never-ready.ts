import { isDiskClass } from '../evidence/disk-classes.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { isUnknown, writtenText } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A volume that never becomes ready: a bucket without its sidecar, a claim that does not fit its volume, or a folder that no node has.
 *
 * ## Why
 *
 * GKE mounts a bucket of Cloud Storage with a sidecar, which its webhook adds to pods with the annotation `gke-gcsfuse/volumes: "true"`. Without
 * it, the mount keeps failing, and the pod holds its GPUs in ContainerCreating. A claim that names a volume takes that one only if the
 * volume has the same class, all access modes of the claim, and at least its size. Otherwise the claim and its pods stay Pending.
 * A `local` volume needs `nodeAffinity`, and no shell expands `~` or `./` in a hostPath. A new disk that pods may only read has to be a copy:
 * without `dataSource`, its driver does not create it.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 *   annotations:
 *     team: vision
 * spec:
 *   serviceAccountName: trainer
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: bucket
 *           mountPath: /data
 *   volumes:
 *     - name: bucket
 *       csi:
 *         driver: gcsfuse.csi.storage.gke.io
 *         volumeAttributes:
 *           bucketName: images
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 *   annotations:
 *     team: vision
 *     gke-gcsfuse/volumes: "true"
 * spec:
 *   serviceAccountName: trainer
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: bucket
 *           mountPath: /data
 *   volumes:
 *     - name: bucket
 *       csi:
 *         driver: gcsfuse.csi.storage.gke.io
 *         volumeAttributes:
 *           bucketName: images
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the sidecar takes CPU and memory of the node.
 *
 * ## When it is silent
 *
 * For patches, definitions and templates, for kinds whose pods get annotations from elsewhere, and for pods that have the sidecar. For claims
 * without a volume in the same file, and for classes that one of the two does not name.
 *
 * ## Sources
 *
 * - [GKE: the sidecar of Cloud Storage FUSE](https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-sidecar)
 * - [GKE: disks that many nodes read](https://cloud.google.com/kubernetes-engine/docs/how-to/persistent-volumes/readonlymany-disks)
 * - [Kubernetes: binding a claim to a volume](https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  manifest({ root, kind }, context) {
    if (kind === 'PersistentVolumeClaim') {
      checkClaim(getIn(root, 'spec'), context);
      checkReadOnly(getIn(root, 'spec'), context);
    }
    if (kind === 'PersistentVolume') {
      checkLocal(getIn(root, 'spec'), context);
      checkServer(getIn(root, 'spec', 'nfs', 'server'), context);
    }
  },
  podSet(podSet, context) {
    checkBucket(podSet, context);
    if (!requestsAccelerators(podSet)) return;
    checkHostPaths(podSet, context);
    for (const { at } of podSet.volumes) checkServer(getIn(at, 'nfs', 'server'), context);
  },
});

/** Reports a disk of a node that does not name its node. */
function checkLocal(spec: Cursor | undefined, { report }: RuleContext): void {
  const local = getIn(spec, 'local');
  const affinity = getIn(spec, 'nodeAffinity');
  if (local?.node.kind !== 'map' || isUnseen(spec) || isUnseen(affinity)) return;
  if (getIn(affinity, 'required') !== undefined) return;
  report({
    severity: 'error',
    message: 'A local volume needs nodeAffinity.required with its node: the API server rejects the PersistentVolume',
    span: keySpanOf(local),
  });
}

/** Reports an export in the form of `mount` or of an address, where only a host can be. */
function checkServer(server: Cursor | undefined, { report }: RuleContext): void {
  const written = writtenText(server);
  if (server === undefined || written?.includes('/') !== true) return;
  report({
    message: `An NFS server is a host without a path, not ${shorten(written, 40)}: the volume is never mounted, and the pod never starts`,
    span: spanOf(server),
  });
}

/** Reports folders of nodes in the words of a shell, without a root, or of Windows. */
function checkHostPaths({ pod, volumes }: PodSet, { report }: PodSetContext): void {
  const isWindows = asText(getIn(pod, 'nodeSelector', 'kubernetes.io/os')) === 'windows';
  for (const { at } of volumes) {
    const path = getIn(at, 'hostPath', 'path');
    const written = writtenText(path);
    if (path === undefined || written === undefined || isWindows || !relative.test(written)) continue;
    const why = /^[~.]/.test(written) ? 'no shell expands it, and the pod' : 'the pod';
    report({
      message: `hostPath must be absolute, not ${shorten(written, 40)}: ${why} does not find this folder of its node`,
      span: spanOf(path),
    });
  }
}

const relative = /^(?:~|\.\.?)(?:\/|$)|^[A-Za-z]:\\|^\w[\w.-]*(?:\/|$)/;

const annotation = 'gke-gcsfuse/volumes';

function checkBucket(podSet: PodSet, { workload, document, crossReferences, report }: PodSetContext): void {
  const { pod, volumes, containers } = podSet;
  const bucket = volumes.find(({ at }) => asText(getIn(at, 'csi', 'driver')) === 'gcsfuse.csi.storage.gke.io');
  const driver = getIn(bucket?.at, 'csi', 'driver');
  if (driver === undefined || isTemplated(driver) || !requestsAccelerators(podSet)) return;
  if (document.template || !isWholePod(podSet, workload) || crossReferences.mayBePatch()) return;
  // Its controller copies the annotations of the Notebook.
  if (workload.kind === 'Notebook') return;
  const metadata = getIn(pod.parent, 'metadata');
  const annotations = getIn(metadata, 'annotations');
  const listed = getIn(pod, 'containers');
  if ([pod, pod.parent, metadata, annotations, listed].some((one) => one !== undefined && isUnseen(one))) return;
  if (getIn(annotations, annotation) !== undefined || items(listed).some(isIncomplete)) return;
  if (containers.some(({ name }) => name?.includes('gcsfuse') === true)) return;
  report({
    severity: 'error',
    message: `The pods have no annotation ${annotation}: "true", so no sidecar mounts the bucket: they never start`,
    span: spanOf(driver),
    fixes: () => [annotations && fix(`Add ${annotation}`, 'unsafe', setKey(document, annotations, annotation, 'true'))],
  });
}

/** Reports a new disk that no pod can fill. */
function checkReadOnly(spec: Cursor | undefined, { report }: RuleContext): void {
  const [storageClass, modes] = [getIn(spec, 'storageClassName'), getIn(spec, 'accessModes')];
  const name = writtenText(storageClass);
  if (spec === undefined || modes === undefined || name === undefined || !isDiskClass(name)) return;
  // Ceph creates the disk, and its pods fail later.
  if (/ceph|rbd/i.test(name)) return;
  if ([spec, modes].some(isUnseen) || isIncomplete(spec) || items(modes).length === 0) return;
  if (items(modes).some((mode) => isUnknown(mode) || asText(mode) !== 'ReadOnlyMany')) return;
  // A copy of another volume, or a volume that exists.
  if (entries(spec).some((one) => /^(?:dataSource|dataSourceRef|volumeName|selector)$/.test(keyOf(one)))) return;
  report({
    message: `A ReadOnlyMany claim of class ${shorten(name, 40)} needs a dataSource: no pod can fill the new disk, and the claim stays Pending`,
    span: spanOf(modes),
  });
}

/** Compares a claim with the volume that it names, as the controller of volumes does. */
function checkClaim(spec: Cursor | undefined, { crossReferences, report }: RuleContext): void {
  const at = getIn(spec, 'volumeName');
  const name = writtenText(at);
  if (spec === undefined || at === undefined || name === undefined || isIncomplete(spec)) return;
  const volume = crossReferences.volume(name);
  if (volume === undefined || volume.file !== null) return;
  const { bytes, accessModes, storageClass } = volume.facts;
  const say = (where: Cursor, problem: string) =>
    report({ message: `${problem}: the claim and its pods stay Pending`, span: spanOf(where) });
  const [own, size] = [getIn(spec, 'storageClassName'), getIn(spec, 'resources', 'requests', 'storage')];
  const [written, modes] = [isUnknown(own) ? undefined : asText(own), getIn(spec, 'accessModes')];
  const shown = shorten(name, 30);
  if (own !== undefined && written !== undefined && storageClass !== null && written !== storageClass)
    say(own, `Volume ${shown} has class "${shorten(storageClass, 24)}", not "${shorten(written, 24)}"`);
  const wanted = size === undefined || isUnknown(size) ? null : lowerQuantity(size).value;
  if (size !== undefined && bytes !== null && wanted !== null && wanted > bytes)
    say(size, `Volume ${shown} is smaller than the ${asText(size)} of the claim`);
  if (modes === undefined || isUnseen(modes) || accessModes.length === 0) return;
  const missing = items(modes).find((mode) => !isUnknown(mode) && !accessModes.includes(asText(mode) ?? ''));
  if (missing !== undefined) say(missing, `Volume ${shown} does not have ${shorten(asText(missing) ?? '', 20)}`);
}

import { oneOf } from '../catalog/word-patterns.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { writtenText } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet } from '../model/workload.ts';
import { asBoolean, asText, getIn, isUnseen, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A pod reads a folder of one machine but may run on any node with a free GPU.
 *
 * ## Why
 *
 * A `hostPath` is a folder of the node on which the pod happens to run. Somebody's home, or a folder that the pod may only read, has its content only on
 * the machine where it was prepared. On another GPU node, the folder is empty, or the pod does not start. Select the node by a label, or use a claim.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: renderer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/renderer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: scenes
 *           mountPath: /scenes
 *   volumes:
 *     - name: scenes
 *       hostPath:
 *         path: /home/kim/scenes
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: renderer
 * spec:
 *   nodeSelector:
 *     kubernetes.io/hostname: gpu-3
 *   containers:
 *     - name: main
 *       image: registry.example/renderer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: scenes
 *           mountPath: /scenes
 *   volumes:
 *     - name: scenes
 *       hostPath:
 *         path: /home/kim/scenes
 * ```
 *
 * ## When it is silent
 *
 * If the pod selects or names nodes or has a claim, which may bind it to a node; for folders of the system, of temporary files, of mounted disks and of file systems that nodes share
 * (`/mnt/nfs`, `/lustre`); for folders that the kubelet creates, and for patches, templates, DaemonSets and infrastructure.
 *
 * ## Sources
 *
 * - [Kubernetes: hostPath](https://kubernetes.io/docs/concepts/storage/volumes/#hostpath)
 */
export default defineRule({
  topic: 'placement',
  severity: 'info',
  podSet(podSet, { workload, document, crossReferences, report }) {
    if (!requestsAccelerators(podSet) || workload.kind === 'DaemonSet' || isExempt(workload)) return;
    if (document.template || !isWholePod(podSet, workload) || crossReferences.mayBePatch()) return;
    if (mayBeBound(podSet)) return;
    for (const { name, source, at } of podSet.volumes) {
      const [path, type] = [getIn(at, 'hostPath', 'path'), getIn(at, 'hostPath', 'type')];
      const text = writtenText(path);
      if (source !== 'hostPath' || path === undefined || text === undefined || !isOfMachine(text)) continue;
      const isKnown = !isUnseen(type) && /^(?:Directory|File)?$/.test(asText(type) ?? '');
      if (!isKnown || !(ofAccount.test(text) || isOnlyRead(podSet, name))) continue;
      const isChecked = (asText(type) ?? '') !== '';
      report({
        message: `Nothing selects a node that has ${shorten(text, 50)}: on other GPU nodes, ${isChecked ? 'the pod does not start' : 'the folder is empty'}`,
        span: spanOf(path),
      });
      return;
    }
  },
});

/** Of a person, not of a program or a placeholder, and not hidden, as caches are. */
const ofAccount = new RegExp(
  `^/home/(?!(?:${oneOf('kubernetes containerd your[\\w-]* (?:my)?[-_]?user(?:name)?')})/)[\\w.-]+(?:/\\w[\\w.-]*)+/?$`,
  'i',
);

/** Whether something chooses the node of a pod, or may: a selector, a claim for a volume, a scheduler of its own. */
function mayBeBound({ pod, volumes, selectors }: PodSet): boolean {
  const fields = [
    'nodeSelector',
    'nodeName',
    'affinity',
    'topologySpreadConstraints',
    'resourceClaims',
    'schedulerName',
  ];
  if (selectors.length > 0 || fields.some((field) => getIn(pod, field) !== undefined)) return true;
  return volumes.some(({ source }) => source === 'persistentVolumeClaim' || source === 'ephemeral');
}

/** Whether all containers that mount a volume may only read it, so that something else has filled it. */
function isOnlyRead({ containers }: PodSet, volume: string): boolean {
  const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts.filter(({ name }) => name === volume));
  return mounts.length > 0 && mounts.every(({ at }) => asBoolean(getIn(at, 'readOnly')) === true);
}

/** Whether a folder holds data of its machine, rather than its system, or a file system that all nodes share. */
function isOfMachine(path: string): boolean {
  return /^\/\w/.test(path) && !ofSystem.test(path) && !shared.test(path);
}

const ofSystem = new RegExp(
  `^/(?:${oneOf('bin boot dev etc lib\\w* nix proc run sbin snap sys tmp usr var root Users host mnt media')})(?:/|$)`,
);

const shared = new RegExp(
  `[/._-](?:${oneOf(
    'nfs nas smb cifs samba ceph cephfs glusterfs? lustre gpfs beegfs weka',
    'efs fsx share shared common net network cluster remote cvmfs juicefs vast',
    'scratch caches?',
    'nvidia cuda drivers? rocm',
  )})\\d*(?:$|[/._-])`,
  'i',
);

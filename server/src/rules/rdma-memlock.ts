import { volumeNamed } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isListedContainer } from '../model/pod.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container uses RDMA devices but may not lock memory.
 *
 * ## Why
 *
 * RDMA registers memory with the network card, which requires locked pages. Without the capability IPC_LOCK the limit of the container runtime
 * applies, often 64 KiB: registration fails ("Cannot allocate memory"), and NCCL stops or falls back to TCP. The same applies to a container that
 * mounts `/dev/infiniband` from the host.
 *
 * The capability works only for root: in a container with another user (`runAsUser: 1000`) it is allowed, but not effective, because Kubernetes has no ambient
 * capabilities. Such a container needs a higher limit of the container runtime (`LimitMEMLOCK`).
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: worker
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *           rdma/rdma_shared_device_a: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: worker
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *           rdma/rdma_shared_device_a: 1
 *       securityContext:
 *         capabilities:
 *           add:
 *             - IPC_LOCK
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the container gets one more capability.
 *
 * ## When it is silent
 *
 * For privileged containers, for EFA, whose plugin needs no capability, and without accelerators.
 *
 * ## Sources
 *
 * - [NVIDIA Network Operator: RDMA shared devices](https://docs.nvidia.com/networking/display/cokan10/network+operator)
 * - [Oracle: RDMA on OKE](https://github.com/oracle-quickstart/oci-hpc-oke/blob/main/docs/running-pytorch-jobs-on-oke-using-hostnetwork-with-rdma.md)
 * - [NVIDIA/nvidia-container-toolkit#2037](https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037)
 * - [Kubernetes: ambient capabilities (KEP-2763)](https://github.com/kubernetes/enhancements/issues/2763)
 * - [NVIDIA/aicr#2306](https://github.com/NVIDIA/aicr/pull/2306)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  container(container, { workload, podSet, document, report }) {
    if (workload.partial || workload.role === 'infrastructure' || !requestsAccelerators(container)) return;
    // Operators that build the container from other fields also set its rights.
    if (!isListedContainer(container.at)) return;
    const limits = entries(getIn(container.resources, 'limits'));
    const device = limits.find((entry) => isRdmaDevice(keyOf(entry)));
    const mount = limits.some((entry) => /\/efa$/.test(keyOf(entry))) ? undefined : deviceFiles(container, podSet);
    const at = device ?? mount;
    const security = getIn(container.at, 'securityContext');
    if (at === undefined || isIncomplete(container.at) || isIncomplete(security)) return;
    if (asBoolean(getIn(security, 'privileged')) === true) return;
    const added = getIn(security, 'capabilities', 'add');
    const uid = isIncomplete(added) ? undefined : ordinaryUser(security, getIn(podSet.pod, 'securityContext'));
    const lock = items(added).find((one) => isLock(asText(one)));
    const user = device === undefined ? '/dev/infiniband' : keyOf(device);
    const span = device === undefined ? spanOf(at) : keySpanOf(device);
    // Its children are root's.
    if (uid !== undefined && commandsIn(container).some(({ words }) => words.some(({ text }) => text === 'sudo')))
      return;
    if (uid !== undefined) {
      const who = `user ${shorten(asText(uid) ?? '', 12)}`;
      report({
        message:
          lock === undefined
            ? `${user} needs locked memory, which ${who} may lack even with IPC_LOCK: unless the nodes raise the limit, NCCL falls back to TCP`
            : `${shorten(asText(lock) ?? '', 20)} has no effect for ${who}: added capabilities are effective only for root, and NCCL can fall back to TCP`,
        span: lock === undefined ? span : spanOf(lock),
      });
      return;
    }
    if (mayLock(added)) return;
    report({
      message: `${user} needs the capability IPC_LOCK: without it, RDMA may fail to register memory, and NCCL falls back to TCP`,
      span,
      fixes: () => [addCapability(container, security, document)],
    });
  },
});

/** A resource of an RDMA device plugin: in its own group, or named after RDMA by the administrator who set up the virtual functions. */
function isRdmaDevice(resource: string): boolean {
  const [group, name = ''] = resource.split('/');
  // The API server rejects domains in upper case.
  if (group !== group?.toLowerCase()) return false;
  return group === 'rdma' || name.split(/[-_.]/).some((word) => /^(?:rdma|roce|hca|infiniband)\d*$/.test(word));
}

/** The path at which the devices of the host's RDMA cards are mounted. */
function deviceFiles({ volumeMounts }: Container, podSet: PodSet): Cursor | undefined {
  return volumeMounts
    .filter(({ name }) => {
      const volume = volumeNamed(podSet, name);
      const path = volume?.source === 'hostPath' ? asText(getIn(volume.at, 'hostPath', 'path')) : undefined;
      return path !== undefined && /^\/dev\/infiniband(?:\/|$)/.test(path);
    })
    .map(({ at }) => getIn(at, 'mountPath') ?? at)[0];
}

function mayLock(added: Cursor | undefined): boolean {
  return isIncomplete(added) || items(added).some((one) => isLock(asText(one)));
}

function isLock(capability: string | undefined): boolean {
  return /^(?:CAP_)?(?:IPC_LOCK|ALL|SYS_ADMIN)$/i.test(capability ?? '');
}

/** The user of a container, if it is not root. The field of the container replaces that of the pod. */
function ordinaryUser(own: Cursor | undefined, ofPod: Cursor | undefined): Cursor | undefined {
  const uid = getIn(own, 'runAsUser') ?? getIn(ofPod, 'runAsUser');
  return /^[1-9]\d*$/.test(asText(uid) ?? '') ? uid : undefined;
}

function addCapability({ at }: Container, security: Cursor | undefined, document: YamlDocument): Fix | undefined {
  const capabilities = getIn(security, 'capabilities');
  const edits =
    security === undefined
      ? insertKey(document, at, 'securityContext', { capabilities: { add: ['IPC_LOCK'] } })
      : capabilities === undefined
        ? insertKey(document, security, 'capabilities', { add: ['IPC_LOCK'] })
        : addItem(document, capabilities, 'add', 'IPC_LOCK');
  return fix('Add the capability IPC_LOCK', 'unsafe', edits);
}

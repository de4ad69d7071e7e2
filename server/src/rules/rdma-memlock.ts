import { requestsAccelerators } from '../model/accelerators.ts';
import { isListedContainer } from '../model/pod.ts';
import type { Container } from '../model/workload.ts';
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
} from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { defineRule } from './rule.ts';

/**
 * A container uses RDMA devices but may not lock memory.
 *
 * ## Why
 *
 * RDMA registers memory with the network card, which requires locked pages. Without the capability IPC_LOCK the limit of the container runtime
 * applies, often 64 KiB: registration fails ("Cannot allocate memory"), and NCCL stops or falls back to TCP.
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
 * - [NVIDIA/aicr#2306](https://github.com/NVIDIA/aicr/pull/2306)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  container(container, { workload, document, report }) {
    if (workload.partial || workload.role === 'infrastructure' || !requestsAccelerators(container)) return;
    // Operators that build the container from other fields also set its rights.
    if (!isListedContainer(container.at)) return;
    const device = entries(getIn(container.resources, 'limits')).find((entry) => keyOf(entry).startsWith('rdma/'));
    const security = getIn(container.at, 'securityContext');
    if (device === undefined || isIncomplete(container.at) || isIncomplete(security)) return;
    if (asBoolean(getIn(security, 'privileged')) === true || mayLock(getIn(security, 'capabilities', 'add'))) return;
    report({
      message: `${keyOf(device)} needs the capability IPC_LOCK: without it, RDMA may fail to register memory, and NCCL falls back to TCP`,
      span: keySpanOf(device),
      fixes: () => [addCapability(container, security, document)],
    });
  },
});

function mayLock(added: Cursor | undefined): boolean {
  return (
    isIncomplete(added) || items(added).some((one) => /^(?:CAP_)?(?:IPC_LOCK|ALL|SYS_ADMIN)$/i.test(asText(one) ?? ''))
  );
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

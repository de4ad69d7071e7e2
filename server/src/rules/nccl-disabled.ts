import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { plural } from '../cost/money.ts';
import { wholeGpus } from '../evidence/launch.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { mayMountMore } from '../evidence/volume-lifetime.ts';
import { kindOf } from '../model/kinds/index.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, entries, getIn, isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { removeItem } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * An environment variable disables NCCL's fast links between GPUs, or training with GPUs uses another backend.
 *
 * ## Why
 *
 * With NCCL_P2P_DISABLE=1, the GPUs of a node communicate through host memory instead of NVLink or PCIe. With NCCL_IB_DISABLE=1, nodes
 * communicate over TCP instead of RDMA. With NCCL_SHM_DISABLE=1, GPUs of a node without a direct link communicate over the network instead of
 * shared memory, often because the container has no volume at /dev/shm. All are several times slower and cause no error. Such variables are
 * often left over from debugging.
 * Gloo sends all gradients through host memory.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: server
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:0.9.2
 *       env:
 *         - name: NCCL_DEBUG
 *           value: WARN
 *         - name: NCCL_P2P_DISABLE
 *           value: "1"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: server
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:0.9.2
 *       env:
 *         - name: NCCL_DEBUG
 *           value: WARN
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: on machines with broken links, the container may run only with this variable.
 *
 * ## When it is silent
 *
 * With fewer than two GPUs, for examples that are named after Gloo, and for NCCL_IB_DISABLE if the pod requests no RDMA device: many networks have none.
 *
 * ## Sources
 *
 * - [NCCL: environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  container(container, context) {
    if (isExempt(context.workload)) return;
    reportCommands(container, context);
    reportTransport(container, context);
    const gpus = wholeGpus(container, context.podSet);
    if (gpus === null || gpus < 2) return;
    for (const { name, value, at: item } of container.env) {
      const effect = effectOf(name, gpus, container, context);
      if (effect === undefined || value === undefined || value.value !== '1') continue;
      context.report({
        message: `${name}=1 sends traffic ${effect}`,
        span: spanOf(value.at),
        // Without a volume, removing the variable alone can make NCCL fail.
        fixes: () =>
          name === sharedMemory && !hasSharedMemory(container, context)
            ? []
            : [fix(`Remove ${name}`, 'unsafe', removeItem(context.document, item))],
      });
    }
  },
});

/** What a command line says of NCCL: variables that it sets for itself or its processes (`export`, `mpirun -x`), and another backend. */
function reportCommands(container: Container, { workload, podSet, document, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => value.includes('_DISABLE') || value.includes('gloo'))) return;
  // A launcher sets them for its workers.
  const driven = kindOf(workload).launcher?.driven;
  const users = workload.podSets.find(({ name }) => name === driven && name !== podSet.name) ?? podSet;
  const user = users === podSet ? container : users.containers.find(({ accelerators }) => accelerators.length > 0);
  const gpus = user && wholeGpus(user, users);
  if (user === undefined || gpus == null) return;
  // An object with the name of the backend is an example of it.
  const isAlone = workload.podSets.length === 1 && (podSet.pods.max ?? 1) === 1 && gpus === 1;
  const isRank =
    hasRole(workload, 'training') && container.type === 'app' && !isAlone && !/gloo/.test(workload.name ?? '');
  for (const { words, assignments } of commandsIn(container)) {
    const backend = isRank
      ? readFlags(words).find(({ written, value }) => value === 'gloo' && isBackend(written))
      : undefined;
    const backendSpan = backend && spanOfWords(document, lines, [backend.word, backend.valueWord ?? backend.word]);
    if (backend && backendSpan)
      report({
        message: `${shorten(backend.written, 30)} gloo sends gradients through host memory: use nccl for ranks with GPUs`,
        span: backendSpan,
        oncePerFile: true,
      });
    for (const word of gpus < 2 ? [] : [...assignments, ...words]) {
      const [name = '', value] = word.text.split('=');
      const effect =
        value === '1' && !word.dynamic ? effectOf(name, gpus, user, { workload, podSet: users }) : undefined;
      const span = effect && spanOfWords(document, lines, [word, word]);
      if (span) report({ message: `${name}=1 sends traffic ${effect}`, span });
    }
  }
}

/** Transports over TCP, although the container requests devices of a faster network. */
function reportTransport({ env, resources }: Container, { report }: PodSetContext): void {
  // UCX and NVSHMEM reach the devices by themselves.
  if (env.some(({ name }) => /^(?:UCX|NVSHMEM|NIXL)_/.test(name))) return;
  for (const { name, value } of env) {
    const tcp = transports.get(name);
    if (tcp === undefined || value === undefined || isTemplated(value.at) || !tcp.values.test(value.value.trim()))
      continue;
    const device = entries(getIn(resources, 'limits')).find(
      (entry) => tcp.devices.test(keyOf(entry)) && !/^0?$/.test(asText(entry) ?? '0'),
    );
    if (device === undefined) continue;
    report({
      severity: 'warning',
      message: `${name}=${shorten(value.value, 20)} sends NCCL's traffic over TCP: the container's ${shorten(keyOf(device), 40)} stays unused`,
      span: spanOf(value.at),
    });
  }
}

const rdma = /rdma|infiniband|\/ib|roce/i;

/** Variables that choose the transport, the values that mean TCP, and the devices that these leave unused. */
const transports = new Map([
  ['NCCL_NET', { values: /^socket$/i, devices: new RegExp(`${rdma.source}|/efa$`, 'i') }],
  ['FI_PROVIDER', { values: /^(?:tcp|sockets|udp)$/i, devices: /\/efa$/ }],
]);

function isBackend(name: string): boolean {
  const words = wordsOf(name);
  return words.includes('backend') && words.every((word) => backendWords.has(word));
}

const backendWords = wordSet('backend dist distributed ddp process group pg torch comm communication');

function effectOf(name: string, gpus: number, container: Container, user: User): string | undefined {
  if (name === 'NCCL_P2P_DISABLE')
    return `between the ${plural(gpus, 'GPU')} through host memory instead of NVLink or PCIe`;
  if (name === sharedMemory) {
    const advice = hasSharedMemory(container, user) ? '' : ': mount a volume in memory at /dev/shm';
    return `over the network, not through shared memory, between GPUs without a direct link${advice}`;
  }
  return name === 'NCCL_IB_DISABLE' && requestsRdma(container, user.podSet)
    ? 'between nodes over TCP although the pod requests RDMA devices'
    : undefined;
}

const sharedMemory = 'NCCL_SHM_DISABLE';

/** Whether a container has, or may have, more than the default 64 MiB at /dev/shm. */
function hasSharedMemory(container: Container, { workload, podSet }: User): boolean {
  if (workload.partial || kindOf(workload).mountsShm === true || mayMountMore(container)) return true;
  if (isIncomplete(podSet.pod) || getIn(podSet.pod, 'hostIPC') !== undefined) return true;
  return container.volumeMounts.some(({ mountPath }) => /^\/dev(?:\/shm)?\/?$/.test(mountPath));
}

/** The pods whose processes read the variable. */
type User = Pick<PodSetContext, 'workload' | 'podSet'>;

/** EFA does not count: NCCL reaches it through a plugin, which the variable does not affect. */
function requestsRdma({ resources }: Container, { containers }: PodSet): boolean {
  return [resources, ...containers.map((other) => other.resources)].some((one) =>
    entries(getIn(one, 'limits')).some((entry) => rdma.test(keyOf(entry))),
  );
}

import { plural } from '../cost/format.ts';
import { wholeGpus } from '../evidence/processes.ts';
import { isExempt } from '../evidence/requests.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { entries, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { removeItem } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * NCCL is told not to use the fast links between GPUs.
 *
 * ## Why
 *
 * With NCCL_P2P_DISABLE=1 the GPUs of a node talk through the host's memory instead of NVLink or PCIe, and with NCCL_IB_DISABLE=1 nodes
 * talk over TCP instead of RDMA: several times slower, with no error to show for it. Such variables stay behind from a search for a fault.
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
 * Unsafe: on machines whose links do not work, the variable is what makes it run.
 *
 * ## When it is silent
 *
 * With fewer than two GPUs, and for NCCL_IB_DISABLE where the pod asks for no RDMA device: many networks have none.
 *
 * ## Sources
 *
 * - [NCCL: environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  container(container, context) {
    const gpus = wholeGpus(container, context.podSet);
    if (gpus === null || gpus < 2 || isExempt(context.workload)) return;
    for (const { name, value, at: item } of container.env) {
      const lost = lostBy(name, container, context.podSet);
      if (lost === undefined || value === undefined || value.value !== '1') continue;
      context.report({
        message: `${name}=1 with ${plural(gpus, 'GPU')} in the container: ${lost}`,
        span: spanOf(value.at),
        fixes: () => [fix(`Remove ${name}`, 'unsafe', removeItem(context.document, item))],
      });
    }
  },
});

function lostBy(name: string, container: Container, podSet: PodSet): string | undefined {
  if (name === 'NCCL_P2P_DISABLE') return 'they talk through host memory instead of NVLink or PCIe';
  return name === 'NCCL_IB_DISABLE' && asksForRdma(container, podSet)
    ? 'nodes talk over TCP although the pod asks for RDMA devices'
    : undefined;
}

/** EFA is no InfiniBand: NCCL reaches it by a plugin that the variable does not touch. */
function asksForRdma({ resources }: Container, { containers }: PodSet): boolean {
  return [resources, ...containers.map((other) => other.resources)].some((one) =>
    entries(getIn(one, 'limits')).some((entry) => /rdma|infiniband|\/ib|roce/i.test(keyOf(entry))),
  );
}

import { meantMigResource } from '../catalog/resource-spelling.ts';
import type { AcceleratorRequest } from '../model/workload.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * One container asks for two kinds of accelerators.
 *
 * ## Why
 *
 * The node must have both, and few do. Where it has (a whole GPU and a MIG slice, two MIG profiles), each allocation sets the same
 * environment variable of the container, so that only one of them is seen; the other is paid for and idle. Ask for one kind, or
 * make it two containers.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: both
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:3.2
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.5gb: 1
 *           nvidia.com/mig-2g.10gb: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: each
 * spec:
 *   containers:
 *     - name: small
 *       image: registry.example/server:3.2
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.5gb: 1
 *     - name: large
 *       image: registry.example/server:3.2
 *       resources:
 *         limits:
 *           nvidia.com/mig-2g.10gb: 1
 * ```
 *
 * ## When it is silent
 *
 * For what travels with an accelerator: memory and core counters of vGPU schedulers, EFA and RDMA devices, and for counts of 0.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin#728](https://github.com/NVIDIA/k8s-device-plugin/issues/728)
 * - [NVIDIA/gpu-operator#637](https://github.com/NVIDIA/gpu-operator/issues/637)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container({ accelerators }, context) {
    // Two spellings of one slice are mig-resource-spelling's.
    const devices = new Map(
      accelerators.filter(isDevice).map((one) => [meantMigResource(one.resource) ?? one.resource, one]),
    );
    const [first, second] = devices.values();
    if (first === undefined || second === undefined) return;
    const written = writtenQuantities(second)[0];
    if (written === undefined) return;
    const names = [...devices.values()].map(({ resource }) => resource);
    // Neuron's three names count the same chips in different units.
    const same = names.every((name) => name.startsWith('aws.amazon.com/neuron'));
    const result = same ? 'they are names of the same devices' : 'few nodes have both, and only one is usable';
    context.report({
      message: `Asks for ${names
        .slice(0, 2)
        .map((name) => shorten(name, 36))
        .join(' and ')} in one container: ${result}`,
      span: keySpanOf(written.at),
    });
  },
});

function isDevice({ form, count, limit, request }: AcceleratorRequest): boolean {
  if (form === 'memory' || form === 'percent') return false;
  return count !== 0 && (limit ?? request)?.empty === false;
}

import { knownAccelerator } from '../catalog/index.ts';
import { meantMigResource } from '../catalog/resource-spelling.ts';
import { claimedDevices } from '../evidence/claimed-devices.ts';
import { modelsInResource } from '../model/named-models.ts';
import type { AcceleratorRequest, PodAccelerator } from '../model/workload.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container requests two kinds of accelerators.
 *
 * ## Why
 *
 * The node must have both, and few nodes do. On a node that has both (a whole GPU and a MIG slice, or two MIG profiles), each allocation
 * sets the same environment variable in the container, so only one of them is visible; the other stays idle. Request one kind, or use two
 * containers. A device claim next to a request does the same: the plugin and the driver of a vendor do not share the GPUs of a node. Two names for cards of one model each, such as `nvidia.com/gpu-3090`, are **information**: a plugin may hand out devices in another way.
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
 * For resources that accompany an accelerator (memory and core counters of vGPU schedulers, EFA and RDMA devices), and for counts of 0.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin#728](https://github.com/NVIDIA/k8s-device-plugin/issues/728)
 * - [NVIDIA/gpu-operator#637](https://github.com/NVIDIA/gpu-operator/issues/637)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const { accelerators } = container;
    // mig-resource-spelling reports two spellings of one slice.
    const devices = new Map(
      accelerators.filter(isDevice).map((one) => [meantMigResource(one.resource) ?? one.resource, one]),
    );
    const [first, second] = devices.values();
    const claimed = first && claimedTwin(first, claimedDevices(container, context.podSet));
    const request = first && writtenQuantities(first)[0];
    if (claimed !== undefined && request !== undefined) {
      context.report({
        message: `The container requests ${first?.resource ?? ''} and claims ${claimed}: it gets GPUs from both, or stays Pending`,
        span: keySpanOf(request.at),
      });
      return;
    }
    if (first === undefined || second === undefined) return;
    const written = writtenQuantities(second)[0];
    if (written === undefined) return;
    const names = [...devices.values()].map(({ resource }) => resource);
    // Neuron's three names count the same chips in different units.
    const same = names.every((name) => name.startsWith('aws.amazon.com/neuron'));
    const isOwn = [first, second].some(({ resource }) => knownAccelerator(resource) === undefined);
    const result = same
      ? 'both name the same devices'
      : isOwn
        ? 'unless the plugin uses CDI, only one of the cards is visible'
        : 'few nodes have both, and only one is usable';
    context.report({
      ...(isOwn && { severity: 'info' as const }),
      message: `The container requests ${names
        .slice(0, 2)
        .map((name) => shorten(name, 36))
        .join(' and ')}: ${result}`,
      span: keySpanOf(written.at),
    });
  },
});

/** The class of a claim for whole GPUs of the vendor of a request. A node's GPUs are offered by a plugin or by a driver. */
function claimedTwin({ resource, form }: AcceleratorRequest, claims: readonly PodAccelerator[]): string | undefined {
  const vendor = knownAccelerator(resource)?.vendor;
  const twin = claims.find(
    ({ requested, form: claimedForm }) =>
      requested.kind === 'deviceClass' && claimedForm === form && requested.name === `gpu.${vendor}.com`,
  );
  return twin?.requested.kind === 'deviceClass' ? twin.requested.name : undefined;
}

function isDevice({ resource, form, count, limit, request }: AcceleratorRequest): boolean {
  // A name that only looks like an accelerator may stand for anything next to one.
  if (form === 'memory' || form === 'percent') return false;
  if (knownAccelerator(resource) === undefined && !namesCard(resource)) return false;
  return count !== 0 && (limit ?? request)?.empty === false;
}

/** Whether NVIDIA's plugin offers cards of one model by that name: `nvidia.com/a100`. It says which are visible in a variable. */
function namesCard(resource: string): boolean {
  return resource.startsWith('nvidia.com/') && modelsInResource(resource).length > 0;
}

import { gpus, instanceType, isInstanceTypeLabel } from '../catalog/index.ts';
import { largestNode } from '../evidence/largest-node.ts';
import { poolMachinesOf } from '../evidence/pool-machines.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { knownResource } from '../model/requested-resource.ts';
import type { Container, PodAccelerator, PodSet, Selector } from '../model/workload.ts';
import { type Cursor, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A pod requests all CPU cores or all memory of the machine that it selects, or more.
 *
 * ## Why
 *
 * Pods get only what the kernel, the kubelet and the node's own agents leave: a machine with 8 cores and 32 GiB offers about 7.9 cores and 30 GiB.
 * A pod that requests all of it stays Pending, and an autoscaler adds no node.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g5.2xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         requests:
 *           cpu: 8
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g5.2xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         requests:
 *           cpu: 7
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * A request that is larger than the machine is an error. One of exactly its size is a warning, because a node without reservations could run it.
 *
 * The machines of a node pool in the same project count if the pod selects its labels. That is a warning, since another pool may have the same labels.
 *
 * ## When it is silent
 *
 * If no instance type and no such pool is selected, if the catalog has no sourced size for one of them, or if it does not have the pod's devices. How much a node
 * reserves is not estimated, so requests just below the size of the machine are not reported.
 *
 * ## Sources
 *
 * - [Kubernetes: reserving resources for system daemons](https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/)
 * - [Google Kubernetes Engine: node sizes](https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  podSet(podSet, { workload, report, crossReferences }) {
    if (workload.role === 'definition') return;
    const { needs } = podSet.placement;
    const own = hasItsDevices(podSet) ? largestMachine(podSet.selectors) : undefined;
    // Another pool may have the same labels.
    const pool = own === undefined ? largestOfPool(podSet, crossReferences) : undefined;
    const machine = own ?? pool;
    if (machine === undefined) return;
    const { name, vcpu, memoryGiB } = machine;
    const has = pool === undefined ? 'has' : 'have at most';
    for (const [resource, needed, size, unit] of [
      ['cpu', needs.cpu, vcpu, 'CPU cores'],
      ['memory', needs.memoryGiB, memoryGiB, 'GiB of memory'],
    ] as const) {
      const at = largestRequest(podSet, resource);
      if (needed < size || at === undefined) continue;
      const more = needed > size;
      report({
        severity: more && pool === undefined ? 'error' : 'warning',
        message: more
          ? `The pod requests ${amount(needed)} ${unit}, but ${name} ${has} ${amount(size)}${resource === 'memory' ? ' GiB' : ''}: the pod stays Pending`
          : `The pod requests ${amount(needed)} ${unit}, all that ${name} ${pool === undefined ? 'has' : 'have'}: the system reserves some of it, so the pod stays Pending`,
        span: spanOf(at),
      });
      return;
    }
  },
});

/** Whether the selected machine has the devices; other rules report one that does not. */
function hasItsDevices({ accelerators, selectors }: PodSet): boolean {
  const fits = (one: PodAccelerator) => (one.perPod ?? 0) <= (largestNode(selectors, one)?.count ?? -1);
  return accelerators.length > 0 && accelerators.every(fits);
}

/** The largest of the machines of a pool that have the pod's devices. */
function largestOfPool(podSet: PodSet, crossReferences: CrossReferences): Machine | undefined {
  const [accelerator, ...others] = podSet.accelerators;
  const pool = accelerator === undefined ? undefined : poolMachinesOf(podSet, crossReferences);
  if (accelerator === undefined || pool === undefined || others.length > 0) return undefined;
  const vendor = knownResource(accelerator.requested)?.vendor;
  const fitting = pool.machines.filter(
    ({ gpu, gpuCount }) =>
      gpus.get(gpu ?? '')?.vendor === vendor && (gpuCount ?? 0) >= (accelerator.devices ?? accelerator.perPod ?? 1),
  );
  const machines = fitting.map(({ name }) => machineNamed(name));
  if (machines.length === 0 || machines.includes(undefined)) return undefined;
  const most = (size: (machine: Machine) => number) => Math.max(...machines.map((one) => (one ? size(one) : 0)));
  return {
    name: `the machines of ${pool.whose}`,
    vcpu: most(({ vcpu }) => vcpu),
    memoryGiB: most(({ memoryGiB }) => memoryGiB),
  };
}

interface Machine {
  readonly name: string;
  readonly vcpu: number;
  readonly memoryGiB: number;
}

/** The largest machine among the values of a selector; undefined if one of them is unknown. */
function largestMachine(selectors: readonly Selector[]): Machine | undefined {
  const selector = selectors.find(({ key }) => isInstanceTypeLabel(key));
  const machines = selector?.values.map(({ value, at }) => (isTemplated(at) ? undefined : machineNamed(value))) ?? [];
  const [first] = machines;
  if (first === undefined || machines.includes(undefined)) return undefined;
  return machines.reduce<Machine>(
    (most, one) => ({
      name: (one?.vcpu ?? 0) > most.vcpu ? (one?.name ?? most.name) : most.name,
      vcpu: Math.max(most.vcpu, one?.vcpu ?? 0),
      memoryGiB: Math.max(most.memoryGiB, one?.memoryGiB ?? 0),
    }),
    first,
  );
}

function machineNamed(name: string): Machine | undefined {
  const type = instanceType(name);
  if (type === undefined || type.vcpu === null || type.memoryGiB === null) return undefined;
  if (type.unsourced.some((field) => ['all', 'vcpu', 'memoryGiB'].includes(field))) return undefined;
  return { name, vcpu: type.vcpu, memoryGiB: type.memoryGiB };
}

/** The largest request of a container, or the limit that stands for it. */
function largestRequest({ containers }: PodSet, resource: string): Cursor | undefined {
  const written = containers.flatMap(
    ({ resources }: Container) => getIn(resources, 'requests', resource) ?? getIn(resources, 'limits', resource) ?? [],
  );
  const sizeOf = (at: Cursor) => lowerQuantity(at).value ?? 0;
  return written.reduce<Cursor | undefined>(
    (most, at) => (most === undefined || sizeOf(at) > sizeOf(most) ? at : most),
    undefined,
  );
}

function amount(value: number): string {
  return String(Math.round(value * 100) / 100);
}

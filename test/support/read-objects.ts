import type { ClusterDevicesData, ClusterObjects } from '../../server/src/fleet/cluster-objects.ts';
import type { DeviceMatcher } from '../../server/src/fleet/device-allocation.ts';
import { type DeviceClaim, readClaim, readDeviceClass, readSlice } from '../../server/src/fleet/devices.ts';
import {
  readAutoscalerStatus,
  readComputeClass,
  readKarpenterPool,
  readMachineAutoscaler,
} from '../../server/src/fleet/growth-read.ts';
import { at, list, text, textMap } from '../../server/src/fleet/json.ts';
import { readClusterQueue, readFlavor, readLocalQueue } from '../../server/src/fleet/kueue-read.ts';
import {
  readBudget,
  readClusterNode,
  readClusterPod,
  readPriorityClasses,
  readQuota,
  readRuntimeClass,
} from '../../server/src/fleet/live-read.ts';

/**
 * The objects of a cluster, as the API server returns them, in any order.
 * @param matches evaluates the selectors of devices
 */
export function clusterObjects(objects: readonly unknown[], matches: DeviceMatcher): ClusterObjects {
  const of = (kind: string, group: string) =>
    objects.filter((object) => at(object, 'kind') === kind && groupOf(object) === group);
  const runtimeClasses = of('RuntimeClass', 'node.k8s.io').map(readRuntimeClass);
  const claims = of('ResourceClaim', 'resource.k8s.io');
  const slices = of('ResourceSlice', 'resource.k8s.io');
  const classes = of('DeviceClass', 'resource.k8s.io');
  const templates = of('ResourceClaimTemplate', 'resource.k8s.io');
  const usesDevices = [claims, slices, classes, templates].some((some) => some.length > 0);
  return {
    nodes: of('Node', '').map(readClusterNode),
    pods: of('Pod', '').flatMap((pod) => readClusterPod(pod) ?? []),
    namespaces: new Map(
      of('Namespace', '').map((object) => [nameOf(object), textMap(at(object, 'metadata', 'labels'))]),
    ),
    priorityClasses: readPriorityClasses(of('PriorityClass', 'scheduling.k8s.io')),
    budgets: of('PodDisruptionBudget', 'policy').map(readBudget),
    runtimeClasses: new Map(runtimeClasses.map((runtime) => [runtime.name, runtime])),
    devices: usesDevices ? clusterDevices({ claims, slices, classes, templates }, matches) : undefined,
    quotas: of('ResourceQuota', '').map(readQuota),
    kueue: {
      localQueues: of('LocalQueue', 'kueue.x-k8s.io').map(readLocalQueue),
      clusterQueues: of('ClusterQueue', 'kueue.x-k8s.io').map(readClusterQueue),
      flavors: of('ResourceFlavor', 'kueue.x-k8s.io').map(readFlavor),
    },
    growing: [
      ...of('NodePool', 'karpenter.sh').map(readKarpenterPool),
      ...of('ComputeClass', 'cloud.google.com').flatMap((object) => readComputeClass(object) ?? []),
      ...of('MachineAutoscaler', 'autoscaling.openshift.io').flatMap((object) => readMachineAutoscaler(object) ?? []),
      ...of('ConfigMap', '')
        .filter((object) => nameOf(object) === 'cluster-autoscaler-status')
        .flatMap(readAutoscalerStatus),
    ],
  };
}

/** The objects of dynamic resource allocation, as the API server returns them. */
interface DeviceObjects {
  readonly claims: readonly unknown[];
  readonly slices: readonly unknown[];
  readonly classes: readonly unknown[];
  readonly templates: readonly unknown[];
}

/** What is known of devices, and the claims that hold some for nobody. */
function clusterDevices(objects: DeviceObjects, matches: DeviceMatcher): ClusterDevicesData {
  const { claims, slices, classes, templates } = objects;
  const read = (some: readonly unknown[], spec: (object: unknown) => unknown): Map<string, DeviceClaim> =>
    new Map(some.map((object) => [keyOf(object), readClaim(keyOf(object), spec(object), at(object, 'status'))]));
  return {
    matches,
    supply: {
      classes: new Map(classes.map(readDeviceClass).map((deviceClass) => [deviceClass.name, deviceClass])),
      slices: slices.map(readSlice),
      claims: read(claims, (object) => at(object, 'spec')),
      templates: read(templates, (object) => at(object, 'spec', 'spec')),
    },
    unreserved: claims
      .filter(
        (claim) =>
          at(claim, 'status', 'allocation') !== undefined && list(at(claim, 'status', 'reservedFor')).length === 0,
      )
      .map(keyOf),
  };
}

function groupOf(object: unknown): string {
  const version = text(at(object, 'apiVersion')) ?? '';
  return version.includes('/') ? (version.split('/')[0] ?? '') : '';
}

function nameOf(object: unknown): string {
  return text(at(object, 'metadata', 'name')) ?? '';
}

function keyOf(object: unknown): string {
  return `${text(at(object, 'metadata', 'namespace')) ?? 'default'}/${nameOf(object)}`;
}

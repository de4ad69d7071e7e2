import type { ClusterObjects, ResourceFlavor } from './cluster-objects.ts';
import { deviceRequests } from './device-counts.ts';
import { type DeviceClaim, type DeviceSupply, readClaim } from './devices.ts';
import { computeClassLabel } from './growth-read.ts';
import { at, list, text } from './json.ts';
import type { ClusterDevices } from './pod-devices.ts';
import { classesOf, toleratesRequested } from './pools.ts';
import { readPod } from './read.ts';
import { sum } from './requests.ts';
import type { FleetPod, Labels, Toleration } from './types.ts';

/** A pod as it would be created from a template, and what could not be taken into account. */
export interface AdmittedPod {
  readonly pod: FleetPod;
  readonly gaps: readonly string[];
}

/** The pod of a template after admission: its priority, its runtime class, and the tolerations that the platform adds. */
export function admitTemplate(template: unknown, namespace: string, objects: ClusterObjects): AdmittedPod {
  const metadata = { labels: at(template, 'metadata', 'labels'), namespace, name: '' };
  const spec = at(template, 'spec');
  const pod = readPod({ metadata, spec }, objects.priorityClasses);
  const className = text(at(spec, 'runtimeClassName'));
  const runtime = className === undefined ? undefined : objects.runtimeClasses.get(className);
  const added = objects.nodes.some(toleratesRequested) ? deviceRequests(pod.requests).map(tolerationOf) : [];
  const classes = objects.growing.some(({ by }) => by === 'compute-class') ? classesOf(pod).map(tolerationOfClass) : [];
  const gaps = [
    ...(pod.schedulerName === 'default-scheduler' ? [] : [`scheduler ${pod.schedulerName} decides`]),
    ...(pod.gates.length === 0 ? [] : [`held back by the scheduling gate ${pod.gates[0]}`]),
    ...(list(at(spec, 'volumes')).some(isBound) ? ['zones of its volumes are not checked'] : []),
    ...(className !== undefined && objects.runtimeClasses.size > 0 && runtime === undefined
      ? [`RuntimeClass ${className} does not exist`]
      : []),
  ];
  return {
    gaps,
    pod: {
      ...pod,
      nodeName: '',
      schedulerName: 'default-scheduler',
      gates: [],
      tolerations: [...pod.tolerations, ...(runtime?.tolerations ?? []), ...added, ...classes],
      nodeSelector: merge(pod.nodeSelector, runtime?.nodeSelector),
      requests: runtime === undefined ? pod.requests : sum(pod.requests, runtime.overhead),
    },
  };
}

/** Claims of volumes can be tied to a zone. */
function isBound(volume: unknown): boolean {
  return at(volume, 'persistentVolumeClaim') !== undefined;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration */
function tolerationOf({ resource }: { readonly resource: string }): Toleration {
  return { key: resource, operator: 'Exists', value: '', effect: 'NoSchedule' };
}

/** GKE lets the pods of a class on its nodes: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes */
function tolerationOfClass(value: string): Toleration {
  return { key: computeClassLabel, operator: 'Equal', value, effect: 'NoSchedule' };
}

function merge(labels: Labels, more: Labels | undefined): Labels {
  return more === undefined || more.size === 0 ? labels : new Map([...labels, ...more]);
}

/** The pod on the nodes of a flavor: Kueue adds the labels of the flavor and its tolerations. */
export function onFlavor(pod: FleetPod, { labels, tolerations }: ResourceFlavor): FleetPod {
  return {
    ...pod,
    nodeSelector: merge(pod.nodeSelector, labels),
    tolerations: tolerations.length === 0 ? pod.tolerations : [...pod.tolerations, ...tolerations],
  };
}

/** The devices of the cluster together with the claims that are applied with the pods. */
export function devicesWith(
  objects: ClusterObjects,
  claims: readonly unknown[],
  namespace: string,
): ClusterDevices | undefined {
  const { devices } = objects;
  if (devices === undefined || claims.length === 0) return devices;
  const [named, templates] = [new Map(devices.supply.claims), new Map(devices.supply.templates)];
  for (const claim of claims) {
    const name = text(at(claim, 'metadata', 'name')) ?? '';
    const key = `${text(at(claim, 'metadata', 'namespace')) ?? namespace}/${name}`;
    const isTemplate = at(claim, 'kind') === 'ResourceClaimTemplate';
    const spec = isTemplate ? at(claim, 'spec', 'spec') : at(claim, 'spec');
    // A claim that the cluster already has may be allocated.
    const target: Map<string, DeviceClaim> = isTemplate ? templates : named;
    if (!target.has(key)) target.set(key, readClaim(key, spec, undefined));
  }
  const supply: DeviceSupply = { ...devices.supply, claims: named, templates };
  return { supply, matches: devices.matches };
}

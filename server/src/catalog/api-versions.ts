import { table } from '../yaml/table.ts';
import { apiKind, apiKinds, servedVersions } from './api-types.ts';
import { isSlip } from './spelling.ts';

/** Why no API server has a kind in an apiVersion. */
export type NotServed =
  /** A release of Kubernetes (1.`release`) removed it in favor of `use`; `same` if the objects have the same fields there. */
  | { readonly why: 'removed'; readonly release: number; readonly use: string; readonly same: boolean }
  /** The kind is in another group. */
  | { readonly why: 'group'; readonly use: string }
  /** The version never had the kind. */
  | { readonly why: 'version'; readonly use: string }
  /** The kind is misspelled. */
  | { readonly why: 'kind'; readonly use: string };

/**
 * Kinds that a release removed from an apiVersion, with the current one. `*`: the fields differ.
 * Source: https://kubernetes.io/docs/reference/using-api/deprecation-guide/, read 2026-11-22.
 */
const removed = table<readonly [release: number, use: string, changed?: '*']>({
  'extensions/v1beta1/DaemonSet': [16, 'apps/v1', '*'],
  'extensions/v1beta1/Deployment': [16, 'apps/v1', '*'],
  'extensions/v1beta1/ReplicaSet': [16, 'apps/v1', '*'],
  'apps/v1beta1/Deployment': [16, 'apps/v1', '*'],
  'apps/v1beta1/StatefulSet': [16, 'apps/v1', '*'],
  'apps/v1beta2/DaemonSet': [16, 'apps/v1', '*'],
  'apps/v1beta2/Deployment': [16, 'apps/v1'],
  'apps/v1beta2/ReplicaSet': [16, 'apps/v1'],
  'apps/v1beta2/StatefulSet': [16, 'apps/v1', '*'],
  'autoscaling/v2beta1/HorizontalPodAutoscaler': [25, 'autoscaling/v2', '*'],
  'autoscaling/v2beta2/HorizontalPodAutoscaler': [26, 'autoscaling/v2'],
  'batch/v1beta1/CronJob': [25, 'batch/v1'],
  'batch/v2alpha1/CronJob': [21, 'batch/v1'],
  'node.k8s.io/v1beta1/RuntimeClass': [25, 'node.k8s.io/v1'],
  'policy/v1beta1/PodDisruptionBudget': [25, 'policy/v1', '*'],
  'scheduling.k8s.io/v1alpha1/PriorityClass': [22, 'scheduling.k8s.io/v1'],
  'scheduling.k8s.io/v1beta1/PriorityClass': [22, 'scheduling.k8s.io/v1'],
  'storage.k8s.io/v1beta1/StorageClass': [22, 'storage.k8s.io/v1'],
});

/** The groups of Kubernetes whose kinds and versions are all known. The versions of resource.k8s.io still change. */
const groups: ReadonlySet<string> = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'extensions',
  'node.k8s.io',
  'policy',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);

/** Undefined if the API serves the kind in that version, or if that is unknown. */
export function notServed(apiVersion: string, kind: string): NotServed | undefined {
  if (apiKind(apiVersion, kind) !== undefined) return undefined;
  const group = groupOf(apiVersion);
  // The groups of custom resources contain a dot.
  if (!groups.has(group) && group.includes('.')) return undefined;
  const gone = removed[`${apiVersion}/${kind}`];
  if (gone !== undefined) return { why: 'removed', release: gone[0], use: gone[1], same: gone[2] === undefined };
  const served = servedVersions(kind);
  const use = served.at(-1);
  if (use !== undefined)
    return served.some((one) => groupOf(one) === group) ? { why: 'version', use } : { why: 'group', use };
  const meant = apiKinds.filter((known) => apiKind(apiVersion, known) !== undefined);
  const same =
    meant.find((known) => known.toLowerCase() === kind.toLowerCase()) ?? meant.find((known) => isSlip(known, kind));
  return same === undefined ? undefined : { why: 'kind', use: same };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

import { asText, type Cursor, getIn, isTemplated } from '../yaml/cursor.ts';
import { namesAccelerators, requestsAccelerators } from './accelerators.ts';
import type { CrossReferences } from './cross-references.ts';
import { kindEntry, likeKind } from './kinds/index.ts';
import { times } from './kinds/pod-sets.ts';
import { groupOf } from './manifest.ts';
import { lowerCount } from './pod.ts';
import { type Inherited, objectName, type Referenced, type ScalerFacts } from './referenced.ts';
import type { PodSet, Workload } from './workload.ts';

/** The workload with the number of pods that a scaler in another document sets. With several scalers, the number is unknown. */
export function scaled(workload: Workload, crossReferences: CrossReferences): Workload {
  const { kind, apiVersion, namespace, name, manifest } = workload;
  if (name === null || !isScalable(workload)) return workload;
  if (!namesAccelerators(workload)) return workload;
  const [scaler, ...more] = crossReferences.scalersOf(servedGroup(apiVersion), kind, namespace, name);
  const replica = oneReplica(workload);
  if (scaler === undefined || more.length > 0 || replica === null) return workload;
  if (isTurnedOff(scaler, workload)) return workload;
  const { min, max = null, keepsOwn } = boundsOf(scaler, namespace, crossReferences);
  const own = keepsOwn === true ? lowerCount(getIn(manifest.root, 'spec', 'replicas'), 1) : 0;
  const top = min === null || max === null ? max : Math.max(min, max);
  const replicas = { min: sum(min, own), max: sum(top, own) };
  const inherited: Inherited = {
    fact: 'replicas',
    from: objectName(scaler),
    ...(own !== 0 && { isAdded: true as const }),
  };
  const podsOf = ({ pods }: PodSet) => ({ min: times(replicas, pods.min).min, max: times(replicas, pods.max).max });
  return {
    ...workload,
    podSets: replica.podSets.map((podSet) => ({
      ...podSet,
      pods: podsOf(podSet),
      inherited: [...podSet.inherited, inherited],
    })),
    scaledBy: scaler,
  };
}

/** The bounds of a scaler. A Rollout may have a scaler itself. */
function boundsOf(
  { kind, name, facts }: Referenced<ScalerFacts>,
  namespace: string | null,
  crossReferences: CrossReferences,
): Pick<ScalerFacts, 'min' | 'max' | 'keepsOwn'> {
  const [outer, ...more] = kind === 'Rollout' ? crossReferences.scalersOf('argoproj.io', kind, namespace, name) : [];
  if (outer === undefined) return facts;
  const { min, max } = more.length > 0 ? unknownBounds : outer.facts;
  return { ...facts, min, max };
}

const unknownBounds = { min: null, max: null };

function sum(count: number | null, own: number | null): number | null {
  return count === null || own === null ? null : count + own;
}

/**
 * Whether zero replicas of the target turn the scaler off. KEDA starts them again.
 * https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation
 */
function isTurnedOff({ kind, facts }: Referenced<ScalerFacts>, { manifest }: Workload): boolean {
  const replicas = lowerCount(getIn(manifest.root, 'spec', 'replicas'), 1);
  return kind === 'HorizontalPodAutoscaler' && facts.min !== 0 && replicas === 0;
}

/** The API group that a scaleTargetRef names; null if it is absent or templated. */
export function targetGroup(reference: Cursor | undefined): string | null {
  const apiVersion = getIn(reference, 'apiVersion');
  const text = isTemplated(apiVersion) ? undefined : asText(apiVersion);
  return text === undefined || text === '' ? null : servedGroup(text);
}

/** Before Kubernetes 1.16, Deployments were also served as `extensions`. */
function servedGroup(apiVersion: string): string {
  const group = groupOf(apiVersion);
  return group === 'extensions' ? 'apps' : group;
}

/** The workload with the pods of one replica, according to its own object; null if unknown. */
export function oneReplica(workload: Workload): Workload | null {
  const { podSets, manifest } = workload;
  const single = podSets.filter(requestsAccelerators);
  if (podSets.length === 1 && hasOnePod(workload)) return withPods(workload, () => 1);
  if (!isScalable(workload)) return single.length > 1 ? null : withPods({ ...workload, podSets: single }, () => 1);
  const replicas = lowerCount(getIn(manifest.root, 'spec', 'replicas'), 1);
  if (replicas === null || replicas === 0) return null;
  return withPods(workload, (count) => (count === null ? null : count / replicas));
}

function withPods(workload: Workload, scale: (count: number | null) => number | null): Workload {
  const podSets = workload.podSets.map((podSet) => ({
    ...podSet,
    pods: { min: scale(podSet.pods.min), max: scale(podSet.pods.max) },
  }));
  return { ...workload, podSets };
}

function isScalable({ kind, apiVersion }: Workload): boolean {
  return kindEntry(groupOf(apiVersion), kind)?.replica !== undefined;
}

/** Whether a replica is one pod, as for built-in controllers and similar kinds, even if the number of pods is unknown. */
function hasOnePod({ kind, apiVersion }: Workload): boolean {
  return likeKind(groupOf(apiVersion), kind)?.replica === 'pod';
}

import { asText, type Cursor, getIn, isTemplated, items } from '../yaml/cursor.ts';
import { countIn } from './count.ts';
import { runsPerMonth } from './cron.ts';
import type { ScalerFacts } from './cross-references.ts';
import { kindsFor } from './kinds/object-kinds.ts';
import { groupOf, lookUp } from './manifest.ts';
import type { NodePool } from './node-pool.ts';
import { lowerCount } from './pod.ts';
import { targetGroup } from './scaled.ts';
import type { Manifest } from './workload.ts';

/** The kinds that set the replicas of other objects. */
export const scalerKinds = kindsFor('scaler');

/** The kinds that decide how many pods of an object run: also one that runs the pods of a Deployment. */
export const replicaKinds = [...scalerKinds, 'Rollout'];

/** What a scaler scales, and between which bounds. */
export interface ScalerOf {
  /** The group is null where no apiVersion is set. */
  readonly target: { readonly group: string | null; readonly kind: string; readonly name: string };
  readonly facts: ScalerFacts;
}

/** The target and the bounds of a scaler; null if the target is templated. */
export function scalerOf({
  root,
  kind,
  apiVersion,
  annotations,
}: Pick<Manifest, 'root' | 'kind' | 'apiVersion' | 'annotations'>): ScalerOf | null {
  const spec = getIn(root, 'spec');
  const reference = getIn(spec, 'scaleTargetRef');
  switch (`${groupOf(apiVersion)}/${kind}`) {
    case 'keda.sh/ScaledObject':
      return withTarget(targetOf(reference, 'Deployment'), scaledObject(spec, pausedAt(annotations)));
    case 'http.keda.sh/HTTPScaledObject':
      return withTarget(targetOf(reference, 'Deployment', 'deployment'), httpScaledObject(spec));
    case 'autoscaling/HorizontalPodAutoscaler':
      return withTarget(targetOf(reference, ''), podAutoscaler(spec));
    case 'autoscaling.aibrix.ai/PodAutoscaler':
      return withTarget(targetOf(reference, ''), aibrixAutoscaler(spec));
    case 'argoproj.io/Rollout': {
      const workload = getIn(spec, 'workloadRef');
      return workload === undefined ? null : withTarget(targetOf(workload, 'Deployment'), rollout(spec, workload));
    }
    default:
      return null;
  }
}

/** A Rollout scales its Deployment down only if `scaleDown` says so. https://argo-rollouts.readthedocs.io/en/stable/migrating/ */
function rollout(spec: Cursor | undefined, workload: Cursor): ScalerFacts {
  const replicas = lowerCount(getIn(spec, 'replicas'), 1);
  const down = getIn(workload, 'scaleDown');
  const keepsOwn = down === undefined || asText(down) === 'never';
  return { min: replicas, max: replicas, metrics: [], ...(keepsOwn && { keepsOwn }) };
}

function withTarget(target: ScalerOf['target'] | null, facts: ScalerFacts): ScalerOf | null {
  return target && { target, facts };
}

/**
 * The number of replicas at which an annotation pauses a ScaledObject; null for none.
 * https://keda.sh/docs/latest/concepts/scaling-deployments/#pausing-autoscaling
 */
function pausedAt(annotations: Manifest['annotations']): number | null {
  const paused = lookUp(annotations, 'autoscaling.keda.sh/paused-replicas');
  return paused === undefined || isTemplated(paused.at) ? null : countIn(paused.value);
}

/** https://keda.sh/docs/latest/reference/scaledobject-spec/ */
function scaledObject(spec: Cursor | undefined, paused: number | null): ScalerFacts {
  const min = lowerCount(getIn(spec, 'idleReplicaCount'), lowerCount(getIn(spec, 'minReplicaCount'), 0) ?? Number.NaN);
  const triggers = items(getIn(spec, 'triggers'));
  const metrics = triggers.map((trigger) => asText(getIn(trigger, 'type')) ?? '');
  if (paused !== null) return { min: paused, max: paused, metrics };
  const most = lowerCount(getIn(spec, 'maxReplicaCount'), 100);
  const bound = { min: Number.isNaN(min) ? null : min, max: most, metrics };
  const isScheduled = metrics.length > 0 && metrics.every((type) => type === 'cron');
  if (bound.min === null || most === null || !isScheduled) return bound;
  // Only the schedules raise the number of replicas, so without a written bound it ends with them.
  const wanted = triggers.map((trigger) => countIn(asText(getIn(trigger, 'metadata', 'desiredReplicas'))) ?? most);
  // An active scaler keeps its minimum, also if it falls to fewer replicas when idle.
  const least = lowerCount(getIn(spec, 'minReplicaCount'), 0) ?? 0;
  const top = Math.min(most, Math.max(...wanted, least, bound.min));
  const max = getIn(spec, 'maxReplicaCount') === undefined ? top : most;
  const share = triggers.length === 1 ? shareOfTime(getIn(triggers[0], 'metadata')) : null;
  return { ...bound, max, ...(share !== null && { average: bound.min + (top - bound.min) * share }) };
}

/** The share of all hours between the start and the end of a cron trigger; null if it is unknown. */
function shareOfTime(metadata: Cursor | undefined): number | null {
  const [start, end] = [scheduleOf(getIn(metadata, 'start')), scheduleOf(getIn(metadata, 'end'))];
  const runs = runsPerMonth(start.join(' '));
  const minutes = [start, end].map(
    ([minute, hour]) => (countIn(hour) ?? Number.NaN) * 60 + (countIn(minute) ?? Number.NaN),
  );
  const [from = Number.NaN, to = Number.NaN] = minutes;
  // With the same days, a window ends on its day, or on the next if that is one of them too.
  const days = start.slice(2).join(' ');
  const isDaily = days === end.slice(2).join(' ') && (to > from || days === '* * *');
  const hours = ((to - from + 1440) % 1440) / 60;
  return runs === null || Number.isNaN(hours) || hours === 0 || !isDaily ? null : (runs * hours) / 730;
}

function scheduleOf(at: Cursor | undefined): readonly string[] {
  return (isTemplated(at) ? '' : (asText(at) ?? '')).trim().split(/\s+/);
}

/** https://github.com/kedacore/http-add-on/blob/main/docs/ref */
function httpScaledObject(spec: Cursor | undefined): ScalerFacts {
  const replicas = getIn(spec, 'replicas');
  return {
    min: lowerCount(getIn(replicas, 'min'), 0),
    max: lowerCount(getIn(replicas, 'max'), 100),
    metrics: ['http'],
  };
}

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/ */
function podAutoscaler(spec: Cursor | undefined): ScalerFacts {
  return {
    ...bounds(spec),
    metrics: items(getIn(spec, 'metrics')).map(
      (metric) => asText(getIn(metric, 'resource', 'name')) ?? asText(getIn(metric, 'type')) ?? '',
    ),
  };
}

/** https://github.com/vllm-project/aibrix/blob/main/api/autoscaling/v1alpha1/podautoscaler_types.go */
function aibrixAutoscaler(spec: Cursor | undefined): ScalerFacts {
  return {
    ...bounds(spec),
    metrics: items(getIn(spec, 'metricsSources')).map((source) => asText(getIn(source, 'targetMetric')) ?? ''),
  };
}

function bounds(spec: Cursor | undefined): Pick<ScalerFacts, 'min' | 'max' | 'templates'> {
  const [least, most] = [getIn(spec, 'minReplicas'), getIn(spec, 'maxReplicas')];
  const [min, max] = [variableIn(least), variableIn(most)];
  const templates = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  return {
    min: lowerCount(least, 1),
    max: most === undefined ? undefined : lowerCount(most, 1),
    ...((min ?? max) !== undefined && { templates }),
  };
}

/** A reference of Terraform. */
function variableIn(count: Cursor | undefined): string | undefined {
  const text = asText(count);
  return text !== undefined && /^\$\{[\w.-]{1,60}\}$/.test(text) ? text : undefined;
}

/** The bounds that an autoscaler sets for a pool of its namespace. */
export interface PoolSize {
  readonly pool: string;
  readonly size: NonNullable<NodePool['size']>;
}

/** The bounds of a MachineSet. https://docs.redhat.com/en/documentation/openshift_container_platform/4.18/html/machine_management */
export function machineAutoscaler(spec: Cursor | undefined): PoolSize | null {
  const target = targetOf(getIn(spec, 'scaleTargetRef'), '');
  if (target?.kind !== 'MachineSet') return null;
  const [min, max] = ['minReplicas', 'maxReplicas'].map((key) => countIn(asText(getIn(spec, key))));
  return { pool: target.name, size: { min: min ?? null, max: max ?? null } };
}

/** @param former the deprecated key of the name */
function targetOf(reference: Cursor | undefined, usual: string, former?: string): ScalerOf['target'] | null {
  const name = getIn(reference, 'name') ?? (former === undefined ? undefined : getIn(reference, former));
  const kind = getIn(reference, 'kind');
  if (name === undefined || isTemplated(name) || isTemplated(kind)) return null;
  return { group: targetGroup(reference), kind: asText(kind) ?? usual, name: asText(name) ?? '' };
}

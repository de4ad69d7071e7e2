import { isUtilization, resourceMetrics } from '../evidence/resource-metrics.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import type { Referenced } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * An autoscaler targets a utilization that cannot be computed, because a container has no request.
 *
 * ## Why
 *
 * A target of type Utilization is a percentage of the request. If one container of the pods requests no CPU or memory, the whole metric has
 * no value ("missing request for cpu"), and the autoscaler does not scale on it. A limit implies the same request. KEDA rejects such a
 * ScaledObject. GPU pods often request nothing but their GPU, so the mistake is common there.
 *
 * ```yaml invalid
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: encoder
 * spec:
 *   scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: encoder}
 *   maxReplicas: 4
 *   metrics:
 *     - type: Resource
 *       resource:
 *         name: memory
 *         target: {type: Utilization, averageUtilization: 80}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: encoder
 * spec:
 *   selector: {matchLabels: {app: encoder}}
 *   template:
 *     metadata: {labels: {app: encoder}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/encoder:2.1
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml valid
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: encoder
 * spec:
 *   scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: encoder}
 *   maxReplicas: 4
 *   metrics:
 *     - type: Resource
 *       resource:
 *         name: memory
 *         target: {type: Utilization, averageUtilization: 80}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: encoder
 * spec:
 *   selector: {matchLabels: {app: encoder}}
 *   template:
 *     metadata: {labels: {app: encoder}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/encoder:2.1
 *           resources: {limits: {memory: 32Gi, nvidia.com/gpu: 1}}
 * ```
 *
 * ## When it is silent
 *
 * If the target is not in the same folder or project or requests no accelerators, if a LimitRange of the namespace sets a default, and for targets of type AverageValue.
 *
 * ## Sources
 *
 * - [Kubernetes: support for resource metrics](https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#support-for-resource-metrics)
 * - [KEDA: CPU trigger](https://keda.sh/docs/latest/scalers/cpu/)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const measures = [...hpaMeasures(manifest), ...triggerMeasures(manifest)];
    if (measures.length === 0) return;
    const target = targetOf(manifest, context.crossReferences);
    if (target === undefined || target.siblingFolder || target.facts.devices === 0) return;
    for (const measure of measures) check(measure, target, manifest, context);
  },
});

/** A share of a request that a scaler compares with its target. */
interface Measure {
  readonly resource: string;
  /** The only container that counts. */
  readonly container: string | undefined;
  readonly place: Span;
  readonly consequence: string;
}

function check(
  { resource, container, place, consequence }: Measure,
  { name, facts, file }: Referenced<WorkloadFacts>,
  { namespace }: Manifest,
  { crossReferences, report }: RuleContext,
): void {
  const counted = (facts.containers ?? []).filter((one) => container === undefined || one.name === container);
  const bare = counted.find(({ requests }) => !requests.includes(resource));
  if (bare === undefined) return;
  const defaults = [...crossReferences.defaultsIn(namespace), ...crossReferences.defaultsIn(null)];
  if (defaults.includes(resource)) return;
  const source = file === null ? '' : ` (${shorten(file)})`;
  report({
    message: `Container ${shorten(bare.name, 30)} of ${shorten(name)}${source} has no ${resource} request, so its utilization is unknown: ${consequence}`,
    span: place,
  });
}

function hpaMeasures(manifest: Manifest): readonly Measure[] {
  const { root, kind, apiVersion } = manifest;
  if (kind !== 'HorizontalPodAutoscaler' || groupOf(apiVersion) !== 'autoscaling') return [];
  const consequence = 'the HPA does not scale on it';
  const spec = getIn(root, 'spec');
  // Without any metric, the target is 80% of the CPU request.
  const byDefault =
    getIn(spec, 'metrics') === undefined && !isIncomplete(spec) ? getIn(spec, 'maxReplicas') : undefined;
  const classic = getIn(spec, 'targetCPUUtilizationPercentage') ?? byDefault;
  const first: readonly Measure[] =
    classic === undefined || isTemplated(classic)
      ? []
      : [{ resource: 'cpu', container: undefined, place: keySpanOf(classic), consequence }];
  const measures = resourceMetrics(manifest).filter(isUtilization);
  return [
    ...first,
    ...measures.flatMap(({ name, container }): Measure[] => {
      const resource = asText(name) ?? '';
      if (resource !== 'cpu' && resource !== 'memory') return [];
      return isTemplated(container)
        ? []
        : [{ resource, container: asText(container), place: spanOf(name), consequence }];
    }),
  ];
}

/** https://keda.sh/docs/latest/scalers/cpu/ */
function triggerMeasures({ root, kind, apiVersion }: Manifest): readonly Measure[] {
  if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') return [];
  return items(getIn(root, 'spec', 'triggers')).flatMap((trigger): Measure[] => {
    const type = getIn(trigger, 'type');
    const resource = asText(type) ?? '';
    const container = getIn(trigger, 'metadata', 'containerName');
    if (type === undefined || (resource !== 'cpu' && resource !== 'memory') || isTemplated(container)) return [];
    if (!measuresUtilization(trigger)) return [];
    const consequence = 'KEDA rejects the ScaledObject';
    return [{ resource, container: asText(container), place: spanOf(type), consequence }];
  });
}

/** The type is in the metadata for KEDA before 2.18; by default it is Utilization. */
function measuresUtilization(trigger: Cursor): boolean {
  const type = getIn(trigger, 'metricType') ?? getIn(trigger, 'metadata', 'type');
  return type === undefined || asText(type) === 'Utilization';
}

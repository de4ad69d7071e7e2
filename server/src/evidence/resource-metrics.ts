import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';

/** A metric of an HPA that the resource metrics API answers: CPU or memory of the pods, or of one of their containers. */
export interface ResourceMetric {
  /** `resource` or `containerResource`. */
  readonly at: Cursor;
  /** The resource's name. */
  readonly name: Cursor;
  /** For `containerResource`. */
  readonly container: Cursor | undefined;
}

/** The metrics of the HPA that an object is, or that its operator creates from it. */
export function hpaMetrics({ root, kind, apiVersion }: Manifest): Cursor | undefined {
  const spec = getIn(root, 'spec');
  if (groupOf(apiVersion) === 'autoscaling' && kind === 'HorizontalPodAutoscaler') return getIn(spec, 'metrics');
  return kind === 'NIMService' ? getIn(spec, 'scale', 'hpa', 'metrics') : undefined;
}

/** The resource metrics in a list of HPA metrics, without those whose name is unknown. */
export function resourceMetrics(metrics: Cursor | undefined): readonly ResourceMetric[] {
  return items(metrics).flatMap((metric): ResourceMetric[] => {
    const at = getIn(metric, 'resource') ?? getIn(metric, 'containerResource');
    const name = getIn(at, 'name');
    if (at === undefined || name === undefined || asText(name) === undefined) return [];
    if (isIncomplete(at) || isTemplated(name)) return [];
    return [{ at, name, container: getIn(metric, 'containerResource', 'container') }];
  });
}

/** Whether an HPA reads the metric as a share of the request: `targetAverageUtilization` is the name before autoscaling/v2beta2. */
export function isUtilization({ at }: ResourceMetric): boolean {
  const target = getIn(at, 'target');
  const type = getIn(target, 'type');
  if (type !== undefined) return asText(type) === 'Utilization';
  return (getIn(target, 'averageUtilization') ?? getIn(at, 'targetAverageUtilization')) !== undefined;
}

import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, items, keyOf } from '../yaml/cursor.ts';

/** A metric of an HPA that the resource metrics API answers: CPU or memory of the pods, or of one of their containers. */
export interface ResourceMetric {
  /** `resource` or `containerResource`. */
  readonly at: Cursor;
  /** The resource's name. */
  readonly name: Cursor;
  /** For `containerResource`. */
  readonly container: Cursor | undefined;
}

/**
 * The resource metrics of the HPA that an object is, or that its operator creates from it: lists in the form of an HPA's `metrics`, in a
 * block for scaling (`scale.hpa`, `autoScaling`, `elasticPolicy`). Without those whose name is unknown.
 */
export function resourceMetrics(manifest: Manifest): readonly ResourceMetric[] {
  return metricLists(manifest).flatMap(metricsInList);
}

function metricLists({ root, kind, apiVersion }: Manifest): readonly Cursor[] {
  const spec = getIn(root, 'spec');
  const own = getIn(spec, 'metrics');
  if (groupOf(apiVersion) === 'autoscaling' && kind === 'HorizontalPodAutoscaler')
    return own === undefined ? [] : [own];
  const parts = spec === undefined ? [] : [spec, ...entries(spec)];
  return parts.flatMap((part) => {
    // Few objects have such a block.
    if (part.node.kind !== 'map' || !part.node.entries.some(({ key }) => scalingBlock.test(key))) return [];
    return entries(part).flatMap((block) => {
      if (!scalingBlock.test(keyOf(block))) return [];
      return getIn(block, 'metrics') ?? getIn(block, 'hpa', 'metrics') ?? [];
    });
  });
}

const scalingBlock = /^(?:autoScal(?:e|ing|er)|hpa|elasticPolicy)$/i;

/** Those in a list in the form of an HPA's `metrics`. */
export function metricsInList(metrics: Cursor | undefined): readonly ResourceMetric[] {
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

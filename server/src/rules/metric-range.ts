import {
  isCounter,
  isMilliseconds,
  mostOf,
  type RangedMetric,
  rangedMetric,
  rawCounter,
} from '../evidence/metric-ranges.ts';
import { withoutLabels } from '../evidence/pod-metrics.ts';
import { placesAt } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { parseQuantity } from '../model/quantity.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isTemplated, items, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A threshold is outside the range of its metric: a percentage for one between 0 and 1, a fraction for one between 0 and 100, less than a
 * millisecond for a latency, or any number for a counter, which only grows.
 *
 * ## Why
 *
 * `DCGM_FI_DEV_GPU_UTIL` is a percentage, but the profiling metrics of DCGM (`DCGM_FI_PROF_GR_ENGINE_ACTIVE`) and vLLM's `gpu_cache_usage_perc` are between 0
 * and 1. With a target of 80 for these, an autoscaler never adds a replica. With a target of 0.8 for a percentage, it runs the maximum at almost any load. An alert never
 * fires, or always does. In a quantity, `500m` is one half, so a latency in milliseconds always exceeds it.
 * Triton's `nv_inference_queue_duration_us` is the time of all requests since the server's start. Without `rate()`, a counter stays above each threshold once
 * it is there, and the autoscaler never removes a replica.
 *
 * ```yaml invalid
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
 *   maxReplicas: 4
 *   metrics:
 *     - type: Pods
 *       pods:
 *         metric: {name: DCGM_FI_PROF_GR_ENGINE_ACTIVE}
 *         target: {type: AverageValue, averageValue: "80"}
 * ```
 *
 * ```yaml fixed
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
 *   maxReplicas: 4
 *   metrics:
 *     - type: Pods
 *       pods:
 *         metric: {name: DCGM_FI_PROF_GR_ENGINE_ACTIVE}
 *         target: {type: AverageValue, averageValue: "0.8"}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the scaler takes effect.
 *
 * ## When it is silent
 *
 * For queries that compute something else (sums of ratios, quotients, rates), for metrics that an adapter renames, for targets that the GPUs of one pod can reach together,
 * if there is one replica at most, and for alerts that compare with 0 or 1. A counter in an HPA is information, because an adapter may compute its rate.
 *
 * ## Sources
 *
 * - [NVIDIA: DCGM profiling metrics](https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/feature-overview.html#profiling-metrics)
 * - [NVIDIA: DCGM Exporter metrics](https://docs.nvidia.com/datacenter/dcgm/latest/reference/dcgm-exporter-metrics.html)
 * - [Prometheus: metric types](https://prometheus.io/docs/concepts/metric_types/#counter)
 * - [vLLM: production metrics](https://docs.vllm.ai/en/stable/usage/metrics/)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest({ root, kind, apiVersion }, context) {
    const spec = getIn(root, 'spec');
    const group = groupOf(apiVersion);
    if (group === 'autoscaling' && kind === 'HorizontalPodAutoscaler')
      for (const metric of items(getIn(spec, 'metrics'))) checkMetric(metric, context);
    // With one replica at most, thresholds decide nothing.
    if (group === 'keda.sh' && /^Scaled(?:Object|Job)$/.test(kind) && asText(getIn(spec, 'maxReplicaCount')) !== '1')
      for (const trigger of items(getIn(spec, 'triggers'))) checkTrigger(trigger, kind, context);
    if (group === 'monitoring.coreos.com' && kind === 'PrometheusRule')
      for (const rule of placesAt(spec, 'groups.*.rules.*')) checkAlert(rule, context);
  },
});

/** More than the GPUs of any node reach together: adapters add up the series of a pod. */
const mostGpus = 16;

function checkMetric(metric: Cursor, context: RuleContext): void {
  const at = getIn(metric, 'pods') ?? getIn(metric, 'external');
  const name = getIn(at, 'metric', 'name');
  const target = getIn(at, 'target', 'averageValue');
  const most = isTemplated(name) ? undefined : mostOf(asText(name) ?? '');
  if (target === undefined || isTemplated(name) || isTemplated(target)) return;
  if (name !== undefined && isCounter(asText(name) ?? '')) {
    context.report({
      severity: 'info',
      message: `${shorten(asText(name) ?? '', 50)} is a counter, which only grows: unless an adapter computes its rate, the HPA never removes a replica`,
      span: spanOf(name),
    });
    return;
  }
  if (most === undefined) checkMilliseconds(target, asText(name) ?? '', context);
  else check(target, { name: asText(name) ?? '', most }, mostGpus, 'the HPA', context);
}

/** In a quantity, "m" is a thousandth: `500m` of a latency in milliseconds is half of one. */
function checkMilliseconds(at: Cursor, name: string, context: RuleContext): void {
  const written = asText(at) ?? '';
  const value = parseQuantity(written);
  if (value === null || value <= 0 || value >= 1 || !isMilliseconds(name)) return;
  context.report({
    message: `${shorten(name, 50)} is in milliseconds, so ${shorten(written, 20)} is ${value} ms: almost any load scales to the maximum`,
    span: spanOf(at),
    fixes: () => {
      const meant = written.endsWith('m') ? written.slice(0, -1) : String(Number((value * 1000).toPrecision(12)));
      return [fix(`Use ${meant}`, 'unsafe', replaceScalar(context.document, at, meant))];
    },
  });
}

function checkTrigger(trigger: Cursor, kind: string, context: RuleContext): void {
  const [type, query] = [getIn(trigger, 'type'), getIn(trigger, 'metadata', 'query')];
  if (asText(type) !== 'prometheus' || isTemplated(type) || isTemplated(query)) return;
  const counter = rawCounter(asText(query) ?? '');
  if (query !== undefined && counter !== undefined) {
    context.report({
      message: `${shorten(counter, 50)} is a counter, which only grows: without rate(), the ${kind} ${kind === 'ScaledJob' ? 'always starts more jobs' : 'never removes a replica'}`,
      span: spanOf(query),
    });
    return;
  }
  const metric = rangedMetric(asText(query) ?? '');
  for (const key of ['threshold', 'activationThreshold']) {
    const threshold = getIn(trigger, 'metadata', key);
    if (metric !== undefined && threshold !== undefined && !isTemplated(threshold))
      check(threshold, metric, 1, `the ${kind}`, context);
  }
}

/** @param times how many values of the metric may be added up */
function check(at: Cursor, { name, most }: RangedMetric, times: number, scaler: string, context: RuleContext): void {
  const value = parseQuantity(asText(at) ?? '');
  if (value === null || value <= 0) return;
  const isNever = most === 1 && value > times;
  const isAlways = most === 100 && value < 1 && at.step !== 'activationThreshold';
  if (!isNever && !isAlways) return;
  const meant = Number((isNever ? value / 100 : value * 100).toPrecision(12));
  context.report({
    message: isNever
      ? `${name} is between 0 and 1 and never reaches ${value}: it never makes ${scaler} scale up`
      : `${name} is between 0 and 100, so ${value} is less than 1 percent: almost any load scales to the maximum`,
    span: spanOf(at),
    fixes: () =>
      value > 100 ? [] : [fix(`Use ${meant}`, 'unsafe', replaceScalar(context.document, at, String(meant)))],
  });
}

function checkAlert(rule: Cursor, { report }: RuleContext): void {
  const [at, alert] = [getIn(rule, 'expr'), getIn(rule, 'alert')];
  const text = asText(at) ?? '';
  if (at === undefined || alert === undefined || isTemplated(at) || text.length > 10_000) return;
  for (const clause of withoutLabels(text).split(/\b(?:and|unless)\b/)) {
    const [, query = '', operator = '', number = ''] =
      /^([^<>=]*)([<>]=?)\s*(?:bool\s+)?([\d.]+)[\s)]*$/.exec(clause) ?? [];
    const metric = rangedMetric(query);
    const value = Number(number);
    if (metric === undefined || number === '' || !isOutside(metric, operator, value)) continue;
    const { name, most } = metric;
    const effect =
      most === 1 ? (operator.startsWith('>') ? 'is never met' : 'is always met') : 'means less than 1 percent';
    report({ message: `${name} is between 0 and ${most}: ${operator} ${value} ${effect}`, span: spanOf(at) });
    return;
  }
}

/** Alerts about idle GPUs compare percentages with 0 or 1. */
function isOutside({ most }: RangedMetric, operator: string, value: number): boolean {
  return most === 1 ? value > 1 : operator.startsWith('>') && value >= 0.1 && value < 1;
}

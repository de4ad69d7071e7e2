import { rangedMetric } from '../evidence/metric-ranges.ts';
import { passedOnQueries } from '../evidence/passed-on-queries.ts';
import { podMetric } from '../evidence/pod-metrics.ts';
import { type QueryResult, queryResult } from '../evidence/prometheus-query.ts';
import { promqlError } from '../evidence/promql-errors.ts';
import { nameOfGpuTarget, targetOf } from '../evidence/scaler-target.ts';
import { groupOf } from '../model/manifest.ts';
import { parseQuantity } from '../model/quantity.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, asText, type Cursor, getIn, isIncomplete, isTemplated, items, spanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * KEDA divides the average that a query returns by the number of replicas, or the query returns one value per pod.
 *
 * ## Why
 *
 * By default (`metricType: AverageValue`), KEDA divides the result of a query by the number of replicas and compares that with the threshold.
 * This is right for sums: a queue of 20 requests needs 4 replicas for 5 requests each. An average, a maximum or a quantile does not grow with
 * the number of replicas, so the autoscaler requests few of them, however full they are: GPUs that are 100% busy need `100 / 70`, that is, 2
 * replicas. With `metricType: Value`, KEDA multiplies instead: 2 replicas at 100% need 3. With a very low threshold, such a trigger requests many
 * replicas at any load: GPUs that are 50% busy need `50 / 6`, that is, 9, even if 2 run.
 *
 * KEDA also expects one value. A metric of vLLM, of a GPU or of HTTP requests without `sum()` or `avg()` has one per pod, so the trigger fails as soon as
 * there are two.
 *
 * ```yaml invalid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef:
 *     name: vllm
 *   minReplicaCount: 1
 *   maxReplicaCount: 8
 *   triggers:
 *     - type: prometheus
 *       metadata:
 *         serverAddress: http://prometheus.example:9090
 *         query: avg(DCGM_FI_DEV_GPU_UTIL{exported_pod=~"vllm-.*"})
 *         threshold: "70"
 * ```
 *
 * ```yaml fixed
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef:
 *     name: vllm
 *   minReplicaCount: 1
 *   maxReplicaCount: 8
 *   triggers:
 *     - type: prometheus
 *       metricType: Value
 *       metadata:
 *         serverAddress: http://prometheus.example:9090
 *         query: avg(DCGM_FI_DEV_GPU_UTIL{exported_pod=~"vllm-.*"})
 *         threshold: "70"
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the trigger takes effect, and more replicas may start.
 *
 * ## When it is silent
 *
 * If there is one replica at most, if the target is known to hold no GPUs, and for targets of unknown use, unless the query is about GPUs or a
 * model server. For queries whose result is uncertain, for a percentage whose threshold is so low that the maximum can be reached (unless it is a
 * tenth of the range or less, which is information), and for a formula (`scalingModifiers`). The finding about averages is information if another trigger can request more replicas, or if there are two at
 * most; the one about one value per pod always is.
 *
 * ## Sources
 *
 * - [KEDA: the Prometheus trigger, which must return a single element](https://keda.sh/docs/latest/scalers/prometheus/)
 * - [KEDA: metricType of a trigger](https://keda.sh/docs/latest/reference/scaledobject-spec/#triggers)
 * - [Kubernetes: algorithm of the HorizontalPodAutoscaler](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const { root, kind, apiVersion } = manifest;
    if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') return;
    const spec = getIn(root, 'spec');
    const triggers = getIn(spec, 'triggers');
    const ceiling = getIn(spec, 'maxReplicaCount');
    const most = ceiling === undefined ? defaultMost : asNumber(ceiling);
    if (most === undefined || most < 2 || isIncomplete(spec) || isIncomplete(triggers)) return;
    if (getIn(spec, 'advanced', 'scalingModifiers', 'formula') !== undefined) return;
    const found = items(triggers).map((trigger) => judge(trigger, most));
    // The autoscaler follows the trigger that asks for the most replicas.
    const isAlone = found.every(
      (one, index) => (one !== undefined && one.atHalf === undefined) || isOfPods(items(triggers)[index]),
    );
    for (const one of found) if (one && isAboutGpus(one.query, manifest, context)) report(one, most, isAlone, context);
  },
  workload(workload, context) {
    // KServe and charts pass the queries on to KEDA.
    for (const { query, ceiling } of passedOnQueries(workload))
      if ((asNumber(ceiling) ?? 0) > 1 && !isTemplated(query) && queryResult(asText(query) ?? '') === 'each')
        reportEach(query, context);
  },
});

const defaultMost = 100;

interface Judged {
  readonly trigger: Cursor;
  readonly query: Cursor;
  readonly result: QueryResult;
  readonly threshold: number;
  /** The most replicas for which the trigger can ask, if the metric has a maximum. */
  readonly reach: number | undefined;
  /** For how many it asks at half of the metric's maximum, if its threshold is very low. */
  readonly atHalf?: { readonly value: string; readonly asked: number };
}

/** What is wrong with the query of a trigger. */
function judge(trigger: Cursor, most: number): Judged | undefined {
  const [query, metricType] = [getIn(trigger, 'metadata', 'query'), getIn(trigger, 'metricType')];
  const written = getIn(trigger, 'metadata', 'threshold');
  if (asText(getIn(trigger, 'type')) !== 'prometheus' || query === undefined || isIncomplete(trigger)) return undefined;
  if ([query, metricType, written].some(isTemplated)) return undefined;
  const text = asText(query) ?? '';
  if (promqlError(text, getIn(trigger, 'metadata', 'serverAddress')) !== undefined) return undefined;
  const result = queryResult(text);
  const ranged = result === 'ratio' ? 1 : rangedMetric(text)?.most;
  const threshold = meant(parseQuantity(asText(written) ?? '') ?? 0, ranged);
  if (result === undefined || (result !== 'each' && (threshold <= 0 || isByValue(metricType)))) return undefined;
  const reach = ranged === undefined || threshold > ranged ? undefined : Math.ceil(ranged / threshold);
  const judged = { trigger, query, result, threshold, reach };
  if (result === 'each' || reach === undefined || reach < most) return judged;
  // With a tenth of the range for each replica, the trigger asks for several at any load.
  const asked = Math.min(Math.ceil((ranged ?? 0) / 2 / threshold), most);
  const value = ranged === 100 ? '50%' : '0.5';
  return reach >= 10 && asked > 3 ? { ...judged, atHalf: { value, asked } } : undefined;
}

/** metric-range reports percentages of a metric between 0 and 1, and the reverse. */
function meant(threshold: number, most: 1 | 100 | undefined): number {
  if (most === 1 && threshold > 1) return threshold / 100;
  return most === 100 && threshold < 1 ? threshold * 100 : threshold;
}

function isByValue(metricType: Cursor | undefined): boolean {
  return metricType !== undefined && asText(metricType) !== 'AverageValue';
}

/** Whether a trigger says little about the load of GPUs, as CPU does. */
function isOfPods(trigger: Cursor | undefined): boolean {
  return /^(?:cpu|memory)$/.test(asText(getIn(trigger, 'type')) ?? '');
}

function isAboutGpus(query: Cursor, manifest: Manifest, { crossReferences }: RuleContext): boolean {
  const facts = targetOf(manifest, crossReferences)?.facts;
  if (facts !== undefined) return facts.role === 'serving' ? facts.devices !== 0 : (facts.devices ?? 0) > 0;
  return podMetric(query) !== undefined || nameOfGpuTarget(manifest) !== undefined;
}

function report(found: Judged, most: number, isAlone: boolean, context: RuleContext): void {
  const { query, result, threshold, reach } = found;
  if (result === 'each') {
    reportEach(query, context);
    return;
  }
  if (found.atHalf !== undefined) {
    const { value, asked } = found.atHalf;
    context.report({
      severity: 'info',
      message: `KEDA divides this ${result} by the threshold (metricType AverageValue): at ${value}, it asks for ${asked} replicas, however many run`,
      span: spanOf(query),
    });
    return;
  }
  const replicas = Math.min(most, 4);
  const effective = Number((threshold * replicas).toPrecision(12));
  const effect =
    reach === undefined
      ? `with ${replicas} replicas, the effective threshold is ${effective}, not ${threshold}`
      : `with threshold ${threshold}, it scales to at most ${reach} of ${most} replicas`;
  context.report({
    ...((!isAlone || most === 2) && { severity: 'info' }),
    message: `KEDA divides this ${result} by the number of replicas (metricType AverageValue): ${effect}`,
    span: spanOf(query),
    fixes: () => [byValue(found.trigger, context)],
  });
}

/** Information: the trigger works as long as one pod serves. */
function reportEach(query: Cursor, context: RuleContext): void {
  context.report({
    severity: 'info',
    message: 'The query returns one value per pod, but KEDA accepts only one: with 2 replicas, the trigger fails',
    span: spanOf(query),
    fixes: () => [sumUp(query, context)],
  });
}

/** KEDA divides the sum by the number of replicas. */
function sumUp(query: Cursor, { document }: RuleContext) {
  const text = (asText(query) ?? '').trim();
  const isPlain = /^[\w:]+(?:\{[^{}]*\})?$/.test(text);
  return isPlain
    ? fix('Add up the values with sum()', 'unsafe', replaceScalar(document, query, `sum(${text})`))
    : undefined;
}

function byValue(trigger: Cursor, { document }: RuleContext) {
  const written = getIn(trigger, 'metricType');
  const edits =
    written === undefined
      ? insertKey(document, trigger, 'metricType', 'Value', { after: 'type' })
      : replaceScalar(document, written, 'Value');
  return fix('Set metricType to Value', 'unsafe', edits);
}

import { titleOf } from '../catalog/program-records.ts';
import { nearest } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { triggerTypes } from '../evidence/keda-triggers.ts';
import { passedOnQueries } from '../evidence/passed-on-queries.ts';
import { exportedInstead, misnamed, removedMetric, withoutColon } from '../evidence/pod-metrics.ts';
import { promqlError } from '../evidence/promql-errors.ts';
import { metricsInList, type ResourceMetric, resourceMetrics } from '../evidence/resource-metrics.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { servedMetrics } from '../evidence/served-metrics.ts';
import { valuesScaler } from '../evidence/values-scaler.ts';
import { placesAt } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isTemplated, items, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * An autoscaler or an alert names a metric that never has a value.
 *
 * ## Why
 *
 * Metrics of type Resource and ContainerResource come from the resource metrics API, which has CPU and memory only. The use of a GPU is a
 * metric of another type (Pods or External) that an adapter reads from Prometheus. As long as a metric has no value, the autoscaler never
 * removes a replica, and without another metric it never adds one. The same applies to a container that does not exist. KEDA scales nothing
 * if it does not know the type of a trigger, and likely nothing if a query for Prometheus has an underscore for the colon in a name of vLLM or
 * SGLang (`vllm_num_requests_waiting`; information); an alert with it never fires. The same applies to an autoscaler or a query with a metric whose name starts like one of
 * vLLM or SGLang, but that they do not export (`vllm_queue_depth`), to llama.cpp's `kv_cache_usage_ratio`, which new builds lack, and to a query
 * that Prometheus rejects: `rate()` without a range, `sum()` of a range, or a bracket that is not closed. The target may also run another server than the one whose metric it is, or a server that has metrics
 * only with a flag.
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
 *     - type: Resource
 *       resource:
 *         name: nvidia.com/gpu
 *         target: {type: Utilization, averageUtilization: 80}
 * ```
 *
 * ```yaml valid
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
 *         metric: {name: DCGM_FI_DEV_GPU_UTIL}
 *         target: {type: AverageValue, averageValue: "80"}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the trigger or the metric takes effect.
 *
 * ## When it is silent
 *
 * For containers of targets in other folders, and for queries that also have the name with the colon. A trigger type that resembles no known one
 * is information only, because KEDA adds types, unless its name is about GPUs. For the syntax of queries to VictoriaMetrics or an unknown server.
 *
 * ## Sources
 *
 * - [Kubernetes: resource metrics pipeline](https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/)
 * - [KEDA: scalers](https://keda.sh/docs/latest/scalers/)
 * - [ggml-org/llama.cpp#13660](https://github.com/ggml-org/llama.cpp/pull/13660)
 * - [Prometheus: query functions](https://prometheus.io/docs/prometheus/latest/querying/functions/)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    for (const metric of resourceMetrics(manifest)) checkMetric(metric, manifest, context);
    if (manifest.kind === 'HorizontalPodAutoscaler')
      for (const metric of items(getIn(manifest.root, 'spec', 'metrics'))) checkCustomMetric(metric, manifest, context);
    if (manifest.kind === 'PrometheusRule') checkRules(manifest, context);
    if (groupOf(manifest.apiVersion) !== 'keda.sh' || !/^Scaled(Object|Job)$/.test(manifest.kind)) return;
    for (const trigger of items(getIn(manifest.root, 'spec', 'triggers'))) checkTrigger(trigger, manifest, context);
  },
  workload(workload, context) {
    // Charts pass the list on unchanged.
    for (const metric of metricsInList(getIn(valuesScaler(workload), 'metrics')))
      checkMetric(metric, workload.manifest, context);
    for (const { query, server } of passedOnQueries(workload)) checkSyntax(query, server, context);
  },
});

function checkMetric(metric: ResourceMetric, manifest: Manifest, context: RuleContext): void {
  const name = asText(metric.name) ?? '';
  if (name !== 'cpu' && name !== 'memory') {
    const meant = ['cpu', 'memory'].find((known) => known === name.trim().toLowerCase());
    context.report({
      message: `A Resource metric must be cpu or memory, not ${shorten(name, 40)}: it never gets a value, so the HPA does not scale on it`,
      span: spanOf(metric.name),
      fixes: () => (meant === undefined ? [] : [rename(metric.name, meant, context)]),
    });
    return;
  }
  const { container } = metric;
  const written = asText(container);
  if (container === undefined || written === undefined || isTemplated(container)) return;
  const target = targetOf(manifest, context.crossReferences);
  const names = target?.facts.containers?.map((one) => one.name) ?? [];
  if (
    target === undefined ||
    target.siblingFolder ||
    target.facts.devices === 0 ||
    names.length === 0 ||
    names.includes(written)
  )
    return;
  const [only] = names;
  context.report({
    message: `${shorten(target.name)} has no container "${shorten(written, 30)}": the metric never gets a value, so the HPA does not scale on it`,
    span: spanOf(container),
    fixes: () => [
      names.length === 1 && only !== undefined
        ? fix(`Change to ${shorten(only, 40)}`, 'unsafe', replaceScalar(context.document, container, only))
        : undefined,
    ],
  });
}

/** The names of other metrics are those of an adapter, whose settings are elsewhere. */
function checkCustomMetric(metric: Cursor, manifest: Manifest, context: RuleContext): void {
  const name = getIn(metric, 'pods', 'metric', 'name') ?? getIn(metric, 'external', 'metric', 'name');
  checkExporter(name, manifest, context);
  checkRemoved(name, 'the metric never gets a value', context);
  const written = asText(name) ?? '';
  const exported = name === undefined || isTemplated(name) ? undefined : exportedInstead(written);
  if (name === undefined || exported === undefined) return;
  context.report({
    severity: 'info',
    message: `The server exports ${exported}, not ${shorten(written, 40)}: unless an adapter makes it, the HPA does not scale on it`,
    span: spanOf(name),
  });
}

function checkTrigger(trigger: Cursor, manifest: Manifest, context: RuleContext): void {
  const { kind } = manifest;
  checkQuery(trigger, context);
  if (asText(getIn(trigger, 'type')) === 'prometheus')
    checkExporter(getIn(trigger, 'metadata', 'query'), manifest, context);
  const type = getIn(trigger, 'type');
  const written = asText(type);
  if (type === undefined || written === undefined || isTemplated(type) || triggerTypes.has(written)) return;
  // Kedify's distribution of KEDA adds types.
  if (/^kedify-/.test(written)) return;
  const near = nearest(written, triggerTypes).slice(0, 1);
  const meant = near[0];
  const certain = meant !== undefined || /gpu|nvidia|dcgm|cuda|vllm/i.test(written);
  context.report({
    severity: certain ? 'warning' : 'info',
    message: `KEDA has no trigger type ${shorten(written, 40)}${meant === undefined ? '' : `; did you mean ${meant}?`}${meant === undefined ? ': the' : ' The'} ${kind} never scales`,
    span: spanOf(type),
    fixes: () => (meant === undefined ? [] : [rename(type, meant, context)]),
  });
}

/** Prometheus keeps the colon in the names that servers export. Some collectors replace it, so this is information only. */
function checkQuery(trigger: Cursor, context: RuleContext): void {
  const query = getIn(trigger, 'metadata', 'query');
  const text = asText(query) ?? '';
  const found =
    asText(getIn(trigger, 'type')) === 'prometheus' && text.length < 10_000 ? withoutColon(text) : undefined;
  if (query === undefined || isTemplated(query)) return;
  if (asText(getIn(trigger, 'type')) === 'prometheus')
    checkSyntax(query, getIn(trigger, 'metadata', 'serverAddress'), context);
  if (asText(getIn(trigger, 'type')) === 'prometheus') checkRemoved(query, 'the query returns no data', context);
  const other = found === undefined && asText(getIn(trigger, 'type')) === 'prometheus' ? misnamed(text) : undefined;
  if (other !== undefined)
    context.report({
      severity: 'info',
      message: `The server exports ${other.exported}, not ${shorten(other.written, 40)}: unless a recording rule makes it, the query returns no data`,
      span: spanOf(query),
    });
  if (found === undefined) return;
  const { written, exported, corrected } = found;
  context.report({
    severity: 'info',
    message: `The server exports ${exported}, not ${written}: unless a collector renames it, the query returns no data`,
    span: spanOf(query),
    fixes: () => [fix(`Change ${written} to ${exported}`, 'unsafe', replaceScalar(context.document, query, corrected))],
  });
}

/** Reports alerts and recording rules that read a metric under a name that nothing exports, unless a rule of the object records it. */
function checkRules({ root }: Manifest, context: RuleContext): void {
  const { document, report } = context;
  const rules = placesAt(root, 'spec.groups.*.rules.*');
  const recorded = new Set(rules.map((rule) => asText(getIn(rule, 'record'))));
  for (const rule of rules) {
    const at = getIn(rule, 'expr');
    const text = at === undefined || isTemplated(at) ? '' : (asText(at) ?? '');
    const renamed = text.length < 10_000 ? withoutColon(text) : undefined;
    const found = renamed ?? misnamed(text);
    const effect = getIn(rule, 'record') === undefined ? 'the alert never fires' : 'nothing is recorded';
    if (!recorded.has(removedMetric(text))) checkRemoved(at, effect, context);
    if (at === undefined || found === undefined || recorded.has(found.written)) continue;
    report({
      severity: 'info',
      message: `The server exports ${found.exported}, not ${shorten(found.written, 40)}: unless a collector renames it, ${effect}`,
      span: spanOf(at),
      fixes: () =>
        renamed === undefined
          ? []
          : [
              fix(
                `Change ${renamed.written} to ${renamed.exported}`,
                'unsafe',
                replaceScalar(document, at, renamed.corrected),
              ),
            ],
    });
  }
}

/** Reports a metric that servers no longer export. */
function checkRemoved(at: Cursor | undefined, effect: string, { report }: RuleContext): void {
  const removed = at === undefined || isTemplated(at) ? undefined : removedMetric(asText(at) ?? '');
  if (at === undefined || removed === undefined) return;
  report({
    message: `llama.cpp has not exported ${removed} since May 2025: unless the build is older, ${effect}`,
    span: spanOf(at),
  });
}

/** Reports a metric that the server of the target does not export: that of another server, or one that needs a flag. */
function checkExporter(at: Cursor | undefined, manifest: Manifest, { crossReferences, report }: RuleContext): void {
  const metrics = at === undefined || isTemplated(at) ? [] : servedMetrics(asText(at) ?? '');
  const [metric] = metrics;
  const target = metric === undefined ? undefined : targetOf(manifest, crossReferences);
  const server = target?.siblingFolder === false ? target.facts.server : null;
  if (
    at === undefined ||
    metric === undefined ||
    target === undefined ||
    !server ||
    !knownExporters.has(server.program)
  )
    return;
  const isOwn = metrics.some(({ program }) => program === server.program);
  if (isOwn && server.lacksMetrics === null) return;
  const has = isOwn
    ? `which exports no metrics ${server.lacksMetrics}`
    : `which does not export ${shorten(metric.name, 40)}`;
  report({
    message: `${shorten(target.name, 30)} runs ${titleOf(server.program)}, ${has}: the metric never gets a value`,
    span: spanOf(at),
  });
}

/** Servers whose metrics have names of their own. */
const knownExporters = wordSet(
  'vllm sglang llama-server ollama text-generation-launcher text-embeddings-router tritonserver',
);

function checkSyntax(query: Cursor, server: Cursor | undefined, { report }: RuleContext): void {
  const error = isTemplated(query) ? undefined : promqlError(asText(query) ?? '', server);
  if (error === undefined) return;
  report({
    message: `Prometheus rejects the query, because ${error}: the trigger never gets a value`,
    span: spanOf(query),
  });
}

function rename(at: Cursor, name: string, { document }: RuleContext): Fix | undefined {
  return fix(`Change to ${shorten(name, 40)}`, 'unsafe', replaceScalar(document, at, name));
}

import { titleOf } from '../catalog/program-records.ts';
import { knativeMetric } from '../evidence/knative-metric.ts';
import { gpuMemoryMetric } from '../evidence/metric-ranges.ts';
import { isUtilization, resourceMetrics } from '../evidence/resource-metrics.ts';
import { nameOfGpuTarget, targetOf } from '../evidence/scaler-target.ts';
import { valuesScaler } from '../evidence/values-scaler.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { countIn } from '../model/count.ts';
import type { Referenced } from '../model/cross-references.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Container, Manifest, PodSet, Workload } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import {
  asBoolean,
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * An autoscaler scales a GPU server on CPU or memory alone, or on GPU memory that its server reserves.
 *
 * ## Why
 *
 * The CPU of a model server says little about its load: its GPU can be full and requests can wait while the CPU is nearly idle. The autoscaler
 * then adds no replica. Conversely, a server that polls its GPU in a busy loop looks loaded without any traffic, and idle replicas keep their
 * GPUs. The number of queued requests and their latency reflect the load. vLLM and SGLang reserve most of a GPU's memory at startup, so its use
 * is the same with and without requests: the autoscaler always runs the maximum or never adds a replica.
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
 *         name: cpu
 *         target: {type: Utilization, averageUtilization: 80}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: server
 *           image: vllm/vllm-openai:v0.11.0
 *           resources: {limits: {nvidia.com/gpu: 1}}
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
 *         metric: {name: vllm_num_requests_waiting}
 *         target: {type: AverageValue, averageValue: "5"}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: server
 *           image: vllm/vllm-openai:v0.11.0
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ## When it is silent
 *
 * If the autoscaler also uses another metric that can have a value, and if its target trains. If the use of the target is unknown, or only its
 * name says that it holds GPUs (`vllm-server`), the finding is information only. For an autoscaler without metrics in projects with
 * kustomizations, which may add some, and for InferenceServices whose deployment mode is unknown.
 *
 * ## Sources
 *
 * - [kedacore/keda#7538](https://github.com/kedacore/keda/issues/7538)
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory.html)
 * - [kserve/kserve#3561](https://github.com/kserve/kserve/issues/3561)
 * - [Kubernetes: HorizontalPodAutoscaler, with CPU as its default metric](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    checkGpuMemory(manifest, context);
    const scaler = cpuMetric(manifest);
    if (scaler === undefined || (scaler.metric === byDefault && context.crossReferences.mayBePatch())) return;
    const target = targetOf(manifest, context.crossReferences);
    const named = target === undefined ? nameOfGpuTarget(manifest) : undefined;
    if (named !== undefined) {
      const message = `${shorten(named, 60)} autoscales on ${scaler.metric}, but its name suggests a GPU load: it likely scales late or never`;
      context.report({ severity: 'info', message, span: scaler.place });
    }
    if (target === undefined || !runsOnGpus(target)) return;
    const source = target.file === null ? '' : ` (${shorten(target.file)})`;
    const name = `${shorten(target.name)}${source}`;
    const serves = target.facts.role === 'serving';
    context.report({
      message: serves
        ? messageFor(name, scaler)
        : `${name} autoscales on ${scaler.metric}, but holds GPUs: if its load is on them, it scales late or never`,
      span: scaler.place,
      // A program of unknown use may still have its load on the CPU.
      ...((target.siblingFolder || !serves) && { severity: 'info' }),
    });
  },
  workload(workload, context) {
    const own = isValues(workload) ? valuesMetric(workload) : operatorMetric(workload);
    const name = workload.name === null ? 'The workload' : shorten(workload.name);
    for (const scaler of [own, standardMetric(workload), ofKnative(workload)]) {
      if (scaler === undefined) continue;
      const message = isUnmeasured(workload, context)
        ? `${name} autoscales on ${scaler.metric} utilization, but its containers have no ${scaler.metric} request: its HPA never gets a value`
        : messageFor(name, scaler);
      context.report({ message, span: scaler.place });
    }
  },
});

/** Reports a metric of GPU memory for a server that reserves it. https://docs.vllm.ai/en/latest/configuration/conserving_memory.html */
function checkGpuMemory(manifest: Manifest, { crossReferences, report }: RuleContext): void {
  const { root, kind } = manifest;
  if (!/^(?:HorizontalPodAutoscaler|ScaledObject)$/.test(kind)) return;
  const metrics = items(getIn(root, 'spec', 'metrics')).flatMap((one) =>
    ['pods', 'external', 'object'].map((field) => getIn(one, field, 'metric', 'name')),
  );
  const queries = items(getIn(root, 'spec', 'triggers')).map((one) => getIn(one, 'metadata', 'query'));
  const at = [...metrics, ...queries].find((one) => one !== undefined && gpuMemoryMetric(asText(one) ?? ''));
  const server = at === undefined ? undefined : targetOf(manifest, crossReferences)?.facts.server?.program;
  if (at === undefined || isTemplated(at) || (server !== 'vllm' && server !== 'sglang')) return;
  report({
    message: `${titleOf(server)} reserves GPU memory at startup: ${shorten(gpuMemoryMetric(asText(at) ?? '') ?? '', 40)} stays constant, so the autoscaler goes to its maximum or never scales`,
    span: spanOf(at),
  });
}

/** Without metrics, which a patch may add. */
const byDefault = 'CPU by default';

interface CpuMetric {
  readonly metric: string;
  readonly place: Span;
}

function messageFor(target: string, { metric }: CpuMetric): string {
  return `${target} autoscales on ${metric}, but its load is on the GPU: it scales late or never`;
}

/** The metric of an autoscaler that uses CPU, memory or both, and nothing else. */
function cpuMetric({ root, kind, apiVersion }: Manifest): CpuMetric | undefined {
  const spec = getIn(root, 'spec');
  const group = groupOf(apiVersion);
  if (isIncomplete(spec)) return undefined;
  if (group === 'autoscaling' && kind === 'HorizontalPodAutoscaler')
    // The metrics of version 1 are in an annotation.
    return getIn(root, 'metadata', 'annotations', 'autoscaling.alpha.kubernetes.io/metrics') === undefined
      ? podAutoscalerMetric(spec)
      : undefined;
  return group === 'keda.sh' && kind === 'ScaledObject' ? triggerMetric(spec) : undefined;
}

function podAutoscalerMetric(spec: Cursor | undefined): CpuMetric | undefined {
  const classic = getIn(spec, 'targetCPUUtilizationPercentage');
  if (classic !== undefined) return { metric: 'CPU', place: keySpanOf(classic) };
  const metrics = getIn(spec, 'metrics');
  const target = getIn(spec, 'scaleTargetRef');
  // The API server sets 80% of the requested CPU.
  if (metrics === undefined && target !== undefined) return { metric: byDefault, place: keySpanOf(target) };
  if (isIncomplete(metrics) || (metrics !== undefined && metrics.node.kind !== 'seq')) return undefined;
  const names = items(metrics).map(
    (metric) => getIn(metric, 'resource', 'name') ?? getIn(metric, 'containerResource', 'name'),
  );
  // Other resources never have a value, as hpa-metric-unknown reports.
  return onlyCpu(
    names.filter((name) => name === undefined || isTemplated(name) || /^(?:cpu|memory)$/.test(asText(name) ?? '')),
  );
}

/** https://keda.sh/docs/latest/scalers/cpu/ */
function triggerMetric(spec: Cursor | undefined): CpuMetric | undefined {
  const triggers = getIn(spec, 'triggers');
  const floor = getIn(spec, 'minReplicaCount');
  // With a minimum of 0 KEDA rejects the object, which keda-trigger-zero reports.
  if (floor === undefined || asNumber(floor) === 0) return undefined;
  return isIncomplete(triggers) ? undefined : onlyCpu(items(triggers).map((trigger) => getIn(trigger, 'type')));
}

function onlyCpu(names: readonly (Cursor | undefined)[]): CpuMetric | undefined {
  const cpu = names.find((name) => asText(name) === 'cpu');
  const memory = names.find((name) => asText(name) === 'memory');
  if (names.some((name) => asText(name) !== 'cpu' && asText(name) !== 'memory')) return undefined;
  if (cpu !== undefined) return { metric: memory === undefined ? 'CPU' : 'CPU and memory', place: spanOf(cpu) };
  return memory && { metric: 'memory', place: spanOf(memory) };
}

/** The HPA that an operator creates: NVIDIA's from `scale.hpa`, the training operator's from the metrics of an elastic job. */
function operatorMetric({ scaling, manifest, podSets }: Workload): CpuMetric | undefined {
  const policy = kindOf(manifest).elasticPolicy?.(manifest.root);
  const ofJob = getIn(policy, 'metrics');
  if (ofJob !== undefined && ofJob.node.kind === 'seq') {
    const [min, max] = [asNumber(getIn(policy, 'minReplicas')), asNumber(getIn(policy, 'maxReplicas'))];
    const isFixed = min !== undefined && max !== undefined && max <= min;
    return isFixed || isIncomplete(policy) || !holdAccelerators(podSets) ? undefined : podAutoscalerMetric(policy);
  }
  const ceiling = asNumber(scaling?.max);
  if (scaling === null || ceiling === undefined || keyOf(scaling.owner) !== 'hpa') return undefined;
  if (scaling.floor === null || ceiling <= scaling.floor || isIncomplete(scaling.owner) || !holdAccelerators(podSets))
    return undefined;
  return podAutoscalerMetric(scaling.owner);
}

/** Whether the HPA of an elastic job compares with requests that its containers do not have. */
function isUnmeasured({ manifest, podSets, namespace }: Workload, { crossReferences }: RuleContext): boolean {
  const names = resourceMetrics(manifest).flatMap((metric) =>
    isUtilization(metric) ? (asText(metric.name) ?? []) : [],
  );
  if (kindOf(manifest).elasticPolicy === undefined || names.length === 0) return false;
  const defaults = [...crossReferences.defaultsIn(namespace), ...crossReferences.defaultsIn(null)];
  const lacks = ({ resources }: Container, name: string) =>
    !isIncomplete(resources) && ['requests', 'limits'].every((key) => getIn(resources, key, name) === undefined);
  const containers = podSets.flatMap((one) => one.containers.filter(({ type }) => type === 'app'));
  return names.every((name) => !defaults.includes(name) && containers.some((one) => lacks(one, name)));
}

/** The autoscaler of chart values in the form of `helm create`, if it is enabled. */
function valuesMetric(workload: Workload): CpuMetric | undefined {
  const { podSets } = workload;
  const [block] = podSets;
  const hpa = valuesScaler(workload);
  const isFixed = (asNumber(getIn(hpa, 'maxReplicas')) ?? 1) < 2;
  if (getIn(hpa, 'metrics')?.node.kind === 'seq')
    return isFixed || !holdAccelerators(podSets) ? undefined : podAutoscalerMetric(hpa);
  const scaler = ['autoscaling', 'hpa'].map((key) => getIn(block?.pod, key)).find((one) => one !== undefined);
  const target = entries(scaler).find((entry) => isCpuTarget(keyOf(entry)) && entry.node.kind === 'scalar');
  const ceiling = asNumber(getIn(scaler, 'maxReplicas'));
  if (target === undefined || isTemplated(target) || isIncomplete(scaler) || !holdAccelerators(podSets))
    return undefined;
  if (asBoolean(getIn(scaler, 'enabled')) !== true || ceiling === undefined || ceiling < 2) return undefined;
  const others = entries(scaler).filter(
    (entry) => /metric|target|trigger/i.test(keyOf(entry)) && entry.node !== target.node,
  );
  return others.length === 0 ? { metric: 'CPU', place: keySpanOf(target) } : undefined;
}

/** `targetCPUUtilizationPercentage` of `helm create`, and the same words in any order: `cpu_target`, `cpuUtilization`. */
function isCpuTarget(key: string): boolean {
  const letters = key.toLowerCase().replaceAll(/[^a-z]/g, '');
  const rest = letters.replaceAll(/cpu|target|utili[sz]ation|percent(?:age)?/g, '');
  return rest === '' && letters.includes('cpu') && /target|utili/.test(letters);
}

function holdAccelerators(podSets: readonly PodSet[]): boolean {
  return podSets.some(requestsAccelerators);
}

/** Training and notebooks have other reasons to scale. */
function runsOnGpus({ facts: { role, devices } }: Referenced<WorkloadFacts>): boolean {
  return role === 'serving' ? devices !== 0 : role === 'unknown' && devices !== null && devices > 0;
}

/** Knative creates an HPA for the class that scales on CPU or memory. */
function ofKnative({ manifest, podSets, scaling, role }: Workload): CpuMetric | undefined {
  if (scaling?.mechanism !== 'knative' || role !== 'serving' || !holdAccelerators(podSets)) return undefined;
  const found = knativeMetric(manifest);
  const ceiling = scaling.max === undefined ? null : countIn(asText(scaling.max));
  const isFixed = ceiling !== null && ceiling > 0 && ceiling <= Math.max(scaling.floor ?? 1, 1);
  if (found?.scaler !== 'hpa' || found.metric === 'other' || isFixed) return undefined;
  return { metric: found.metric, place: spanOf(found.at) };
}

/** The metric of an InferenceService in Standard mode that scales on CPU. If no metric is named, the place is the maximum. */
function standardMetric({ scaling, manifest, podSets, kind }: Workload): CpuMetric | undefined {
  if (kind !== 'InferenceService' || scaling === null) return undefined;
  const { max, floor, owner } = scaling;
  // The field is explicit in every mode.
  const isStated = asText(getIn(owner, 'scaleMetric')) === 'cpu';
  if (scaling.mechanism !== 'hpa' && !isStated) return undefined;
  const ceiling = asNumber(max);
  if (max === undefined || ceiling === undefined || floor === null || ceiling <= Math.max(floor, 1)) return undefined;
  if (isIncomplete(owner) || (scaling.mechanismFrom === 'default' && !isStated)) return undefined;
  // scale-to-zero-ineffective reports an HPA with a minimum of 0.
  if (asNumber(scaling.min) === 0) return undefined;
  const metric = getIn(owner, 'scaleMetric') ?? lookUp(manifest.annotations, 'autoscaling.knative.dev/metric')?.at;
  if (metric !== undefined && (isTemplated(metric) || asText(metric) !== 'cpu')) return undefined;
  if (getIn(owner, 'autoScaling') !== undefined) return undefined;
  if (!holdAccelerators(podSets)) return undefined;
  return metric === undefined
    ? { metric: 'CPU by default', place: keySpanOf(max) }
    : { metric: 'CPU', place: spanOf(metric) };
}

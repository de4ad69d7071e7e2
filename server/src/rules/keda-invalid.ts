import { wordSet } from '../catalog/word-patterns.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { isTimeZone } from '../evidence/time-zones.ts';
import { isUnknown } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { Referenced } from '../model/cross-references.ts';
import { kindEntry, sameNamedKinds } from '../model/kinds/index.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import { targetGroup } from '../model/scaled.ts';
import type { Manifest } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asNumber,
  asString,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A ScaledObject or ScaledJob that KEDA rejects, an autoscaler whose target it cannot scale, or two with the same target.
 *
 * ## Why
 *
 * KEDA reads the metadata of a trigger when it starts to scale. Without a required setting, it reports an error and scales nothing: the target
 * keeps its GPUs, or never gets one. The same happens if the address of Prometheus has no `http://`, and if a cron trigger starts and ends at the same time, or in
 * a time zone that is not in the database (`IST`, `UTC+8`). Its webhook rejects a ScaledObject for a
 * target that a HorizontalPodAutoscaler already scales. Since Kubernetes 1.27, two HorizontalPodAutoscalers with the same target both stop
 * scaling (`AmbiguousSelector`): one of them can have the metrics of both. KServe creates an autoscaler for the Deployment of an InferenceService in
 * Standard mode, unless `autoscalerClass` is `external`.
 *
 * Autoscalers set replicas through the scale subresource of their target. A DaemonSet, a Job, an InferenceService, a Knative Service, a RayService
 * and a RayCluster do not have one: KServe, Knative and Ray scale theirs by their own fields, such as `minReplicas` and `maxReplicas`.
 *
 * ```yaml invalid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   triggers:
 *     - type: prometheus
 *       metadata:
 *         serverAddress: http://prometheus.example:9090
 *         query: sum(vllm:num_requests_waiting)
 * ```
 *
 * ```yaml valid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   triggers:
 *     - type: prometheus
 *       metadata:
 *         serverAddress: http://prometheus.example:9090
 *         query: sum(vllm:num_requests_waiting)
 *         threshold: "5"
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the other autoscaler takes over.
 *
 * ## When it is silent
 *
 * For templates, targets without accelerators, triggers of other types than prometheus, cron, metrics-api, rabbitmq, redis, kafka and aws-sqs-queue, and those without an address. If the ownership of the autoscaler is transferred, or if it is in a
 * sibling folder, which may be another variant. An autoscaler that keeps a target from zero is reported by scale-to-zero-ineffective. The severity is
 * warning for an autoscaler, because an annotation can turn the check off.
 *
 * ## Sources
 *
 * - [KEDA: the prometheus trigger](https://keda.sh/docs/latest/scalers/prometheus/)
 * - [KEDA: the cron trigger](https://keda.sh/docs/latest/scalers/cron/)
 * - [kubernetes#112011: two autoscalers of the same pods](https://github.com/kubernetes/kubernetes/pull/112011)
 * - [KServe: the type InferenceService](https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/inference_service.go)
 * - [KubeRay: the type RayService](https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/rayservice_types.go)
 * - [KEDA: the webhook](https://github.com/kedacore/keda/blob/main/apis/keda/v1alpha1/scaledobject_webhook.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'error',
  manifest(manifest, context) {
    const { root, kind, apiVersion } = manifest;
    checkScalable(manifest, context);
    if (kind === 'HorizontalPodAutoscaler') checkRival(manifest, context);
    if ((kind !== 'ScaledObject' && kind !== 'ScaledJob') || groupOf(apiVersion) !== 'keda.sh') return;
    const target = kind === 'ScaledObject' ? targetOf(manifest, context.crossReferences) : undefined;
    if (target?.facts.devices === 0) return;
    const ceiling = kind === 'ScaledObject' ? getIn(root, 'spec', 'maxReplicaCount') : undefined;
    const isFormula = getIn(root, 'spec', 'advanced', 'scalingModifiers') !== undefined;
    const triggers = items(getIn(root, 'spec', 'triggers'));
    for (const trigger of triggers) {
      checkTrigger(trigger, isFormula, context);
      checkCron(trigger, ceiling, context);
    }
    const [only, ...others] = triggers;
    if (only !== undefined && others.length === 0 && !isFormula && kind === 'ScaledObject')
      checkWindow(only, getIn(root, 'spec'), context);
    if (target !== undefined && !target.siblingFolder) checkOwner(manifest, target, context);
  },
  workload(workload, context) {
    const { kind, name, namespace, scaling, manifest, podSets } = workload;
    const isScaled = scaling?.mechanism === 'hpa' || scaling?.mechanism === 'keda';
    if (kind !== 'InferenceService' || name === null || !isScaled || !podSets.some(requestsAccelerators)) return;
    const deployment = `${name}-predictor`;
    const rival = context.crossReferences
      .scalersOf('apps', 'Deployment', namespace, deployment)
      .find((one) => !one.siblingFolder);
    const place = lookUp(manifest.annotations, scalerClass)?.at ?? getIn(manifest.root, 'metadata', 'name');
    if (rival === undefined || place === undefined || isUnknown(place)) return;
    context.report({
      severity: 'warning',
      message: `${rival.kind === 'ScaledObject' ? rival.kind : 'HPA'} ${shorten(rival.name, 20)} and KServe's own autoscaler both scale ${shorten(deployment, 26)}: they block each other unless autoscalerClass is external`,
      span: spanOf(place),
      fixes: () => [
        fix(
          'Set autoscalerClass to external',
          'unsafe',
          setKey(context.document, getIn(manifest.root, 'metadata', 'annotations'), scalerClass, 'external'),
        ),
      ],
    });
  },
});

const scalerClass = 'serving.kserve.io/autoscalerClass';

/** Reports a target of a kind without a scale subresource. KEDA's default group is that of Deployments. */
function checkScalable(
  { root, kind, apiVersion, namespace }: Manifest,
  { crossReferences, report }: RuleContext,
): void {
  if (!scalers.has(`${groupOf(apiVersion)}/${kind}`)) return;
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const [version, at, name] = ['apiVersion', 'kind', 'name'].map((key) => getIn(target, key));
  if (at === undefined || isIncomplete(target) || [version, at, name].some(isUnknown)) return;
  const named = asText(at) ?? '';
  const entry = version === undefined ? sameNamedKinds(named)[0] : kindEntry(groupOf(asText(version) ?? ''), named);
  // reference-not-found reports an HPA that names no group.
  if (entry?.unscalable !== true || (version === undefined && kind !== 'ScaledObject')) return;
  const scaled = asText(name) ?? '';
  if (crossReferences.workload(named, namespace, scaled)?.facts.devices === 0) return;
  report({
    message: `The kind ${named} has no scale subresource, so the ${kind} never scales ${shorten(scaled, 40)}`,
    span: spanOf(at),
  });
}

const scalers: ReadonlySet<string> = new Set(['keda.sh/ScaledObject', 'autoscaling/HorizontalPodAutoscaler']);

interface TriggerSettings {
  readonly address: string;
  /** The address is in the metadata only, not in an authentication or a variable. */
  readonly isOwn?: true;
  readonly settings: readonly string[];
  /** An authentication can have the settings. */
  readonly isOpen?: true;
  /** The address is a URL, whose scheme KEDA does not add. */
  readonly isUrl?: true;
}

/**
 * The settings that a trigger must have in its metadata, without a default.
 * https://github.com/kedacore/keda/tree/main/pkg/scalers
 */
const required = table<TriggerSettings>({
  'aws-sqs-queue': { address: 'queueURL', isOwn: true, settings: ['awsRegion'], isOpen: true },
  cron: { address: 'start', settings: ['end', 'timezone', 'desiredReplicas'] },
  kafka: { address: 'bootstrapServers', settings: ['consumerGroup'] },
  'metrics-api': { address: 'url', isOwn: true, isUrl: true, settings: ['valueLocation', 'targetValue'] },
  prometheus: { address: 'serverAddress', isUrl: true, settings: ['query', 'threshold'] },
  rabbitmq: { address: 'host', settings: ['queueName'] },
  redis: { address: 'address', settings: ['listName'] },
});

/** Not needed with `scalingModifiers`. https://keda.sh/docs/latest/reference/scaledobject-spec/#scalingmodifiers */
const targets = wordSet('threshold targetValue');

/** @param isFormula whether a formula over all triggers has the only target */
function checkTrigger(trigger: Cursor, isFormula: boolean, context: RuleContext): void {
  const metadata = getIn(trigger, 'metadata');
  const type = asString(getIn(trigger, 'type')) ?? '';
  if (metadata?.node.kind !== 'map' || isIncomplete(trigger) || isIncomplete(metadata)) return;
  const fields = entries(metadata).map((field) => keyOf(field).toLowerCase());
  const { address = '', isOwn, settings = [], isOpen, isUrl } = required[type] ?? {};
  if (isUrl) checkScheme(getIn(metadata, address), context);
  // KEDA reads some settings from the environment, under a longer name.
  const isMissing = (setting: string) => !fields.some((field) => field.startsWith(setting.toLowerCase()));
  const missing = settings.filter((setting) => isMissing(setting) && !(isFormula && targets.has(setting)));
  // A sketch leaves the address out, and more.
  const isSketch = isMissing(address) && !(isOwn && missing.length === 0);
  if (isSketch || (isOpen && getIn(trigger, 'authenticationRef') !== undefined)) return;
  for (const setting of isMissing(address) ? [address] : missing) {
    context.report({
      message: `The ${type} trigger has no ${setting}, which is required: KEDA rejects the trigger and scales nothing`,
      span: keySpanOf(metadata),
    });
  }
}

/** Reports a host in place of a URL: Go takes the host for the scheme, or rejects it. */
function checkScheme(address: Cursor | undefined, { document, report }: RuleContext): void {
  const text = asText(address)?.trim() ?? '';
  // Only what is certainly a host: a name of a cluster, or one with a port.
  if (address === undefined || isUnknown(address) || !/^[\w.-]+(?::\d+)?(?:\/\S*)?$/.test(text)) return;
  if (!/:\d|\.(?:svc|local)\b/.test(text)) return;
  report({
    message: `${keyOf(address)} ${shorten(text, 40)} has no scheme such as http://: KEDA cannot query it, and the trigger scales nothing`,
    span: spanOf(address),
    fixes: () => [fix(`Use http://${shorten(text, 40)}`, 'unsafe', replaceScalar(document, address, `http://${text}`))],
  });
}

/** Reports a window without a length, and more replicas in it than the maximum. https://keda.sh/docs/latest/scalers/cron/ */
function checkCron(trigger: Cursor, ceiling: Cursor | undefined, { report }: RuleContext): void {
  if (asString(getIn(trigger, 'type')) !== 'cron') return;
  const metadata = getIn(trigger, 'metadata');
  const [start, end, desired] = ['start', 'end', 'desiredReplicas'].map((key) => getIn(metadata, key));
  if ([trigger, metadata].some(isIncomplete) || [start, end, desired].some(isUnknown)) return;
  const zone = getIn(metadata, 'timezone');
  // Go also loads "Local".
  if (zone !== undefined && !isUnknown(zone) && asText(zone) !== 'Local' && !isTimeZone(asText(zone) ?? ''))
    report({
      message: `timezone "${shorten(asText(zone) ?? '', 20)}" is not a name such as Europe/Berlin or Etc/UTC: KEDA cannot load it and scales nothing`,
      span: spanOf(zone),
    });
  const schedule = asText(start)?.trim().split(/\s+/).join(' ');
  if (end !== undefined && schedule !== undefined && schedule === asText(end)?.trim().split(/\s+/).join(' '))
    report({
      message: `start and end are both "${shorten(schedule, 30)}": KEDA rejects the cron trigger and scales nothing`,
      span: spanOf(end),
    });
  const [most, count] = [asNumber(ceiling), Number(asText(desired) ?? Number.NaN)];
  if (desired === undefined || most === undefined || !Number.isSafeInteger(count) || count <= most) return;
  report({
    severity: 'warning',
    message: `desiredReplicas ${count} is above maxReplicaCount ${most}: only ${most} start`,
    span: spanOf(desired),
  });
}

/** Reports the window of the only trigger in which no more replicas run than at any other time. */
function checkWindow(trigger: Cursor, spec: Cursor | undefined, { report }: RuleContext): void {
  if (asString(getIn(trigger, 'type')) !== 'cron' || [trigger, spec].some(isIncomplete)) return;
  const desired = getIn(trigger, 'metadata', 'desiredReplicas');
  const [floor, idle] = ['minReplicaCount', 'idleReplicaCount'].map((key) => getIn(spec, key));
  const [least, count] = [asNumber(floor), Number(asText(desired) ?? Number.NaN)];
  if (desired === undefined || least === undefined || idle !== undefined || isUnknown(desired)) return;
  if (!Number.isSafeInteger(count) || count > least || least === 0) return;
  report({
    severity: 'warning',
    message: `desiredReplicas ${count} is not above minReplicaCount ${least}: the window changes nothing, and the pods run all the time`,
    span: spanOf(desired),
  });
}

/** Reports another autoscaler of the file with the same target. https://github.com/kubernetes/kubernetes/pull/112011 */
function checkRival({ root, namespace, name }: Manifest, { crossReferences, document, report }: RuleContext): void {
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const [kind, at] = [getIn(target, 'kind'), getIn(target, 'name')];
  if (name === null || at === undefined || [kind, at].some(isUnknown) || document.template) return;
  const scaled = asText(at) ?? '';
  const other = crossReferences.otherAutoscaler(asText(kind) ?? '', namespace, scaled, name);
  if (other === undefined || crossReferences.workload(asText(kind) ?? '', namespace, scaled)?.facts.devices === 0)
    return;
  report({
    severity: 'warning',
    message: `HorizontalPodAutoscaler ${shorten(other, 30)} also scales ${shorten(scaled, 30)}: since Kubernetes 1.27, both stop scaling (AmbiguousSelector)`,
    span: spanOf(at),
  });
}

/** Reports a target that an autoscaler already scales. */
function checkOwner(
  { root, namespace }: Manifest,
  target: Referenced<WorkloadFacts>,
  { crossReferences, report }: RuleContext,
): void {
  const reference = getIn(root, 'spec', 'scaleTargetRef');
  // scale-to-zero-ineffective reports those that cannot scale to zero.
  const floor = getIn(root, 'spec', 'idleReplicaCount') ?? getIn(root, 'spec', 'minReplicaCount');
  if (reference === undefined || (asNumber(floor) ?? 0) === 0) return;
  const moves = asText(getIn(root, 'metadata', 'annotations', 'scaledobject.keda.sh/transfer-hpa-ownership'));
  if (moves !== undefined && moves !== 'false') return;
  const other = crossReferences
    .scalersOf(targetGroup(reference), target.kind, namespace, target.name)
    .find((scaler) => scaler.kind === 'HorizontalPodAutoscaler');
  if (other === undefined || other.siblingFolder) return;
  const where = other.file === null ? '' : ` (${shorten(other.file, 30)})`;
  report({
    // An annotation of the autoscaler can turn the check off.
    severity: 'warning',
    message: `HorizontalPodAutoscaler ${shorten(other.name, 30)}${where} already scales ${shorten(target.name, 30)}: KEDA's webhook rejects the ScaledObject`,
    span: keySpanOf(reference),
  });
}

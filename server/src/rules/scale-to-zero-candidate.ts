import { wordSet } from '../catalog/word-patterns.ts';
import { formatHourly, formatMonthly, plural } from '../cost/money.ts';
import { idleSaving } from '../cost/savings.ts';
import { hasBudget, isExplained } from '../evidence/deliberate.ts';
import { isLatencyCritical } from '../evidence/latency.ts';
import { mayNeedPod, podMetric } from '../evidence/pod-metrics.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { countIn } from '../model/count.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import type { Manifest, PodSet, Scaling, Workload } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
} from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext, type WorkloadContext } from './rule.ts';

/**
 * An idle model server keeps its GPU, although it could scale to zero.
 *
 * ## Why
 *
 * KServe keeps one replica running unless `minReplicas` is 0, so the GPU costs money at night as well. In Knative mode, and in
 * Standard mode with KEDA, `minReplicas: 0` removes the last replica when traffic stops. The next request then waits for a cold start: a
 * node, the image and the weights. KEDA also keeps the replicas of a ScaledObject that an annotation pauses.
 *
 * ```yaml invalid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     minReplicas: 1
 *     containers:
 *       - name: kserve-container
 *         image: registry.example/server:3.2
 *         resources:
 *           limits:
 *             nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     minReplicas: 0
 *     containers:
 *       - name: kserve-container
 *         image: registry.example/server:3.2
 *         resources:
 *           limits:
 *             nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the first request after an idle period waits for a cold start.
 *
 * ## When it is silent
 *
 * For a ScaledObject whose target is not in the same project, or is neither a model server nor scaled by a queue. If the only metrics are CPU, memory or those of
 * the server's own pods (`vllm:num_requests_waiting`, `DCGM_FI_DEV_GPU_UTIL`): they cannot detect a request while no pod is running. With
 * a minimum of two or more replicas, which shows that availability matters; and if the deployment mode cannot reach zero: Standard mode with an
 * HPA raises 0 to 1. If something shows that the 1 was chosen: a label or annotation such as `latency-critical` or `latency: low`, a priority
 * class such as `high-priority`, a PodDisruptionBudget for the pods, or a comment on the line of the 1 or directly above it.
 *
 * `serving.idleHoursPerDay` in the config is the number of hours per day without requests. The amount covers these hours, and 0 turns the
 * rule off.
 *
 * ## Sources
 *
 * - [KServe: minReplicas](https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/component.go)
 * - [kedacore/keda#6040: a metric of the pods cannot start the first pod](https://github.com/kedacore/keda/issues/6040)
 * - [KServe: the HPA reconciler raises the minimum to 1](https://github.com/kserve/kserve/blob/master/pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go)
 */
export default defineRule({
  topic: 'scale-to-zero',
  severity: 'info',
  manifest(manifest, context) {
    const found = pausedReplicas(manifest, context) ?? keptReplicas(manifest, context);
    if (found === undefined) return;
    const { floor, replicas, isQueue, isPaused, target, hourly, devices } = found;
    if (isExplained(floor, context.document)) return;
    const hours = context.options.serving.idleHoursPerDay;
    if (hours === 0) return;
    const { amount, saving } = idleAmount(devices, hourly, hours, replicas === 1);
    const kept = `${replicas === 1 ? 'One replica' : `${replicas} replicas`} of ${shorten(target)} ${replicas === 1 ? 'keeps' : 'keep'} running`;
    context.report({
      message: `${kept} ${isQueue ? 'with an empty queue' : 'without traffic'} and ${amount}; ${isPaused ? 'its autoscaling is paused' : 'KEDA can scale it to zero'}`,
      span: keySpanOf(floor),
      fixes: () =>
        isPaused
          ? []
          : [fix(`Set minReplicaCount to 0 (now ${replicas})`, 'unsafe', replaceScalar(context.document, floor, 0))],
      saving,
    });
  },
  workload(workload, context) {
    reportJobs(workload, context);
    const { scaling } = workload;
    if (!hasRole(workload, 'serving') || workload.partial || scaling === null) return;
    if (!scaling.canReachZero || scaling.floor !== 1 || isLatencyCritical(workload)) return;
    const hours = context.options.serving.idleHoursPerDay;
    if (hours === 0) return;
    if (scaling.min === undefined && isIncomplete(scaling.owner)) return;
    if (scaling.min !== undefined && isExplained(scaling.min, context.document)) return;
    if (hasBudget(workload, context.crossReferences)) return;
    const metrics = items(getIn(scaling.owner, 'autoScaling', 'metrics'));
    if (scaling.mechanism === 'keda' && metrics.length > 0 && metrics.every(isAboutOwnPods)) return;
    const scaled = workload.podSets.filter((podSet) => isIn(podSet.pod, scaling.owner));
    const devices = devicesPerReplica(scaled);
    if (devices === 0) return;
    const names = new Set(scaled.map(({ name }) => name));
    // A transformer has its own minimum.
    const idle = context
      .costOf(workload)
      .podSets.filter(({ name }) => names.has(name))
      .reduce((sum, { idleHourly }) => sum + idleHourly, 0);
    const { amount, saving } = idleAmount(devices, idle === 0 ? null : idle, hours, true);
    context.report({
      message: `One replica keeps running without traffic and ${amount}; ${scaler(scaling)} can scale it to zero`,
      span: keySpanOf(scaling.min ?? scaling.owner),
      fixes: () => [floorToZero(scaling, context)],
      saving,
    });
  },
});

/** Reports Jobs that KEDA starts without a message. https://keda.sh/docs/latest/reference/scaledjob-spec/ */
function reportJobs({ kind, apiVersion, manifest, podSets }: Workload, { document, options, report }: WorkloadContext) {
  if (kind !== 'ScaledJob' || groupOf(apiVersion) !== 'keda.sh' || options.serving.idleHoursPerDay === 0) return;
  const spec = getIn(manifest.root, 'spec');
  const floor = getIn(spec, 'minReplicaCount');
  const jobs = asNumber(floor) ?? 0;
  const devices = devicesPerReplica(podSets);
  if (floor === undefined || jobs < 1 || !Number.isInteger(jobs) || devices === 0) return;
  if (!items(getIn(spec, 'triggers')).some(readsQueue) || isUnseen(floor) || isExplained(floor, document)) return;
  const { amount } = idleAmount(devices === null ? null : devices * jobs, null, null, jobs === 1);
  report({
    message: `${jobs === 1 ? 'One Job keeps' : `${jobs} Jobs keep`} running with an empty queue and ${amount}; with minReplicaCount 0, a message starts each Job`,
    span: keySpanOf(floor),
    fixes: () => [fix(`Set minReplicaCount to 0 (now ${jobs})`, 'unsafe', replaceScalar(document, floor, 0))],
  });
}

/**
 * The cost of an idle replica, in words and as a saving.
 * @param devices null: the number is unknown
 * @param hourly US dollars per hour for one replica; null: the price is unknown
 * @param hours hours per day without requests; null: all
 * @param isOne whether the subject of the sentence is singular
 */
function idleAmount(devices: number | null, hourly: number | null, hours: number | null, isOne: boolean) {
  const held = devices === null ? 'GPUs' : plural(devices, 'GPU');
  if (hourly === null) return { amount: `${isOne ? 'holds' : 'hold'} ${held}`, saving: undefined };
  const saving = idleSaving(hourly, hours);
  const when = hours === null ? '' : ` in ${plural(hours, 'idle hour')} per day`;
  return { amount: `${isOne ? 'costs' : 'cost'} ${formatHourly(hourly)} (${formatMonthly(saving)}${when})`, saving };
}

/** The devices of one replica; null if the number of some is unknown, 0 if it has none. */
function devicesPerReplica(podSets: readonly PodSet[]): number | null {
  const held = podSets.flatMap(({ accelerators }) =>
    accelerators.filter(({ perPod }) => perPod === null || perPod > 0),
  );
  if (held.length === 0) return 0;
  const devices = held.map((accelerator) => accelerator.devices);
  return devices.includes(null) ? null : devices.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** The replicas of a GPU workload that KEDA keeps for nothing. */
interface KeptReplicas {
  /** What keeps them: the minimum, or the annotation that pauses KEDA. */
  readonly floor: Cursor;
  readonly isPaused: boolean;
  readonly replicas: number;
  /** They take their work from a queue. */
  readonly isQueue: boolean;
  readonly target: string;
  /** Of all these replicas. */
  readonly devices: number | null;
  /** US dollars per hour for all these replicas. */
  readonly hourly: number | null;
}

/** A ScaledObject that keeps one replica of a GPU server, or any number of readers of a queue, and has a trigger that can start the first pod. */
function keptReplicas(manifest: Manifest, context: RuleContext): KeptReplicas | undefined {
  const floor = getIn(manifest.root, 'spec', 'minReplicaCount');
  const replicas = asNumber(floor) ?? 0;
  if (floor === undefined || replicas < 1 || !Number.isInteger(replicas)) return undefined;
  if (getIn(manifest.root, 'spec', 'idleReplicaCount') !== undefined) return undefined;
  const found = idleTarget(manifest, context);
  if (found === undefined || (!found.isQueue && replicas !== 1)) return undefined;
  return kept(floor, replicas, false, found);
}

/**
 * A ScaledObject that is paused while its GPU server has more replicas than its minimum.
 * https://keda.sh/docs/latest/concepts/scaling-deployments/#pausing-autoscaling
 */
function pausedReplicas(manifest: Manifest, context: RuleContext): KeptReplicas | undefined {
  const [paused, count] = ['paused', 'paused-replicas'].map((key) =>
    lookUp(manifest.annotations, `autoscaling.keda.sh/${key}`),
  );
  const mark = count ?? (paused?.value === 'true' ? paused : undefined);
  if (mark === undefined || isUnseen(mark.at)) return undefined;
  const found = idleTarget(manifest, context);
  // Without a number of its own, a Deployment has one.
  const replicas =
    count === undefined ? (found?.facts.replicas === undefined ? 1 : found.facts.replicas) : countIn(count.value);
  const floor = getIn(manifest.root, 'spec', 'minReplicaCount');
  const least = floor === undefined ? 0 : asNumber(floor);
  if (found === undefined || replicas === null || least === undefined || replicas <= least) return undefined;
  return kept(mark.at, replicas, true, found);
}

interface IdleTarget {
  readonly name: string;
  readonly facts: WorkloadFacts;
  readonly isQueue: boolean;
}

/** The GPU server or the readers of a queue that a ScaledObject can start from zero. */
function idleTarget(manifest: Manifest, { crossReferences }: RuleContext): IdleTarget | undefined {
  if (manifest.kind !== 'ScaledObject' || groupOf(manifest.apiVersion) !== 'keda.sh') return undefined;
  const triggers = items(getIn(manifest.root, 'spec', 'triggers'));
  if (triggers.every(mayNeedPod)) return undefined;
  const isQueue = triggers.some(readsQueue);
  const target = targetOf(manifest, crossReferences);
  if (target === undefined || target.facts.latencyCritical || target.facts.devices === 0) return undefined;
  return isQueue || target.facts.role === 'serving' ? { name: target.name, facts: target.facts, isQueue } : undefined;
}

function kept(floor: Cursor, replicas: number, isPaused: boolean, { name, facts, isQueue }: IdleTarget): KeptReplicas {
  const { devices, hourly } = facts;
  return {
    floor,
    replicas,
    isPaused,
    isQueue,
    target: name,
    devices: devices === null ? null : devices * replicas,
    hourly: hourly === null ? null : hourly * replicas,
  };
}

function readsQueue(trigger: Cursor): boolean {
  return queues.has(asText(getIn(trigger, 'type')) ?? '');
}

/** Triggers that count waiting messages: https://keda.sh/docs/latest/scalers/ */
const queues = wordSet(
  'activemq apache-kafka artemis-queue aws-sqs-queue azure-queue azure-servicebus beanstalkd gcp-pubsub ibmmq kafka nats-jetstream pulsar',
  'rabbitmq redis redis-cluster redis-cluster-streams redis-sentinel redis-sentinel-streams redis-streams solace-event-queue stan',
);

/** Whether a KServe metric comes from the predictor's own pods. Resource and PodMetric always do, External depends on its query. */
function isAboutOwnPods(metric: Cursor): boolean {
  const external = getIn(metric, 'external');
  return external === undefined || podMetric(getIn(external, 'metric', 'query')) !== undefined;
}

function isIn(inner: Cursor, outer: Cursor): boolean {
  return inner.node === outer.node || (inner.parent !== undefined && isIn(inner.parent, outer));
}

function scaler({ mechanism, mechanismFrom }: Scaling): string {
  if (mechanism === 'keda') return 'KEDA';
  if (mechanism === 'kubeai') return 'KubeAI';
  return mechanismFrom === 'default' ? "Knative (KServe's default mode)" : 'Knative';
}

function floorToZero({ min, owner, minKey }: Scaling, { document }: WorkloadContext): Fix | undefined {
  if (min !== undefined)
    return fix(`Set ${keyOf(min)} to 0 (now ${asText(min) ?? 'unset'})`, 'unsafe', replaceScalar(document, min, 0));
  // Next to the maximum, if one is set.
  const keys = entries(owner).map(keyOf);
  const after = keys.find((key) => key === 'maxReplicas') ?? keys[0];
  const options = after === undefined ? {} : { after };
  return fix(`Set ${minKey} to 0`, 'unsafe', insertKey(document, owner, minKey, 0, options));
}

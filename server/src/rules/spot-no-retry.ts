import { either } from '../catalog/word-patterns.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isOnSpot, preemptibleClass, spotPlace } from '../evidence/spot.ts';
import { isTrial } from '../evidence/volume-lifetime.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asNumber, asText, type Cursor, entries, getIn, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * A job or a Pod on spot capacity, or of a preemptible priority class, that is never restarted.
 *
 * ## Why
 *
 * On spot capacity, losing a node is routine, and pods of a class such as `opportunistic` are removed for others at any time. Without retries the
 * first interruption fails the whole job, whatever it has saved.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   backoffLimit: 0
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       nodeSelector:
 *         karpenter.sh/capacity-type: spot
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   backoffLimit: 6
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       nodeSelector:
 *         karpenter.sh/capacity-type: spot
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: failed work runs again, and `OnFailure` also restarts containers that fail for other reasons.
 *
 * ## When it is silent
 *
 * Without an explicit limit, if a pod failure policy ignores disruptions, for pods without a controller, and with the labels of an
 * orchestrator (Argo, Airflow, Kubeflow Pipelines): it starts the step again.
 *
 * ## Sources
 *
 * - [Kubernetes: pod failure policy](https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy)
 * - [aws/karpenter-provider-aws#3594](https://github.com/aws/karpenter-provider-aws/issues/3594)
 */
export default defineRule({
  topic: 'spot',
  severity: 'warning',
  workload(workload, context) {
    if (workload.partial || workload.role === 'serving' || workload.role === 'infrastructure') return;
    const [preempted] = workload.podSets.flatMap((podSet) => preemptibleClass(podSet) ?? []);
    const isSpot = workload.podSets.some(isOnSpot);
    if ((!isSpot && preempted === undefined) || isOrchestrated(workload)) return;
    if (isSpot && workload.kind === 'Pod') reportPod(workload, context);
    const job = jobSpec(workload);
    const written = getIn(job, 'backoffLimit') ?? getIn(job, 'backoffLimitPerIndex');
    const failing = items(getIn(job, 'podFailurePolicy', 'rules')).find(failsOnDisruption);
    const never = neverRestarts(workload, written);
    const place = failing ?? never;
    if (place === undefined || (failing === undefined && ignoresDisruptions(job))) return;
    context.report({
      message:
        failing === undefined
          ? `${keyOf(place)} is ${asText(place) ?? ''} ${isSpot ? 'on spot capacity: the first interruption' : `with priority class ${shorten(asText(preempted) ?? '', 40)}: the first preemption`} ends the job`
          : `podFailurePolicy fails the job on DisruptionTarget: the first ${isSpot ? 'spot interruption' : 'preemption'} ends it`,
      span: failing === undefined ? keySpanOf(place) : spanOf(getIn(failing, 'action') ?? failing),
      fixes: () => [
        failing === undefined ? allowRestarts(place, workload, context) : ignoreDisruption(failing, context),
      ],
    });
  },
});

/** Reports training in a Pod that no controller creates again: its restartPolicy applies only while its node exists. */
function reportPod(workload: Workload, { manifest, report }: WorkloadContext): void {
  const [only, ...others] = workload.podSets;
  const owned = getIn(manifest.root, 'metadata', 'ownerReferences') !== undefined;
  if (only === undefined || others.length > 0 || owned || !hasRole(workload, 'training') || isTrial(workload)) return;
  report({
    message: 'No controller recreates this Pod: the first spot interruption ends the training; use a Job',
    span: spotPlace(only, manifest).span,
  });
}

/** Sets the field, and equal fields of sibling jobs or replicas, to a value with which the controller restarts the pods. */
function allowRestarts(
  place: Cursor,
  { kind, manifest: { root } }: Workload,
  { document }: WorkloadContext,
): Fix | undefined {
  const never = asText(place) === 'Never';
  const others = never
    ? entries(place.parent?.parent).map((replica) => getIn(replica, 'restartPolicy'))
    : kind === 'JobSet'
      ? items(getIn(root, 'spec', 'replicatedJobs')).map((job) => getIn(job, 'template', 'spec', 'backoffLimit'))
      : [place];
  const alike = others.filter((other) => asText(other) === asText(place));
  const value = never ? 'OnFailure' : defaultBackoffLimit;
  const edits = alike.map((one) => replaceScalar(document, one, value));
  return fix(`Set ${keyOf(place)} to ${value}`, 'unsafe', ...edits);
}

/** The default in Kubernetes. */
const defaultBackoffLimit = 6;

function ignoreDisruption(rule: Cursor, { document }: WorkloadContext): Fix | undefined {
  const edits = replaceScalar(document, getIn(rule, 'action'), 'Ignore');
  return fix('Set action to Ignore', 'unsafe', edits);
}

function isOrchestrated({ manifest }: Workload): boolean {
  return [...manifest.labels, ...manifest.annotations].some(({ at: label }) => orchestrators.test(keyOf(label)));
}

const orchestrators = either(
  /argoproj\.io|tekton\.dev|pipelines\.kubeflow\.org/,
  /airflow|dagster|prefect|flyte|metaflow/,
);

function jobSpec({ kind, apiVersion, manifest: { root } }: Workload): Cursor | undefined {
  return apiVersion.startsWith('batch/') ? kindOf({ kind, apiVersion }).job?.(root) : undefined;
}

/** The field that rules out restarts, if one is set. */
function neverRestarts(
  { kind, apiVersion, retries, manifest: { root } }: Workload,
  backoffLimit: Cursor | undefined,
): Cursor | undefined {
  if (apiVersion.startsWith('batch/')) return asNumber(backoffLimit) === 0 ? backoffLimit : undefined;
  if (apiVersion.startsWith('kubeflow.org/')) {
    return retries?.limit === 0 && asText(retries.at) === 'Never' ? retries.at : undefined;
  }
  if (kind === 'JobSet') {
    // Each job of a set has its own limit.
    const jobs = items(getIn(root, 'spec', 'replicatedJobs')).map((job) =>
      getIn(job, 'template', 'spec', 'backoffLimit'),
    );
    const none = jobs.length > 0 && jobs.every((limit) => asNumber(limit) === 0);
    return none && (retries?.limit ?? 0) === 0 ? jobs[0] : undefined;
  }
  return apiVersion.startsWith('batch.volcano.sh/') && retries?.limit === 0 ? retries.at : undefined;
}

function failsOnDisruption(rule: Cursor): boolean {
  return asText(getIn(rule, 'action')) === 'FailJob' && namesDisruption(rule);
}

function ignoresDisruptions(job: Cursor | undefined): boolean {
  return items(getIn(job, 'podFailurePolicy', 'rules')).some(
    (rule) => asText(getIn(rule, 'action')) === 'Ignore' && namesDisruption(rule),
  );
}

function namesDisruption(rule: Cursor): boolean {
  return items(getIn(rule, 'onPodConditions')).some(
    (condition) => asText(getIn(condition, 'type')) === 'DisruptionTarget',
  );
}

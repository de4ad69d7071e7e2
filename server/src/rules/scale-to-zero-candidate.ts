import { formatHourly, formatMonthly, plural } from '../cost/format.ts';
import type { PodSet, Scaling, Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, isOpen, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { hasRole } from './role.ts';
import { defineRule, type Fix, type WorkloadContext } from './rule.ts';

/**
 * An endpoint holds a GPU with no traffic, though it could scale to zero.
 *
 * ## Why
 *
 * KServe keeps one replica unless `minReplicas` says otherwise, and its GPU is paid for at night as well. In Knative mode, and in
 * Standard mode with KEDA, `minReplicas: 0` lets the last replica go; the next request then waits for a cold start (a node, the image,
 * the weights).
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
 * Unsafe: the first request after a quiet time waits for a cold start.
 *
 * ## When it is silent
 *
 * With a floor of two or more (somebody wants availability), with an annotation or label that says `latency-critical` or
 * `latency-sensitive`, and where the deployment mode cannot reach zero: Standard mode with an HPA raises 0 to 1. `serving.idleHoursPerDay`
 * in the config says how much of a day nobody asks: the amount is of those hours, and 0 silences the rule.
 *
 * ## Sources
 *
 * - [KServe: minReplicas](https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/component.go)
 * - [KServe: the HPA reconciler raises the floor to 1](https://github.com/kserve/kserve/blob/master/pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go)
 */
export default defineRule({
  topic: 'scale-to-zero',
  severity: 'info',
  workload(workload, context) {
    const { scaling } = workload;
    if (!hasRole(workload, 'serving') || workload.partial || scaling === null) return;
    if (!scaling.canReachZero || scaling.floor !== 1 || isLatencyCritical(workload)) return;
    const hours = context.options.serving.idleHoursPerDay;
    if (hours === 0) return;
    if (scaling.min === undefined && isOpen(scaling.owner)) return;
    const scaled = workload.podSets.filter((podSet) => isIn(podSet.pod, scaling.owner));
    const devices = devicesPerReplica(scaled);
    if (devices === 0) return;
    const names = new Set(scaled.map(({ name }) => name));
    // A transformer beside the predictor has a floor of its own.
    const idle = context
      .costOf(workload)
      .podSets.filter(({ name }) => names.has(name))
      .reduce((sum, { idleHourly }) => sum + idleHourly, 0);
    const held = devices === null ? 'GPUs' : plural(devices, 'GPU');
    const saving = idle === 0 ? undefined : (idle * (hours ?? 24)) / 24;
    const when = hours === null ? 'idle' : `in ${plural(hours, 'idle hour')} a day`;
    const amount = saving === undefined ? `${held} idle` : `${formatHourly(idle)}, ${formatMonthly(saving)} ${when}`;
    context.report({
      message: `One replica stays up with no traffic: ${amount}. ${scaler(scaling)} can scale it to zero`,
      span: keySpanOf(scaling.min ?? scaling.owner),
      fixes: () => [floorToZero(scaling, context)],
      saving,
    });
  },
});

/** Devices that one replica holds; null where some are of an unknown part. 0 means that nothing is held. */
function devicesPerReplica(podSets: readonly PodSet[]): number | null {
  const held = podSets.flatMap(({ accelerators }) =>
    accelerators.filter(({ perPod }) => perPod === null || perPod > 0),
  );
  if (held.length === 0) return 0;
  const devices = held.map((accelerator) => accelerator.devices);
  return devices.includes(null) ? null : devices.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

function isIn(inner: Cursor, outer: Cursor): boolean {
  return inner.node === outer.node || (inner.parent !== undefined && isIn(inner.parent, outer));
}

function scaler({ mechanism, mechanismFrom }: Scaling): string {
  if (mechanism === 'keda') return 'KEDA';
  return mechanismFrom === 'default' ? "Knative (KServe's default mode)" : 'Knative';
}

/** Somebody has said that a cold start is not acceptable. */
function isLatencyCritical({ manifest, podSets }: Workload): boolean {
  const said = [
    ...manifest.labels,
    ...manifest.annotations,
    ...podSets.flatMap(({ labels, annotations }) => [...labels, ...annotations]),
  ];
  return said.some(
    ({ value, at }) => value !== 'false' && /latency[-_.]?(critical|sensitive)/i.test(`${keyOf(at)}=${value}`),
  );
}

function floorToZero({ min, owner, minKey }: Scaling, { document }: WorkloadContext): Fix | undefined {
  const target = min ?? owner;
  if (target.shared) return undefined;
  const firstKey = entries(owner)[0];
  const edits =
    min === undefined
      ? insertKey(
          document,
          owner,
          minKey,
          0,
          firstKey === undefined ? {} : { after: minKeyNeighbour(owner) ?? keyOf(firstKey) },
        )
      : replaceScalar(document, min, 0);
  const from = min === undefined ? '' : ` (now ${asText(min) ?? 'unset'})`;
  return edits && { title: `Set ${min === undefined ? minKey : keyOf(min)} to 0${from}`, safe: false, edits };
}

/** Beside the other bound, where that is written. */
function minKeyNeighbour(owner: Cursor): string | undefined {
  return entries(owner)
    .map(keyOf)
    .find((key) => key === 'maxReplicas');
}

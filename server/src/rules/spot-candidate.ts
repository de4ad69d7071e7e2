import { findCheckpointSigns } from '../command/checkpoint.ts';
import { formatHourly } from '../cost/money.ts';
import { spotSaving } from '../cost/savings.ts';
import { isLatencyCritical } from '../evidence/latency.ts';
import { processInput } from '../evidence/launch.ts';
import { neverSaves, resumeOff } from '../evidence/progress-flags.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrial, outlivesNode } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { platformOf } from '../model/platform.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * Training that could run on spot capacity: it saves its progress and restarts after interruptions.
 *
 * ## Why
 *
 * Spot capacity for current GPUs costs about half as much as on-demand capacity and can be reclaimed with seconds of notice. A run that
 * writes checkpoints to durable storage and restarts loses only the minutes since the last checkpoint.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 20
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       nodeSelector:
 *         cloud.google.com/gke-accelerator: nvidia-l4
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--output_dir=gs://bucket/run"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 20
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       nodeSelector:
 *         cloud.google.com/gke-accelerator: nvidia-l4
 *         cloud.google.com/gke-spot: "true"
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--output_dir=gs://bucket/run"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: interruptions make the run take longer, and the cluster must have a spot pool.
 *
 * ## When it is silent
 *
 * Without evidence of durable checkpoints, without restarts, if a flag disables resuming, on spot or reserved capacity, for serving, and
 * without a known price or provider: the machines may be your own.
 *
 * ## Sources
 *
 * - [Google Kubernetes Engine: Spot VMs](https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms)
 * - [Karpenter: capacity types](https://karpenter.sh/docs/concepts/scheduling/)
 */
export default defineRule({
  topic: 'spot',
  severity: 'info',
  workload(workload, context) {
    if (!hasRole(workload, 'training') || workload.partial || isTrial(workload) || isLatencyCritical(workload)) return;
    if (workload.retries === null || workload.retries.limit === 0) return;
    const gpuPodSets = workload.podSets.filter(requestsAccelerators);
    // Each interruption would restart it at step 0; resume-disabled reports that.
    if (gpuPodSets.some(({ containers }) => containers.some((container) => resumeOff(container) !== undefined))) return;
    if (gpuPodSets.length === 0 || gpuPodSets.some(({ placement }) => !mayBeOnDemand(placement.capacity))) return;
    if (!gpuPodSets.some((podSet) => podSet.containers.some((container) => keepsProgress(container, podSet)))) return;
    const cost = context.costOf(workload).cost;
    const spot = cost === null ? undefined : spotSaving(cost);
    // The prices of an unknown provider say nothing about machines that may be the reader's own.
    if (cost === null || spot === undefined || gpuPodSets.every(({ placement }) => placement.provider === null)) return;
    // A queue may already give it spot capacity.
    if (cost.hourly.min <= spot.hourly.min) return;
    context.report({
      message: `Training saves its progress and restarts after interruptions: on spot, it costs ${formatHourly(spot.hourly)} instead of ${formatHourly(cost.hourly)}`,
      span: placeOf(gpuPodSets, workload),
      fixes: () => (gpuPodSets.length === 1 ? [selectSpot(gpuPodSets[0], context)] : []),
      saving: spot.saving,
    });
  },
});

function mayBeOnDemand(capacity: string): boolean {
  return capacity === 'on-demand' || capacity === 'unknown';
}

/** Whether it writes to a named durable place: an object store, or a directory on a volume that outlives the node. */
function keepsProgress(container: Container, { volumes }: PodSet): boolean {
  if (container.type !== 'app' || neverSaves(container) !== undefined) return false;
  return findCheckpointSigns(processInput(container)).some(({ kind, text, word }) => {
    if (kind === 'store') return word !== undefined || /output|save|checkpoint|ckpt/i.test(text);
    if (kind !== 'path' || !text.startsWith('/')) return false;
    const mount = container.volumeMounts.find(
      ({ mountPath }) => text === mountPath || text.startsWith(`${mountPath.replace(/\/$/, '')}/`),
    );
    const volume = volumes.find(({ name }) => name === mount?.name);
    return volume !== undefined && outlivesNode(volume.source, volume.at);
  });
}

function placeOf(podSets: readonly PodSet[], { manifest }: Workload): ReturnType<typeof spanOf> {
  const selector = podSets.map(({ pod }) => getIn(pod, 'nodeSelector')).find((found) => found !== undefined);
  return selector === undefined ? spanOf(getIn(manifest.root, 'kind') ?? manifest.root) : keySpanOf(selector);
}

/** Selects by the spot label of the platform whose other labels the pods select; without one, the label is unknown. */
function selectSpot(podSet: PodSet | undefined, { document, options }: WorkloadContext): Fix | undefined {
  const selector = podSet && getIn(podSet.pod, 'nodeSelector');
  if (podSet === undefined || selector === undefined || podSet.placement.capacity !== 'unknown') return undefined;
  if (getIn(podSet.pod, 'terminationGracePeriodSeconds') !== undefined) return undefined;
  const platform = platformOf(podSet, options);
  const [label] = Object.entries(platform?.facts.spotLabels ?? {}).sort(([a], [b]) => preference(b) - preference(a));
  const [key, value] = [label?.[0], label?.[1][0]];
  if (key === undefined || value === undefined || podSet.selectors.some((one) => one.key === key)) return undefined;
  // AKS taints its spot nodes: with the label alone, the pod could not run on any node.
  if (
    platform?.facts.provider === 'azure' ||
    (platform?.confidence !== 'certain' && key !== 'cloud.google.com/gke-spot')
  )
    return undefined;
  const last = podSet.selectors.filter(({ from }) => from === 'nodeSelector').at(-1);
  const edits = insertKey(document, selector, key, value, last === undefined ? {} : { after: keyOf(last.at) });
  return fix(`Select spot nodes (${key})`, 'unsafe', edits);
}

/** Prefers a platform's current spot label to its older ones. */
function preference(key: string): number {
  return /gke-spot|karpenter\.sh|capacityType/.test(key) ? 1 : 0;
}

import { findCheckpointSigns } from '../command/checkpoint.ts';
import { formatHourly } from '../cost/format.ts';
import { spotSaving } from '../cost/savings.ts';
import { processInput } from '../evidence/processes.ts';
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
 * Training that could run on spot capacity: it keeps its progress, and it is restarted.
 *
 * ## Why
 *
 * Spot capacity of current GPUs costs about half of what it costs on demand, and may be taken back with seconds of notice. A run that
 * writes checkpoints to storage that lasts, and is started again, loses only the minutes since the last one.
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
 * Unsafe: the run takes longer when it is interrupted, and there must be a spot pool.
 *
 * ## When it is silent
 *
 * Without evidence of checkpoints that last, without restarts, where a flag says not to resume, on capacity that is spot or reserved, for serving, and where no price is known.
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
    if (!hasRole(workload, 'training') || workload.partial || isTrial(workload)) return;
    if (workload.retries === null || workload.retries.limit === 0) return;
    const holding = workload.podSets.filter(requestsAccelerators);
    // It would begin at step 0 after each interruption, which resume-disabled tells.
    if (holding.some(({ containers }) => containers.some((container) => resumeOff(container) !== undefined))) return;
    if (holding.length === 0 || holding.some(({ placement }) => !mayBeOnDemand(placement.capacity))) return;
    if (!holding.some((podSet) => podSet.containers.some((container) => keepsProgress(container, podSet)))) return;
    const cost = context.costOf(workload).cost;
    const spot = cost === null ? undefined : spotSaving(cost);
    if (cost === null || spot === undefined) return;
    context.report({
      message: `Saves its progress and is restarted: on spot it would cost ${formatHourly(spot.hourly)} instead of ${formatHourly(cost.hourly)}`,
      span: placeOf(holding, workload),
      fixes: () => (holding.length === 1 ? [selectSpot(holding[0], context)] : []),
      saving: spot.saving,
    });
  },
});

function mayBeOnDemand(capacity: string): boolean {
  return capacity === 'on-demand' || capacity === 'unknown';
}

/** A place that is named and lasts: an object store, or a directory on a volume that outlives the node. */
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

/** By the label of the platform whose other labels the pods select; elsewhere nobody knows what spot nodes are called. */
function selectSpot(podSet: PodSet | undefined, { document, options }: WorkloadContext): Fix | undefined {
  const selector = podSet && getIn(podSet.pod, 'nodeSelector');
  if (podSet === undefined || selector === undefined || podSet.placement.capacity !== 'unknown') return undefined;
  if (getIn(podSet.pod, 'terminationGracePeriodSeconds') !== undefined) return undefined;
  const platform = platformOf(podSet, options);
  const [label] = Object.entries(platform?.facts.spotLabels ?? {}).sort(([a], [b]) => preference(b) - preference(a));
  const [key, value] = [label?.[0], label?.[1][0]];
  if (key === undefined || value === undefined || podSet.selectors.some((one) => one.key === key)) return undefined;
  // AKS taints its spot nodes, so that the label alone would keep the pod from every node.
  if (
    platform?.facts.provider === 'azure' ||
    (platform?.confidence !== 'certain' && key !== 'cloud.google.com/gke-spot')
  )
    return undefined;
  const last = podSet.selectors.filter(({ from }) => from === 'nodeSelector').at(-1);
  const edits = insertKey(document, selector, key, value, last === undefined ? {} : { after: keyOf(last.at) });
  return fix(`Select spot nodes (${key})`, 'unsafe', edits);
}

/** Of a platform's labels the one in use today. */
function preference(key: string): number {
  return /gke-spot|karpenter\.sh|capacityType/.test(key) ? 1 : 0;
}

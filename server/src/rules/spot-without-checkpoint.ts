import { checkpointSigns } from '../evidence/processes.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isOnSpot } from '../evidence/spot.ts';
import { hasDurableMount, isTrial, runsMountedScript } from '../evidence/volume-lifetime.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * Training runs on spot capacity and nothing shows that its progress outlives a pod.
 *
 * ## Why
 *
 * Spot nodes are taken back with seconds of notice (Google and Azure 30, AWS 120). What the run has not written to a volume or an object
 * store by then is lost, and the next pod starts again at step 0. A checkpoint every 15 to 30 minutes bounds the loss.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           nodeSelector:
 *             karpenter.sh/capacity-type: spot
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nproc-per-node=8", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           nodeSelector:
 *             karpenter.sh/capacity-type: spot
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nproc-per-node=8", "train.py", "--output_dir=/ckpt", "--resume_from_checkpoint=/ckpt/last"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 *               volumeMounts:
 *                 - name: checkpoints
 *                   mountPath: /ckpt
 *           volumes:
 *             - name: checkpoints
 *               persistentVolumeClaim:
 *                 claimName: checkpoints
 * ```
 *
 * ## When it is silent
 *
 * Where a writable volume that outlives the pod is mounted, where an object store, a bucket or a settings file is named, where a script of a ConfigMap runs, where the pods
 * have a service account of their own (it may well reach a bucket), and for benchmarks, patches and elastic training that keeps its state in memory.
 *
 * ## Sources
 *
 * - [AWS: spot interruption notices](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html)
 * - [Google Kubernetes Engine: Spot VMs](https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms)
 * - [EveryVoiceTTS/EveryVoice#183](https://github.com/EveryVoiceTTS/EveryVoice/issues/183)
 */
export default defineRule({
  topic: 'spot',
  severity: 'warning',
  workload(workload, context) {
    if (!hasRole(workload, 'training') || workload.partial) return;
    const onSpot = workload.podSets.find(isOnSpot);
    if (onSpot === undefined || keepsStateElsewhere(workload) || isTrial(workload)) return;
    if (workload.podSets.some(mayKeepProgress)) return;
    const { span, selector } = placeOf(onSpot.placement.capacityAt, context);
    context.report({
      message: `Trains on spot (${selector}) with no checkpoint outside the pod: an interruption loses all work so far`,
      span,
    });
  },
});

/** Parameter servers off spot hold the weights; boosting and elastic Horovod go on with what the surviving workers hold. */
function keepsStateElsewhere({ kind, podSets }: Workload): boolean {
  if (kind === 'XGBoostJob') return true;
  if (podSets.some(({ name, placement }) => name === 'PS' && placement.capacity !== 'spot')) return true;
  return podSets.some(({ containers }) => containers.some((container) => wordsOf(container).includes('--min-np')));
}

function mayKeepProgress(podSet: PodSet): boolean {
  const account = asText(getIn(podSet.pod, 'serviceAccountName')) ?? 'default';
  if (account !== 'default') return true;
  return podSet.containers.some(
    (container) => hasDurableMount(container, podSet) || runsMountedScript(container, podSet) || saysSo(container),
  );
}

/** What the command line and the environment say; a resume flag counts where no path tells that it resumes from inside the pod. */
function saysSo(container: Container): boolean {
  if (items(getIn(container.at, 'envFrom')).length > 0) return true;
  const signs = checkpointSigns(container);
  const inPod = signs.some(({ kind }) => kind === 'path');
  return signs.some(({ kind }) => kind === 'store' || kind === 'unknown' || (kind === 'resume' && !inPod));
}

function wordsOf({ command, args }: Container): readonly string[] {
  return [...command, ...args].flatMap(({ value }) => value.split(/[\s=]+/));
}

/** Where capacity is said, and how; at the object's kind where the config says it. */
function placeOf(
  capacityAt: Cursor | undefined,
  { manifest }: WorkloadContext,
): { readonly span: Span; readonly selector: string } {
  if (capacityAt === undefined)
    return { span: spanOf(getIn(manifest.root, 'kind') ?? manifest.root), selector: 'as configured' };
  const key = getIn(capacityAt, 'key');
  if (key !== undefined) return { span: spanOf(key), selector: `${asText(key)}` };
  return { span: keySpanOf(capacityAt), selector: `${keyOf(capacityAt)}: ${asText(capacityAt)}` };
}

import { either } from '../catalog/word-patterns.ts';
import { readCommandLine } from '../command/shell.ts';
import { lateCopy } from '../evidence/late-copies.ts';
import { checkpointSigns } from '../evidence/launch.ts';
import { isLost } from '../evidence/lost-paths.ts';
import { hasAccount, redirectsPaths } from '../evidence/lost-results.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isOnSpot, preemptibleClass, spotPlace } from '../evidence/spot.ts';
import { progressFile, savesOutside } from '../evidence/spot-progress.ts';
import { statesLostProgress } from '../evidence/stated-progress.ts';
import { hasDurableMount, isTrialIn, runsMountedScript, trainingPods } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { keepCheckpoints } from '../rewrite/checkpoint-claim.ts';
import { type Edits, type Fix, fix, joinEdits } from '../rewrite/fix.ts';
import { checkpointClaim, mountClaim } from '../rewrite/mount-claim.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isIncomplete, items, spanOf } from '../yaml/cursor.ts';
import { appendItem } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * Training on spot capacity, or in a preemptible priority class, without any sign that its progress outlives the pod.
 *
 * ## Why
 *
 * Spot nodes are reclaimed with seconds of notice (30 on Google Cloud and Azure, 120 on AWS). Progress that is not in a volume or an object
 * store by then is lost, and the next pod starts again at step 0. Pods of a priority class such as `opportunistic` are removed for others. A checkpoint every 15 to 30 minutes limits the loss.
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
 * ## Fix safety
 *
 * Unsafe: the claim must exist, the pods must be able to mount it, and the program must save to it and resume from it.
 *
 * ## When it is silent
 *
 * For tasks of SkyPilot and dstack that mount or name any storage, or a variable that may give access to some, unless their command names a
 * directory for the progress that is not in a mount. Work other than training is reported if a flag names its progress: `--checkpoint
 * done.json`.
 *
 * If a writable volume that outlives the pod is mounted; if an object store, a bucket or a settings file is named; if a script from a
 * ConfigMap runs; if the pods have their own service account, which may have access to a bucket; and for benchmarks, patches and elastic
 * training that keeps its state in memory.
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
    if (!hasRole(workload, 'training')) {
      reportFile(workload, context);
      return;
    }
    // A task of another tool runs on machines whose storage its file names.
    const { keepsFiles } = kindOf(workload);
    if (keepsFiles === undefined ? workload.partial : mayKeepFiles(workload)) return;
    const training = trainingPods(workload);
    const onSpot = training.find(isOnSpot);
    const lost = onSpot ?? training.find((podSet) => preemptibleClass(podSet) !== undefined);
    if (lost === undefined || keepsStateElsewhere(workload) || isTrialIn(workload, training)) return;
    if (keepsFiles === undefined && workload.podSets.some(mayKeepProgress)) return;
    const { span, selector } = placeOf(lost, context.manifest);
    const without = `without a checkpoint outside the ${keepsFiles ? 'machine' : 'pod'}`;
    context.report({
      message:
        onSpot === undefined
          ? `Training runs in a preemptible class (${selector}) ${without}: a preemption loses all progress`
          : `Training runs on spot (${selector}) ${without}: an interruption loses all progress`,
      span,
      fixes: () => (keepsFiles ? [] : [moveCheckpoints(workload, context) ?? keepProgress(lost, context)]),
    });
  },
});

/** Whether files of a task of SkyPilot or dstack may outlive its machine. */
function mayKeepFiles(workload: Workload): boolean {
  const { podSets, manifest } = workload;
  const { keepsFiles, keptDirectories } = kindOf(workload);
  if (sendsFiles(workload)) return true;
  const kept = keptDirectories?.(manifest.root) ?? null;
  const containers = podSets.flatMap((podSet) => podSet.containers);
  if (kept !== null && containers.some((one) => savesOutside(one, kept))) return false;
  return keepsFiles?.(manifest.root) === true || podSets.some(mayKeepProgress);
}

/** Reports a program of any kind that keeps its own progress in a file that ends with the pod or the machine. */
function reportFile(workload: Workload, { document, report }: WorkloadContext): void {
  const { role, partial, manifest } = workload;
  const { keepsFiles } = kindOf(workload);
  if (role === 'infrastructure' || (keepsFiles === undefined ? partial : keepsFiles(manifest.root))) return;
  if (sendsFiles(workload)) return;
  for (const podSet of workload.podSets.filter(isOnSpot)) {
    for (const container of podSet.containers) {
      const flag = progressFile(container);
      if (flag?.value === undefined || redirectsPaths(container) || hasAccount(podSet)) continue;
      const span = spanOfWords(document, container, [flag.word, flag.valueWord ?? flag.word]);
      if (span === undefined || !isLost({ text: flag.value, word: flag.word }, container, podSet)) continue;
      const end = keepsFiles ? 'machine' : 'pod';
      report({
        message: `The progress in ${shorten(flag.value, 50)} ends with the ${end}, which is on spot: an interruption loses it`,
        span,
      });
      return;
    }
  }
}

function placeOf(podSet: PodSet, manifest: Workload['manifest']): ReturnType<typeof spotPlace> {
  const name = isOnSpot(podSet) ? undefined : preemptibleClass(podSet);
  return name === undefined ? spotPlace(podSet, manifest) : { span: spanOf(name), selector: asText(name) ?? '' };
}

/** A claim for the directory of checkpoints that a container's flag names. */
function moveCheckpoints(workload: Workload, { document }: WorkloadContext): Fix | undefined {
  const [podSet, ...others] = workload.podSets;
  const [container, ...more] = podSet?.containers ?? [];
  if (podSet === undefined || container === undefined || others.length > 0 || more.length > 0) return undefined;
  const sign = checkpointSigns(container).find(({ kind, flag }) => kind === 'path' && flag !== undefined);
  return sign && keepCheckpoints(document, { path: sign.text, flag: sign.flag }, { container, podSet, workload });
}

const mountPath = '/checkpoints';

/** Mounts a claim in the container that trains, and lets a trainer with known flags save and resume there. */
function keepProgress(podSet: PodSet, { workload, document }: WorkloadContext): Fix | undefined {
  const container = podSet.containers.find((one) => one.type === 'app' && requestsAccelerators(one));
  const claimName = checkpointClaim(workload);
  if (container === undefined || claimName === undefined) return undefined;
  const mount = mountClaim(document, podSet, container, { claimName, mountPath });
  const save = addFlags(container, document);
  return save === undefined
    ? fix(`Mount the claim ${claimName} at ${mountPath}`, 'unsafe', mount)
    : fix(`Save to the claim ${claimName}, mounted at ${mountPath}`, 'unsafe', mount, save);
}

/** The flags that make a trainer save to the directory: only for trainers that are recognized by other flags of theirs. */
function addFlags({ command, args }: Container, document: YamlDocument): Edits {
  const lines = [...command, ...args];
  const { script, complete } = readCommandLine(
    command.map(({ value }) => value),
    args.map(({ value }) => value),
  );
  const last = lines.at(-1)?.at.parent;
  if (script || !complete || lines.length < 2 || last === undefined || isIncomplete(last)) return undefined;
  const trainer = trainers.find(({ sign }) => lines.some(({ value }) => sign.test(value)));
  if (trainer === undefined || lines.some(({ value }) => trainer.directory.test(value))) return undefined;
  return joinEdits(...trainer.flags.map((flag) => appendItem(document, last, flag)));
}

/**
 * Trainers, by flags that only they have.
 * https://huggingface.co/docs/transformers/main_classes/trainer https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py
 */
const trainers: readonly { readonly sign: RegExp; readonly directory: RegExp; readonly flags: readonly string[] }[] = [
  {
    sign: /^--(?:per_device_train_batch_size|gradient_accumulation_steps|num_train_epochs|model_name_or_path)\b/,
    directory: /^--output[-_]dir\b/,
    flags: [`--output_dir=${mountPath}`],
  },
  {
    sign: /^--(?:micro-batch-size|global-batch-size|train-iters|num-attention-heads)\b/,
    directory: /^--(?:save|load)\b/,
    flags: [`--save=${mountPath}`, `--load=${mountPath}`],
  },
];

/** Parameter servers off spot hold the weights. Boosting and elastic Horovod continue from the state of the surviving workers. */
function keepsStateElsewhere({ kind, apiVersion, podSets }: Workload): boolean {
  if (kindOf({ kind, apiVersion }).keepsState === true) return true;
  if (podSets.some(({ name, placement }) => name === 'PS' && placement.capacity !== 'spot')) return true;
  return podSets.some(({ containers }) => containers.some((container) => wordsOf(container).includes('--min-np')));
}

/** Whether a script sends files elsewhere, itself or with a service for experiments. */
function sendsFiles({ podSets }: Workload): boolean {
  const scripts = podSets.flatMap(({ containers }) => containers.flatMap(({ args }) => args));
  return scripts.some(({ value }) => sends.test(value));
}

const sends = either(
  /:\/\/(?!localhost|127\.|0\.0\.0\.0)|\b(?:upload|push|hub)/i,
  /\b(?:rclone|rsync|scp|aws|azcopy|gcloud|gsutil)/,
  /\b(?:comet|mlflow|neptune|wandb)/,
);

function mayKeepProgress(podSet: PodSet): boolean {
  const account = asText(getIn(podSet.pod, 'serviceAccountName')) ?? 'default';
  if (account !== 'default') return true;
  return podSet.containers.some(
    (container) =>
      hasDurableMount(container, podSet) ||
      runsMountedScript(container, podSet) ||
      // What a script copies out of the pod after training is no checkpoint.
      (hasCheckpointSign(container, podSet) && lateCopy(container, podSet) === undefined),
  );
}

/** Reads the command line and the environment. A resume flag is a sign unless a path shows that it resumes from inside the pod. */
function hasCheckpointSign(container: Container, podSet: PodSet): boolean {
  if (items(getIn(container.at, 'envFrom')).length > 0) return true;
  const isStated = statesLostProgress(container, podSet);
  const signs = checkpointSigns(container).filter(({ inSettings }) => !(inSettings && isStated));
  const inPod = signs.some(({ kind }) => kind === 'path');
  return signs.some(({ kind }) => kind === 'store' || kind === 'unknown' || (kind === 'resume' && !inPod));
}

function wordsOf({ command, args }: Container): readonly string[] {
  return [...command, ...args].flatMap(({ value }) => value.split(/[\s=]+/));
}

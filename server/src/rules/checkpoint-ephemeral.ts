import { lateCopy } from '../evidence/late-copies.ts';
import { checkpointSigns, mayHaveVariables, usesAccelerators } from '../evidence/launch.ts';
import { absolute, isBesideData, isFixed, isLost, mountOf, type Place } from '../evidence/lost-paths.ts';
import {
  hasAccount,
  keepsNowhereElse,
  losesResults,
  mayLoseResults,
  redirectsPaths,
} from '../evidence/lost-results.ts';
import { hasNoLastingPlace } from '../evidence/no-lasting-place.ts';
import { neverSaves } from '../evidence/progress-flags.ts';
import { progressVolume } from '../evidence/progress-volumes.ts';
import { lostModel } from '../evidence/python-results.ts';
import { rankZeroOf } from '../evidence/rank-zero.ts';
import { resultPath } from '../evidence/result-paths.ts';
import { checkpointVariable, outputVariable } from '../evidence/result-variables.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { preemptibleClass, selectsSpot } from '../evidence/spot.ts';
import { holdsProgress, keepsNothing, maySend } from '../evidence/stated-progress.ts';
import { isTrialStep, mayMountMore, runsMountedScript } from '../evidence/volume-lifetime.ts';
import { kindOf } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import type { Container, Workload } from '../model/workload.ts';
import { keepCheckpoints } from '../rewrite/checkpoint-claim.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { getIn, keySpanOf, type Located, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Training writes its checkpoints where they do not survive a restart.
 *
 * ## Why
 *
 * A directory of the image, an emptyDir or a disk of the node is lost with the container, the pod or the node. The job restarts (in a new pod
 * after an eviction or the loss of its node), finds no checkpoint, and starts again at step 0 with all its GPUs. A volume that outlives the
 * pod, or an object store, keeps the progress. A Pod or Job that runs only once loses its result in the same way: the trained weights. In a
 * volume that is mounted read-only, such as that of a ConfigMap, training cannot save at all. A copy to a volume or a bucket after training
 * comes too late for a restart (information). Training in a pod without any volume for files is also information, because its code may upload
 * them. Code in the manifest also says where it saves the model (`python - <<EOF`, a file of a ConfigMap). The results of programs such as
 * `vllm run-batch`, Whisper and AlphaFold are lost in the same way.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 1
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "train.py", "--output_dir=/workspace/out"]
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
 *     Worker:
 *       replicas: 1
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "train.py", "--output_dir=/ckpt/out"]
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
 * Unsafe: the claim must exist, and all pods of the job must be able to mount it.
 *
 * ## When it is silent
 *
 * If nothing restarts the job and it may copy its results elsewhere (by a command, another container, an account or a Secret; with only a key of
 * Weights & Biases or Hugging Face, a stated directory is information), if any
 * checkpoint directory is on a volume that outlives the pod, if the command names an object store, if the container runs a script from a
 * ConfigMap, and if nothing is saved at all (see checkpoint-never). If the command names a settings file, unless it also states the directory
 * and no volume outlives the pod. A relative directory is known if the script first changes to an absolute one. For an unknown directory of the
 * image, next to volumes only for data, the finding is information. For benchmarks and trials. On spot capacity (see spot-without-checkpoint). In
 * the workers of a job with a master whose directory is kept, since only rank 0 saves there, except with DeepSpeed, FSDP and the like.
 *
 * ## Sources
 *
 * - [Kubernetes: emptyDir](https://kubernetes.io/docs/concepts/storage/volumes/#emptydir)
 * - [PyTorch: torchrun restarts](https://docs.pytorch.org/docs/stable/elastic/run.html)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet } = context;
    if (checkResults(container, context) || checkCode(container, context)) return;
    if (!hasRole(workload, 'training') || workload.partial || container.type !== 'app') return;
    const isOnce = workload.retries === null || workload.retries.limit === 0;
    if (isTrialStep(workload, podSet)) return;
    if (!usesAccelerators(container, podSet)) {
      reportNoPlace(container, context);
      return;
    }
    if (mayHaveVariables(container)) return;
    if (redirectsPaths(container)) {
      reportLateCopy(container, context);
      return;
    }
    if (checkReadOnly(container, context)) return;
    const mayUpload = isOnce && !losesResults(container, podSet, workload);
    if (isOnSpot(workload) || (mayUpload && !mayLoseResults(container, podSet, workload))) return;
    if (runsMountedScript(container, podSet)) return;
    // checkpoint-never reports runs without progress to lose.
    const never = neverSaves(container);
    if (never !== undefined && never.atEnd !== true) {
      reportNoPlace(container, context);
      return;
    }
    const signs = checkpointSigns(container);
    const paths = signs.filter(({ kind }) => kind === 'path');
    const first = paths.find(({ word }) => word !== undefined && holdsProgress(word.text));
    if (mayUpload && first === undefined) return;
    const isStated = first?.flag !== undefined && keepsNothing(container, podSet);
    const mayBeElsewhere = signs.filter(({ inSettings }) => !(inSettings && isStated));
    if (mayBeElsewhere.some(({ kind }) => kind === 'store' || kind === 'unknown')) {
      reportLateCopy(container, context);
      return;
    }
    const named = first === undefined ? checkpointVariable(container) : undefined;
    if (paths.some((sign) => !isLost(sign, container, podSet))) return;
    const zero = rankZeroOf(container, podSet, workload);
    if (zero !== undefined && paths.some(({ text }) => !isLost({ text }, zero.container, zero.podSet))) return;
    const isUnnamed = first === undefined && named === undefined;
    if (isUnnamed && reportVolume(container, context)) return;
    const output = isUnnamed ? outputVariable(container) : undefined;
    const isAlone = keepsNothing(container, podSet) && keepsNowhereElse(container, podSet);
    const variable = named ?? (isAlone ? output : undefined);
    const path = first?.text ?? variable?.value;
    if (path === undefined) {
      if (!reportOutput(output, container, context) && !reportLateCopy(container, context))
        reportNoPlace(container, context);
      return;
    }
    const lines = [...container.command, ...container.args];
    const word = first?.word;
    const span = word === undefined ? undefined : spanOfWords(context.document, lines, [word, word]);
    const restart = fatalRestart(first ?? { text: path }, container, context);
    const isLikely = paths.some((sign) => isBesideData(sign, container, podSet));
    const [shown, end] = [
      /^\.\/?$/.test(path) ? 'the working directory' : shorten(path, 50),
      isOnce ? 'the end of the pod' : restart,
    ];
    context.report({
      ...((isLikely || mayUpload) && { severity: 'info' }),
      message: isLikely
        ? `${shown} is relative to the image's working directory, likely not on a volume: what training writes there does not survive ${end}`
        : isOnce
          ? `Training writes to ${shown}, which is not on a volume that outlives the pod: the results are lost when it ends${mayUpload ? ', unless its code uploads them' : ''}`
          : `Checkpoints in ${shown} do not survive ${restart}: training starts again at step 0`,
      span: span ?? spanOf(variable?.at ?? lines[0]?.at ?? container.at),
      fixes: () => [keepCheckpoints(context.document, { path, flag: first?.flag }, { container, podSet, workload })],
    });
  },
});

/** Reports the model that code in the manifest saves, if it ends with the pod. */
function checkCode(container: Container, { workload, podSet, document, report }: PodSetContext): boolean {
  if (workload.partial || container.type !== 'app' || isTrialStep(workload, podSet) || isOnSpot(workload)) return false;
  if (!usesAccelerators(container, podSet) || mayHaveVariables(container)) return false;
  const lost = rankZeroOf(container, podSet, workload) === undefined ? lostModel(container, podSet) : undefined;
  if (lost === undefined || redirectsPaths(container)) return false;
  const span = spanOfWords(document, container, [lost.word, lost.word]);
  if (span === undefined) return false;
  report({
    message: `Training writes to ${shorten(lost.path, 50)}, which is not on a volume that outlives the pod: the results are lost when it ends`,
    span,
  });
  return true;
}

/** Advises against results that leave the pod only at the end of training. */
function reportLateCopy(container: Container, { workload, podSet, document, report }: PodSetContext): boolean {
  if (workload.retries === null || workload.retries.limit === 0 || isOnSpot(workload)) return false;
  const source = lateCopy(container, podSet);
  const span = source && spanOfWords(document, container, [source, source]);
  if (source === undefined || span === undefined) return false;
  report({
    severity: 'info',
    message: `The script copies ${shorten(source.text, 50)} out of the pod only after training: a restart before that starts again at step 0`,
    span,
  });
  return true;
}

/** Advises against a variable for what the program writes, if it is on none of the volumes. */
function reportOutput(output: Located<string> | undefined, container: Container, context: PodSetContext): boolean {
  const { podSet, report } = context;
  if (output === undefined || !output.value.startsWith('/') || mayMountMore(container)) return false;
  if (maySend(container, podSet) || !keepsNowhereElse(container, podSet)) return false;
  if (!isLost({ text: output.value }, container, podSet)) return false;
  report({
    severity: 'info',
    message: `${shorten(output.value, 50)} is not on a volume: what training writes there is lost with the container`,
    span: spanOf(output.at),
  });
  return true;
}

/** Advises against training that has no volume for what it saves. */
function reportNoPlace(container: Container, { workload, podSet, document, report }: PodSetContext): void {
  const at = getIn(podSet.pod, 'containers');
  if (at === undefined || isOnSpot(workload) || !hasNoLastingPlace(container, podSet, workload, document)) return;
  report({
    severity: 'info',
    message:
      'Training has no volume that outlives its pod: unless its code uploads checkpoints and results, a restart loses them',
    span: keySpanOf(at),
  });
}

/** Reports an empty volume of the pod that is the only place for what training saves, although no command names it. */
function reportVolume(container: Container, { workload, podSet, report }: PodSetContext): boolean {
  const found = progressVolume(container, podSet);
  if (found === undefined) return false;
  const { mountPath, volume, holdsCheckpoints } = found;
  if (holdsCheckpoints ? hasAccount(podSet) : !keepsNowhereElse(container, podSet)) return false;
  const isOnce = workload.retries === null || workload.retries.limit === 0;
  // If only the name says that a job trains, its code is unknown.
  const isNamed = workload.roleFrom?.startsWith('name ') === true;
  report({
    ...(isNamed && { severity: 'info' }),
    message:
      holdsCheckpoints && !isOnce
        ? `Checkpoints in ${shorten(mountPath, 50)} do not survive a pod restart: the emptyDir ends with the pod, and training starts again at step 0`
        : `Training writes to ${shorten(mountPath, 50)}, an emptyDir that ends with the pod: the results are lost`,
    span: keySpanOf(getIn(volume.at, 'emptyDir') ?? volume.at),
  });
  return true;
}

/** Reports the results of a program that only computes them, if they end with the pod. */
function checkResults(container: Container, { workload, podSet, document, report }: PodSetContext): boolean {
  if (!/^(?:Pod|Job|CronJob)$/.test(workload.kind) || workload.partial || container.type !== 'app') return false;
  if (!usesAccelerators(container, podSet) || document.template || mayHaveVariables(container)) return false;
  const result = resultPath(container);
  if (result === undefined || !keepsNowhereElse(container, podSet) || redirectsPaths(container)) return false;
  const span = spanOfWords(document, container, result.words);
  if (span === undefined || !isLost({ text: result.path }, container, podSet)) return false;
  report({
    message: `${result.program} writes to ${shorten(result.path, 50)}, which is not on a volume that outlives the pod: the results are lost when it ends`,
    span,
  });
  return true;
}

/** Reports a directory for progress in a volume that the container cannot write to, which stops training at its first save. */
function checkReadOnly(container: Container, { podSet, document, report }: PodSetContext): boolean {
  if (mayMountMore(container)) return false;
  const lines = [...container.command, ...container.args];
  for (const { kind, text, word } of checkpointSigns(container)) {
    if (kind !== 'path' || word === undefined || !writes.test(word.text) || !holdsProgress(word.text)) continue;
    const mount = mountOf(absolute({ text, word }, container), container);
    const isReadOnly = mount !== undefined && isFixed(mount, podSet);
    const span = isReadOnly ? spanOfWords(document, lines, [word, word]) : undefined;
    if (mount === undefined || span === undefined) continue;
    report({
      message: `${shorten(text, 40)} is in volume ${shorten(mount.name, 30)}, which is mounted read-only: training fails when it saves`,
      span,
    });
    return true;
  }
  return false;
}

/** Flags for results only: `--resume`, `--ckpt-path` and `--teacher-output-dir` may name what is read. */
const writes = /^--?(?:[\w-]+\.)*(?:output|save|work|exp)[_-]?(?:dir|directory|folder|root)\b/i;

/**
 * The restart that loses the checkpoints. A volume of the pod outlives its containers, which may restart within the pod. The remaining pods of an
 * elastic job keep the state in memory until all of them are gone.
 */
function fatalRestart(sign: Place, container: Container, { workload: { manifest }, podSet }: PodSetContext): string {
  if (kindOf(manifest).elasticPolicy?.(manifest.root) !== undefined) return 'a restart of all pods';
  const path = absolute(sign, container) ?? sign.text;
  const isReplaced = replacing.test(podSet.restartPolicy?.value ?? '');
  return isReplaced || container.volumeMounts.some(({ mountPath }) => isIn(path, mountPath))
    ? 'a pod restart'
    : 'a container restart';
}

/** With these policies, the controller makes a new pod instead of restarting the container. */
const replacing = /^(?:Never|ExitCode)$/;

const isOnSpot = once(({ podSets }: Workload) =>
  podSets.some((podSet) => selectsSpot(podSet) || preemptibleClass(podSet) !== undefined),
);

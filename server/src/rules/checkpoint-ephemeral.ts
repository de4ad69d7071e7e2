import type { CheckpointSign } from '../command/checkpoint.ts';
import { checkpointSigns } from '../evidence/processes.ts';
import { neverSaves } from '../evidence/progress-flags.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrial, outlivesNode, runsMountedScript, volumeNamed } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, items, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Training writes its checkpoints where a restart does not find them.
 *
 * ## Why
 *
 * A directory of the image, an emptyDir or a disk of the node goes with the container, the pod or the node. The job is restarted (after an
 * eviction or the loss of its node in a new pod), finds no checkpoint, and begins again at step 0 with all its GPUs. A volume that outlives
 * the pod, or an object store, keeps the progress.
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
 * Unsafe: the claim has to be there, and to be of a kind that all pods of the job can mount.
 *
 * ## When it is silent
 *
 * Where nothing restarts the job, where any directory of progress is on a volume that lasts, where an object store or a settings file
 * is named, where a script of a ConfigMap runs, where nothing is saved at all (checkpoint-never), for benchmarks and trials, and on spot
 * capacity, where spot-without-checkpoint says it.
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
    if (!hasRole(workload, 'training') || workload.partial || container.type !== 'app') return;
    if (workload.retries === null || workload.retries.limit === 0 || isTrial(workload)) return;
    if (isOnSpot(workload)) return;
    if (!requestsAccelerators(container)) return;
    if (items(getIn(container.at, 'envFrom')).length > 0 || rearrangesFiles(container)) return;
    if (runsMountedScript(container, podSet)) return;
    // Then there is no progress to lose, which checkpoint-never tells.
    if (neverSaves(container) !== undefined) return;
    const signs = checkpointSigns(container);
    if (signs.some(({ kind }) => kind === 'store' || kind === 'unknown')) return;
    const paths = signs.filter(({ kind }) => kind === 'path');
    const first = paths.find(({ word }) => word !== undefined && holdsProgress(word.text));
    if (first === undefined || paths.some((sign) => !isLost(sign, container, podSet))) return;
    const lines = [...container.command, ...container.args];
    const span = first.word && spanOfWords(context.document, lines, [first.word, first.word]);
    context.report({
      message: `Progress goes to ${shorten(first.text, 50)}, which a new pod does not find: ${restart(first, container, workload)} begins at step 0`,
      span: span ?? spanOf(lines[0]?.at ?? container.at),
      fixes: () => [mountClaim(first, container, context)],
    });
  },
});

/**
 * A claim at the directory. Over one that may hold the program, too, or in which a volume stands already, it is left to people; so are
 * files whose directory is not theirs alone.
 */
function mountClaim({ text }: CheckpointSign, container: Container, context: PodSetContext): Fix | undefined {
  const { document, podSet, workload } = context;
  const path = text.startsWith('/') ? text.replace(/(?<!\/)\/+$/, '') : undefined;
  if (path === undefined || !/^(?:\/[\w-]+)+$/.test(path) || mayHoldProgram.test(path)) return undefined;
  if (container.volumeMounts.some(({ mountPath }) => isIn(path, mountPath) || isIn(mountPath, path))) return undefined;
  const name = 'checkpoints';
  const taken = [...podSet.volumes, ...container.volumeMounts].some((volume) => volume.name === name);
  if (taken || workload.name === null || getIn(podSet.pod, 'containers') === undefined) return undefined;
  const claimName = `${workload.name}-checkpoints`;
  const volume = { name, persistentVolumeClaim: { claimName } };
  return fix(
    `Mount the claim ${claimName} at ${path}`,
    'unsafe',
    addItem(document, container.at, 'volumeMounts', { name, mountPath: path }),
    addItem(document, podSet.pod, 'volumes', volume),
  );
}

/** Directories in which images keep what they run. */
const mayHoldProgram = /^\/(?:workspace|app|code|src|opt|root|home|usr|bin|etc|var|tmp|mnt|data)?$/;

/**
 * What loses the progress. A volume of the pod outlives its containers, which are started again beside it. The pods of an elastic job that stay
 * have the state in memory, so it is lost when all of them go.
 */
function restart({ text }: CheckpointSign, container: Container, { kind, manifest }: Workload): string {
  const elastic = kind === 'ElasticJob' || getIn(manifest.root, 'spec', 'elasticPolicy') !== undefined;
  if (elastic) return 'a restart of all its pods';
  const path = absolute(text, container) ?? text;
  return container.volumeMounts.some(({ mountPath }) => isIn(path, mountPath)) ? 'it' : 'each restart';
}

/** Logs, exports and results are written there too, and are no loss. */
function holdsProgress(flag: string): boolean {
  const name = flag.split('=')[0] ?? '';
  return (
    /save|output|checkpoint|ckpt|snapshot|resume/i.test(name) && !/log|export|eval|result|onnx|profil|trace/i.test(name)
  );
}

/** Links and working directories make another place of a path. */
function rearrangesFiles({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) =>
    /\bln -s|\bmount\b|\brclone\b|\bgsutil\b|\bs5cmd\b|\baws s3\b/.test(value),
  );
}

function isLost({ text }: CheckpointSign, container: Container, podSet: PodSet): boolean {
  const path = absolute(text, container);
  if (path === undefined) return false;
  const mount = container.volumeMounts
    .filter(({ mountPath }) => isIn(path, mountPath))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
  if (mount === undefined) return true;
  const volume = volumeNamed(podSet, mount.name);
  return volume !== undefined && !outlivesNode(volume.source, volume.at);
}

/** Relative to the working directory where that is told; a home directory, or one that a script changes, is not known. */
function absolute(path: string, { at: container, command, args, volumeMounts }: Container): string | undefined {
  if (path.startsWith('/')) return path;
  if (path.startsWith('~')) return undefined;
  const directory = asText(getIn(container, 'workingDir'));
  if (directory !== undefined) return `${directory.replace(/\/$/, '')}/${path.replace(/^\.\//, '')}`;
  const moves = [...command, ...args].some(({ value }) => /\bcd\b|\bpushd\b/.test(value));
  return moves || volumeMounts.length > 0 ? undefined : `/${path.replace(/^\.\//, '')}`;
}

function isIn(path: string, directory: string): boolean {
  const plain = directory.replace(/(?<!\/)\/+$/, '');
  return path === plain || path.startsWith(`${plain}/`);
}

const isOnSpot = once(({ podSets }: Workload) => podSets.some(({ placement }) => placement.capacity === 'spot'));

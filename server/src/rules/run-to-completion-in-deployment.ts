import { imageParts, startsShell } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { findBranchEnding, findEnding } from '../command/ending.ts';
import { wordsOf } from '../command/name-words.ts';
import { programWords } from '../command/programs.ts';
import { hasTrainingFlag } from '../command/script-names.ts';
import { baseName } from '../command/shell.ts';
import { formatDuration } from '../cost/money.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { mayHaveVariables } from '../evidence/launch.ts';
import { isExempt, requestWords } from '../evidence/requested-accelerators.ts';
import { kindOf, likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import { commandsIn, imageUseOf, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import {
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A program that ends runs in a Deployment, a StatefulSet, or a Pod that restarts it.
 *
 * ## Why
 *
 * Deployments and StatefulSets restart their containers whenever they end, also after success. A training run, a benchmark or a call of
 * nvidia-smi restarts endlessly, with growing pauses, and its GPU is never released. A Job runs it once. An image such as `nvidia/cuda` or
 * `pytorch/pytorch` without a command starts a shell, which ends at once, as does the command `bash` without `stdin`. Daemons such as `ray start` and `sshd` go to the background:
 * their container ends unless `--block` or `-D` keeps them in the foreground. A Pod without a restartPolicy is restarted in the same way: training
 * starts over, and a server that `timeout` ends comes back. So are the pods of a Volcano Job and the master of a PyTorchJob with `Always`, which
 * never end then.
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: train
 * spec:
 *   selector:
 *     matchLabels:
 *       app: train
 *   template:
 *     metadata:
 *       labels:
 *         app: train
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [python, train.py, --epochs, "3"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [python, train.py, --epochs, "3"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If any part of the command line waits, serves, loops without an end, runs in the background, or is unknown; for patches and values,
 * except those of app-template; and for infrastructure. It is information for a server in a Deployment that `timeout` restarts, for Pods that
 * neither train nor serve, and for those without a command.
 *
 * ## Sources
 *
 * - [Kubernetes: Deployments](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/)
 * - [Kubernetes: Jobs](https://kubernetes.io/docs/concepts/workloads/controllers/job/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  wasteful: true,
  podSet(podSet, context) {
    reportTask(podSet, context);
    reportRole(podSet, context);
  },
  container(container, context) {
    const { workload, podSet } = context;
    // A count that the API server rejects is reported by itself.
    const requests = container.accelerators.filter(({ count }) => count !== 0);
    if (requests.length === 0 || container.type !== 'app' || podSet.pods.max === 0) return;
    if (mayBeCompleted(workload) || isExempt(workload)) return;
    const kind = isRestartedPod(context) ? 'Pod' : replicatedKind(workload);
    if (kind === undefined) return;
    // A Pod of another use, or with an image alone, is often only a test.
    const end = endOf(container, context);
    if (end === undefined) return;
    const isBare = container.command.length + container.args.length === 0;
    const isTest = end.isShell !== true && (!works.has(workload.role) || isBare);
    const what = shorten(end.what.slice(0, 200).replace(/\s+/g, ' '), 40);
    if (kind === 'Pod' || end.limit !== undefined) {
      reportRestart(kind, what, { ...end, isTest }, container, context);
      return;
    }
    context.report({
      message:
        end.foreground === undefined
          ? `${what} exits, but a ${kind} restarts it every time: it keeps ${shorten(requestWords(requests), 40)}; ${end.advice ?? 'use a Job'}`
          : `${what} goes to the background without ${end.foreground}: the container exits, and the ${kind} restarts it every time`,
      span: end.span,
    });
  },
});

/** Reports a role of one of Kubeflow's jobs whose containers the kubelet starts again whenever they end, although the job ends with its pods. */
function reportRole({ pod, name, pods, accelerators }: PodSet, { document, workload, report }: PodSetContext): void {
  const role = pod.parent?.parent;
  const policy = getIn(role, 'restartPolicy');
  if (policy === undefined || asText(policy) !== 'Always' || isTemplated(policy) || workload.partial) return;
  if (accelerators.length === 0 || pods.max === 0 || !/^(?:pytorch|tf|jax|paddle)ReplicaSpecs$/.test(roleField(role)))
    return;
  // The job ends with its first rank; parameter servers stay until then.
  const ends = workload.podSets.find((one) => /^(?:master|chief)$/i.test(one.name)) ?? workload.podSets[0];
  if (ends?.name !== name || !/^(?:master|chief|worker)$/i.test(name) || isExempt(workload)) return;
  report({
    message: `restartPolicy Always starts ${shorten(name, 30)} again after it has succeeded: the job never ends and keeps its accelerators`,
    span: spanOf(policy),
    fixes: () => [fix('Set restartPolicy to OnFailure', 'unsafe', replaceScalar(document, policy, 'OnFailure'))],
  });
}

function roleField(role: Cursor | undefined): string {
  return role?.parent === undefined ? '' : keyOf(role.parent);
}

/** Reports a task of a job that ends with its pods, if the kubelet starts their containers again whenever they end. */
function reportTask(podSet: PodSetContext['podSet'], { document, workload, report }: PodSetContext): void {
  const { pod, accelerators, restartPolicy, pods, name } = podSet;
  if (kindOf(workload).tasks !== true || !ending.has(workload.role) || isExempt(workload)) return;
  const isOpen = [pod, getIn(pod, 'containers'), pod.parent, pod.parent?.parent].some(isIncomplete);
  if (restartPolicy !== undefined || accelerators.length === 0 || pods.max === 0 || isOpen) return;
  if (isEndedByOthers(pod.parent?.parent, workload)) return;
  const held = podSet.containers.filter((one) => one.accelerators.length > 0);
  const isTest = workload.role !== 'training' || held.every(({ command, args }) => command.length + args.length === 0);
  report({
    severity: isTest ? 'info' : 'warning',
    message: `restartPolicy defaults to Always: task ${shorten(name, 30)} restarts its pods when they finish, so the job never ends and keeps their accelerators`,
    span: keySpanOf(getIn(pod, 'containers') ?? pod),
    fixes: () => [fix('Set restartPolicy to OnFailure', 'unsafe', setKey(document, pod, 'restartPolicy', 'OnFailure'))],
  });
}

const ending: ReadonlySet<string> = new Set(['training', 'batch']);

/** Whether the job ends with another task, such as the master of MPI, whatever its other pods do. */
function isEndedByOthers(task: Cursor | undefined, workload: Workload): boolean {
  return endingTasks(workload).some((node) => node !== task?.node);
}

const endingTasks = once(({ podSets }: Workload) =>
  podSets.flatMap(({ pod, restartPolicy }) => {
    const task = restartPolicy === undefined ? undefined : pod.parent?.parent;
    const actions = items(getIn(task, 'policies')).map((policy) => asText(getIn(policy, 'action')) ?? '');
    return task !== undefined && actions.some((action) => /^(?:Complete|Terminate|Abort)Job$/.test(action))
      ? [task.node]
      : [];
  }),
);

/** Whether the kubelet starts the containers of a Pod again whenever they end. */
function isRestartedPod({ workload: { kind, apiVersion }, podSet: { pod, restartPolicy } }: PodSetContext): boolean {
  if (kind !== 'Pod' || groupOf(apiVersion) !== '' || isIncomplete(pod)) return false;
  return restartPolicy === undefined || (restartPolicy.value === 'Always' && !isTemplated(restartPolicy.at));
}

/** Reports an end that comes late, or in a Pod, which is the right kind for work that ends but restarts it by default. */
function reportRestart(
  kind: string,
  what: string,
  { span, limit, isTest, isShell }: End & { readonly isTest: boolean },
  container: Container,
  { document, podSet: { pod, restartPolicy }, report }: PodSetContext,
): void {
  const held = shorten(requestWords(container.accelerators.filter(({ count }) => count !== 0)), 40);
  const ends = limit === undefined ? `${what} exits` : `timeout ends ${what} after ${formatDuration(limit)}`;
  const policy = restartPolicy === undefined ? 'restartPolicy defaults to Always' : 'restartPolicy is Always';
  report({
    // Some servers are restarted at times on purpose, and somebody watches a test.
    severity: kind === 'Pod' && !isTest ? 'warning' : 'info',
    message: `${ends}, but ${kind === 'Pod' ? policy : `a ${kind} restarts it`}: it starts again and keeps ${held}`,
    span,
    fixes: () => {
      if (kind !== 'Pod' || isShell === true) return [];
      const edits =
        restartPolicy === undefined
          ? setKey(document, pod, 'restartPolicy', 'OnFailure')
          : replaceScalar(document, restartPolicy.at, 'OnFailure');
      return [fix('Set restartPolicy to OnFailure', 'unsafe', edits)];
    },
  });
}

const works: ReadonlySet<string> = new Set(['training', 'serving']);

/** Programs that take their commands from standard input unless their arguments say otherwise. */
const interpreters = wordSet('sh bash ash dash zsh ksh python python3 ipython');

interface End {
  readonly what: string;
  readonly span: Span;
  readonly foreground?: string | undefined;
  readonly limit?: number | undefined;
  /** What to do instead of a Job. */
  readonly advice?: string;
  /** Nobody starts a shell as a test of anything. */
  readonly isShell?: true;
}

/** The kind that keeps a number of pods running; for values, what their chart makes of a controller. */
function replicatedKind({ kind, apiVersion, manifest, partial }: Workload): string | undefined {
  if (partial) {
    const type = getIn(manifest.root, 'type');
    return type === undefined || asText(type) === 'deployment' ? 'Deployment' : undefined;
  }
  const entry = likeKind(groupOf(apiVersion), kind);
  // The pods of a group also always restart.
  return entry?.staysUp === true && (entry.replica === 'pod' || kind === 'LeaderWorkerSet') ? kind : undefined;
}

function endOf(container: Container, { document, workload }: PodSetContext): End | undefined {
  const { command, args, image } = container;
  const lines = [...command, ...args];
  if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return undefined;
  // No program has such a name: the container never starts.
  if (/\s/.test(command[0]?.value.trim() ?? '')) return undefined;
  if (lines.length === 0) {
    const isOpen =
      isIncomplete(container.at) || ['command', 'args'].some((key) => isTemplated(getIn(container.at, key)));
    if (isOpen) return undefined;
    if (image && !isTemplated(image.at) && startsShell(image.value) && !hasTerminal(container))
      return {
        what: `The shell of image ${imageName(image.value)}`,
        span: spanOf(image.at),
        ...(imageUseOf(container).use === 'serving' && { advice: 'its server needs a command' }),
      };
    return image && imageUseOf(container).use === 'batch'
      ? { what: imageName(image.value), span: spanOf(image.at) }
      : undefined;
  }
  const [shell] = lines;
  if (shell !== undefined && lines.length === 1 && interpreters.has(baseName(shell.value)) && !hasTerminal(container)) {
    // Alone, it may be an argument of the image's own program.
    const isProgram = command.length > 0 || (image !== undefined && startsShell(image.value));
    if (!isProgram || container.env.some(({ name }) => /^(?:BASH_)?ENV$|^PYTHON/.test(name))) return undefined;
    const what = `${baseName(shell.value)} without stdin`;
    return { what, span: spanOf(shell.at), advice: 'give it a script', isShell: true };
  }
  // Options and numbers go to the image's own program.
  const passed = args.map(({ value }) => value);
  if (command.length === 0 && passed.every(isSetting) && image && imageUseOf(container).use === 'batch')
    return { what: [imageName(image.value), ...passed].join(' '), span: spanOf(image.at) };
  const input = processInput(container);
  // Only pods with numbers certainly take each branch.
  const isNumbered = workload.kind === 'StatefulSet' || workload.kind === 'LeaderWorkerSet';
  const ending =
    findEnding(input, isTraining(container, workload), mayServe(container) || mayHaveVariables(container)) ??
    (isNumbered ? findBranchEnding(input) : undefined);
  const span = ending && spanOfWords(document, lines, ending.words);
  return ending && span && { what: ending.what, span, foreground: ending.foreground, limit: ending.limit };
}

/** Whether a container with a script of any name trains, by the name of the object or a flag, and by the lack of any sign of a server. */
function isTraining(container: Container, { name }: Workload): boolean {
  const { command, args } = container;
  const words = wordsOf(name ?? '');
  const isNamed = words.some((word) => trainingNames.has(word)) && !words.some((word) => stayingNames.has(word));
  const isLikely = [...command, ...args].some(({ value }) => value.includes('--'));
  if (!isNamed && !(isLikely && commandsIn(container).some((one) => hasTrainingFlag(programWords(one))))) return false;
  return !mayServe(container);
}

/** Whether a container has ports or probes, as servers have. */
function mayServe({ at }: Container): boolean {
  return ['ports', 'readinessProbe', 'livenessProbe', 'startupProbe'].some((key) => getIn(at, key) !== undefined);
}

const trainingNames: ReadonlySet<string> = new Set([
  ...['train', 'training', 'pretrain', 'pretraining', 'finetune', 'finetuning'],
]);

/** What else a Deployment for training may be. */
const stayingNames = wordSet(
  'worker queue consumer service server api ui web app dashboard controller manager operator agent scheduler',
  'notebook dev watcher listener loop continuous backend frontend gateway coordinator orchestrator broker celery',
  'online platform portal proxy bot rpc grpc endpoint hub monitor runner executor daemon jobs tasks env',
  'environment sandbox workspace shell debug interactive playground pod box',
);

/** `-d`, `3600` and `--matrix=4096`, but no option by which a program may stay. */
function isSetting(word: string): boolean {
  return /^(?:-[\w=.%-]+|\d+%?)$/.test(word) && !/serv|daemon|loop|watch|listen|port|forever|interval/i.test(word);
}

/** A shell with a terminal or an open input waits for its user. */
function hasTerminal({ at }: Container): boolean {
  return ['tty', 'stdin'].some((key) => getIn(at, key) !== undefined);
}

function imageName(image: string): string {
  const { repository } = imageParts(image);
  return repository.slice(repository.lastIndexOf('/') + 1);
}

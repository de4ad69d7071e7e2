import { imageOf, imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { recognizeProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A server beside the work of a Job keeps its pod, and the GPUs, when the work has ended.
 *
 * ## Why
 *
 * A pod completes when all its containers have ended. A server never ends: the client, benchmark or training next to it finishes, but the pod
 * stays Running, the Job never completes, and the scheduler counts the pod's GPUs as taken. Init containers with `restartPolicy: Always`
 * (native sidecars, Kubernetes 1.29) start before the work and are stopped after it.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: summaries
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: server
 *           image: vllm/vllm-openai:v0.11.0
 *           args: [--model, Qwen/Qwen3-8B]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 *         - name: client
 *           image: registry.example/summaries:1.4
 *           command: [python, summarize.py]
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: summaries
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       initContainers:
 *         - name: server
 *           image: vllm/vllm-openai:v0.11.0
 *           args: [--model, Qwen/Qwen3-8B]
 *           restartPolicy: Always
 *           startupProbe:
 *             httpGet:
 *               path: /health
 *               port: 8000
 *             failureThreshold: 60
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 *       containers:
 *         - name: client
 *           image: registry.example/summaries:1.4
 *           command: [python, summarize.py]
 * ```
 *
 * ## When it is silent
 *
 * For a Job with `activeDeadlineSeconds` or without other containers, if another container may end the server (`shareProcessNamespace`, kill, kubectl, a request to quit),
 * and for servers in the background, under `timeout` or in a script that goes on.
 *
 * ## Sources
 *
 * - [Kubernetes: sidecar containers in Jobs](https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#jobs-with-sidecar-containers)
 * - [Kubernetes: pod lifetime](https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  container(container, context) {
    const { workload, podSet, report } = context;
    const { kind, apiVersion, partial } = workload;
    if ((kind !== 'Job' && kind !== 'CronJob') || groupOf(apiVersion) !== 'batch' || partial) return;
    if (container.type !== 'app' || podSet.containers.length < 2) return;
    const held = podSet.containers.flatMap((one) => (one.type === 'init' ? [] : knownRequests(one)));
    if (held.length === 0 || !staysUp(container) || isEnded(context)) return;
    const others = podSet.containers.filter((one) => one !== container && one.type === 'app');
    const work = others.find((one) => !staysUp(one));
    if (work === undefined || others.some(mayEndOthers)) return;
    const [name, ended] = [shorten(container.name, 20), shorten(work.name, 20)];
    report({
      message: `${name} never exits: after ${ended}, the Job keeps ${shorten(requestWords(held), 30)}; make ${name} an init container with restartPolicy: Always`,
      span: spanOf(getIn(container.at, 'name') ?? container.at),
    });
  },
});

/** Whether something ends the pod although a container runs on, or may. */
function isEnded({ workload: { manifest }, podSet: { pod } }: PodSetContext): boolean {
  if (['containers', 'initContainers'].some((key) => isUnseen(getIn(pod, key))) || isIncomplete(pod)) return true;
  const spec = getIn(manifest.root, 'spec');
  const owners = [pod, spec, getIn(spec, 'jobTemplate', 'spec')];
  return owners.some((owner) =>
    ['activeDeadlineSeconds', 'shareProcessNamespace', 'managedBy'].some((key) => getIn(owner, key) !== undefined),
  );
}

/** Whether a container certainly runs a server in the foreground until somebody stops it. */
function staysUp(container: Container): boolean {
  const { command, args, image, at } = container;
  if ([...command, ...args].some((word) => isTemplated(word.at) || isIncomplete(word.at.parent))) return false;
  if (['command', 'args'].some((key) => isUnseen(getIn(at, key)))) return false;
  const [first] = args;
  if (command.length === 0 && (first === undefined || first.value.startsWith('-') || isDaemon(container)))
    return image !== undefined && !isTemplated(image.at) && (isDaemon(container) || isServerImage(image.value));
  const input = processInput(container);
  const { statements } = readCommandLine(input.command, input.args, input.env);
  const last = statements.at(-1);
  if (last?.kind !== 'command' || last.after === '||') return false;
  const commands = allCommands(statements);
  const isSimple = commands.every(({ background, words }) => !background && baseName(words[0]?.text ?? '') !== 'trap');
  return isSimple && isServer(last);
}

function isDaemon({ image }: Container): boolean {
  return daemons.has(baseName(imageParts(image?.value ?? '').repository));
}

/** An image that is known by its name, not only by a word in it. */
function isServerImage(image: string): boolean {
  const found = imageOf(imageParts(image).repository);
  return found !== undefined && 'image' in found && found.use === 'serving';
}

function isServer(command: SimpleCommand): boolean {
  // `timeout` ends the server.
  if (command.words.some(({ text }) => baseName(text) === 'timeout')) return false;
  const found = recognizeProgram([command]);
  return found === undefined ? daemons.has(baseName(programWords(command)[0] ?? '')) : isStaying(found);
}

function isStaying({ use, confidence }: { readonly use: string | null; readonly confidence: string | null }): boolean {
  return confidence === 'certain' && (use === 'serving' || use === 'interactive');
}

/** Programs, and images of the same name, that serve the work beside them. */
const daemons = wordSet(
  'cloud-sql-proxy cloud_sql_proxy gce-proxy dcgm-exporter envoy fluent-bit fluentd memcached minio mongo mongod nginx node-exporter postgres',
  'promtail qdrant redis redis-server tensorboard weaviate',
);

/** What ends another container: a signal, its deletion, or a request that it quits. */
function mayEndOthers({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) => /kill|kubectl|quit|shutdown|exit_on|terminate/i.test(value));
}

import { imageOf, imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { recognizeProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from '../command/shell.ts';
import { findWaiting } from '../command/waiting.ts';
import { programWords } from '../command/wrappers.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import { commandLineOf, processInput, useOf } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asNumber, asText, getIn, isIncomplete, isTemplated, isUnseen, items, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container that never exits keeps the pod of a Job and its GPUs after the work has ended.
 *
 * ## Why
 *
 * A pod completes when all its containers have ended. A server, an exporter of metrics or a container that sleeps never ends: the client,
 * benchmark or training next to it finishes, but the pod stays Running, the Job never completes, and the pod's GPUs stay occupied. Init containers with `restartPolicy: Always`
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
 * If a container is known to be a server only because another one reaches it at its port, this is information. So is a Job that runs nothing but a
 * model server: it never completes, and its failures count against `backoffLimit`.
 *
 * ## When it is silent
 *
 * For a Job with `activeDeadlineSeconds`, if another container may end the server (`shareProcessNamespace`, kill, kubectl, a request to quit),
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
    if (container.type !== 'app' || podSet.pods.max === 0 || isExempt(workload)) return;
    const held = heldOf(podSet);
    if (held.length === 0 || isEnded(context) || hasHiddenWords(container)) return;
    if (podSet.containers.filter(({ type }) => type === 'app').length < 2) {
      reportServer(container, context);
      return;
    }
    const known = stayingOf(container, context);
    const asked = known === undefined && isAskedByOthers(container, context.podSet);
    const staying = asked ? spanOf(getIn(container.at, 'name') ?? container.at) : known;
    const work = staying && workBeside(container, context);
    if (staying === undefined || work === undefined) return;
    const [name, other] = [shorten(nameOf(container) ?? 'A container', 30), shorten(nameOf(work) ?? 'the work', 20)];
    report({
      ...(asked && { severity: 'info' }),
      message: asked
        ? `${name} serves ${other}, and servers seldom exit by themselves: the Job then keeps ${shorten(requestWords(held), 30)}; make it a native sidecar`
        : `${name} never exits: the Job keeps ${shorten(requestWords(held), 30)} after ${other} ends; make it an init container with restartPolicy: Always`,
      span: staying,
    });
  },
});

/** Reports a server that is all that the Job runs. Other rules report notebooks and containers that only wait. */
function reportServer(container: Container, { report, podSet }: PodSetContext): void {
  const { use, program } = useOf(container);
  if (use !== 'serving' || !staysUp(container) || mayEndOthers(container) || knownRequests(container).length === 0)
    return;
  const name = shorten(program?.split(' ')[0] ?? 'The server', 30);
  report({
    severity: 'info',
    message: `${name} never exits: the Job does not complete and keeps ${shorten(requestWords(heldOf(podSet)), 30)} until somebody deletes it`,
    span: spanOf(getIn(container.at, 'name') ?? container.at),
  });
}

/** What the pod keeps while any of its containers runs. */
const heldOf = once((podSet: PodSet) =>
  podSet.containers.flatMap((one) => (one.type === 'init' ? [] : knownRequests(one))),
);

/** Whether something ends the pod although a container runs on, or may. */
function isEnded({ workload: { manifest }, podSet: { pod } }: PodSetContext): boolean {
  if (['containers', 'initContainers'].some((key) => isUnseen(getIn(pod, key))) || isIncomplete(pod)) return true;
  const spec = getIn(manifest.root, 'spec');
  const owners = [pod, spec, getIn(spec, 'jobTemplate', 'spec')];
  // With one process namespace, the main program can stop its helpers.
  return owners.some((owner) =>
    ['activeDeadlineSeconds', 'shareProcessNamespace', 'managedBy'].some((key) => getIn(owner, key) !== undefined),
  );
}

function hasHiddenWords({ command, args, at }: Container): boolean {
  const isHidden = [...command, ...args].some((word) => isTemplated(word.at) || isIncomplete(word.at.parent));
  return isHidden || ['command', 'args'].some((key) => isUnseen(getIn(at, key)));
}

/** Another container that ends, if none may end the others. */
const worksOf = once((podSet: PodSet): readonly Container[] => {
  const apps = podSet.containers.filter(({ type }) => type === 'app');
  return apps.some(mayEndOthers) ? [] : apps.filter((one) => !staysUp(one));
});

function workBeside(container: Container, { podSet }: PodSetContext): Container | undefined {
  return worksOf(podSet).find((one) => one !== container);
}

/** Where a container says that it runs until somebody stops it. */
function stayingOf(container: Container, { document }: PodSetContext): Span | undefined {
  const { command, args, at } = container;
  const waiting = isEndless(container) ? findWaiting(processInput(container)) : undefined;
  // One that waits with a GPU of its own is reported as such.
  if (waiting !== undefined && knownRequests(container).length > 0) return undefined;
  const words = waiting?.words ?? follower(container);
  if (words !== undefined) return spanOfWords(document, [...command, ...args], words);
  if (!staysUp(container)) return undefined;
  return spanOf(getIn(at, 'name') ?? at);
}

/** Whether a container certainly runs until somebody stops it: a server in the foreground, an exporter, a wait without an end. */
const staysUp = once((container: Container): boolean => {
  const { command, args, image } = container;
  const [first] = args;
  if (endsAtOnce.test([...command, ...args].map(({ value }) => value).join(' '))) return false;
  if (command.length === 0 && image !== undefined && !isTemplated(image.at)) {
    // Other words are a command, such as a client in the image of its database.
    if (first === undefined || /^-|:/.test(first.value)) return isDaemon(image.value) || isServerImage(image.value);
    if (first.value === 'server' && isDaemon(image.value)) return true;
  }
  if (isEndless(container) || follower(container) !== undefined) return true;
  const input = processInput(container);
  const { statements } = readCommandLine(input.command, input.args, input.env);
  const last = statements.at(-1);
  if (last?.kind !== 'command' || last.after === '||') return false;
  const commands = allCommands(statements);
  const isSimple = commands.every(({ background, words }) => !background && baseName(words[0]?.text ?? '') !== 'trap');
  return isSimple && isServer(last);
});

/** Whether another container reaches one at its own port: a server that is not known by its program. */
function isAskedByOthers({ at, command, args, image }: Container, { containers }: PodSet): boolean {
  const isOpen = command.length + args.length === 0 && image !== undefined && !isUnseen(getIn(at, 'ports'));
  const ports = isOpen ? items(getIn(at, 'ports')).flatMap((port) => asNumber(getIn(port, 'containerPort')) ?? []) : [];
  if (ports.length === 0) return false;
  const address = new RegExp(`(?:localhost|127\\.0\\.0\\.1):(?:${ports.join('|')})(?!\\d|/metrics)`);
  return containers.some((other) => {
    if (other.at === at || other.type !== 'app') return false;
    const texts = [...other.command, ...other.args, ...other.env.map(({ value }) => value)];
    return texts.some((text) => text !== undefined && address.test(text.value));
  });
}

function isEndless(container: Container): boolean {
  const waiting = findWaiting(processInput(container));
  return waiting?.kind === 'only-waits' && waiting.seconds === Number.POSITIVE_INFINITY;
}

/** The end of a command that prints a file as it grows: `tail -F /logs/train.log`. */
function follower(container: Container): readonly [Word, Word] | undefined {
  const last = commandLineOf(container).statements.at(-1);
  const words = last?.kind === 'command' ? last.words : [];
  const [first, end] = [words[0], words.at(-1)];
  const isTail =
    words.some(({ text }) => /^(?:-[a-z0-9]*f|--follow.*)$/i.test(text)) && baseName(first?.text ?? '') === 'tail';
  // With --pid it ends with the work.
  return isTail && first && end && !words.some(({ text }) => text.startsWith('--pid')) ? [first, end] : undefined;
}

/** Whether an image is that of a daemon, or serves metrics: `node-exporter`. An exporter of models ends. */
function isDaemon(image: string): boolean {
  const name = baseName(imageParts(image).repository);
  if (daemons.has(name)) return true;
  const words = wordsOf(name);
  return words.at(-1) === 'exporter' && words.some((word) => measured.has(word));
}

const measured = wordSet('node dcgm gpu nvidia rocm amd process statsd metrics prometheus cgroup');

/** Programs that run until they are stopped, and their images of the same name. They often accompany the work of a Job. */
const daemons = wordSet(
  'cloud-sql-proxy cloud_sql_proxy gce-proxy envoy fluent-bit fluentd memcached minio mongo mongod nginx postgres promtail qdrant redis',
  'redis-server tensorboard weaviate',
);

/** An image that is known by its name, not only by a word in it, and starts the server by itself. */
function isServerImage(image: string): boolean {
  const { repository } = imageParts(image);
  const found = imageOf(repository);
  if (found === undefined || !('image' in found) || found.use !== 'serving') return false;
  return baseName(repository) === 'vllm-openai' || selfStarting.has(found.program ?? '');
}

const selfStarting = wordSet(
  'text-generation-launcher text-embeddings-router nim torchserve tensorflow_model_server ollama local-ai infinity',
);

/** Options and commands with which a server or an IDE only says something, or goes to the background. */
const endsAtOnce =
  /(?:^|\s)(?:--?(?:h|help|version|dry-run|inspect|daemonize|fork|install-extension|list-extensions|generate-config)(?:[\s=]|$)|nginx -t|jupyter[ -]lab (?:build|clean))/;

function isServer(command: SimpleCommand): boolean {
  // `timeout` ends the server.
  if (command.words.some(({ text }) => baseName(text) === 'timeout')) return false;
  const found = recognizeProgram([command]);
  if (found === undefined) return daemons.has(baseName(programWords(command)[0] ?? ''));
  return found.confidence === 'certain' && (found.use === 'serving' || found.use === 'interactive');
}

/** What ends another container: a signal, its deletion, or a request that it quits. */
function mayEndOthers({ command, args, scripts }: Container): boolean {
  const texts = [...command, ...args].map(({ value }) => value);
  return [...texts, ...scripts.map(({ text }) => text)].some((text) =>
    /kill|kubectl|quit|shutdown|exit_on|terminate/i.test(text),
  );
}

function nameOf({ at }: Container): string | undefined {
  return asText(getIn(at, 'name'));
}

import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from '../command/shell.ts';
import { unreachedClient, unreachedWork } from '../command/unreached.ts';
import { findWaiting } from '../command/waiting.ts';
import { ownServiceWait } from '../evidence/own-service-wait.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { lowerContainer } from '../model/pod.ts';
import { commandLineOf, processInput } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asBoolean, getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A client runs before the server in its own pod.
 *
 * ## Why
 *
 * Init containers end before the other containers of their pod start. `ollama pull` is only a client of `ollama serve`, so it fails there,
 * and an init container that waits for a port on localhost waits forever, while its pod holds its GPUs. So does one that waits for the Service of
 * its own pods, unless `publishNotReadyAddresses` is set: a Service leads only to ready pods, and the name of a headless one does not exist before. A postStart hook runs at the same time as
 * the container's own process: without a wait, the server may not listen yet, the hook fails, and the kubelet restarts the container.
 * In `ollama pull mistral && ollama serve`, the first command fails, so the second never runs. In `ollama serve && ollama pull mistral`, the
 * first never ends. Neither does `sleep infinity` or `ray start --block`: a server after it never starts, while its pod holds its GPUs.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   initContainers:
 *     - name: pull
 *       image: ollama/ollama:0.12.3
 *       command: [ollama, pull, "llama3.2:3b"]
 *   containers:
 *     - name: main
 *       image: ollama/ollama:0.12.3
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   initContainers:
 *     - name: pull
 *       image: ollama/ollama:0.12.3
 *       command: [sh, -c, "ollama serve & sleep 5; ollama pull llama3.2:3b"]
 *       volumeMounts:
 *         - name: models
 *           mountPath: /root/.ollama
 *   containers:
 *     - name: main
 *       image: ollama/ollama:0.12.3
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: models
 *           mountPath: /root/.ollama
 *   volumes:
 *     - name: models
 *       emptyDir: {}
 * ```
 *
 * ## When it is silent
 *
 * If the container, the entrypoint of its image or a native sidecar of the pod starts the server, or may start it. For clients under a
 * condition or in the background, if OLLAMA_HOST names a server, if a hook waits first, with `hostNetwork`, and for pods without accelerators. For waits
 * with an end or under a condition, and for Services that select pods of other objects.
 *
 * ## Sources
 *
 * - [Kubernetes: init containers](https://kubernetes.io/docs/concepts/workloads/pods/init-containers/)
 * - [Kubernetes: container lifecycle hooks](https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/)
 * - [Ollama: command line](https://docs.ollama.com/cli)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, { workload, podSet, document, report, crossReferences }) {
    const { pod } = podSet;
    if (!namesAccelerators(podSet) || asBoolean(getIn(pod, 'hostNetwork')) === true || isIncomplete(pod)) return;
    if (container.type === 'init') {
      const found = serverOfOthers(container, podSet, document);
      if (found !== undefined) report(found);
      const own = found === undefined ? ownServiceWait(container, podSet, workload, crossReferences) : undefined;
      if (own !== undefined) {
        report({
          message: `The init container ${shorten(container.name, 20)} waits for a ready pod of Service ${shorten(own.service, 30)}, but its own are ready only after it: without others, they never start`,
          span: spanIn(container, own.words, document),
        });
      }
      return;
    }
    reportUnreached(container, { podSet, document, report });
    // The installer starts a service on machines, which SkyPilot rents.
    const early = workload.apiVersion.startsWith('skypilot') ? undefined : earlyClient(container, podSet);
    if (early !== undefined) {
      report({
        message: `${early.text} needs a running server, but nothing has started one before it: it fails`,
        span: spanIn(container, early.words, document),
      });
    }
    const hook = getIn(container.at, 'lifecycle', 'postStart', 'exec');
    if (hook === undefined) return;
    const hooked = { ...lowerContainer(hook, 'app'), env: container.env };
    const [client] = clientsIn(hooked);
    if (client === undefined || hooked.command.some(({ value }) => waits.test(value)) || namesServer(container)) return;
    report({
      message: `${client.text} in postStart can run before the server listens: the hook then fails, and the container restarts`,
      span: spanIn(hooked, client.words, document),
    });
  },
});

/** What comes after a server or a wait without an end in the foreground. */
function reportUnreached(
  container: Container,
  { podSet, document, report }: Pick<PodSetContext, 'podSet' | 'document' | 'report'>,
): void {
  const lines = [...container.command, ...container.args];
  if (podSet.accelerators.length === 0 || lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
  const { statements, script, complete } = commandLineOf(container);
  if (!script || !complete) return;
  // A container that only waits is another rule's subject.
  const waits = findWaiting(processInput(container)) === undefined ? unreachedWork(statements) : undefined;
  const found = waits ?? unreachedClient(statements);
  if (found === undefined) return;
  const server = shorten(found.server, 40);
  report({
    message:
      found.first === 'wait'
        ? `${server} never ends, so ${shorten(found.client, 40)} after it never runs`
        : `${server} runs until the container ends, so ${found.client === found.server ? 'the second one' : shorten(found.client, 40)} never runs; run the server in the background (&)`,
    span: spanIn(container, found.words, document),
  });
}

/** A hook that waits, tries again, or ignores failures. */
const waits = /\b(?:sleep|until|while|for|wait|retry|timeout|curl|nc|true)\b|\|\||&\s*$/;

function serverOfOthers(
  container: Container,
  podSet: PodSet,
  document: YamlDocument,
): { readonly message: string; readonly span: Span } | undefined {
  const commands = commandsOf(container);
  const isStarted = commands.some(({ background, words }) => background || words.some(({ text }) => text === 'serve'));
  if (isStarted || hasSidecar(podSet)) return undefined;
  const [client] = clientsIn(container);
  if (client !== undefined && !namesServer(container)) {
    const message = `${client.text} needs a running server, and the init container ${container.name} has none: it fails`;
    return { message, span: spanIn(container, client.words, document) };
  }
  const isLoop = [...container.command, ...container.args].some(({ value }) => /\b(?:until|while)\b/.test(value));
  const own = isLoop ? localAddress(commands) : undefined;
  if (own === undefined) return undefined;
  const message = `The init container ${container.name} waits for ${own.address}, but the pod's containers start after it: the pod never starts`;
  return { message, span: spanIn(container, [own.word, own.word], document) };
}

/** An init container with the restart policy Always is one. */
function mayBeSidecar({ type, at }: Container): boolean {
  return type === 'sidecar' || (type === 'init' && isTemplated(getIn(at, 'restartPolicy')));
}

/** Read once per pod, because generated pods have thousands of init containers. */
function hasSidecar(podSet: PodSet): boolean {
  const known = sidecars.get(podSet) ?? podSet.containers.some(mayBeSidecar);
  sidecars.set(podSet, known);
  return known;
}

const sidecars = new WeakMap<PodSet, boolean>();

/** The first client in the script of a pod's only container, if all that runs before it certainly starts no server. */
function earlyClient(container: Container, podSet: PodSet): Client | undefined {
  const [first] = clientsIn(container);
  if (first === undefined) return undefined;
  const { at } = container;
  const isOther = (other: Container) => other !== container && (other.type !== 'init' || mayBeSidecar(other));
  const lists = [...['env', 'command', 'args'].map((key) => getIn(at, key)), at, at.parent];
  const isHidden = lists.some(isUnseen) || isUnseen(getIn(podSet.pod, 'initContainers'));
  if (isHidden || isTemplated(getIn(podSet.pod, 'hostNetwork')) || podSet.containers.some(isOther)) return undefined;
  if (namesServer(container)) return undefined;
  // The entrypoint of another image may start a server before its arguments.
  const isOwn = /(?:^|\/)ollama\/ollama$/.test(imageParts(container.image?.value ?? '').repository);
  if (container.command.length === 0 && !isOwn) return undefined;
  if (first.words === undefined) return first;
  let installs = false;
  const statements = statementsOf(container);
  for (const [at, statement] of statements.entries()) {
    const runsOnce = statement.kind === 'command' || statement.keyword === 'for' || statement.keyword === 'braces';
    const isTried = statements[at + 1]?.after === '||';
    for (const { words, background } of allCommands([statement])) {
      if (first.words[0] === words[0])
        return runsOnce && !background && !statement.background && !isTried ? first : undefined;
      const [program, ...operands] = words;
      if (program === undefined) continue;
      installs ||= operands.some(({ text }) => /install/.test(text));
      const name = baseName(program.text);
      const isInstaller = (name === 'sh' || name === 'bash') && installs;
      if (!isInstaller && !startsNothing.has(name)) return undefined;
    }
  }
  return undefined;
}

/** Programs that leave no server behind. */
const startsNothing = wordSet(
  'apk apt apt-get cd chmod chown cp curl date echo export git ln ls mkdir mv nvidia-smi pip pip3 printf rm set sleep touch true unset uv wget',
);

interface Client {
  readonly text: string;
  readonly words: readonly [Word, Word] | undefined;
}

/** Commands of Ollama that ask its server. */
const subcommands = wordSet('pull run create list ls cp show ps push');

function clientsIn(container: Container): readonly Client[] {
  const { image, command, args } = container;
  const { repository } = imageParts(image?.value ?? '');
  const [first] = args;
  // The entrypoint of the image is the program.
  if (command.length === 0 && baseName(repository) === 'ollama' && subcommands.has(first?.value ?? ''))
    return [{ text: `ollama ${first?.value ?? ''}`, words: undefined }];
  return commandsOf(container).flatMap(({ words, assignments }) => {
    const [program, task] = words;
    if (program === undefined || task === undefined || baseName(program.text) !== 'ollama') return [];
    if (!subcommands.has(task.text) || assignments.some(({ text }) => text.startsWith('OLLAMA_HOST='))) return [];
    return [{ text: `ollama ${task.text}`, words: [program, task] as const }];
  });
}

/** Whether the environment names a server, or may. */
function namesServer({ at, env, command, args }: Container): boolean {
  if (
    env.some((one) => one.name === 'OLLAMA_HOST' || isTemplated(getIn(one.at, 'name'))) ||
    getIn(at, 'envFrom') !== undefined
  )
    return true;
  return [...command, ...args].some(({ value }) => value.includes('OLLAMA_HOST'));
}

const askers: ReadonlySet<string> = new Set(['curl', 'wget', 'nc', 'wait-for-it', 'wait-for-it.sh']);

/** The address of a port on localhost that a command asks. A service mesh listens at ports from 15000. */
function localAddress(
  commands: readonly SimpleCommand[],
): { readonly address: string; readonly word: Word } | undefined {
  for (const { words } of commands) {
    if (!askers.has(baseName(words[0]?.text ?? ''))) continue;
    for (const word of words) {
      const found = /^(?:https?:\/\/)?((?:localhost|127\.0\.0\.1):(\d{2,5}))(?:\/|$)/.exec(word.text);
      if (found?.[1] !== undefined && !/^150\d\d$/.test(found[2] ?? '')) return { address: found[1], word };
    }
  }
  return undefined;
}

function commandsOf(container: Container): readonly SimpleCommand[] {
  return allCommands(statementsOf(container));
}

function statementsOf(container: Container): readonly Statement[] {
  return commandLineOf(container).statements;
}

/** The words, or the first item of the command line. */
function spanIn(
  { at, command, args }: Container,
  words: readonly [Word, Word] | undefined,
  document: YamlDocument,
): Span {
  const lines = [...command, ...args];
  const [first] = lines;
  return (words && spanOfWords(document, lines, words)) ?? spanOf(first?.at ?? at);
}

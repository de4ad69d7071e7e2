import { imageParts } from '../catalog/images.ts';
import { type FailureWait, findFailureWait } from '../command/failure-wait.ts';
import { baseName } from '../command/shell.ts';
import { findWaiting, type Waiting } from '../command/waiting.ts';
import { isShell } from '../command/wrappers.ts';
import { formatHourly, formatMonthly, plural } from '../cost/money.ts';
import { modelName } from '../cost/requested-words.ts';
import { claimedDevices } from '../evidence/claimed-devices.ts';
import { isDemo } from '../evidence/demo-image.ts';
import { isDriven } from '../evidence/mpi-tasks.ts';
import { probesOf } from '../evidence/probes.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asBoolean, asText, type Cursor, getIn, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { replacePart } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container holds an accelerator but only waits.
 *
 * ## Why
 *
 * A container holds its devices as long as it runs, whether it computes or not. A pod that sleeps "for debugging" blocks the GPU for
 * everyone else and costs as much as one that works. Run the command as a Job that ends, or remove the accelerator from the waiting pod.
 * After `serve || sleep infinity`, a server that has crashed is not restarted while its container holds the GPU.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: shell
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/cuda-tools:12.8
 *       command: ["sleep", "infinity"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: check
 * spec:
 *   restartPolicy: Never
 *   containers:
 *     - name: main
 *       image: registry.example/cuda-tools:12.8
 *       command: ["nvidia-smi"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the container ends after its work, and with it any shells that people have opened in it.
 *
 * ## When it is silent
 *
 * For init containers, lifecycle hooks, short sleeps, the workers of MPI (their launcher starts processes in them) and infrastructure. For
 * waits that keep a background server alive, or that follow a script in a container with ports or probes: the script may start a server. For
 * waits after a failure (`serve || sleep infinity`), if a condition may also lead to them or a liveness or startup probe restarts the
 * container.
 *
 * The finding is information only for shares of a GPU, for sleeps of one hour or more that end (unless they take a week, or follow other commands and
 * take a day), for pods with a deadline, for shells that wait for a terminal, and for plain images (`ubuntu`, `pause`), which are examples and
 * tests. In a file with several such examples, only the first one is reported.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  options: {
    hours: {
      default: 1,
      least: 1,
      description: 'Number of hours from which a repeated sleep counts as waiting indefinitely.',
    },
  },
  container(container, context) {
    const held = heldBy(container, context.podSet);
    if (held === undefined || container.type === 'init' || isDrivenRemotely(context)) return;
    const lines = [...container.command, ...container.args];
    if (lines.some(({ at: line }) => isTemplated(line)) || lines.some(({ at: line }) => isIncomplete(line.parent)))
      return;
    const waiting = findWaiting(processInput(container)) ?? failureWait(container, context) ?? pauses(container);
    if (waiting === undefined || !isEndless(waiting, context.workload, context.option('hours') * 3600)) return;
    if ('mayServe' in waiting && waiting.mayServe === true && isReached(container, context)) return;
    const span = 'words' in waiting ? spanOfWords(context.document, lines, waiting.words) : spanOf(waiting.at);
    if (span === undefined) return;
    const isStandIn = isDemo(container);
    // After a failure the container waits, which is not its usual state.
    const ends = waiting.seconds !== Number.POSITIVE_INFINITY && !outlastsWork(waiting);
    const restarts = context.workload.retries?.limit === Number.POSITIVE_INFINITY;
    const isOver = waiting.kind === 'after-failure' || (ends && !restarts);
    const hourly = isOver ? undefined : hourlyOf(container, context);
    const amount = hourly === undefined ? '' : `: ${formatHourly(hourly)}, ${formatMonthly(hourly)}`;
    context.report({
      // Others can use the rest of a shared GPU, and in most manifests a sleep of a day is a placeholder for work.
      severity: held.shares || ends || isStandIn || isShell(waiting.what) || hasDeadline(context) ? 'info' : 'warning',
      message: `${behavior(waiting, restarts)} but holds ${held.words}${amount}`,
      span,
      saving: hourly,
      oncePerFile: isStandIn,
      fixes: () => ['words' in waiting && !('shows' in waiting) ? removeWait(waiting, lines, context) : undefined],
    });
  },
});

/** Whether others reach the container, as they do a server. */
function isReached(container: Container, { workload }: PodSetContext): boolean {
  const probes = Object.values(probesOf(container, workload));
  return getIn(container.at, 'ports') !== undefined || probes.some((probe) => probe !== undefined);
}

/** The wait after a failure, without a probe by which the kubelet restarts the container. */
function failureWait(container: Container, { workload }: PodSetContext): FailureWait | undefined {
  const { liveness, startup } = probesOf(container, workload);
  return liveness === undefined && startup === undefined ? findFailureWait(processInput(container)) : undefined;
}

/** A container that waits without a command that says so. */
interface Pause extends Pick<Waiting, 'what' | 'kind' | 'seconds'> {
  readonly at: Cursor;
}

function pauses({ image, command, args, at }: Container): Pause | undefined {
  const waits = { kind: 'only-waits', seconds: Number.POSITIVE_INFINITY } as const;
  const [first, ...others] = [...command, ...args];
  const isOpen = ['stdin', 'tty'].every((field) => asBoolean(getIn(at, field)) === true);
  // A shell with a terminal waits for somebody to attach.
  if (isOpen && first !== undefined && others.length === 0 && isShell(baseName(first.value)))
    return { ...waits, what: baseName(first.value), at: first.at };
  if (image === undefined || first !== undefined || !/(?:^|\/)pause$/.test(imageParts(image.value).repository))
    return undefined;
  return { ...waits, what: 'pause', at: image.at };
}

/** Whether Kubernetes ends the pod at a set time. */
function hasDeadline({ workload, podSet }: PodSetContext): boolean {
  const places = [podSet.pod, getIn(workload.manifest.root, 'spec')];
  return places.some((place) => getIn(place, 'activeDeadlineSeconds') !== undefined);
}

/** Removes ` && sleep infinity` after the work, or ` || sleep infinity` after a failure. */
function removeWait(
  { before, words, kind }: Waiting,
  lines: Container['args'],
  { document }: PodSetContext,
): Fix | undefined {
  const [, last] = words;
  const item = lines[last.item];
  // The lines of a script that is a list are items of it.
  if (before === undefined || item?.at.node.kind !== 'scalar' || before.item !== last.item) return undefined;
  const cut = { ...last, start: before.end, end: last.end };
  const text = item.value.slice(cut.start, cut.end);
  const span = spanOfWords(document, lines, [cut, cut]);
  const title = kind === 'after-failure' ? 'Remove the wait after the program fails' : 'Remove the wait after the work';
  return span && fix(title, 'unsafe', replacePart(document, item.at, span, text, ''));
}

interface Held {
  readonly words: string;
  /** Whether none of them is a whole device. */
  readonly shares: boolean;
}

/** The accelerators that the container holds in all its pods; undefined if there are none or their number is unknown. */
function heldBy(container: Container, podSet: PodSet): Held | undefined {
  const requests = knownRequests(container);
  const { pods } = podSet;
  if (pods.max === 0) return undefined;
  if (requests.length === 0) return heldByClaim(container, podSet) ?? heldByField(container, podSet);
  const shares = requests.every(({ form }) => form !== 'whole' && form !== 'core');
  const words = shorten(requestWords(requests), 80);
  return { words: pods.min !== null && pods.min > 1 ? `${words} in each of ${pods.min} pods` : words, shares };
}

/** Devices that the container holds through a claim of its pod. */
function heldByClaim(container: Container, podSet: PodSet): Held | undefined {
  const devices = claimedDevices(container, podSet);
  const name = asText(getIn(devices[0]?.at, 'name'));
  if (name === undefined) return undefined;
  return { words: `the devices of its claim ${shorten(name)}`, shares: devices.every(({ form }) => form !== 'whole') };
}

/** Whole cards that a field of its kind gives the pod's only container. */
function heldByField(container: Container, { accelerators, containers }: PodSet): Held | undefined {
  const [cards, ...others] = accelerators;
  if (cards === undefined || others.length > 0 || containers.length !== 1 || containers[0] !== container)
    return undefined;
  const { requested, perPod, form, model } = cards;
  if (requested.kind !== 'field' || requested.system !== 'field' || form !== 'whole') return undefined;
  const name = model === null ? plural(perPod ?? 0, 'accelerator') : `${perPod} × ${modelName(model)}`;
  return perPod === null || perPod === 0 ? undefined : { words: name, shares: false };
}

/** The launcher of an MPIJob starts processes in workers that look idle. Infrastructure and definitions are excluded. */
function isDrivenRemotely({ workload, podSet }: PodSetContext): boolean {
  return isExempt(workload) || isDriven(podSet, workload);
}

/** A sleep that ends is endless in effect if it takes at least `longest` seconds and is all there is or always restarted, or several times as long. */
function isEndless(waiting: Pick<Waiting, 'kind' | 'seconds'>, workload: Workload, longest: number): boolean {
  if (waiting.seconds === Number.POSITIVE_INFINITY || outlastsWork(waiting)) return true;
  if (waiting.seconds >= longest && waiting.kind === 'only-waits') return true;
  if (waiting.seconds >= 4 * longest && waiting.kind === 'looks-first') return true;
  // In a pod that is always restarted, it is the pause between two runs.
  const restarts = workload.retries?.limit === Number.POSITIVE_INFINITY;
  return waiting.seconds >= longest && (waiting.kind === 'works-first' ? !restarts : restarts);
}

/** A sleep of a day or more after other commands, or of a week or more alone, keeps the pod for people to look at. */
function outlastsWork({ kind, seconds }: Pick<Waiting, 'kind' | 'seconds'>): boolean {
  return seconds >= (kind === 'only-waits' ? 7 : 1) * 86_400;
}

function behavior(
  waiting: Pick<Waiting, 'what' | 'kind' | 'seconds' | 'shows'> | FailureWait,
  restarts: boolean,
): string {
  const { what, kind, seconds } = waiting;
  const shown = shorten(what, 48);
  if ('shows' in waiting && waiting.shows === true)
    return `After its work, the container only shows results (${shown})`;
  if ('program' in waiting) return `If ${shorten(waiting.program, 20)} fails, the container only waits (${shown})`;
  if (kind === 'works-first') return `The container only waits after its work (${shown})`;
  if (restarts && seconds !== Number.POSITIVE_INFINITY && !outlastsWork({ kind, seconds }))
    return `The container only waits, then restarts (${shown}),`;
  return kind === 'looks-first'
    ? `The container only lists its devices and waits (${shown})`
    : `The container only waits (${shown})`;
}

const holdersOf = once(({ podSets }: Workload) =>
  podSets.flatMap(({ containers }) => containers.filter(requestsAccelerators)),
);

/** The hourly cost of the workload; undefined if other containers also hold accelerators. */
function hourlyOf(container: Container, { workload, costOf }: PodSetContext): number | undefined {
  const holders = holdersOf(workload);
  const hourly = costOf(workload).cost?.hourly.min;
  return holders.length === 1 && holders[0] === container && hourly !== undefined && hourly > 0 ? hourly : undefined;
}

import { findWaiting, type Waiting } from '../command/waiting.ts';
import { formatHourly, formatMonthly } from '../cost/money.ts';
import { isDemo } from '../evidence/demo-image.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container holds an accelerator but only waits.
 *
 * ## Why
 *
 * A device belongs to its container as long as the container runs, whether it computes or not. A pod that sleeps "for debugging" blocks the GPU
 * for everybody else and costs as much as one that works. Run the command as a Job that ends, or remove the accelerator from the waiting
 * pod.
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
 * ## When it is silent
 *
 * For init containers, lifecycle hooks, short sleeps, waits that keep a background server alive, the workers of an MPIJob (their launcher
 * starts processes in them) and infrastructure. For shares of a GPU, for long sleeps that end, and for examples whose image has no program for
 * a GPU (`ubuntu`, `busybox`, `agnhost`), the finding is information only; in a file with several such examples, the first one is reported.
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
      default: 24,
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
    const waiting = waitingOf(container);
    if (waiting === undefined || !isEndless(waiting, context.workload, context.option('hours') * 3600)) return;
    const span = spanOfWords(context.document, lines, waiting.words);
    if (span === undefined) return;
    const hourly = hourlyOf(container, context);
    const amount = hourly === undefined ? '' : `: ${formatHourly(hourly)}, ${formatMonthly(hourly)}`;
    const ends = waiting.seconds !== Number.POSITIVE_INFINITY;
    context.report({
      // Others can use the rest of a shared GPU, in most manifests a sleep of a day is a placeholder for work, and an example shows something else.
      severity: held.shares || ends || isDemo(container) ? 'info' : 'warning',
      message: `${behavior(waiting)} but holds ${held.words}${amount}`,
      span,
      saving: hourly,
      oncePerFile: isDemo(container),
    });
  },
});

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
  if (requests.length === 0) return heldByClaim(container, podSet);
  const shares = requests.every(({ form }) => form !== 'whole' && form !== 'core');
  const words = shorten(requestWords(requests), 80);
  return { words: pods.min !== null && pods.min > 1 ? `${words} in each of ${pods.min} pods` : words, shares };
}

/** Devices that the container holds through a claim of its pod. */
function heldByClaim({ resources }: Container, { pod, accelerators }: PodSet): Held | undefined {
  for (const claim of items(getIn(resources, 'claims'))) {
    const name = asText(getIn(claim, 'name'));
    const reference = items(getIn(pod, 'resourceClaims')).find((one) => asText(getIn(one, 'name')) === name);
    const devices = accelerators.filter((accelerator) => accelerator.at?.node === reference?.node);
    if (reference === undefined || name === undefined || devices.length === 0) continue;
    return {
      words: `the devices of its claim ${shorten(name)}`,
      shares: devices.every(({ form }) => form !== 'whole'),
    };
  }
  return undefined;
}

/** The launcher of an MPIJob starts processes in workers that look idle. Infrastructure and definitions are excluded. */
function isDrivenRemotely({ workload, podSet }: PodSetContext): boolean {
  return isExempt(workload) || (workload.kind === 'MPIJob' && podSet.name === 'Worker');
}

/** A sleep that ends is endless in effect if it takes at least `longest` seconds and is always restarted. */
function isEndless(waiting: Waiting, workload: Workload, longest: number): boolean {
  if (waiting.seconds === Number.POSITIVE_INFINITY) return true;
  return (
    waiting.seconds >= longest && waiting.kind !== 'works-first' && workload.retries?.limit === Number.POSITIVE_INFINITY
  );
}

function behavior({ what, kind, seconds }: Waiting): string {
  const shown = shorten(what, 48);
  if (kind === 'works-first') return `The container works, then only waits (${shown})`;
  if (seconds !== Number.POSITIVE_INFINITY) return `The container only waits, then restarts (${shown}),`;
  return kind === 'looks-first'
    ? `The container lists its devices, then only waits (${shown})`
    : `The container only waits (${shown})`;
}

function waitingOf({ command, args }: Container): Waiting | undefined {
  const words = (lines: Container['args']) => lines.map(({ value }) => value);
  return findWaiting(words(command), words(args));
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

import { findWaiting, type Waiting } from '../command/waiting.ts';
import { formatHourly, formatMonthly } from '../cost/format.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requests.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container holds an accelerator and only waits.
 *
 * ## Why
 *
 * A device belongs to its container as long as the container runs, whether it computes or not: a pod that sleeps "for debugging" keeps
 * the GPU from everybody else and is billed like one that works. Run the command by itself as a Job that ends, or take
 * the accelerator away from the pod that is only waited in.
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
 * For init containers, lifecycle hooks, sleeps that end, waits that keep a server in the background alive, the workers of an MPIJob (their
 * launcher starts processes in them) and infrastructure. It is advice for shares of a card, and for long sleeps that end.
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
    const held = holds(container, context.podSet);
    if (held === undefined || container.type === 'init' || isDrivenFromOutside(context)) return;
    const lines = [...container.command, ...container.args];
    if (lines.some(({ at: line }) => isTemplated(line)) || lines.some(({ at: line }) => isIncomplete(line.parent)))
      return;
    const waiting = findWaiting(
      container.command.map(({ value }) => value),
      container.args.map(({ value }) => value),
    );
    if (waiting === undefined || !lastsForEver(waiting, context.workload, context.option('hours') * 3600)) return;
    const span = spanOfWords(context.document, lines, waiting.words);
    if (span === undefined) return;
    const hourly = hourlyOf(container, context);
    const amount = hourly === undefined ? '' : `: ${formatHourly(hourly)}, ${formatMonthly(hourly)}`;
    const ends = waiting.seconds !== Number.POSITIVE_INFINITY;
    context.report({
      // Others use the rest of a card that is shared, and a sleep of a day stands for work in most manifests that have one.
      severity: held.shares || ends ? 'info' : 'warning',
      message: `${says(waiting)} while it holds ${held.words}${amount}`,
      span,
      saving: hourly,
    });
  },
});

interface Held {
  readonly words: string;
  /** No whole device among them. */
  readonly shares: boolean;
}

/** The accelerators that the container holds in all its pods; undefined when it holds none, or none that is known. */
function holds(container: Container, podSet: PodSet): Held | undefined {
  const requests = knownRequests(container);
  const { pods } = podSet;
  if (pods.max === 0) return undefined;
  if (requests.length === 0) return claims(container, podSet);
  const shares = requests.every(({ form }) => form !== 'whole' && form !== 'core');
  const words = requestWords(requests);
  return { words: pods.min !== null && pods.min > 1 ? `${words} in each of ${pods.min} pods` : words, shares };
}

/** Devices that the container holds by a claim of its pod. */
function claims({ resources }: Container, { pod, accelerators }: PodSet): Held | undefined {
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

/** The launcher of an MPIJob starts the work in pods that look idle; infrastructure and definitions are not judged. */
function isDrivenFromOutside({ workload, podSet }: PodSetContext): boolean {
  return isExempt(workload) || (workload.kind === 'MPIJob' && podSet.name === 'Worker');
}

/** A bounded sleep ends; where it is started again and again it is as good as none when it takes so many seconds. */
function lastsForEver(waiting: Waiting, workload: Workload, longest: number): boolean {
  if (waiting.seconds === Number.POSITIVE_INFINITY) return true;
  return (
    waiting.seconds >= longest && waiting.kind !== 'works-first' && workload.retries?.limit === Number.POSITIVE_INFINITY
  );
}

function says({ what, kind, seconds }: Waiting): string {
  const shown = shorten(what, 48);
  if (kind === 'works-first') return `Works and then waits for ever (${shown})`;
  if (seconds !== Number.POSITIVE_INFINITY) return `Only waits, again and again (${shown}),`;
  return kind === 'looks-first' ? `Lists its devices and then waits for ever (${shown})` : `Only waits (${shown})`;
}

const holdersOf = once(({ podSets }: Workload) =>
  podSets.flatMap(({ containers }) => containers.filter(requestsAccelerators)),
);

/** What the workload costs an hour, where this container is all that holds accelerators in it. */
function hourlyOf(container: Container, { workload, costOf }: PodSetContext): number | undefined {
  const holders = holdersOf(workload);
  const hourly = costOf(workload).cost?.hourly.min;
  return holders.length === 1 && holders[0] === container && hourly !== undefined && hourly > 0 ? hourly : undefined;
}

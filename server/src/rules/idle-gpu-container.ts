import { findWaiting, type Waiting } from '../command/waiting.ts';
import { formatHourly, formatMonthly, formatNumber } from '../cost/format.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { isOpen, isTemplated } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';
import { spanOfWords } from './word-span.ts';

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
 * launcher starts processes in them) and infrastructure.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const held = holds(container, context.podSet);
    if (held === undefined || container.type === 'init' || isDrivenFromOutside(context)) return;
    const lines = [...container.command, ...container.args];
    if (lines.some(({ at }) => isTemplated(at)) || lines.some(({ at }) => isOpen(at.parent))) return;
    const waiting = findWaiting(
      container.command.map(({ value }) => value),
      container.args.map(({ value }) => value),
    );
    if (waiting === undefined || !lastsForEver(waiting, context.workload)) return;
    const span = spanOfWords(context.document, lines, waiting.words);
    if (span === undefined) return;
    const hourly = hourlyOf(container, context);
    const amount = hourly === undefined ? '' : `: ${formatHourly(hourly)}, ${formatMonthly(hourly)}`;
    context.report({
      message: `${says(waiting)} while it holds ${held}${amount}`,
      span,
      saving: hourly,
    });
  },
});

/** The accelerators that the container holds in all its pods, in words; undefined when it holds none, or none that is known. */
function holds({ accelerators }: Container, { pods }: PodSet): string | undefined {
  const held = accelerators.filter(({ count }) => count !== null && count > 0);
  if (held.length === 0 || pods.max === 0) return undefined;
  const resources = held.map(({ count, resource }) => `${formatNumber(count ?? 0)} ${resource}`).join(' and ');
  return pods.min !== null && pods.min > 1 ? `${resources} in each of ${pods.min} pods` : resources;
}

/** The launcher of an MPIJob starts the work in pods that look idle; infrastructure and definitions are not judged. */
function isDrivenFromOutside({ workload, podSet }: PodSetContext): boolean {
  if (workload.role === 'infrastructure' || workload.role === 'definition') return true;
  return workload.kind === 'MPIJob' && podSet.name === 'Worker';
}

/** A bounded sleep ends; where it is started again and again it is as good as none when it takes a day or more. */
function lastsForEver(waiting: Waiting, workload: Workload): boolean {
  if (waiting.seconds === Number.POSITIVE_INFINITY) return true;
  return (
    waiting.seconds >= 86_400 && waiting.kind === 'only-waits' && workload.retries?.limit === Number.POSITIVE_INFINITY
  );
}

function says({ what, kind, seconds }: Waiting): string {
  const shown = what.length > 48 ? `${what.slice(0, 47)}…` : what;
  if (kind === 'works-first') return `Works and then waits for ever (${shown})`;
  return seconds === Number.POSITIVE_INFINITY ? `Only waits (${shown})` : `Only waits, again and again (${shown}),`;
}

/** What the workload costs an hour, where this container is all that holds accelerators in it. */
function hourlyOf(container: Container, { workload, costOf }: PodSetContext): number | undefined {
  const isHolder = (other: Container) => other.accelerators.some(({ count }) => count !== 0);
  const holders = workload.podSets.flatMap(({ containers }: PodSet) => containers.filter(isHolder));
  const hourly = costOf(workload).cost?.hourly.min;
  return holders.length === 1 && holders[0] === container && hourly !== undefined && hourly > 0 ? hourly : undefined;
}

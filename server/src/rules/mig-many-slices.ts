import { findSharding } from '../command/parallelism.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { formatNumber } from '../cost/format.ts';
import { processInput } from '../evidence/processes.ts';
import { isExempt, knownRequests } from '../evidence/requests.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container asks for several MIG slices, or splits a model over them.
 *
 * ## Why
 *
 * CUDA uses one MIG device for each process, and slices have no link between them: a process with three slices computes on the first and
 * pays for the others. A server that is told to split its model over slices (tensor or pipeline parallelism) does not start. Take one
 * larger slice, or a whole GPU.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       command: [vllm, serve, /models/embed]
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.10gb: 3
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       command: [vllm, serve, /models/embed]
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.10gb: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a program that starts a process for each slice would have work for all of them.
 *
 * ## When it is silent
 *
 * Where several processes are evident (a launcher, a script that sets CUDA_VISIBLE_DEVICES), and where it is not known what runs: then a
 * count above one is advice, as it is in notebooks.
 *
 * ## Sources
 *
 * - [NVIDIA: MIG user guide, CUDA concurrency](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/)
 * - [NVIDIA/k8s-device-plugin#728](https://github.com/NVIDIA/k8s-device-plugin/issues/728)
 */
export default defineRule({
  topic: 'mig',
  severity: 'warning',
  container(container, context) {
    if (container.type === 'init' || isExempt(context.workload)) return;
    const [only, ...others] = knownRequests(container);
    if (only?.form !== 'mig' || others.length > 0) return;
    const [quantity] = writtenQuantities(only);
    const sharding = findSharding(processInput(container));
    if (quantity === undefined) return;
    if (sharding !== undefined && sharding.tensor > 1) {
      context.report({
        severity: 'error',
        message: `${shorten(sharding.text)} over MIG slices, which have no link between them: the server does not start`,
        span: spanOf(quantity.at),
      });
      return;
    }
    if (only.count === null || only.count < 2 || dealsOut(container)) return;
    // People in a notebook may start a process for each.
    const runs = (container.command.length > 0 || container.args.length > 0) && context.workload.role !== 'interactive';
    context.report({
      severity: runs ? 'warning' : 'info',
      message: `${formatNumber(only.count)} slices ${only.resource}: one process computes on one MIG slice and leaves the others idle`,
      span: spanOf(quantity.at),
      fixes: () => [oneSlice(only, context)],
    });
  },
});

/** A launcher, or a script that gives each process its slice. */
function dealsOut(container: Container): boolean {
  const { env, command, args } = container;
  const lines = [...command, ...args].map(({ value }) => value);
  const masks = [...env.map(({ name }) => name), ...lines].some((text) => /VISIBLE_DEVICES/.test(text));
  const launches = findLocalProcesses(processInput(container)).some(({ kind }) => kind === 'launch');
  return masks || launches || lines.some((line) => /&\s*(\n|$)|\bxargs -P|\bparallel\b|nvidia-smi/.test(line));
}

function oneSlice(request: ReturnType<typeof knownRequests>[number], { document }: PodSetContext) {
  return fix('Ask for one slice', 'unsafe', replaceQuantities(document, writtenQuantities(request), 1));
}

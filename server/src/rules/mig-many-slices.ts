import { meaningOf } from '../command/flag-meaning.ts';
import { wordsOf } from '../command/name-words.ts';
import { findSharding } from '../command/parallelism.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { formatNumber } from '../cost/money.ts';
import { processInput } from '../evidence/launch.ts';
import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { selectedSlice } from '../model/shares.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { asText, type Cursor, entries, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container requests several MIG slices, or splits a model across them.
 *
 * ## Why
 *
 * A CUDA process uses only one MIG device, and slices have no interconnect: a process with three slices computes on the first and
 * leaves the others idle. A server that splits its model across slices (tensor or pipeline parallelism) does not start. Request one larger
 * slice or a whole GPU.
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
 * Unsafe: a program that starts one process per slice would use all of them.
 *
 * ## When it is silent
 *
 * If several processes are evident (a launcher, a script that sets CUDA_VISIBLE_DEVICES). The severity is info if the program is unknown,
 * and in notebooks. For slices that a field of a custom resource requests, it is info, and warning if another field splits the model over them.
 *
 * ## Sources
 *
 * - [NVIDIA: MIG user guide, CUDA concurrency](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/)
 * - [NVIDIA/k8s-device-plugin#728](https://github.com/NVIDIA/k8s-device-plugin/issues/728)
 */
export default defineRule({
  topic: 'mig',
  severity: 'warning',
  podSet({ accelerators, containers }, { workload, report }) {
    const [only, ...others] = accelerators;
    if (
      !workload.byShape ||
      workload.podSets.length > 1 ||
      isExempt(workload) ||
      only?.form !== 'mig' ||
      others.length > 0
    )
      return;
    const { at, perPod, requested } = only;
    if (at === undefined || perPod === null || perPod < 2 || containers.some(namesAccelerators)) return;
    const tensor = tensorParallel(workload.manifest.root, 0);
    if (tensor === undefined && countsProcesses(workload.manifest.root, 0)) return;
    // Any program may run there.
    report({
      severity: tensor === undefined ? 'info' : 'warning',
      message:
        tensor === undefined
          ? `A process uses only one MIG slice: ${formatNumber(perPod - 1)} of the ${formatNumber(perPod)} ${requested.name} ${perPod === 2 ? 'stays' : 'stay'} idle`
          : `${shorten(keyOf(tensor), 40)} ${asText(tensor)} splits the model across MIG slices, which have no interconnect: the server does not start`,
      span: spanOf(at),
    });
  },
  container(container, context) {
    if (container.type === 'init' || isExempt(context.workload)) return;
    const [only, ...others] = knownRequests(container);
    // Nodes may offer slices by the name of whole devices.
    const isSlice =
      only?.form === 'mig' || (only?.resource === 'nvidia.com/gpu' && selectedSlice(context.podSet.selectors));
    if (only === undefined || !isSlice || others.length > 0) return;
    const [quantity] = writtenQuantities(only);
    const sharding = findSharding(processInput(container));
    if (quantity === undefined) return;
    if (sharding !== undefined && sharding.tensor > 1) {
      context.report({
        severity: 'error',
        message: `${shorten(sharding.text)} splits the model across MIG slices, which have no interconnect: the server does not start`,
        span: spanOf(quantity.at),
      });
      return;
    }
    if (only.count === null || only.count < 2 || dividesSlices(container)) return;
    // In a notebook, people may start one process per slice.
    const runs = (container.command.length > 0 || container.args.length > 0) && context.workload.role !== 'interactive';
    context.report({
      severity: runs ? 'warning' : 'info',
      message: `A process uses only one MIG slice: ${formatNumber(only.count - 1)} of the ${formatNumber(only.count)} ${only.resource} ${only.count === 2 ? 'stays' : 'stay'} idle`,
      span: spanOf(quantity.at),
      fixes: () => [oneSlice(only, context)],
    });
  },
});

/** Whether a field starts several processes or workers, one of which may use each slice. */
function countsProcesses(above: Cursor, depth: number): boolean {
  if (depth > 5) return false;
  return entries(above).some((entry) => {
    const isSeveral = entry.node.kind === 'scalar' && Number(asText(entry)) > 1;
    return (isSeveral && /worker|proc(?:ess)?e?s/i.test(keyOf(entry))) || countsProcesses(entry, depth + 1);
  });
}

/** A field of a custom resource that splits a model over devices: `tensorParallelSize: 2`. */
function tensorParallel(above: Cursor, depth: number): Cursor | undefined {
  if (depth > 5) return undefined;
  for (const entry of entries(above)) {
    const name = wordsOf(keyOf(entry)).join('-').replace('parallelism', 'parallel');
    const isSize = entry.node.kind === 'scalar' && Number(asText(entry)) > 1;
    const found = isSize
      ? meaningOf({ name, written: name }, 'tensor-parallel', 'vllm') && entry
      : tensorParallel(entry, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a launcher starts several processes, or a script assigns each process its slice. */
function dividesSlices(container: Container): boolean {
  const { env, command, args } = container;
  const lines = [...command, ...args].map(({ value }) => value);
  // A list with one number leaves all others idle.
  const lists = env.filter(({ value }) => !/^\s*\d{1,2}\s*$/.test(value?.value ?? ''));
  const masks = [...lists.map(({ name }) => name), ...lines].some((text) => /VISIBLE_DEVICES/.test(text));
  const launches = findLocalProcesses(processInput(container)).some(({ kind }) => kind === 'launch');
  return masks || launches || lines.some((line) => /&\s*(\n|$)|\bxargs -P|\bparallel\b|nvidia-smi/.test(line));
}

function oneSlice(request: AcceleratorRequest, { document }: PodSetContext) {
  return fix(`Set ${request.resource} to 1`, 'unsafe', replaceQuantities(document, writtenQuantities(request), 1));
}

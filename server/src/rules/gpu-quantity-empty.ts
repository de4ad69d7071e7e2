import { findLocalProcesses } from '../command/processes.ts';
import { processInput } from '../evidence/processes.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { isIncomplete, keySpanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The count of an accelerator is empty.
 *
 * ## Why
 *
 * The API server drops a resource whose value is null: the pod is accepted, starts, and has no GPU.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu:
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: nobody said how many, and a GPU costs money.
 *
 * ## When it is silent
 *
 * In patches, where null takes a key away, and in definitions. A request that names a count beside an empty limit is gpu-limits-required's.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const { accelerators, resources } = container;
    if (context.workload.partial || context.workload.role === 'definition' || isIncomplete(resources)) return;
    for (const accelerator of accelerators) {
      const written = writtenQuantities(accelerator);
      const [first] = written;
      if (first === undefined || !written.every(({ empty }) => empty)) continue;
      context.report({
        message: `${accelerator.resource} has no value: the API server drops it, and the pod starts without one`,
        span: keySpanOf(first.at),
        fixes: () => [askFor(countToldBy(container, accelerator), accelerator, context)],
      });
    }
  },
});

/** As many as the launcher starts processes, or the server splits its model over; otherwise one. */
function countToldBy(container: Container, { resource, form }: AcceleratorRequest): number {
  const told = form === 'whole' && /^(?:nvidia|amd)\.com\/gpu$/.test(resource);
  const counts = told ? findLocalProcesses(processInput(container)).map(({ count }) => count) : [];
  const [count] = counts.filter((one) => typeof one === 'number' && Number.isInteger(one) && one > 1 && one <= 16);
  return typeof count === 'number' ? count : 1;
}

function askFor(count: number, accelerator: AcceleratorRequest, { document }: PodSetContext): Fix | undefined {
  const { resource, limit, form } = accelerator;
  // A request alone would be refused; a count of memory or percent is not ours to guess.
  if (limit === undefined || form === 'memory' || form === 'percent') return undefined;
  const edits = replaceQuantities(document, writtenQuantities(accelerator), count);
  return fix(`Ask for ${count} ${resource}`, 'unsafe', edits);
}

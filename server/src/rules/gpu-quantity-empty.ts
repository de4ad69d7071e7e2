import type { AcceleratorRequest } from '../model/workload.ts';
import { isOpen, keySpanOf } from '../yaml/cursor.ts';
import { replaceQuantities, writtenQuantities } from './quantity-edits.ts';
import { defineRule, type Fix, type PodSetContext } from './rule.ts';

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
  container({ accelerators, resources }, context) {
    if (context.workload.partial || context.workload.role === 'definition' || isOpen(resources)) return;
    for (const accelerator of accelerators) {
      const written = writtenQuantities(accelerator);
      const [first] = written;
      if (first === undefined || !written.every(({ empty }) => empty)) continue;
      context.report({
        message: `${accelerator.resource} has no value: the API server drops it, and the pod starts without one`,
        span: keySpanOf(first.at),
        fixes: () => [one(accelerator, context)],
      });
    }
  },
});

function one(accelerator: AcceleratorRequest, { document }: PodSetContext): Fix | undefined {
  const { resource, limit, form } = accelerator;
  // A request alone would be refused; a count of memory or percent is not ours to guess.
  if (limit === undefined || form === 'memory' || form === 'percent') return undefined;
  const edits = replaceQuantities(document, writtenQuantities(accelerator), 1);
  return edits && { title: `Ask for 1 ${resource}`, safe: false, edits };
}

import { findLocalProcesses } from '../command/processes.ts';
import { processInput } from '../evidence/launch.ts';
import { lacksLimitOf } from '../evidence/missing-limit.ts';
import { topicOfRequest } from '../evidence/requested-accelerators.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { isIncomplete, isNull, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * An accelerator request has no count.
 *
 * ## Why
 *
 * The API server stores a limit without a value as 0: the pod is accepted and starts without a GPU. It rejects an empty string (`""`), and a
 * request without a value if there is no limit.
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
 * Unsafe: the intended number is unknown, and GPUs cost money.
 *
 * ## When it is silent
 *
 * In patches, where null removes a key, and in definitions. If the request has a count but the limit is empty, gpu-limits-required reports it.
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
      reportUnset(accelerator, context);
      const [first] = written;
      if (first === undefined || !written.every(({ empty }) => empty)) continue;
      const isRejected =
        written.some(({ at }) => !isNull(at)) ||
        (accelerator.limit === undefined && lacksLimitOf(accelerator.resource, container, context));
      context.report({
        message: isRejected
          ? `${accelerator.resource} has no value: the API server rejects the pod`
          : `${accelerator.resource} has no value, which counts as 0: the container starts without it`,
        span: keySpanOf(first.at),
        topic: topicOfRequest(accelerator.resource),
        severity: isRejected ? 'error' : 'warning',
        fixes: () => [setCount(intendedCount(container, accelerator), accelerator, context)],
      });
    }
  },
});

/** Reports a count that a template takes from a value that its chart does not have. */
function reportUnset(accelerator: AcceleratorRequest, { document, report }: PodSetContext): void {
  const { missing = [] } = document;
  for (const { at } of missing.length === 0 ? [] : writtenQuantities(accelerator)) {
    const { start, end } = spanOf(at);
    const unset = missing.find(({ span, printsNothing }) => printsNothing && span.start >= start && span.end <= end);
    if (unset === undefined) continue;
    report({
      severity: 'info',
      message: `The chart's values have no ${shorten(unset.path, 30)}, so ${shorten(accelerator.resource, 30)} is empty unless a release sets it: the container starts without it`,
      span: spanOf(at),
    });
    return;
  }
}

/** The number of processes that the launcher starts, or of devices over which the server splits its model; otherwise 1. */
function intendedCount(container: Container, { resource, form }: AcceleratorRequest): number {
  const isGpu = form === 'whole' && /^(?:nvidia|amd)\.com\/gpu$/.test(resource);
  const counts = isGpu ? findLocalProcesses(processInput(container)).map(({ count }) => count) : [];
  const [count] = counts.filter((one) => typeof one === 'number' && Number.isInteger(one) && one > 1 && one <= 16);
  return typeof count === 'number' ? count : 1;
}

function setCount(count: number, accelerator: AcceleratorRequest, { document }: PodSetContext): Fix | undefined {
  const { resource, limit, form } = accelerator;
  // A request without a limit would be rejected. Amounts of memory and percentages cannot be guessed.
  if (limit === undefined || form === 'memory' || form === 'percent') return undefined;
  const edits = replaceQuantities(document, writtenQuantities(accelerator), count);
  return fix(`Set ${resource} to ${count}`, 'unsafe', edits);
}

import { doesNothing } from '../command/waiting.ts';
import { plural } from '../cost/money.ts';
import { cpuStepOf } from '../evidence/cpu-steps.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { processInput } from '../model/process-input.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { getIn, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A container has far fewer CPU cores than accelerators.
 *
 * ## Why
 *
 * Each accelerator needs a CPU core to feed it: for the process that launches kernels, for reading input, and for communication with other
 * devices. A CPU limit far below one core per device slows down all of them, and the most expensive part of the node waits. Most nodes with
 * accelerators have many cores per device.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           cpu: 1
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           cpu: 64
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * Without a CPU limit, with half a core or more per device (a quarter for a single device), for shares of a GPU, for commands that only print,
 * list devices or wait, and for steps that need only the CPU (see cpu-step-holds-gpu).
 *
 * ## Sources
 *
 * - [Kubernetes: CPU limits are hard](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    if (container.type === 'init' || isExempt(context.workload)) return;
    const limit = getIn(container.resources, 'limits', 'cpu');
    const cores = limit && lowerQuantity(limit).value;
    if (limit === undefined || cores === undefined || cores === null || cores <= 0) return;
    const requests = knownRequests(container);
    const [only, ...others] = requests;
    const devices = only?.form === 'whole' && others.length === 0 ? (only.count ?? 0) : 0;
    if (devices < 1 || cores * (devices === 1 ? 4 : 2) >= devices) return;
    if (doesNothing(processInput(container)) || cpuStepOf(container) !== undefined) return;
    context.report({
      message: `A limit of ${plural(cores, 'CPU core')} starves ${requestWords(requests)}: the devices wait for the CPU to feed them`,
      span: spanOf(limit),
    });
  },
});

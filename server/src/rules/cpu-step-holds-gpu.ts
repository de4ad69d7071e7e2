import { knownAccelerator } from '../catalog/index.ts';
import { findWaiting } from '../command/waiting.ts';
import { formatHourly, formatMonthly } from '../cost/money.ts';
import { cpuStepByName, cpuStepOf } from '../evidence/cpu-steps.ts';
import { isExempt, requestSpan, requestWords } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { processInput } from '../model/process-input.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { removeRequests } from '../rewrite/remove-requests.ts';
import { type Cursor, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A step that needs only the CPU holds an accelerator.
 *
 * ## Why
 *
 * Downloading a model, unpacking or tokenizing a data set, uploading a checkpoint or showing TensorBoard uses the network and the CPU. The
 * accelerators that such a step requests for minutes to hours are idle as long as it runs, and the step queues for nodes that it does not need.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: prepare
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/tools:1.4
 *           command: [python, tokenize_dataset.py, --out, /data/tokens]
 *           resources:
 *             limits:
 *               cpu: 16
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: prepare
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/tools:1.4
 *           command: [python, tokenize_dataset.py, --out, /data/tokens]
 *           resources:
 *             limits:
 *               cpu: 16
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the program may look for a GPU, and the pod may land on other nodes.
 *
 * ## When it is silent
 *
 * If the same command line also trains, serves or runs anything unknown; if it mentions devices or their number formats; and for init
 * containers (see launcher-gpu) and containers that then wait (see idle-gpu-container). Conversions and merges of checkpoints may use a GPU, so for them the finding is information only, as it is for
 * Jobs whose names alone say what they do: at least two of the names of the job, the container and the image, and nothing to the contrary.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  container(container, context) {
    const { workload, podSet, document } = context;
    const requests = heldRequests(container);
    if (requests.length === 0 || container.type !== 'app' || isExempt(workload) || podSet.pods.max === 0) return;
    const lines = [...container.command, ...container.args];
    // A template that fills in the program may run anything; one that fills in its arguments does not change what it is.
    if (lines.slice(0, 2).some(({ at }) => isTemplated(at)) || isIncomplete(container.resources)) return;
    if (document.template && lines.some(({ at }) => runsTemplate.test(textOf(at, document)))) return;
    // idle-gpu-container reports a container that is prepared for people, who may use the device.
    if (findWaiting(processInput(container)) !== undefined) return;
    const known = cpuStepOf(container);
    // A pipeline has the role of its training, if any.
    const mayBeStep = workload.role === 'batch' || /^(?:argoproj\.io|tekton\.dev)$/.test(groupOf(workload.apiVersion));
    const step = known ?? (mayBeStep ? cpuStepByName(container, podSet, workload) : undefined);
    if (step === undefined) return;
    const words = step.by.join(known === undefined ? ', ' : ' ');
    const name = shorten(words.slice(0, 200).replace(/\s+/g, ' '), 40);
    const single = workload.podSets.flatMap(({ containers }) => containers.filter(requestsAccelerators)).length === 1;
    const hourly = single ? context.costOf(workload).cost?.hourly.min : undefined;
    const amount = hourly === undefined || hourly === 0 ? '' : `: ${formatHourly(hourly)}, ${formatMonthly(hourly)}`;
    context.report({
      // PyTorch uses Neuron devices only through programs compiled for them.
      severity:
        step.maybe && (known === undefined || !requests.every(({ resource }) => isNeuron(resource)))
          ? 'info'
          : 'warning',
      message: `The container ${known === undefined ? 'likely ' : ''}only ${step.task} (${name}) but holds ${shorten(requestWords(requests), 40)}${amount}`,
      span: requestSpan(requests, container),
      saving: hourly,
      fixes: () => [removeRequests(document, requests, 'Remove the accelerator request')],
    });
  },
});

/** A template in the place of a command of a script. */
const runsTemplate = /(?:^|[\n;&|(])[ \t\r]*(?:["'][ \t\r]*)?(?:\{\{|<%|\{%)/;

/** The text of a value with the line that follows: the span of a block ends before a template on its last lines. */
function textOf(at: Cursor, { text }: YamlDocument): string {
  const { start, end } = spanOf(at);
  const [, next = ''] = text.slice(end, end + 200).split('\n');
  return `${text.slice(start, end)}\n${next}`;
}

/** The requests of a container that are not 0; a template fills in a number only to request something. */
function heldRequests(container: Container): readonly AcceleratorRequest[] {
  return container.accelerators.filter(
    ({ count, limit, request }) => (count ?? 0) > 0 || (limit ?? request)?.templated === true,
  );
}

function isNeuron(resource: string): boolean {
  return knownAccelerator(resource)?.vendor === 'aws';
}

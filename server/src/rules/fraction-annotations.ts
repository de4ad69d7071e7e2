import { knownRequests, requestWords } from '../evidence/requests.ts';
import { lookUp } from '../model/manifest.ts';
import { parseQuantity } from '../model/quantity.ts';
import type { PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, getIn, isTemplated, keyOf, keySpanOf, type Located, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A share of a GPU by annotation, in a form that KAI and Run:ai refuse.
 *
 * ## Why
 *
 * KAI and Run:ai take `gpu-fraction` between 0 and 1 and `gpu-memory` as a whole number of MiB, one of the two, and not beside a request for
 * whole GPUs. They refuse a pod that says it otherwise.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 *   annotations:
 *     gpu-memory: 8000Mi
 * spec:
 *   schedulerName: kai-scheduler
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 *   annotations:
 *     gpu-memory: "8000"
 * spec:
 *   schedulerName: kai-scheduler
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the pod was refused before, and holds that much of a card then.
 *
 * ## When it is silent
 *
 * Where neither schedulerName nor a label of a queue says that KAI or Run:ai schedules the pod: others may use these words.
 *
 * ## Sources
 *
 * - [KAI scheduler: GPU sharing](https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md)
 * - [NVIDIA/KAI-Scheduler#257](https://github.com/NVIDIA/KAI-Scheduler/issues/257)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'error',
  podSet(podSet, context) {
    if (!isScheduled(podSet)) return;
    const fraction = lookUp(podSet.annotations, 'gpu-fraction');
    const memory = lookUp(podSet.annotations, 'gpu-memory');
    if (fraction !== undefined) checkFraction(fraction, context);
    if (memory !== undefined) checkMemory(memory, context);
    const said = fraction ?? memory;
    if (said === undefined) return;
    if (fraction !== undefined && memory !== undefined) {
      context.report({
        message: 'gpu-memory beside gpu-fraction: KAI takes one of the two, and refuses the pod',
        span: keySpanOf(memory.at),
      });
    }
    const whole = wholeOf(podSet);
    if (whole === undefined) return;
    context.report({
      message: `${String(said.at.step)} beside ${whole}: KAI takes a share or whole GPUs, and refuses the pod`,
      span: keySpanOf(said.at),
    });
  },
});

function checkFraction(fraction: Located<string>, { report }: PodSetContext): void {
  // KAI reads a number of Go here, and no quantity: 500m is none.
  const value = Number(fraction.value);
  if (isTemplated(fraction.at) || fraction.value === '' || (value > 0 && value < 1)) return;
  report({
    message: `gpu-fraction ${shorten(fraction.value, 20)} is not between 0 and 1: KAI refuses the pod`,
    span: spanOf(fraction.at),
  });
}

/** MiB, without a unit. */
function checkMemory(memory: Located<string>, { document, report }: PodSetContext): void {
  if (isTemplated(memory.at) || memory.value === '' || /^0*[1-9]\d*$/.test(memory.value)) return;
  const bytes = parseQuantity(memory.value);
  const mebibytes = bytes === null || bytes < 2 ** 20 ? null : Math.round(bytes / 2 ** 20);
  report({
    message: `gpu-memory ${shorten(memory.value, 20)} is no whole number of MiB without a unit: KAI refuses the pod`,
    span: spanOf(memory.at),
    fixes: () => {
      if (mebibytes === null) return [];
      const edits = replaceScalar(document, memory.at, String(mebibytes));
      return [fix(`Write it in MiB: ${mebibytes}`, 'unsafe', edits)];
    },
  });
}

function isScheduled({ pod, labels }: PodSet): boolean {
  const scheduler = asText(getIn(pod, 'schedulerName')) ?? '';
  return /^(?:kai|runai)-scheduler/.test(scheduler) || labels.some(({ at: one }) => queues.has(keyOf(one)));
}

const queues: ReadonlySet<string> = new Set(['kai.scheduler/queue', 'runai/queue']);

function wholeOf({ containers }: PodSet): string | undefined {
  const whole = containers.flatMap(knownRequests).filter(({ resource }) => resource === 'nvidia.com/gpu');
  return whole.length === 0 ? undefined : requestWords(whole);
}

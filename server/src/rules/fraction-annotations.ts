import { isScheduledByKai } from '../evidence/kai.ts';
import { knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { unreadAnnotations } from '../evidence/unread-annotations.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import { parseQuantity } from '../model/quantity.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, keyOf, keySpanOf, type Located, spanOf } from '../yaml/cursor.ts';
import { insertKey, renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A pod requests a GPU share in a form that KAI and Run:ai reject, without the scheduler that gives the share, without its memory, or in an annotation that nothing reads.
 *
 * ## Why
 *
 * KAI and Run:ai accept either `gpu-fraction` between 0 and 1 or `gpu-memory` as a whole number of MiB, and neither together with a request
 * for whole GPUs. They reject all other pods. Volcano's vGPUs are assigned by its scheduler: under another one, the device plugin finds no
 * assignment, and the container does not start. HAMi and Volcano give a container all of a GPU's memory if it requests only a part of the cores. Labels such as `nvidia.com/gpu.sharing-strategy` describe nodes: as annotations of a pod, they share
 * nothing.
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
 * Unsafe: the pod was rejected or got no GPU before, and now takes that share of a GPU.
 *
 * ## When it is silent
 *
 * If neither schedulerName nor a queue label shows that KAI or Run:ai schedules the pod: other tools may use the same annotations. A
 * `gpu-fraction` next to whole GPUs is a mistake in any case. For vGPUs in kinds of operators, which may set the scheduler.
 *
 * ## Sources
 *
 * - [KAI scheduler: GPU sharing](https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md)
 * - [Volcano: GPU virtualization](https://volcano.sh/en/docs/gpu_virtualization/)
 * - [NVIDIA/KAI-Scheduler#257](https://github.com/NVIDIA/KAI-Scheduler/issues/257)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'error',
  podSet(podSet, context) {
    checkVgpus(podSet, context);
    for (const container of podSet.containers) checkCores(container, context);
    const fraction = lookUp(podSet.annotations, 'gpu-fraction');
    if (!isScheduledByKai(podSet)) {
      checkUnread(podSet, context);
      const whole = fraction === undefined || context.workload.partial ? undefined : wholeGpuRequest(podSet);
      if (fraction === undefined || whole === undefined) return;
      context.report({
        severity: 'warning',
        message: `gpu-fraction has no effect next to ${whole}: KAI and Run:ai reject such a pod, and other schedulers give it the whole GPU`,
        span: keySpanOf(fraction.at),
      });
      return;
    }
    checkNames(podSet, context);
    const memory = lookUp(podSet.annotations, 'gpu-memory');
    if (fraction !== undefined) checkFraction(fraction, context);
    if (memory !== undefined) checkMemory(memory, context);
    const annotation = fraction ?? memory;
    if (annotation === undefined) return;
    checkScheduler(podSet, annotation, context);
    if (fraction !== undefined && memory !== undefined) {
      context.report({
        message: 'gpu-memory cannot be combined with gpu-fraction: KAI and Run:ai reject the pod',
        span: keySpanOf(memory.at),
      });
    }
    const whole = wholeGpuRequest(podSet);
    if (whole === undefined) return;
    context.report({
      message: `${String(annotation.at.step)} cannot be combined with ${whole}: KAI and Run:ai reject the pod`,
      span: keySpanOf(annotation.at),
    });
  },
});

/** Reports what describes the shares of a node. */
function checkUnread(podSet: PodSet, { workload, report }: PodSetContext): void {
  const whole = wholeGpuRequest(podSet);
  for (const { at, about } of unreadAnnotations(podSet)) {
    if (about === 'nodes' || podSet.containers.some(({ accelerators }) => accelerators.some(isShare))) continue;
    // Next to a request, it may be there for people.
    if (about === 'request' && (whole !== undefined || namesAccelerators(podSet) || workload.partial)) continue;
    const effect = whole === undefined ? 'the pod gets no GPU' : `the pod takes ${whole} and shares nothing`;
    report({
      severity: 'warning',
      message: `${keyOf(at)} has no effect as an annotation of a pod: ${effect}`,
      span: keySpanOf(at),
    });
  }
}

/** Whether a request is for a part of a GPU, whose plugin may read annotations. */
function isShare({ resource }: Container['accelerators'][number]): boolean {
  return resource !== 'nvidia.com/gpu';
}

/** Only the queue shows that KAI is meant, and its scheduler is not named. Run:ai sets the scheduler itself. */
function checkScheduler(
  { pod, labels }: PodSet,
  annotation: Located<string>,
  { document, report, workload }: PodSetContext,
): void {
  if (workload.partial || getIn(pod, 'schedulerName') !== undefined || isIncomplete(pod)) return;
  if (labels.some(({ at }) => keyOf(at).startsWith('runai'))) return;
  report({
    severity: 'warning',
    message: `${String(annotation.at.step)} requires schedulerName kai-scheduler: the default scheduler ignores it, and the pod gets no GPU`,
    span: keySpanOf(annotation.at),
    fixes: () => [
      fix('Set schedulerName to kai-scheduler', 'unsafe', insertKey(document, pod, 'schedulerName', 'kai-scheduler')),
    ],
  });
}

/** The device plugin gives the vGPU that Volcano's scheduler has written on the pod. */
function checkVgpus({ pod, containers }: PodSet, { document, report, workload }: PodSetContext): void {
  const requested = containers.flatMap(({ accelerators }) => accelerators).find(({ resource }) => isVgpu(resource));
  const at = requested?.limit?.at ?? requested?.request?.at;
  if (at === undefined || workload.partial || !ownGroups.has(groupOf(workload.apiVersion))) return;
  if (getIn(pod, 'schedulerName') !== undefined || isIncomplete(pod)) return;
  report({
    severity: 'warning',
    message: `${String(at.step)} requires schedulerName volcano: no other scheduler assigns the share, and the container does not start`,
    span: keySpanOf(at),
    fixes: () => [fix('Set schedulerName to volcano', 'unsafe', insertKey(document, pod, 'schedulerName', 'volcano'))],
  });
}

function isVgpu(resource: string): boolean {
  return resource.startsWith('volcano.sh/vgpu-');
}

/** A share of a GPU's cores next to all of its memory, which HAMi and Volcano give if none is requested. */
function checkCores({ resources, accelerators }: Container, { report, workload }: PodSetContext): void {
  if (workload.partial || isUnseen(resources)) return;
  for (const { resource, limit } of accelerators) {
    const memory = memoryOf.get(resource);
    const percent = limit?.value ?? null;
    if (memory === undefined || limit === undefined || percent === null || percent <= 0 || percent >= 100) continue;
    if (accelerators.some((one) => one.resource.startsWith(memory))) continue;
    report({
      severity: 'info',
      message: `${resource} without ${memory}: the container gets all of the GPU's memory by default, so no other pod fits next to it`,
      span: keySpanOf(limit.at),
    });
  }
}

/**
 * The memory that belongs to a share of cores; a percentage of it has the same name with a suffix.
 * https://project-hami.io/docs/userguide/configure (nvidia.defaultMem, 2026-11-30)
 */
const memoryOf: ReadonlyMap<string, string> = new Map([
  ['nvidia.com/gpucores', 'nvidia.com/gpumem'],
  ['volcano.sh/vgpu-cores', 'volcano.sh/vgpu-memory'],
]);

/** The groups of Kubernetes' own workloads. */
const ownGroups: ReadonlySet<string> = new Set(['', 'apps', 'batch']);

/** Annotations that KAI does not read, but that mean one that it does. */
function checkNames({ annotations }: PodSet, { document, report }: PodSetContext): void {
  for (const { at } of annotations) {
    const key = keyOf(at);
    const meant = meantName(key);
    if (meant === undefined || key === `gpu-${meant}`) continue;
    report({
      severity: 'warning',
      message: `KAI and Run:ai ignore the annotation ${shorten(key, 40)}; they read gpu-${meant}`,
      span: keySpanOf(at),
      fixes: () => [fix(`Rename to gpu-${meant}`, 'unsafe', renameKey(document, at, `gpu-${meant}`))],
    });
  }
}

/** `gpu_fraction`, and names in the domain of Run:ai or KAI: `run.ai/fraction`. */
function meantName(key: string): string | undefined {
  const [, ofGpu, ofScheduler] =
    /^(?:[a-z.]+\/)?gpu[-_.]?(fraction|memory)s?$|^(?:[a-z-]+\.)?(?:run\.?ai|kai\.scheduler)\/(fraction|memory)s?$/i.exec(
      key,
    ) ?? [];
  return (ofGpu ?? ofScheduler)?.toLowerCase();
}

function checkFraction(fraction: Located<string>, { report }: PodSetContext): void {
  // KAI parses a Go number, not a quantity: 500m is invalid.
  const value = Number(fraction.value);
  if (isTemplated(fraction.at) || fraction.value === '' || (value > 0 && value < 1)) return;
  report({
    message: `gpu-fraction must be a number between 0 and 1, not ${shorten(fraction.value, 20)}: KAI and Run:ai reject the pod`,
    span: spanOf(fraction.at),
  });
}

/** MiB, without a unit. */
function checkMemory(memory: Located<string>, { document, report }: PodSetContext): void {
  if (isTemplated(memory.at) || memory.value === '' || /^0*[1-9]\d*$/.test(memory.value)) return;
  const bytes = parseQuantity(memory.value);
  const mebibytes = bytes === null || bytes < 2 ** 20 ? null : Math.round(bytes / 2 ** 20);
  report({
    message: `gpu-memory must be a positive whole number of MiB without a unit, not ${shorten(memory.value, 20)}: KAI and Run:ai reject the pod`,
    span: spanOf(memory.at),
    fixes: () => {
      if (mebibytes === null) return [];
      const edits = replaceScalar(document, memory.at, String(mebibytes));
      return [fix(`Set gpu-memory to ${mebibytes}`, 'unsafe', edits)];
    },
  });
}

function wholeGpuRequest({ containers }: PodSet): string | undefined {
  const whole = containers.flatMap(knownRequests).filter(({ resource }) => resource === 'nvidia.com/gpu');
  return whole.length === 0 ? undefined : requestWords(whole);
}

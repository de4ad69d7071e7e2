import { gpus } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { migOptions } from '../cost/mig-options.ts';
import { lacksLimitOf } from '../evidence/missing-limit.ts';
import { topicOfRequest } from '../evidence/requested-accelerators.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest, Container, Quantity } from '../model/workload.ts';
import { type Fix, fix, joinEdits } from '../rewrite/fix.ts';
import { rewriteToMig, sliceForm } from '../rewrite/mig.ts';
import { addLimit, isKnown, isWhole, replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { keyOf, spanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The count of an accelerator is not a whole number.
 *
 * ## Why
 *
 * Kubernetes allocates whole devices: the API server rejects `0.5`, `500m`, `-1` and words ("must be an integer"). A part of a GPU is requested
 * by another name: as a MIG slice, as a time-sliced or MPS resource, or in an annotation that a scheduler such as KAI reads.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 0.5
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a whole GPU costs more than the intended part. If the GPU is known and supports MIG, the smallest slice of at least that share is
 * also offered; the nodes must be partitioned accordingly.
 *
 * ## In values of charts
 *
 * The chart of vLLM's production stack rounds `requestGPU` down: below 1, the pods start without a GPU, and the API server rejects nothing.
 *
 * ## Known limit
 *
 * Huawei CCE's device plugin supports fractions of `nvidia.com/gpu`. Turn the rule off for CCE clusters.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [vLLM production stack: resources of the chart](https://github.com/vllm-project/production-stack/blob/main/helm/templates/_helpers.tpl)
 * - [volcano-sh/volcano#822](https://github.com/volcano-sh/volcano/issues/822)
 * - [NVIDIA/k8s-device-plugin#458](https://github.com/NVIDIA/k8s-device-plugin/issues/458)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  container(container, context) {
    for (const accelerator of container.accelerators) {
      const written = writtenQuantities(accelerator);
      const wrong = written.find(isWrong);
      if (wrong === undefined) continue;
      context.report({
        topic: topicOfRequest(accelerator.resource),
        severity: isDropped(wrong) ? 'warning' : 'error',
        message: isDropped(wrong)
          ? `requestGPU must be a whole number, not ${wrong.text}: the chart rounds it down to 0, so the pod gets no GPU`
          : `${accelerator.resource} must be a whole number, not ${wrong.text}: the API server rejects the pod`,
        span: spanOf(wrong.at),
        fixes: () => [
          wholeDevices(accelerator, wrong, container, context),
          slice(accelerator, wrong, container, context),
        ],
      });
    }
  },
});

/** The chart of vLLM's production stack reads its key with `int` and requests nothing for 0. */
function isDropped({ at, value }: Quantity): boolean {
  return keyOf(at) === 'requestGPU' && value !== null && value > 0 && value < 1;
}

function isWrong(quantity: Quantity): boolean {
  return isKnown(quantity) && !isWhole(quantity) && (quantity.value !== null || looksLikeCount(quantity.text));
}

/** Whether a text that is not a quantity is a mistake, such as 1gpu or true, rather than a placeholder such as "..." or N. */
function looksLikeCount(text: string): boolean {
  return /^[-+]?\.?(\d|(inf|nan)$)/i.test(text) || amountWords.has(text.toLowerCase());
}

const amountWords = wordSet('true false yes no', 'all auto any max', 'one two four eight half');

function wholeDevices(
  { resource, form, ...request }: AcceleratorRequest,
  wrong: Quantity,
  container: Container,
  context: PodSetContext,
): Fix | undefined {
  if (form === 'memory' || form === 'percent') return undefined;
  const count = wrong.value === null ? 1 : Math.max(1, Math.ceil(wrong.value));
  const written = writtenQuantities({ resource, form, ...request });
  const edits = joinEdits(
    replaceQuantities(context.document, written, count),
    // Without a limit, the API server would also reject the whole number.
    request.limit === undefined && lacksLimitOf(resource, container, context)
      ? addLimit(context.document, container.resources, resource, count)
      : [],
  );
  return fix(`Set ${keyOf(wrong.at) || resource} to ${count}`, 'unsafe', edits);
}

/** The smallest slice of at least the requested share. */
function slice(
  request: AcceleratorRequest,
  wrong: Quantity,
  container: Container,
  context: PodSetContext,
): Fix | undefined {
  const share = wrong.value;
  const model = acceleratorByName(context.podSet.accelerators, request.resource)?.model ?? null;
  if (share === null || share <= 0 || share >= 1 || model === null) return undefined;
  const option = migOptions(model, null).find((candidate) => candidate.share >= share && candidate.share < 1);
  const form = sliceForm(context.podSet, context.options);
  const place = { container, podSet: context.podSet, gpu: gpus.get(model) };
  return option && form && rewriteToMig(context.document, request, place, option.profile, form);
}

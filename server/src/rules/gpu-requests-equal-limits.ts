import { fix } from '../rewrite/fix.ts';
import { isKnown, isWhole, replaceQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * An accelerator has another count in `requests` than in `limits`.
 *
 * ## Why
 *
 * A device is used whole or not at all, so Kubernetes wants the two to be equal and refuses the pod otherwise
 * ("must be equal to nvidia.com/gpu limit").
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
 *         requests:
 *           nvidia.com/gpu: 1
 *         limits:
 *           nvidia.com/gpu: 2
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
 *         requests:
 *           nvidia.com/gpu: 2
 *         limits:
 *           nvidia.com/gpu: 2
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows which of the two counts is meant. Both are offered.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [NVIDIA/k8s-device-plugin#154](https://github.com/NVIDIA/k8s-device-plugin/issues/154)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  container(container, { document, report }) {
    for (const { limit, request, resource } of container.accelerators) {
      if (limit === undefined || request === undefined || !isKnown(limit) || !isKnown(request)) continue;
      // A quantity that is no whole number is a mistake of its own.
      if (!isWhole(limit) || !isWhole(request) || limit.value === request.value) continue;
      report({
        message: `${resource} is ${request.text} in requests but ${limit.text} in limits: the API server refuses the pod unless they are equal`,
        span: keySpanOf(request.at),
        fixes: () => [
          fix(
            `Request ${limit.text} ${resource}, as the limit says`,
            'unsafe',
            replaceQuantities(document, [request], limit.text),
          ),
          fix(
            `Limit ${resource} to ${request.text}, as requested`,
            'unsafe',
            replaceQuantities(document, [limit], request.text),
          ),
        ],
      });
    }
  },
});

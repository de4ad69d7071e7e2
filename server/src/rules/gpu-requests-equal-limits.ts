import { acceleratorResource } from '../catalog/index.ts';
import { topicOfRequest } from '../evidence/requested-accelerators.ts';
import { isListedContainer } from '../model/pod.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { isKnown, isWhole, replaceQuantities } from '../rewrite/quantities.ts';
import { meantName } from '../rewrite/rename-resource.ts';
import { entries, getIn, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * An accelerator has different counts in `requests` and `limits`.
 *
 * ## Why
 *
 * Accelerators cannot be overcommitted, so the request must equal the limit. The API server rejects the pod otherwise ("must be equal to
 * nvidia.com/gpu limit"). resource-invalid compares the resources of other devices.
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
 * Unsafe: only the author knows which count is right. Both are offered.
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
    for (const { limit, request, resource } of [...container.accelerators, ...otherRequests(container)]) {
      if (limit === undefined || request === undefined || !isKnown(limit) || !isKnown(request)) continue;
      // gpu-quantity-whole reports counts that are not whole.
      if (!isWhole(limit) || !isWhole(request) || limit.value === request.value) continue;
      report({
        message: `${resource} has a request of ${request.text} but a limit of ${limit.text}: the API server rejects the pod`,
        span: keySpanOf(request.at),
        topic: topicOfRequest(resource),
        fixes: () => [
          fix(
            `Set the request of ${resource} to ${limit.text}`,
            'unsafe',
            replaceQuantities(document, [request], limit.text),
          ),
          fix(
            `Set the limit of ${resource} to ${request.text}`,
            'unsafe',
            replaceQuantities(document, [limit], request.text),
          ),
        ],
      });
    }
  },
});

/** Counters of parts of devices, and accelerators by names that no device plugin offers. resource-invalid compares the other extended resources. */
function otherRequests({
  at,
  resources,
  accelerators,
}: Container): readonly Pick<AcceleratorRequest, 'limit' | 'request' | 'resource'>[] {
  if (!isListedContainer(at)) return [];
  const known = new Set(accelerators.map(({ resource }) => resource));
  return entries(getIn(resources, 'limits')).flatMap((limit) => {
    const resource = keyOf(limit);
    const request = resource.includes('/') && !known.has(resource) ? getIn(resources, 'requests', resource) : undefined;
    if (request === undefined || (acceleratorResource(resource) ?? meantName(resource)) === undefined) return [];
    return [{ resource, limit: lowerQuantity(limit), request: lowerQuantity(request) }];
  });
}

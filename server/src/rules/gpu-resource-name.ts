import { meantResource } from '../catalog/resource-spelling.ts';
import { lacksLimitOf } from '../evidence/missing-limit.ts';
import { isListedContainer } from '../model/pod.ts';
import { renameResource, writtenResources } from '../rewrite/rename-resource.ts';
import { keyOf, keySpanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A container asks for an accelerator by a name that no device plugin has.
 *
 * ## Why
 *
 * The API server takes any well-formed name of a resource. No node offers `nvidia.com/gpus` or `nvidia/gpu`, so the pod stays Pending.
 * `gpu` with no domain is refused, and so is a misspelt name in `requests` that `limits` do not have.
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
 *           nvidia.com/gpus: 1
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
 * Safe for a misspelt name: the pod could not run before. Unsafe for `gpu` alone, which does not say whose GPU is meant, and for a name
 * with another letter than the known one, such as `nvidia.com/gpucore`, which another plugin may offer.
 *
 * ## When it is silent
 *
 * For names that are not near a known one (your own device plugin may offer them), and in custom resources that define a plain `gpu`.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [kubernetes/kubernetes#44438](https://github.com/kubernetes/kubernetes/issues/44438)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const seen = new Set<string>();
    for (const entry of writtenResources(container)) {
      const name = keyOf(entry);
      if (seen.has(name)) continue;
      seen.add(name);
      if (/^gpus?$/i.test(name) && isListedContainer(container.at)) {
        context.report({
          severity: 'error',
          message: `Resource ${name} has no domain: the API server refuses the pod (NVIDIA's is nvidia.com/gpu)`,
          span: keySpanOf(entry),
          fixes: () => [renameResource(container, name, 'nvidia.com/gpu', 'unsafe', context.document)],
        });
        continue;
      }
      const meant = meantResource(name);
      if (meant === undefined) continue;
      const follows = lacksLimitOf(name, container, context)
        ? 'requested without a limit, the API server refuses the pod'
        : 'the pod stays Pending';
      context.report({
        message: `No device plugin offers ${name} (it is ${meant}): ${follows}`,
        span: keySpanOf(entry),
        fixes: () => [renameResource(container, name, meant, 'safe', context.document)],
      });
    }
  },
});

import { meantMigResource } from '../catalog/resource-spelling.ts';
import { lacksLimitOf } from '../evidence/missing-limit.ts';
import { renameResource, writtenResources } from '../rewrite/rename-resource.ts';
import { keyOf, keySpanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * The name of a MIG resource is misspelled.
 *
 * ## Why
 *
 * The device plugin names a resource `nvidia.com/mig-` and the profile in lowercase with a dot: `nvidia.com/mig-1g.10gb`. The `+` of a
 * profile such as `1g.10gb+me` also becomes a dot, and the API server rejects a name with a plus. No node offers any other spelling.
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
 *           nvidia.com/mig-1g-10gb: 1
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
 *           nvidia.com/mig-1g.10gb: 1
 * ```
 *
 * ## Fix safety
 *
 * Safe: the pod could not run before, and the name stands for exactly one profile.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin: names of MIG resources](https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/resource/nvml-mig-device.go)
 */
export default defineRule({
  topic: 'mig',
  severity: 'error',
  container(container, context) {
    const seen = new Set<string>();
    for (const entry of writtenResources(container)) {
      const name = keyOf(entry);
      const intended = meantMigResource(name);
      if (intended === undefined || seen.has(name)) continue;
      seen.add(name);
      const consequence =
        name.includes('+') || lacksLimitOf(name, container, context)
          ? 'the API server rejects the pod'
          : 'the pod stays Pending';
      context.report({
        message: `${name} must be spelled ${intended}: ${consequence}`,
        span: keySpanOf(entry),
        fixes: () => [renameResource(container, name, intended, 'safe', context.document)],
      });
    }
  },
});

import { isCertainSlip, meantResource } from '../catalog/resource-spelling.ts';
import { keyProblem } from '../model/api-syntax.ts';
import { fix } from '../rewrite/fix.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A toleration whose key almost matches a GPU taint.
 *
 * ## Why
 *
 * A toleration matches a taint only by its exact key. `nvidia.com/gpus` tolerates no taint that a platform puts on GPU nodes, so the pod
 * silently stays off them.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   tolerations:
 *     - key: nvidia.com/gpus
 *       operator: Exists
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   tolerations:
 *     - key: nvidia.com/gpu
 *       operator: Exists
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
 * Safe: the toleration had no effect, and the key can mean only one taint. Unsafe for a key that differs in a letter, which another plugin may
 * use.
 *
 * ## When it is silent
 *
 * For custom keys (`sku`, `team/gpu`), and if the correct key is also tolerated.
 *
 * ## Sources
 *
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 * - [NVIDIA/k8s-device-plugin: tolerations in its chart](https://github.com/NVIDIA/k8s-device-plugin/blob/main/deployments/helm/nvidia-device-plugin/values.yaml)
 */
export default defineRule({
  topic: 'toleration',
  severity: 'warning',
  podSet({ tolerations }, context) {
    for (const { key } of tolerations) {
      const meant = key === undefined || isTemplated(key.at) ? undefined : meantResource(key.value);
      // The API server rejects an invalid key, which toleration-invalid reports.
      if (key === undefined || meant === undefined || keyProblem(key.value) !== undefined) continue;
      if (tolerations.some((other) => other.key?.value === meant)) continue;
      context.report({
        message: `No GPU node has the taint ${key.value}; did you mean ${meant}? The toleration has no effect`,
        span: spanOf(key.at),
        fixes: () => {
          const edits = replaceScalar(context.document, key.at, meant);
          return [fix(`Change the key to ${meant}`, isCertainSlip(key.value, meant) ? 'safe' : 'unsafe', edits)];
        },
      });
    }
  },
});

import { isCertainSlip, meantResource } from '../catalog/resource-spelling.ts';
import { acceleratorResource } from '../catalog/resources.ts';
import { keyProblem } from '../model/api-syntax.ts';
import type { Toleration } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A toleration whose key almost matches a GPU taint, or that matches only a taint without a value.
 *
 * ## Why
 *
 * A toleration matches a taint only by its exact key. `nvidia.com/gpus` tolerates no taint that a platform puts on GPU nodes, so the pod
 * silently stays off them. Without an operator, a toleration also compares the value, and no value means the empty one. The usual taints of GPU
 * nodes have one: `nvidia.com/gpu=present:NoSchedule` on GKE, `nvidia.com/gpu=true:NoSchedule` in many examples (information).
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
 * For custom keys (`sku`, `team/gpu`), and if the correct key is also tolerated. For a missing value also with `value: ""`, and if files of
 * the project describe node pools. It is reported once per file.
 *
 * ## Sources
 *
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 * - [GKE: taints of GPU nodes](https://cloud.google.com/kubernetes-engine/docs/how-to/gpus)
 * - [NVIDIA/k8s-device-plugin: tolerations in its chart](https://github.com/NVIDIA/k8s-device-plugin/blob/main/deployments/helm/nvidia-device-plugin/values.yaml)
 */
export default defineRule({
  topic: 'toleration',
  severity: 'warning',
  podSet({ tolerations }, context) {
    checkOperator(tolerations, context);
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

/** Reports a toleration of an accelerator's taint that has no operator and no value: Equal compares the empty value with that of the taint. */
function checkOperator(
  tolerations: readonly Toleration[],
  { document, crossReferences, report }: Pick<RuleContext, 'document' | 'crossReferences' | 'report'>,
): void {
  const covers = ({ key, operator, value, at }: Toleration) =>
    isTemplated(at) || key === undefined || operator?.value === 'Exists' || value !== undefined;
  for (const { key, operator, value, at } of tolerations) {
    if (key === undefined || acceleratorResource(key.value) === undefined || value !== undefined || isIncomplete(at))
      continue;
    if (operator !== undefined && (operator.value !== 'Equal' || isTemplated(operator.at))) continue;
    const others = tolerations.filter((other) => other.key === undefined || other.key.value === key.value);
    if (others.some(covers) || crossReferences.knowsPools()) continue;
    report({
      severity: 'info',
      message: `Toleration ${key.value} has neither a value nor operator Exists: it matches only a taint with an empty value, not one with present or true`,
      span: spanOf(key.at),
      fixes: () => [
        fix(
          'Set the operator to Exists',
          'unsafe',
          operator === undefined
            ? insertKey(document, at, 'operator', 'Exists', { after: 'key' })
            : replaceScalar(document, operator.at, 'Exists'),
        ),
      ],
      oncePerFile: true,
    });
    return;
  }
}

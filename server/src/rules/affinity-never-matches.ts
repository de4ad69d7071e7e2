import { isPodSpec } from '../evidence/rejection.ts';
import { isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { asText, type Cursor, getIn, items, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A node affinity compares a label with a value that is not a whole number.
 *
 * ## Why
 *
 * `Gt` and `Lt` compare whole numbers only. With "40Gi" or "1.5", the API server accepts the pod, and no node matches: it stays Pending. The label
 * nvidia.com/gpu.memory is in MiB, without a unit.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   affinity:
 *     nodeAffinity:
 *       requiredDuringSchedulingIgnoredDuringExecution:
 *         nodeSelectorTerms:
 *           - matchExpressions:
 *               - key: nvidia.com/gpu.memory
 *                 operator: Gt
 *                 values: ["40Gi"]
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   affinity:
 *     nodeAffinity:
 *       requiredDuringSchedulingIgnoredDuringExecution:
 *         nodeSelectorTerms:
 *           - matchExpressions:
 *               - key: nvidia.com/gpu.memory
 *                 operator: Gt
 *                 values: ["40000"]
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For templates.
 *
 * ## Sources
 *
 * - [Kubernetes: operators of node affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators)
 * - A dry run against an API server and a scheduler of version 1.36
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  podSet(podSet, { report, workload }) {
    if (!isPodSpec(podSet, workload)) return;
    const path = 'affinity.nodeAffinity';
    const required = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.*.matchExpressions.*`;
    const preferred = `${path}.preferredDuringSchedulingIgnoredDuringExecution.*.preference.matchExpressions.*`;
    for (const expression of placesAt(podSet.pod, required)) {
      for (const value of wrongNumbers(expression))
        report({
          message: `${said(expression, value)}: no node matches, and the pod stays Pending`,
          span: spanOf(value),
        });
    }
    for (const expression of placesAt(podSet.pod, preferred)) {
      for (const value of wrongNumbers(expression))
        report({ message: `${said(expression, value)}: the scheduler cannot place the pod`, span: spanOf(value) });
    }
  },
});

function wrongNumbers(expression: Cursor): readonly Cursor[] {
  if (!/^(Gt|Lt)$/.test(writtenText(getIn(expression, 'operator')) ?? '')) return [];
  const values = items(getIn(expression, 'values'));
  if (values.length !== 1) return [];
  return values.filter(
    (value) => value.node.kind === 'scalar' && !isUnknown(value) && !/^[+-]?\d+$/.test(value.node.source),
  );
}

function said(expression: Cursor, value: Cursor): string {
  const operator = writtenText(getIn(expression, 'operator')) ?? '';
  const key = shorten(asText(getIn(expression, 'key')) ?? 'the label', 50);
  return `${operator} compares ${key} with "${shorten(asText(value) ?? '', 20)}", which is not a whole number`;
}

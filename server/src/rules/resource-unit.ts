import { isPodSpec } from '../evidence/rejection.ts';
import { isUnknown, placesAt } from '../evidence/written.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, entries, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * An amount of memory, storage or CPU lacks its unit.
 *
 * ## Why
 *
 * `memory: 64` is 64 bytes, and `cpu: 8000` is 8,000 cores. The API server accepts both. No container starts with a few bytes, and no node has
 * thousands of cores, so the pod fails or stays Pending.
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
 *           memory: 64
 *           nvidia.com/gpu: 1
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
 *           memory: 64Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the unit is a guess.
 *
 * ## When it is silent
 *
 * For 0, for templates, and for amounts that are possible, however small.
 *
 * ## Sources
 *
 * - [Kubernetes: resource units](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#resource-units-in-kubernetes)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  podSet(podSet, context) {
    if (!isPodSpec(podSet, context.workload)) return;
    for (const size of placesAt(podSet.pod, 'volumes.*.emptyDir.sizeLimit')) checkBytes(size, 'sizeLimit', context);
  },
  container({ resources }, context) {
    if (!isPodSpec(context.podSet, context.workload)) return;
    for (const holder of ['limits', 'requests']) {
      for (const entry of entries(getIn(resources, holder))) {
        if (/^(memory|ephemeral-storage)$/.test(keyOf(entry))) checkBytes(entry, keyOf(entry), context);
        if (keyOf(entry) === 'cpu') checkCores(entry, context);
      }
    }
  },
});

function checkBytes(at: Cursor, what: string, { report, document }: PodSetContext): void {
  const { value, text } = lowerQuantity(at);
  // The API server stores 128m of memory as a fraction of a byte.
  if (isUnknown(at) || value === null || value <= 0 || value >= 1024) return;
  const number = /^\d+/.exec(text)?.[0];
  const unit = text.endsWith('m') || Number(number) >= 512 ? 'Mi' : 'Gi';
  const bytes = value < 1 ? 'less than a byte' : `${Math.ceil(value)} ${value === 1 ? 'byte' : 'bytes'}`;
  report({
    message: `${what} ${text} is ${bytes}: the pod cannot run; did you mean ${number}${unit}?`,
    span: spanOf(at),
    fixes: () =>
      number === undefined
        ? []
        : [fix(`Set to ${number}${unit}`, 'unsafe', replaceScalar(document, at, `${number}${unit}`))],
  });
}

/** The largest servers have about 900 cores. */
const mostCores = 1024;

function checkCores(at: Cursor, { report, document }: PodSetContext): void {
  const { value, text } = lowerQuantity(at);
  if (isUnknown(at) || value === null || value <= mostCores) return;
  const meant = /^\d+$/.test(text) ? `${text}m` : undefined;
  report({
    message: `cpu ${text} is ${value.toLocaleString('en-US')} cores, which no node has: the pod stays Pending${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    span: spanOf(at),
    fixes: () => (meant === undefined ? [] : [fix(`Set to ${meant}`, 'unsafe', replaceScalar(document, at, meant))]),
  });
}

import { acceleratorResource } from '../catalog/index.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { fix } from '../rewrite/fix.ts';
import { entries, getIn, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { removeKey, renameKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A ResourceQuota names accelerators in a way that is never counted.
 *
 * ## Why
 *
 * For devices, Kubernetes counts only requests: `requests.nvidia.com/gpu`. The API server also accepts `nvidia.com/gpu` and
 * `limits.nvidia.com/gpu`, but it never counts them, so the namespace can use any number of GPUs.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: ResourceQuota
 * metadata:
 *   name: team
 * spec:
 *   hard:
 *     limits.nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: ResourceQuota
 * metadata:
 *   name: team
 * spec:
 *   hard:
 *     requests.nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe if the quota then takes effect; safe if the name that is counted is also there.
 *
 * ## When it is silent
 *
 * If the quota has only the name that is counted. Next to that name, the other is information only, unless it has another number.
 *
 * ## Sources
 *
 * - [Kubernetes: quota for extended resources](https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-for-extended-resources)
 * - A measurement with an API server of version 1.36: a pod with 2 GPUs passes a quota of 1
 */
export default defineRule({
  topic: 'quota',
  severity: 'warning',
  manifest({ root, kind, apiVersion }, { report, document }) {
    if (kind !== 'ResourceQuota' || apiVersion !== 'v1') return;
    const hard = getIn(root, 'spec', 'hard');
    for (const entry of entries(hard)) {
      const resource = keyOf(entry).replace(/^limits\./, '');
      const counted = `requests.${resource}`;
      if (acceleratorResource(resource) === undefined || keyOf(entry) === counted) continue;
      const other = getIn(hard, counted);
      if (other !== undefined) {
        const [value, limit] = [lowerQuantity(entry).value, lowerQuantity(other).value];
        const differs = value !== null && limit !== null && value !== limit;
        report({
          severity: differs ? 'warning' : 'info',
          message: `Kubernetes never counts ${shorten(keyOf(entry), 50)}: only ${shorten(counted, 50)}${differs ? ` (${limit})` : ''} applies`,
          span: keySpanOf(entry),
          fixes: () => [fix(`Remove ${shorten(keyOf(entry), 50)}`, 'safe', removeKey(document, entry))],
        });
        continue;
      }
      report({
        message: `Kubernetes never counts ${shorten(keyOf(entry), 50)}, only ${shorten(counted, 50)}: the quota has no effect`,
        span: keySpanOf(entry),
        fixes: () => [fix(`Rename to ${counted}`, 'unsafe', renameKey(document, entry, counted))],
      });
    }
  },
});

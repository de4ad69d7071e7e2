import { acceleratorResource } from '../catalog/index.ts';
import { meantResource } from '../catalog/resource-spelling.ts';
import { placesAt } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey, renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A quota names accelerators in a way that is never counted.
 *
 * ## Why
 *
 * For devices, Kubernetes counts only requests: `requests.nvidia.com/gpu`. The API server also accepts `nvidia.com/gpu` and
 * `limits.nvidia.com/gpu`, but it never counts them, so the namespace can use any number of GPUs. Nor does anything count under a misspelled
 * name, in a ResourceQuota, in an object that creates some (a Profile of Kubeflow, a Tenant of Capsule), or in a ClusterQueue of Kueue.
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
  manifest({ root, kind, apiVersion }, context) {
    if (kind === 'ClusterQueue' && groupOf(apiVersion) === 'kueue.x-k8s.io') checkCovered(root, context);
    const path = quotaPaths[`${groupOf(apiVersion)}/${kind}`];
    if (path !== undefined) for (const hard of placesAt(root, path)) checkHard(hard, context);
  },
});

/** Where objects have the amounts of a quota: those of operators that create one per namespace take the same names. */
const quotaPaths = table<string>({
  '/ResourceQuota': 'spec.hard',
  // https://www.kubeflow.org/docs/components/central-dash/profiles/
  'kubeflow.org/Profile': 'spec.resourceQuotaSpec.hard',
  'quota.openshift.io/ClusterResourceQuota': 'spec.quota.hard',
  'hnc.x-k8s.io/HierarchicalResourceQuota': 'spec.hard',
  // https://projectcapsule.dev/docs/tenants/quotas/
  'capsule.clastix.io/Tenant': 'spec.resourceQuotas.items.*.hard',
});

/** Reports amounts of accelerators under names that are never counted. */
function checkHard(hard: Cursor, { report, document }: RuleContext): void {
  for (const entry of entries(hard)) {
    const meant = meantResource(keyOf(entry).replace(/^(?:requests|limits)\./, ''));
    if (meant !== undefined) {
      const name = `requests.${meant}`;
      report({
        message: `No pod requests ${shorten(keyOf(entry).replace(/^(?:requests|limits)\./, ''), 50)}; did you mean ${name}? The quota has no effect`,
        span: keySpanOf(entry),
        fixes: () => [fix(`Rename to ${name}`, 'unsafe', renameKey(document, entry, name))],
      });
      continue;
    }
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
}

/** Reports resources of a queue that no pod can request. */
function checkCovered(root: Cursor, { report, document }: RuleContext): void {
  for (const at of placesAt(root, 'spec.resourceGroups.*.coveredResources.*')) {
    const name = asText(at) ?? '';
    if (isTemplated(at)) continue;
    // Kueue's config may give such a name to a class of devices.
    const isBare = /^gpus?$/i.test(name);
    const meant = isBare ? 'nvidia.com/gpu' : meantResource(name);
    if (meant === undefined) continue;
    const effect = isBare
      ? 'the quota has no effect unless Kueue maps a device class to it'
      : 'the quota has no effect';
    report({
      ...(isBare && { severity: 'info' }),
      message: `No pod can request ${shorten(name, 40)}; did you mean ${meant}? As written, ${effect}`,
      span: spanOf(at),
      fixes: () => [fix(`Rename to ${meant}`, 'unsafe', ...renameCovered(root, name, meant, document))],
    });
  }
}

/** Edits of all places where a queue names a resource: its flavors must list the same ones. */
function renameCovered(
  root: Cursor,
  name: string,
  meant: string,
  document: RuleContext['document'],
): readonly ReturnType<typeof replaceScalar>[] {
  const places = [
    ...placesAt(root, 'spec.resourceGroups.*.coveredResources.*'),
    ...placesAt(root, 'spec.resourceGroups.*.flavors.*.resources.*.name'),
  ];
  return places.filter((at) => asText(at) === name).map((at) => replaceScalar(document, at, meant));
}

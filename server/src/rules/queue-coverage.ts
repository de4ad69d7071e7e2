import { acceleratorResource } from '../catalog/index.ts';
import { replacedResource } from '../catalog/resource-spelling.ts';
import { amountConflicts, preemptionConflict } from '../evidence/queue-conflicts.ts';
import { queueLabel } from '../evidence/queue-label.ts';
import { isSet, placesAt } from '../evidence/written.ts';
import { mayConcernAccelerators } from '../model/concern.ts';
import { groupOf } from '../model/manifest.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A ClusterQueue has no quota for a resource that a workload requests.
 *
 * ## Why
 *
 * Kueue admits a workload only if its ClusterQueue has a quota for every resource that the workload requests. If `coveredResources` lacks
 * one of them, the workload stays suspended, and no pod exists whose events could show why.
 *
 * Kueue rejects a ClusterQueue whose flavors do not list the same resources in the same order as `coveredResources`, or lend more than their quota. A queue without a
 * `namespaceSelector` takes workloads from no namespace: only an empty selector means all of them. Recent versions of Volcano reject a
 * queue whose `deserved` or `guarantee` is above its `capability`; earlier ones never give it more than that.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: tune
 *   labels:
 *     kueue.x-k8s.io/queue-name: team
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: tune
 *           image: registry.example/tune:1.4
 *           resources: {limits: {nvidia.com/gpu: 4}}
 * ---
 * apiVersion: kueue.x-k8s.io/v1beta1
 * kind: LocalQueue
 * metadata: {name: team}
 * spec: {clusterQueue: shared}
 * ---
 * apiVersion: kueue.x-k8s.io/v1beta1
 * kind: ClusterQueue
 * metadata: {name: shared}
 * spec:
 *   namespaceSelector: {}
 *   resourceGroups:
 *     - coveredResources: [cpu, memory]
 *       flavors:
 *         - name: default
 *           resources: [{name: cpu, nominalQuota: 40}, {name: memory, nominalQuota: 200Gi}]
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: tune
 *   labels:
 *     kueue.x-k8s.io/queue-name: team
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: tune
 *           image: registry.example/tune:1.4
 *           resources: {limits: {nvidia.com/gpu: 4}}
 * ---
 * apiVersion: kueue.x-k8s.io/v1beta1
 * kind: LocalQueue
 * metadata: {name: team}
 * spec: {clusterQueue: shared}
 * ---
 * apiVersion: kueue.x-k8s.io/v1beta1
 * kind: ClusterQueue
 * metadata: {name: shared}
 * spec:
 *   namespaceSelector: {}
 *   resourceGroups:
 *     - coveredResources: [cpu, memory, nvidia.com/gpu]
 *       flavors:
 *         - name: default
 *           resources: [{name: cpu, nominalQuota: 40}, {name: memory, nominalQuota: 200Gi}, {name: nvidia.com/gpu, nominalQuota: 8}]
 * ```
 *
 * ## When it is silent
 *
 * If the LocalQueue or the ClusterQueue is not in the same project, is defined twice, or is templated. For workloads without accelerators. If a queue
 * covers neither CPU nor memory and a workload requests them, it is information, because Kueue's `excludeResourcePrefixes` may name them, and so are network
 * devices and huge pages that no queue covers.
 *
 * ## Sources
 *
 * - [Kueue: ClusterQueue](https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#flavors-and-resources)
 * - [kubernetes-sigs/kueue#4848](https://github.com/kubernetes-sigs/kueue/issues/4848)
 */
export default defineRule({
  topic: 'quota',
  severity: 'warning',
  workload(workload, context) {
    const label = queueLabel(workload);
    if (label === undefined || isTemplated(label.at) || workload.role === 'definition') return;
    const queue = context.crossReferences.clusterQueueOf(workload.namespace, label.value);
    const covered = queue?.facts.resources;
    if (queue === undefined || covered == null) return;
    const isMissing = (resource: string) => !covered.includes(resource);
    // gpu-resource-name reports former names.
    const devices = requestedResources(workload).filter((name) => replacedResource(name)?.isGone !== true);
    const plain = devices.length === 0 ? [] : plainResources(workload).filter(isMissing);
    const other = devices.length === 0 ? [] : otherResources(workload).filter(isMissing);
    const [missing, ...others] = [...devices.filter(isMissing), ...plain, ...other];
    if (missing === undefined) return;
    // Kueue can be configured to ignore CPU and memory, as such a queue suggests, and often ignores what comes with devices.
    const mayIgnore = (missing === plain[0] && plainNames.slice(0, 2).every(isMissing)) || missing === other[0];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const where = queue.file === null ? '' : ` (${shorten(queue.file)})`;
    const effect = `Kueue never admits the workload${mayIgnore ? ` unless its config excludes ${missing}` : ''}`;
    context.report({
      message: `ClusterQueue ${shorten(queue.name)}${where} has no quota for ${shorten(missing)}${more}: ${effect}`,
      span: spanOf(label.at),
      ...((queue.siblingFolder || mayIgnore) && { severity: 'info' }),
    });
  },
  manifest(manifest, context) {
    const { root, kind, apiVersion } = manifest;
    if (kind === 'Queue' && groupOf(apiVersion) === 'scheduling.volcano.sh')
      for (const { at, problem } of amountConflicts(manifest))
        context.report({ message: problem, span: spanOf(at), severity: 'warning' });
    if (kind !== 'ClusterQueue' || groupOf(apiVersion) !== 'kueue.x-k8s.io') return;
    const groups = items(getIn(root, 'spec', 'resourceGroups')).map((group) => ({
      group,
      covered: namesIn(getIn(group, 'coveredResources')),
    }));
    const quotas = placesAt(root, 'spec.resourceGroups.*.flavors.*.resources.*.name').map(asText);
    if (!mayConcernAccelerators([...groups.flatMap(({ covered }) => covered ?? []), ...quotas].join(' '))) return;
    checkCohort(root, context);
    checkLending(root, context);
    const conflict = preemptionConflict(root);
    if (conflict !== undefined)
      context.report({ message: conflict.problem, span: spanOf(conflict.at), severity: 'error' });
    checkNamespaces(root, context);
    const before = new Set<string>();
    for (const { group, covered } of groups) {
      if (covered === undefined) continue;
      const again = items(getIn(group, 'coveredResources')).find((item) => before.has(asText(item) ?? ''));
      if (again !== undefined) {
        context.report({
          message: `${shorten(asText(again) ?? '', 60)} is already in another resource group: Kueue rejects the queue; list all its flavors in one`,
          span: spanOf(again),
          severity: 'error',
        });
      }
      for (const name of covered) before.add(name);
      for (const flavor of items(getIn(group, 'flavors'))) {
        const list = getIn(flavor, 'resources');
        const listed = namesIn(list, 'name');
        if (listed === undefined || list === undefined || listed.join() === covered.join()) continue;
        const name = getIn(flavor, 'name');
        const start = `Flavor ${shorten(asText(name) ?? '', 24)} lists`;
        const isOrder = [...listed].sort().join() === [...covered].sort().join();
        context.report({
          message: isOrder
            ? `${start} its resources in another order than coveredResources (${shorten(covered.join(', '))}): Kueue rejects the queue`
            : `${start} ${shorten(listed.join(', '))}, but coveredResources lists ${shorten(covered.join(', '))}: Kueue rejects the queue`,
          span: spanOf(name ?? list),
          severity: 'error',
        });
      }
    }
  },
});

/** Without a cohort there is nobody to borrow from or lend to. */
function checkCohort(root: Cursor, { report, document }: RuleContext): void {
  const spec = getIn(root, 'spec');
  if (getIn(spec, 'cohort') !== undefined || getIn(spec, 'cohortName') !== undefined || isIncomplete(spec)) return;
  for (const limit of ['borrowingLimit', 'lendingLimit']) {
    for (const at of placesAt(spec, `resourceGroups.*.flavors.*.resources.*.${limit}`)) {
      if (!isSet(at)) continue;
      report({
        message: `${limit} requires a cohort: Kueue rejects the queue`,
        span: keySpanOf(at),
        severity: 'error',
        fixes: () => [fix(`Remove ${limit}`, 'unsafe', removeKey(document, at))],
      });
    }
  }
}

/** A flavor cannot lend more than it has. */
function checkLending(root: Cursor, { report }: RuleContext): void {
  for (const resource of placesAt(root, 'spec.resourceGroups.*.flavors.*.resources.*')) {
    const [lent, nominal] = [getIn(resource, 'lendingLimit'), getIn(resource, 'nominalQuota')];
    if (lent === undefined || nominal === undefined) continue;
    const [most, quota] = [lowerQuantity(lent), lowerQuantity(nominal)];
    if (most.value === null || quota.value === null || most.value <= quota.value) continue;
    report({
      message: `lendingLimit ${shorten(most.text, 20)} is above nominalQuota ${shorten(quota.text, 20)}: Kueue rejects the queue`,
      span: spanOf(lent),
      severity: 'error',
    });
  }
}

/** Without a selector, Kueue takes no workload from any namespace. In a cohort, such a queue may only lend its quota. */
function checkNamespaces(root: Cursor, { manifest, report, document }: RuleContext): void {
  const spec = getIn(root, 'spec');
  if (spec === undefined || manifest.isPatch || isIncomplete(root) || isUnseen(spec)) return;
  if (isSet(getIn(spec, 'namespaceSelector')) || getIn(spec, 'resourceGroups') === undefined) return;
  if (['cohort', 'cohortName'].some((key) => getIn(spec, key) !== undefined)) return;
  report({
    message: 'Without a namespaceSelector, the queue admits no workloads; {} selects all namespaces',
    span: keySpanOf(spec),
    fixes: () => [
      fix(
        'Select all namespaces',
        'unsafe',
        getIn(spec, 'namespaceSelector') === undefined ? insertKey(document, spec, 'namespaceSelector', {}) : undefined,
      ),
    ],
  });
}

/** Accelerators that the pods request by name in a known number. mixed-accelerators reports two kinds in one container. */
function requestedResources({ podSets }: Workload): readonly string[] {
  const requests = podSets
    .filter(({ pods }) => pods.max !== 0)
    .flatMap(({ containers }) => containers)
    .filter(({ accelerators }) => accelerators.length === 1)
    .flatMap(({ accelerators }) => accelerators.filter(({ count }) => count !== null && count > 0));
  return [...new Set(requests.map(({ resource }) => resource))];
}

const plainNames = ['cpu', 'memory', 'ephemeral-storage'];

/** The network devices and huge pages that the pods request. */
function otherResources({ podSets }: Workload): readonly string[] {
  const containers = podSets.filter(({ pods }) => pods.max !== 0).flatMap((podSet) => podSet.containers);
  const written = containers.flatMap(({ resources }) =>
    ['requests', 'limits'].flatMap((part) => entries(getIn(resources, part)).map(keyOf)),
  );
  return [...new Set(written)].filter(
    (name) =>
      (name.startsWith('hugepages-') || (name.includes('/') && acceleratorResource(name) === undefined)) &&
      containers.some(
        ({ accelerators, resources }) =>
          !accelerators.some(({ resource }) => resource === name) && requests(resources, name),
      ),
  );
}

/** Which of CPU, memory and disk the pods request: a limit without a request is also a request. Kueue counts them like devices. */
function plainResources({ podSets }: Workload): readonly string[] {
  const containers = podSets.filter(({ pods }) => pods.max !== 0).flatMap((podSet) => podSet.containers);
  return plainNames.filter((name) => containers.some(({ resources }) => requests(resources, name)));
}

function requests(resources: Cursor | undefined, name: string): boolean {
  const at = getIn(resources, 'requests', name) ?? getIn(resources, 'limits', name);
  return at !== undefined && !isTemplated(at) && (lowerQuantity(at).value ?? 0) > 0;
}

/** The texts of a list, or those under a key of its items; undefined if one of them is unknown. */
function namesIn(list: Cursor | undefined, key?: string): readonly string[] | undefined {
  if (list === undefined || list.node.kind !== 'seq' || isIncomplete(list)) return undefined;
  const names = items(list).map((item) => (key === undefined ? item : getIn(item, key)));
  if (names.some((name) => name === undefined || isTemplated(name))) return undefined;
  return names.map((name) => asText(name) ?? '');
}

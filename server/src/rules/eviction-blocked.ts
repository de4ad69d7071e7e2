import { plural } from '../cost/money.ts';
import { isExplained } from '../evidence/deliberate.ts';
import { allowedEvictions } from '../evidence/evictions.ts';
import type { Referenced } from '../model/cross-references.ts';
import { isValues } from '../model/values.ts';
import { firstOf } from '../model/values-parts.ts';
import type { Manifest, PodSet, Workload } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A PodDisruptionBudget never allows the eviction of a pod that holds GPUs.
 *
 * ## Why
 *
 * Node drains, upgrades and consolidation evict pods, and the API server rejects an eviction that would leave fewer pods than the budget
 * requires. A budget that requires all replicas blocks them: upgrades of the GPU nodes stop or run into a timeout, and idle nodes stay and cost
 * money. The budget
 * must leave at least one pod to evict; a replica more than minAvailable is enough.
 * Pods that two budgets select are never evicted.
 *
 * ```yaml invalid
 * apiVersion: policy/v1
 * kind: PodDisruptionBudget
 * metadata: {name: chat}
 * spec:
 *   minAvailable: 2
 *   selector: {matchLabels: {app: chat}}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   replicas: 2
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:2.1
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: policy/v1
 * kind: PodDisruptionBudget
 * metadata: {name: chat}
 * spec:
 *   minAvailable: 1
 *   selector: {matchLabels: {app: chat}}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   replicas: 2
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:2.1
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: one pod fewer serves during a drain.
 *
 * ## When it is silent
 *
 * If the workload is in none of the folders of the budget, trains or runs a notebook, or has an unknown number of pods; and if a comment explains
 * a budget for a single replica or without any eviction. In the values of charts, if another block counts the pods. A single replica, and a default that another object may change, are only information.
 *
 * ## Sources
 *
 * - [Kubernetes: disruption budgets](https://kubernetes.io/docs/tasks/run-application/configure-pdb/)
 * - [Kubernetes: safely drain a node](https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  manifest(manifest, context) {
    if (manifest.kind !== 'PodDisruptionBudget' || !manifest.apiVersion.startsWith('policy/')) return;
    const spec = getIn(manifest.root, 'spec');
    const selector = getIn(spec, 'selector');
    const labels = entries(getIn(selector, 'matchLabels'));
    const [bound, ...others] = boundKeys.flatMap((key) => getIn(spec, key) ?? []);
    if (bound === undefined || others.length > 0 || labels.length === 0 || isIncomplete(spec)) return;
    if ([bound, ...labels].some(isTemplated) || entries(selector).length > 1) return;
    const wanted = tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']));
    const [workload, ...more] = context.crossReferences.keptRunning(manifest.namespace, wanted);
    // The budget counts the pods of all of them.
    if (workload === undefined || more.length > 0 || workload.siblingFolder || !holdsGpus(workload.facts)) return;
    check(bound, workload, manifest.namespace, context);
    checkOthers(manifest, workload, context);
  },
  workload(workload, context) {
    if (isValues(workload) && !otherRoles.has(workload.role))
      for (const podSet of workload.podSets) checkValues(podSet, workload, context);
  },
});

/** Reports the last of several budgets for the same pods. */
function checkOthers(
  { namespace, name, root }: Manifest,
  { kind, name: owner, facts }: Referenced<WorkloadFacts>,
  { crossReferences, report }: RuleContext,
): void {
  const budgets = crossReferences.budgetsOf(namespace, facts.labels).filter(({ file }) => file === null);
  const at = getIn(root, 'metadata', 'name');
  const [other] = budgets.filter((one) => one.name < (name ?? ''));
  if (other === undefined || at === undefined || crossReferences.mayBePatch()) return;
  report({
    message: `${kind} ${shorten(owner, 20)} also has budget ${shorten(other.name, 20)}: the API server evicts no pod with two budgets, so drains of its GPU nodes are blocked`,
    span: spanOf(at),
  });
}

/** The budget that a chart makes of its values, next to the replicas, in the form of `helm create`. */
function checkValues({ pod, pods, accelerators }: PodSet, { role }: Workload, { document, report }: RuleContext): void {
  const budget = firstOf(pod, ['podDisruptionBudget', 'pdb', 'disruptionBudget']);
  const isOn = asBoolean(firstOf(budget, ['enabled', 'create'])) === true;
  if (!isOn || role === 'definition' || accelerators.length === 0 || isIncomplete(budget) || isIncomplete(pod)) return;
  const [bound, ...others] = boundKeys.flatMap((key) => {
    const at = getIn(budget, key);
    return at === undefined || (asText(at) ?? '') === '' ? [] : at;
  });
  if (bound === undefined || others.length > 0 || isTemplated(bound) || pods.min === null || pods.min === 0) return;
  const text = asText(bound) ?? '';
  const written = { minAvailable: null, maxUnavailable: null, selects: null, [String(bound.step)]: text };
  if (allowedEvictions(written, pods.min) !== 0 || isExplained(bound, document)) return;
  report({
    severity: pods.min === 1 ? 'info' : 'warning',
    message: `${String(bound.step)} ${text} with ${plural(pods.min, 'replica')} allows no eviction: drains and upgrades of the GPU nodes are blocked`,
    span: keySpanOf(bound),
  });
}

const boundKeys = ['minAvailable', 'maxUnavailable'];

function holdsGpus({ role, demand }: WorkloadFacts): boolean {
  return !otherRoles.has(role) && Object.values(demand).some((count) => count > 0);
}

/** Pods whose work an eviction ends; waiting for them is the purpose of their budget. */
const otherRoles: ReadonlySet<string> = new Set(['training', 'batch', 'interactive', 'infrastructure']);

function check(
  bound: Cursor,
  { kind, name, facts }: Referenced<WorkloadFacts>,
  namespace: string | null,
  { crossReferences, document, report }: RuleContext,
): void {
  const scalers = crossReferences.scalersOf('apps', kind, namespace, name);
  const [scaler] = scalers;
  const pods = scaler === undefined ? (facts.replicas === undefined ? 1 : facts.replicas) : scaler.facts.min;
  const text = asText(bound) ?? '';
  const budget = { minAvailable: null, maxUnavailable: null, selects: null, [String(bound.step)]: text };
  if (scalers.length > 1 || pods === 0 || allowedEvictions(budget, pods) !== 0) return;
  const isAlways = allowedEvictions(budget, null) === 0;
  // Somebody may prefer a stuck drain to an outage.
  if ((text === '1' || isAlways) && isExplained(bound, document)) return;
  const isSingle = pods === null || pods === 1;
  const isDefault = scaler === undefined && facts.replicas === undefined;
  const words = isSingle || scaler === undefined ? plural(pods ?? 1, 'replica') : `${pods} pods at the minimum`;
  report({
    severity: isSingle || isDefault ? 'info' : 'warning',
    message: `${String(bound.step)} ${text} allows no eviction of ${kind} ${shorten(name, 30)}${isAlways ? '' : ` (${words})`}: drains and upgrades of its GPU nodes are blocked`,
    span: keySpanOf(bound),
    fixes: () =>
      !isAlways && pods !== null && pods > 1
        ? [fix(`Set minAvailable to ${pods - 1}`, 'unsafe', replaceScalar(document, bound, pods - 1))]
        : [],
  });
}

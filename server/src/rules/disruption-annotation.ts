import { isSlip } from '../catalog/spelling.ts';
import { isPlaceholderText, isUnknown } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Manifest, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, renameKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type RuleContext, type WorkloadContext } from './rule.ts';

/**
 * A disruption annotation or budget does not reach the pods that it should protect.
 *
 * ## Why
 *
 * Karpenter reads `karpenter.sh/do-not-disrupt` from pods, and the cluster autoscaler `cluster-autoscaler.kubernetes.io/safe-to-evict`. On the
 * object that creates the pods they have no effect, and a long training run is evicted with its node. The old name,
 * `karpenter.sh/do-not-evict`, has had no effect since Karpenter 0.33. Labels with these names, and misspelled names, have none either. A
 * PodDisruptionBudget without a selector, or with labels that no pod has, is accepted and protects nothing: a drain evicts all replicas of a
 * server at once.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     metadata:
 *       annotations:
 *         karpenter.sh/do-not-evict: "true"
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:2.1
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     metadata:
 *       annotations:
 *         karpenter.sh/do-not-disrupt: "true"
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:2.1
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the annotation keeps the pods, and with them their nodes.
 *
 * ## When it is silent
 *
 * For kinds whose controllers copy their annotations to pods, and for pods without accelerators. For budgets that may be patches, and for a
 * budget whose name is not that of a GPU server, or that differs from its pods in several labels.
 *
 * ## Sources
 *
 * - [Kubernetes: disruption budgets](https://kubernetes.io/docs/tasks/run-application/configure-pdb/)
 * - [Karpenter: pod-level controls](https://karpenter.sh/docs/concepts/disruption/#pod-level-controls)
 * - [Karpenter: upgrade guide](https://karpenter.sh/docs/upgrading/upgrade-guide/)
 * - [kubernetes-sigs/karpenter#1167](https://github.com/kubernetes-sigs/karpenter/issues/1167)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  manifest(manifest, context) {
    if (manifest.kind === 'PodDisruptionBudget' && manifest.apiVersion === 'policy/v1') checkBudget(manifest, context);
  },
  workload(workload, context) {
    const { manifest, podSets } = workload;
    const holders = podSets.filter(requestsAccelerators);
    if (holders.length === 0) return;
    for (const annotation of new Set(holders.flatMap(annotationsOf))) checkPod(annotation, context);
    const labels = holders.flatMap(({ labels: own, annotations }) =>
      own
        .map(({ at }) => at)
        .filter((at) => annotationNames.test(keyOf(at)) && !annotations.some((one) => keyOf(one.at) === keyOf(at))),
    );
    for (const label of new Set(labels)) checkLabel(label, context);
    // The object between a CronJob and its pods.
    const jobs = entries(getIn(manifest.root, 'spec', 'jobTemplate', 'metadata', 'annotations'));
    for (const annotation of jobs) checkObject(annotation, { ...workload, kind: 'jobTemplate' }, context);
    if (kindOf(workload).passesAnnotations !== false) return;
    for (const annotation of entries(getIn(manifest.root, 'metadata', 'annotations')))
      checkObject(annotation, workload, context);
  },
});

const annotationNames =
  /^(?:karpenter\.sh\/do-not-(?:disrupt|evict|consolidate)|cluster-autoscaler\.kubernetes\.io\/safe-to-evict)$/;

/** A label of a pod with the name of the annotation. */
function checkLabel(label: Cursor, { report }: WorkloadContext): void {
  const key = keyOf(label);
  if (isTemplated(label)) return;
  report({
    message: `${key} has no effect as a label: only the annotation of this name protects the pod`,
    span: keySpanOf(label),
  });
}

function annotationsOf({ annotations }: PodSet): readonly Cursor[] {
  return annotations
    .map(({ at: annotation }) => annotation)
    .filter((annotation) => annotationNames.test(keyOf(annotation)) || misspelled(keyOf(annotation)) !== undefined);
}

/** The annotation whose name is one slip away. */
function misspelled(key: string): string | undefined {
  return current.find((name) => isSlip(key, name));
}

const current = ['karpenter.sh/do-not-disrupt', 'cluster-autoscaler.kubernetes.io/safe-to-evict'];

function checkPod(annotation: Cursor, { document, report }: WorkloadContext): void {
  const key = keyOf(annotation);
  if (isTemplated(annotation)) return;
  const meant = misspelled(key);
  if (meant !== undefined) {
    report({
      message: `${key} protects no pod; did you mean ${meant}?`,
      span: keySpanOf(annotation),
      fixes: () => [fix(`Rename to ${meant}`, 'unsafe', renameKey(document, annotation, meant))],
    });
    return;
  }
  if (!/do-not-(?:evict|consolidate)$/.test(key)) return;
  report({
    message: `Karpenter 0.33 and later ignore ${key}: the pod is not protected; use karpenter.sh/do-not-disrupt`,
    span: keySpanOf(annotation),
    fixes: () => {
      const edits = renameKey(document, annotation, 'karpenter.sh/do-not-disrupt');
      return [fix('Rename to karpenter.sh/do-not-disrupt', 'unsafe', edits)];
    },
  });
}

function checkObject(annotation: Cursor, { kind, podSets }: Workload, { document, report }: WorkloadContext): void {
  const key = keyOf(annotation);
  const inPods = podSets.some(({ annotations }) => annotations.some(({ at: one }) => keyOf(one) === key));
  if (!annotationNames.test(key) || inPods || podSets.some(mayHaveMore)) return;
  report({
    message: `${key} has no effect on a ${kind}: only annotations in the pod template reach the pods`,
    span: keySpanOf(annotation),
    fixes: () => [addToTemplate(annotation, podSets, document)],
  });
}

/** Whether a template may add annotations to the pods. */
function mayHaveMore({ pod }: PodSet): boolean {
  const metadata = getIn(pod.parent, 'metadata');
  return [pod.parent, metadata, getIn(metadata, 'annotations')].some(isUnseen);
}

function checkBudget({ root, namespace, isPatch }: Manifest, { crossReferences, report }: RuleContext): void {
  const [spec, name] = [getIn(root, 'spec'), getIn(root, 'metadata', 'name')];
  const selector = getIn(spec, 'selector');
  if (spec?.node.kind !== 'map' || isUnseen(spec) || isIncomplete(root)) return;
  if (selector === undefined) {
    if (isPatch || crossReferences.mayBePatch()) return;
    report({
      message: 'The budget has no selector, so it protects no pod: a drain evicts all replicas at once',
      span: keySpanOf(spec),
    });
    return;
  }
  const labels = entries(getIn(selector, 'matchLabels'));
  if (labels.length === 0 || entries(selector).length > 1 || [selector, ...labels].some(isUnseen) || isUnseen(name))
    return;
  const wanted = labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']);
  if (crossReferences.keptRunning(namespace, tableOf(wanted)).length > 0) return;
  const server = (asText(name) ?? '').replace(/^pdb-|-(?:pdb|budget|disruption-budget)$/g, '');
  for (const kind of ['Deployment', 'StatefulSet']) {
    const found = crossReferences.workload(kind, namespace, server);
    if (found === undefined || found.siblingFolder || Object.values(found.facts.demand).every((count) => count === 0))
      continue;
    const missed = labels.filter((label) => found.facts.labels[keyOf(label)] !== asText(label));
    const [label] = missed;
    const own = label === undefined || missed.length > 1 ? undefined : found.facts.labels[keyOf(label)];
    if (label === undefined || own === undefined || isUnknown(label) || isPlaceholderText(own)) return;
    report({
      message: `The budget selects no pods: those of ${kind} ${shorten(server, 30)} have ${shorten(`${keyOf(label)}=${own}`, 50)}`,
      span: spanOf(label),
    });
    return;
  }
}

function addToTemplate(annotation: Cursor, podSets: readonly PodSet[], document: YamlDocument): Fix | undefined {
  const value = asText(annotation);
  if (value === undefined || podSets.some(({ pod }) => pod.step !== 'spec')) return undefined;
  const edits = podSets.map(({ pod: { parent: template } }) => {
    const metadata = getIn(template, 'metadata');
    const annotations = getIn(metadata, 'annotations');
    const entry = { [keyOf(annotation)]: value };
    if (annotations !== undefined) return insertKey(document, annotations, keyOf(annotation), value);
    return metadata !== undefined
      ? insertKey(document, metadata, 'annotations', entry)
      : insertKey(document, template, 'metadata', { annotations: entry });
  });
  return fix(`Add the annotation to the pod ${edits.length === 1 ? 'template' : 'templates'}`, 'unsafe', ...edits);
}

import { isSlip } from '../catalog/spelling.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { gigabyteEffect, isComparison, isMebibyteLabel, isNumberLabel } from '../evidence/number-labels.ts';
import { wantedLabels } from '../evidence/pod-selectors.ts';
import { isPodSpec, isWholePod } from '../evidence/rejection.ts';
import { undoneExclusion } from '../evidence/undone-exclusions.ts';
import { hasAffinityOrSpread, isPlaceholderText, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A selector, an affinity or a spread constraint that matches nothing: a number in another unit or form, or labels that nodes or the object's own pods do not have.
 *
 * ## Why
 *
 * `Gt` and `Lt` compare whole numbers only. With "40Gi" or "1.5", the API server accepts the pod, and no node matches: it stays Pending.
 * The label nvidia.com/gpu.memory is in MiB, without a unit, so "40" is less than any GPU has. Hostnames are lowercase, and a node has its name in
 * kubernetes.io/hostname, not in nodeName. GKE labels spot nodes with `gke-spot: "true"` and never labels others with "false". An anti-affinity
 * that should spread the pods of a job but selects another
 * job's name spreads nothing, and neither does a constraint without a selector: a selector that is absent matches no pods. Node selector terms
 * are ORed, so a `NotIn` in its own term excludes nothing that another term lets in.
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
 * ## Fix safety
 *
 * Unsafe: the selector may mean another object.
 *
 * ## When it is silent
 *
 * For templates, for numbers next to a correct one, and for pod selectors whose value does not resemble the label of the object's own pods.
 *
 * ## Sources
 *
 * - [Kubernetes: operators of node affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators)
 * - A dry run against an API server and a scheduler of version 1.36
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  manifest({ kind, root }, context) {
    if (kind !== 'ResourceFlavor') return;
    for (const at of placesAt(root, 'spec.nodeLabels.*'))
      checkSpot(keyOf(at), [{ value: asText(at) ?? '', at }], context);
  },
  podSet(podSet, context) {
    if (!isPodSpec(podSet, context.workload)) return;
    for (const selector of podSet.selectors) {
      if (isNumberLabel(selector.key)) checkNumbers(selector, context);
      checkSpot(selector.key, selector.values, context);
      if (selector.from === 'nodeSelector' && /^(?:nodeName|hostname)$/.test(selector.key))
        checkName(selector, context);
    }
    for (const { key, values } of podSet.selectors)
      if (key === 'kubernetes.io/hostname' && values.every(isMixedCase))
        for (const value of values) checkCase(value, context);
    if (hasAffinityOrSpread(podSet.pod)) checkTerms(podSet, context);
  },
});

/** Reports a value for nodes that do not have the label. https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms */
function checkSpot(key: string, values: readonly Located<string>[], { report }: RuleContext): void {
  const label = /^cloud\.google\.com\/(gke-(?:spot|preemptible))$/.exec(key)?.[1];
  if (label === undefined) return;
  if (values.every(({ value, at }) => value === 'false' && !isUnknown(at)))
    for (const { at } of values)
      report({
        // Autopilot and administrators may give other nodes the label.
        severity: 'info',
        message: `GKE never sets ${label} to "false": nodes that are not ${label === 'gke-spot' ? 'spot' : 'preemptible'} lack the label, and DoesNotExist selects them`,
        span: spanOf(at),
      });
}

/** Reports the name of a node under a key that is no label of nodes by default. */
function checkName({ key, values, at }: Selector, { document, report }: PodSetContext): void {
  if (values.some((value) => isUnknown(value.at))) return;
  const what = key === 'nodeName' ? 'a field of the pod, not a node label' : 'not a default node label';
  report({
    // An administrator may have labeled the nodes so.
    ...(key === 'hostname' && { severity: 'info' as const }),
    message: `${key} is ${what}: the pod stays Pending unless you label nodes with it; Kubernetes sets kubernetes.io/hostname`,
    span: keySpanOf(at),
    fixes: () => [fix('Select by kubernetes.io/hostname', 'unsafe', renameKey(document, at, 'kubernetes.io/hostname'))],
  });
}

/** Reports values that the label of a number never has. */
function checkNumbers({ key, values }: Selector, { report }: PodSetContext): void {
  const isRight = ({ value, at }: Located<string>) =>
    at.node.kind === 'scalar' && (at.node.templated || (isUnknown(at) ? !isComparison(value) : isAmount(value)));
  const isAmount = (value: string) => /^\d*$/.test(value) && gigabyteEffect(key, 'In', value) === undefined;
  if (values.some(isRight)) return;
  const unit = isMebibyteLabel(key) ? ' of MiB' : '';
  for (const { value, at } of values) {
    const rest = /^\d+$/.test(value)
      ? `is in MiB, not in GB: no node has ${value}`
      : `is a whole number${unit}, not "${shorten(value, 20)}": no node matches`;
    report({ message: `${key} ${rest}, and the pod stays Pending`, span: spanOf(at) });
  }
}

/** A name in capitals alone may be a placeholder. */
function isMixedCase({ value, at }: Located<string>): boolean {
  if (isUnknown(at) || sketchedName.test(value)) return false;
  return /^[A-Za-z0-9.-]+$/.test(value) && /[A-Z]/.test(value) && /[a-z0-9]/.test(value);
}

/** Words to replace: `worker-X`, `nodeN`, `YOUR-node`. */
const sketchedName = new RegExp(
  `(?:^|[-.])(?:${oneOf('X+ N YOUR MY NAME NODE HOST HOSTNAME REPLACE CHANGE CHANGEME TODO')})(?:$|[-.])|[a-z](?:X+|N)$`,
);

/** Reports a hostname with uppercase letters, which the kubelet writes in lowercase. */
function checkCase({ value, at }: Located<string>, { document, report }: PodSetContext): void {
  const name = value.toLowerCase();
  report({
    message: `kubernetes.io/hostname is always lowercase, not ${shorten(value, 40)}: no node matches, and the pod stays Pending`,
    span: spanOf(at),
    fixes: () => [fix(`Select ${shorten(name, 40)}`, 'unsafe', replaceScalar(document, at, name))],
  });
}

function checkTerms(podSet: PodSet, context: PodSetContext): void {
  const { report, workload } = context;
  const path = 'affinity.nodeAffinity';
  const required = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.*.matchExpressions.*`;
  const preferred = `${path}.preferredDuringSchedulingIgnoredDuringExecution.*.preference.matchExpressions.*`;
  for (const expression of placesAt(podSet.pod, required)) {
    for (const value of wrongNumbers(expression))
      report({
        message: `${said(expression, value)}: no node matches, and the pod stays Pending`,
        span: spanOf(value),
      });
    for (const { value, effect } of gigabytes(expression)) {
      const then = effect === 'all' ? 'excludes no node' : 'matches no node, and the pod stays Pending';
      report({
        message: `${asText(getIn(expression, 'key'))} is in MiB, not in GB: ${asText(getIn(expression, 'operator'))} ${asText(value)} ${then}`,
        span: spanOf(value),
      });
    }
  }
  const undone = undoneExclusion(podSet.pod);
  if (undone !== undefined)
    report({
      message:
        'nodeSelectorTerms are ORed: a node that this NotIn excludes can match another term; put the expressions in one term',
      span: spanOf(getIn(undone, 'operator') ?? undone),
    });
  for (const expression of placesAt(podSet.pod, preferred)) {
    for (const value of wrongNumbers(expression))
      report({ message: `${said(expression, value)}: the scheduler cannot place the pod`, span: spanOf(value) });
  }
  for (const constraint of placesAt(podSet.pod, 'topologySpreadConstraints.*'))
    checkSpread(constraint, podSet, context);
  for (const side of ['podAffinity', 'podAntiAffinity']) checkSelected(side, podSet, context);
  if (isWholePod(podSet, workload)) checkMissing(podSet, context);
  for (const key of topologyKeys(podSet.pod)) checkTopology(key, context);
}

/** Reports a constraint that counts other pods than those it places. Without matching labels it spreads nothing. */
function checkSpread(constraint: Cursor, { pod, labels }: PodSet, { report, workload }: PodSetContext): void {
  const written = getIn(pod.parent, 'metadata', 'labels');
  if (workload.partial || written === undefined || isIncomplete(written) || labels.length === 0) return;
  for (const { key, at: wanted } of wantedLabels(constraint)) {
    const value = writtenText(wanted);
    const own = getIn(written, key);
    // Controllers and kustomizations add labels.
    if (value === undefined || own === undefined || isUnknown(own) || asText(own) === value) continue;
    report({
      message: `The constraint counts pods with ${shorten(`${key}: ${value}`, 60)}, which this object's pods do not have: it does not spread them`,
      span: spanOf(wanted),
    });
    return;
  }
}

/** Reports what should spread pods and selects none: a selector that is absent matches nothing. */
function checkMissing({ pod }: PodSet, { report }: PodSetContext): void {
  for (const place of [...placesAt(pod, 'topologySpreadConstraints.*'), ...termsOf(pod, 'podAntiAffinity')]) {
    const key = getIn(place, 'topologyKey');
    if (key !== undefined && !isUnseen(place) && !isUnseen(place.parent) && getIn(place, 'labelSelector') === undefined)
      report({
        message: 'A constraint without a labelSelector counts no pods: it does not spread the pods',
        span: keySpanOf(key),
      });
  }
}

function topologyKeys(pod: Cursor): readonly Cursor[] {
  return [
    ...placesAt(pod, 'topologySpreadConstraints.*.topologyKey'),
    ...placesAt(pod, 'affinity.*.requiredDuringSchedulingIgnoredDuringExecution.*.topologyKey'),
    ...placesAt(pod, 'affinity.*.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm.topologyKey'),
  ];
}

/** Labels of all nodes by which pods are spread. */
const nodeTopologies = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Reports the key of a spread that is almost one of these labels, or lacks its prefix. */
function checkTopology(key: Cursor, { document, report }: PodSetContext): void {
  const text = writtenText(key);
  // White space is another mistake.
  if (text === undefined || nodeTopologies.includes(text) || /\s/.test(text)) return;
  // Some write only the beginning or the end.
  const isPart = (one: string) => one.endsWith(`/${text}`) || (text.includes('/') && one.startsWith(text));
  const meant = nodeTopologies.find((one) => isSlip(text, one) || isPart(one));
  if (meant === undefined) return;
  report({
    message: `${shorten(text, 50)} is not a default node label, so the nodes form no topology domains; did you mean ${meant}?`,
    // An administrator may have labeled the nodes so.
    ...(/^(?:zone|region)$/.test(text) && { severity: 'info' as const }),
    span: spanOf(key),
    fixes: () => [fix(`Use ${meant}`, 'unsafe', replaceScalar(document, key, meant))],
  });
}

/** Labels that controllers set to the name of their object. */
const nameLabels = wordSet(
  'training.kubeflow.org/job-name batch.kubernetes.io/job-name job-name ray.io/cluster',
  'jobset.sigs.k8s.io/jobset-name leaderworkerset.sigs.k8s.io/name volcano.sh/job-name',
);

function termsOf(pod: Cursor, side: string): readonly Cursor[] {
  return [
    ...placesAt(pod, `affinity.${side}.requiredDuringSchedulingIgnoredDuringExecution.*`),
    ...placesAt(pod, `affinity.${side}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`),
  ];
}

/** Reports a selector of pods that almost certainly means the pods of its own object, and has another value. */
function checkSelected(side: string, podSet: PodSet, { report, workload, document }: PodSetContext): void {
  const { pod, labels } = podSet;
  const terms = termsOf(pod, side);
  for (const { key, at: wanted } of terms.flatMap(wantedLabels)) {
    const value = writtenText(wanted);
    const byName = nameLabels.has(key);
    const own = byName ? workload.name : labels.find(({ at }) => keyOf(at) === key)?.value;
    const spreads = side === 'podAntiAffinity' && podSet.pods.max !== 1 && !workload.partial;
    if (value === undefined || own == null || own === value || isPlaceholderText(own) || isUnknown(wanted)) continue;
    // Other objects may have similar names.
    const isClose = isSlip(own, value) || (byName && (own.includes(value) || value.includes(own)));
    // With several terms, another one may spread the pods.
    if (!isClose && !(byName && spreads && terms.length === 1)) continue;
    report({
      ...(!isClose && { severity: 'info' as const }),
      message: `${side} selects ${shorten(`${key}: ${value}`, 60)}, but this object's pods have ${shorten(own, 30)}: the term never matches them`,
      span: spanOf(wanted),
      fixes: () => [fix(`Select ${own}`, 'unsafe', replaceScalar(document, wanted, own))],
    });
  }
}

function wrongNumbers(expression: Cursor): readonly Cursor[] {
  if (!/^(Gt|Lt)$/.test(writtenText(getIn(expression, 'operator')) ?? '')) return [];
  const values = items(getIn(expression, 'values'));
  if (values.length !== 1) return [];
  return values.filter(
    (value) => value.node.kind === 'scalar' && !isUnknown(value) && !/^[+-]?\d+$/.test(value.node.source),
  );
}

/** Bounds of memory in another unit than their label. The values of In are those of the selectors. */
function gigabytes(expression: Cursor): readonly { readonly value: Cursor; readonly effect: 'none' | 'all' }[] {
  const [key, operator] = [getIn(expression, 'key'), getIn(expression, 'operator')].map((at) => writtenText(at) ?? '');
  if (!/^(Gt|Lt)$/.test(operator ?? '')) return [];
  return items(getIn(expression, 'values')).flatMap((value) => {
    const effect = gigabyteEffect(key ?? '', operator ?? '', asText(value) ?? '');
    return effect === undefined || isUnknown(value) ? [] : [{ value, effect }];
  });
}

function said(expression: Cursor, value: Cursor): string {
  const operator = writtenText(getIn(expression, 'operator')) ?? '';
  const key = shorten(asText(getIn(expression, 'key')) ?? 'the label', 50);
  return `${operator} compares ${key} with "${shorten(asText(value) ?? '', 20)}", which is not a whole number`;
}

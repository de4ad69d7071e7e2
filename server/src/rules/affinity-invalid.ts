import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { hasAffinityOrSpread, isSet, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { fix } from '../rewrite/fix.ts';
import {
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isNull,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A node affinity, a pod affinity, a selector or a topology spread constraint that the API server rejects.
 *
 * ## Why
 *
 * The operators `In` and `NotIn` need values, `Exists` and `DoesNotExist` take none, and `Gt` and `Lt` (only in a node affinity) take
 * exactly one. `minDomains` requires `whenUnsatisfiable: DoNotSchedule`. The API server rejects the object otherwise.
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
 *               - key: nvidia.com/gpu.present
 *                 operator: Exists
 *                 values: ["true"]
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
 *   affinity:
 *     nodeAffinity:
 *       requiredDuringSchedulingIgnoredDuringExecution:
 *         nodeSelectorTerms:
 *           - matchExpressions:
 *               - key: nvidia.com/gpu.present
 *                 operator: Exists
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
 * Unsafe: another operator or other values select other nodes.
 *
 * ## When it is silent
 *
 * For templates, and for operators that do not exist, which are reported as unknown values.
 *
 * ## Sources
 *
 * - [Kubernetes: affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#affinity-and-anti-affinity)
 * - [Kubernetes: topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, context) {
    if (!/^(apps|batch|policy)\//.test(apiVersion)) return;
    const selectors = placesAt(root, 'spec.selector.matchExpressions.*');
    for (const one of selectors) checkExpression(one, false, `the API server rejects the ${kind}`, context);
  },
  podSet(podSet, context) {
    if (!hasAffinityOrSpread(podSet.pod) || !isPodSpec(podSet, context.workload)) return;
    const rejection = rejectionOf(context.workload);
    const at = (path: string) => placesAt(podSet.pod, path);
    const required = at('affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms');
    for (const terms of required) {
      if (terms.node.kind !== 'seq' || items(terms).length > 0 || isIncomplete(terms)) continue;
      context.report({ message: `nodeSelectorTerms needs at least one term: ${rejection}`, span: keySpanOf(terms) });
    }
    const terms = [
      ...required.flatMap((one) => items(one)),
      ...at('affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.preference'),
    ];
    for (const term of terms) {
      for (const one of placesAt(term, 'matchExpressions.*')) checkExpression(one, true, rejection, context);
      for (const one of placesAt(term, 'matchFields.*')) checkField(one, rejection, context);
    }
    for (const selector of labelSelectors(podSet.pod)) {
      for (const one of placesAt(selector, 'matchExpressions.*')) checkExpression(one, false, rejection, context);
    }
    for (const constraint of at('topologySpreadConstraints.*')) checkSpread(constraint, rejection, context);
  },
});

function labelSelectors(pod: Cursor): readonly Cursor[] {
  const affinities = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
    ...placesAt(pod, `affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution.*.labelSelector`),
    ...placesAt(
      pod,
      `affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm.labelSelector`,
    ),
  ]);
  return [...affinities, ...placesAt(pod, 'topologySpreadConstraints.*.labelSelector')];
}

function checkExpression(one: Cursor, ofNodes: boolean, rejection: string, { report, document }: RuleContext): void {
  const operator = getIn(one, 'operator');
  const values = getIn(one, 'values');
  const written = writtenText(operator);
  if (operator === undefined || written === undefined || isIncomplete(one) || isUnseen(values)) return;
  if (values !== undefined && values.node.kind !== 'seq' && !isNull(values)) return;
  const count = items(values).length;
  const subject = shorten(writtenText(getIn(one, 'key')) ?? 'the expression', 50);
  if (/^(In|NotIn)$/.test(written) && count === 0) {
    report({
      message: `Operator ${written} needs values for ${subject}: ${rejection}`,
      span: spanOf(operator),
      fixes: () => {
        const other = written === 'In' ? 'Exists' : 'DoesNotExist';
        const removed = values === undefined ? [] : removeKey(document, values);
        return [fix(`Set the operator to ${other}`, 'unsafe', replaceScalar(document, operator, other), removed)];
      },
    });
  } else if (/^(Exists|DoesNotExist)$/.test(written) && count > 0 && values !== undefined) {
    const other = written === 'Exists' ? 'In' : 'NotIn';
    report({
      message: `Operator ${written} takes no values for ${subject}: ${rejection}`,
      span: keySpanOf(values),
      fixes: () => [
        fix('Remove the values', 'unsafe', removeKey(document, values)),
        fix(`Set the operator to ${other}`, 'unsafe', replaceScalar(document, operator, other)),
      ],
    });
  } else if (/^(Gt|Lt)$/.test(written) && (!ofNodes || count !== 1)) {
    report({
      message: ofNodes
        ? `Operator ${written} needs exactly one value for ${subject}, not ${count}: ${rejection}`
        : `Operator ${written} does not exist in label selectors; use In, NotIn, Exists or DoesNotExist: ${rejection}`,
      span: spanOf(operator),
    });
  }
}

/** The only field is the name, with one value. */
function checkField(one: Cursor, rejection: string, { report }: RuleContext): void {
  const key = getIn(one, 'key');
  const values = getIn(one, 'values');
  const name = writtenText(key);
  if (key === undefined || name === undefined || isIncomplete(one) || isIncomplete(values)) return;
  if (name !== 'metadata.name') {
    report({
      message: `matchFields supports only metadata.name, not ${shorten(name, 40)}; labels are in matchExpressions: ${rejection}`,
      span: spanOf(key),
    });
  } else if (items(values).length !== 1) {
    report({ message: `matchFields needs exactly one value: ${rejection}`, span: keySpanOf(values ?? key) });
  }
}

function checkSpread(constraint: Cursor, rejection: string, { report, document }: RuleContext): void {
  const minimum = getIn(constraint, 'minDomains');
  const otherwise = getIn(constraint, 'whenUnsatisfiable');
  if (otherwise !== undefined && isSet(minimum) && writtenText(otherwise) === 'ScheduleAnyway') {
    report({
      message: `minDomains requires whenUnsatisfiable DoNotSchedule, not ScheduleAnyway: ${rejection}`,
      span: keySpanOf(minimum),
      fixes: () => [
        fix('Remove minDomains', 'unsafe', removeKey(document, minimum)),
        fix('Set whenUnsatisfiable to DoNotSchedule', 'unsafe', replaceScalar(document, otherwise, 'DoNotSchedule')),
      ],
    });
  }
  const keys = getIn(constraint, 'matchLabelKeys');
  const selector = getIn(constraint, 'labelSelector');
  if (!isSet(keys) || items(keys).length === 0 || isIncomplete(constraint)) return;
  if (!isSet(selector)) {
    report({ message: `matchLabelKeys requires a labelSelector: ${rejection}`, span: keySpanOf(keys) });
    return;
  }
  const selected = entries(getIn(selector, 'matchLabels')).map(keyOf);
  const twice = items(keys).find((key) => !isUnknown(key) && selected.includes(writtenText(key) ?? ''));
  if (twice !== undefined) {
    report({
      message: `${shorten(writtenText(twice) ?? '')} is in matchLabelKeys and in the labelSelector: ${rejection}`,
      span: spanOf(twice),
    });
  }
}

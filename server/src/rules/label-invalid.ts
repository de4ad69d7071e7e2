import { isPodSpec, isServedKind, rejectionOf } from '../evidence/rejection.ts';
import { hasAffinityOrSpread, isPlaceholderText, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { keyProblem, labelValueProblem } from '../model/api-syntax.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asString, type Cursor, entries, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext, type Severity } from './rule.ts';

/**
 * The key or the value of a label, or the key of an annotation, is one that the API server rejects.
 *
 * ## Why
 *
 * The value of a label has at most 63 characters: letters, digits, "-", "_" and ".". The id of a model (`meta-llama/Llama-3.1-8B`), a path,
 * an address or a sentence is not a label; it can be an annotation. The same applies to the values of selectors and node selectors. Drivers print the
 * name of a card with spaces (`NVIDIA L4`), but its label has none (`NVIDIA-L4`). Keys have an optional lowercase domain before their only slash.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 *   labels:
 *     model: meta-llama/Llama-3.1-8B
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 *   labels:
 *     model: meta-llama-Llama-3.1-8B
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: selectors, dashboards and scripts may use the value.
 *
 * ## When it is silent
 *
 * For templates and placeholders. In the values of charts, node labels are checked, with severity warning: the chart may rewrite them.
 *
 * ## Sources
 *
 * - [Kubernetes: labels and selectors](https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set)
 * - [Kubernetes: annotations](https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/#syntax-and-character-set)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, context) {
    if (!isServedKind(manifest)) return;
    const rejection = 'the API server rejects the object';
    const metadata = getIn(manifest.root, 'metadata');
    const labels = getIn(metadata, 'labels');
    if (labels !== undefined) checkMap(labels, 'Label', rejection, context);
    const annotations = getIn(metadata, 'annotations');
    if (annotations !== undefined) checkKeys(annotations, 'Annotation', rejection, context);
    const selector = getIn(manifest.root, 'spec', 'selector');
    if (selector === undefined || !/^(apps|policy|batch|autoscaling)$/.test(groupOf(manifest.apiVersion))) return;
    for (const labels of placesAt(selector, 'matchLabels')) {
      checkKeys(labels, 'Selector', rejection, context);
      for (const value of entries(labels)) {
        // The label that it selects is reported.
        const label = getIn(manifest.root, 'spec', 'template', 'metadata', 'labels', keyOf(value));
        if (asString(label) === asString(value)) continue;
        checkValue(value, ` of selector ${shorten(keyOf(value), 28)}`, rejection, context);
      }
    }
    for (const values of placesAt(selector, 'matchExpressions.*.values.*')) {
      checkValue(values, ' of the selector', rejection, context);
    }
  },
  podSet(podSet, context) {
    if (isValues(context.workload)) checkValues(podSet, context);
    if (!isPodSpec(podSet, context.workload)) return;
    const rejection = rejectionOf(context.workload);
    // The metadata of a Pod is that of the object.
    if (podSet.pod.step === 'spec' && podSet.pod.parent?.parent !== undefined) {
      for (const labels of placesAt(podSet.pod.parent, 'metadata.labels')) {
        checkMap(labels, 'Label', rejection, context);
      }
      for (const annotations of placesAt(podSet.pod.parent, 'metadata.annotations')) {
        checkKeys(annotations, 'Annotation', rejection, context);
      }
    }
    const selector = getIn(podSet.pod, 'nodeSelector');
    if (selector !== undefined) checkMap(selector, 'nodeSelector', rejection, context);
    if (hasAffinityOrSpread(podSet.pod)) checkTerms(podSet.pod, rejection, context);
  },
});

/** The values that charts pass on to selectors of nodes, or make node affinity of. */
function checkValues({ selectors }: PodSet, context: PodSetContext): void {
  for (const { key, values } of selectors)
    for (const { at } of values)
      checkValue(at, ` of node label ${shorten(key, 28)}`, 'the API server rejects the pod', context, 'warning');
}

function checkTerms(pod: Cursor, rejection: string, context: PodSetContext): void {
  const at = (path: string) => placesAt(pod, path);
  for (const key of [...at(`${requiredTerms}.key`), ...at(`${preferredTerms}.key`)]) {
    checkKey(key, 'Key', rejection, context);
  }
  for (const value of at(`${requiredTerms}.values.*`)) checkValue(value, '', rejection, context);
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const terms = [
      ...at(`affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution.*`),
      ...at(`affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`),
    ];
    for (const term of terms) checkTerm(term, rejection, context);
  }
  for (const constraint of at('topologySpreadConstraints.*')) checkTerm(constraint, rejection, context);
}

const requiredTerms =
  'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.*.matchExpressions.*';
const preferredTerms =
  'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.preference.matchExpressions.*';

/** A term of pod affinity or a spread constraint: its topology key and its label selector. */
function checkTerm(term: Cursor, rejection: string, context: PodSetContext): void {
  for (const key of placesAt(term, 'topologyKey')) checkKey(key, 'topologyKey', rejection, context);
  for (const labels of placesAt(term, 'labelSelector.matchLabels')) checkMap(labels, 'Selector', rejection, context);
  for (const value of placesAt(term, 'labelSelector.matchExpressions.*.values.*')) {
    checkValue(value, ' of the selector', rejection, context);
  }
}

function checkMap(map: Cursor, what: string, rejection: string, context: RuleContext): void {
  checkKeys(map, what, rejection, context);
  for (const value of entries(map))
    checkValue(value, ` of ${nameOf(what)} ${shorten(keyOf(value), 28)}`, rejection, context);
}

/** `nodeSelector` is a field; the others are words. */
function nameOf(what: string): string {
  return what === 'nodeSelector' ? what : what.toLowerCase();
}

function checkKeys(map: Cursor, what: string, rejection: string, { report }: RuleContext): void {
  for (const entry of entries(map)) {
    const key = keyOf(entry);
    if (isPlaceholderText(key)) continue;
    // The keys of annotations may have capitals in their domain.
    const problem = keyProblem(what === 'Annotation' ? key.toLowerCase() : key);
    if (problem === undefined) continue;
    report({ message: `${what} key "${shorten(key, 40)}" ${problem}: ${rejection}`, span: keySpanOf(entry) });
  }
}

function checkKey(at: Cursor, what: string, rejection: string, { report }: RuleContext): void {
  const key = writtenText(at);
  const problem = key === undefined ? undefined : keyProblem(key);
  if (key === undefined || problem === undefined) return;
  report({ message: `${what} "${shorten(key, 40)}" ${problem}: ${rejection}`, span: spanOf(at) });
}

function checkValue(
  at: Cursor,
  owner: string,
  rejection: string,
  { report, document }: RuleContext,
  severity: Severity = 'error',
): void {
  const value = asString(at);
  if (value === undefined || isUnknown(at)) return;
  const problem = labelValueProblem(value);
  if (problem === undefined) return;
  report({
    severity,
    message: `Value "${shorten(value, 24)}"${owner} ${problem}: ${rejection}`,
    span: spanOf(at),
    fixes: () => {
      const valid = value
        .replace(/[^-A-Za-z0-9_.]+/g, '-')
        .slice(0, 63)
        .replace(/^[-_.]+|[-_.]+$/g, '');
      return valid === '' ? [] : [fix(`Change to ${valid}`, 'unsafe', replaceScalar(document, at, valid))];
    },
  });
}

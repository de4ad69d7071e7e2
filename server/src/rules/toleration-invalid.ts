import { meantResource } from '../catalog/resource-spelling.ts';
import { isSlip } from '../catalog/spelling.ts';
import { isUnknown } from '../evidence/written.ts';
import { keyProblem, labelValueProblem } from '../model/api-syntax.ts';
import { groupOf } from '../model/manifest.ts';
import { isTaintEffect, taintEffects } from '../model/node-pool.ts';
import { minorOf } from '../model/options.ts';
import { lowerTolerations, text } from '../model/pod.ts';
import type { Toleration } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asString,
  entries,
  getIn,
  isIncomplete,
  isNull,
  isTemplated,
  items,
  keySpanOf,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, removeKey, renameKey, replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';

import { defineRule, type Report, type RuleContext } from './rule.ts';

/**
 * A toleration that the API server rejects.
 *
 * ## Why
 *
 * The API server validates tolerations when a pod is created: `Exists` takes no value, a toleration without a key requires `Exists`,
 * operators and effects must be spelled exactly, `tolerationSeconds` requires the effect `NoExecute`, and keys and values have the syntax of
 * labels. Otherwise it rejects the pod. The operators `Gt` and `Lt` need a feature gate that is off by default. A StatefulSet or a custom resource is
 * accepted and then never gets a pod.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   tolerations:
 *     - key: nvidia.com/gpu
 *       operator: Exists
 *       value: "true"
 *       effect: NoSchedule
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
 *   tolerations:
 *     - key: nvidia.com/gpu
 *       operator: Exists
 *       effect: NoSchedule
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
 * Safe if the mistake has one obvious correction: a misspelled operator or effect, a meaningless value next to `Exists` ("true"), or seconds
 * next to an effect that does not use them. A change that may let the pod onto more nodes than intended is unsafe.
 *
 * ## Sources
 *
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 * - [Kubernetes: validation of tolerations](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 */
export default defineRule({
  topic: 'toleration',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, context) {
    // Kueue gives its pods the tolerations of the flavor.
    const spec = getIn(root, 'spec');
    if (kind !== 'ResourceFlavor' || groupOf(apiVersion) !== 'kueue.x-k8s.io' || spec === undefined) return;
    const report = (one: Report) =>
      context.report({ ...one, message: one.message.replace(/the pod$/, 'the ResourceFlavor') });
    for (const taint of items(getIn(spec, 'nodeTaints'))) {
      checkEffect({ at: taint, effect: text(getIn(taint, 'effect')), ...noToleration }, { ...context, report });
    }
    for (const toleration of lowerTolerations(spec)) checkToleration(toleration, { ...context, report });
  },
  podSet(podSet, context) {
    for (const toleration of podSet.tolerations) checkToleration(toleration, context);
  },
});

const noToleration = { key: undefined, operator: undefined, value: undefined, tolerationSeconds: undefined };

type Context = Pick<RuleContext, 'document' | 'report' | 'options'>;

function checkToleration(toleration: Toleration, context: Context): void {
  if (toleration.at.node.kind !== 'map') return;
  checkEffect(toleration, context);
  if (isIncomplete(toleration.at)) return;
  checkOperator(toleration, context);
  checkSeconds(toleration, context);
  checkKey(toleration, context);
  checkSyntax(toleration, context);
}

/** Whether a template or a parameter of Tekton decides what is written. */
function isOpen(one: Located<string> | undefined): boolean {
  return isTemplated(one?.at) || one?.value.includes('$(') === true;
}

const operators = ['Exists', 'Equal'] as const;

function checkOperator(toleration: Toleration, context: Context): void {
  const { key, operator, value } = toleration;
  const { document } = context;
  if (operator === undefined || isOpen(operator) || operator.value === '') return;
  if (operator.value === 'Exists') {
    if (value === undefined || isTemplated(value.at) || value.value === '') return;
    context.report({
      message: `Operator Exists takes no value, but the value is ${quoted(value.value)}: the API server rejects the pod`,
      span: keySpanOf(value.at),
      fixes: () => [
        // Without a key, Exists tolerates every taint.
        fix(
          'Remove the value',
          hasText(key) && /^(true|present|exists)$/i.test(value.value) ? 'safe' : 'unsafe',
          removeKey(document, value.at),
        ),
        hasText(key)
          ? fix('Set the operator to Equal', 'unsafe', replaceScalar(document, operator.at, 'Equal'))
          : undefined,
      ],
    });
    return;
  }
  if (operators.some((known) => known === operator.value)) return;
  // An alpha feature of Kubernetes 1.35 and 1.36.
  if (/^(Gt|Lt)$/.test(operator.value)) {
    // kubernetes-version reports a cluster that does not know them at all.
    if ((minorOf(context.options.kubernetesVersion) ?? 36) < 35) return;
    context.report({
      message: `Operator ${operator.value} requires the feature gate TaintTolerationComparisonOperators, off by default: the API server rejects the pod`,
      span: spanOf(operator.at),
    });
    return;
  }
  context.report({
    message: `Operator ${quoted(operator.value)} does not exist; use Exists or Equal: the API server rejects the pod`,
    span: spanOf(operator.at),
    fixes: () => [respell(operator, operatorsFor(toleration), context)],
  });
}

/** The operators that match the other fields: Exists without a value, Equal with a key. */
function operatorsFor({ key, value }: Toleration): readonly string[] {
  return [...(hasText(value) ? [] : ['Exists']), ...(hasText(key) ? ['Equal'] : [])];
}

function checkEffect({ effect, tolerationSeconds }: Toleration, context: Context): void {
  if (effect === undefined || isOpen(effect) || effect.value === '') return;
  if (isTaintEffect(effect.value)) return;
  context.report({
    message: `Effect must be one of ${taintEffects.join(', ')}, not ${quoted(effect.value)}: the API server rejects the pod`,
    span: spanOf(effect.at),
    fixes: () => [respell(effect, tolerationSeconds === undefined ? taintEffects : ['NoExecute'], context)],
  });
}

function checkSeconds({ tolerationSeconds, effect, at }: Toleration, context: Context): void {
  if (tolerationSeconds === undefined || isTemplated(tolerationSeconds) || isNull(tolerationSeconds)) return;
  if (effect !== undefined && (isOpen(effect) || effect.value === 'NoExecute')) return;
  // A misspelled effect is the cause and has its own finding.
  if (hasText(effect) && !isTaintEffect(effect?.value)) return;
  const { document } = context;
  const evict = () => setKey(document, at, 'effect', 'NoExecute', { after: 'tolerationSeconds' });
  context.report({
    message: `tolerationSeconds requires the effect NoExecute, ${hasText(effect) ? `not ${effect?.value}` : 'which is not set'}: the API server rejects the pod`,
    span: keySpanOf(tolerationSeconds),
    fixes: () => [
      fix('Remove tolerationSeconds', hasText(effect) ? 'safe' : 'unsafe', removeKey(document, tolerationSeconds)),
      fix('Set the effect to NoExecute', 'unsafe', evict()),
    ],
  });
}

function checkKey({ at, key, operator, value }: Toleration, context: Context): void {
  if (hasText(key) || isTemplated(key?.at)) return;
  if (isOpen(operator) || operator?.value === 'Exists') return;
  if (hasText(operator) && operator?.value !== 'Equal') return;
  context.report({
    message: 'A toleration without a key requires the operator Exists: the API server rejects the pod',
    span: operator === undefined ? keySpanOf(key?.at ?? entries(at)[0] ?? at) : spanOf(operator.at),
    fixes: () => [tolerateAll({ at, operator, value }, context)],
  });
}

/** The key and the value of a taint are those of a label. */
function checkSyntax({ key, operator, value }: Toleration, context: Context): void {
  const { document } = context;
  const problem = key === undefined || key.value === '' || isUnknown(key.at) ? undefined : keyProblem(key.value);
  if (key !== undefined && problem !== undefined) {
    const trimmed = key.value.trim();
    const meant = meantResource(trimmed) ?? (keyProblem(trimmed) === undefined ? trimmed : undefined);
    context.report({
      message: `Key ${quoted(key.value)} ${problem}: the API server rejects the pod`,
      span: spanOf(key.at),
      fixes: () =>
        meant === undefined ? [] : [fix(`Change the key to ${meant}`, 'safe', replaceScalar(document, key.at, meant))],
    });
  }
  if (value === undefined || isUnknown(value.at) || operator?.value === 'Exists') return;
  const wrong = labelValueProblem(value.value);
  if (wrong === undefined || asString(value.at) === undefined) return;
  context.report({
    message: `Value ${quoted(value.value)} ${wrong}: the API server rejects the pod`,
    span: spanOf(value.at),
  });
}

/** Sets the operator Exists and removes the value. */
function tolerateAll(
  { at, operator, value }: Pick<Toleration, 'at' | 'operator' | 'value'>,
  { document }: Context,
): Fix | undefined {
  const title = 'Set the operator to Exists, which tolerates every taint';
  if (operator !== undefined) {
    const exists = replaceScalar(document, operator.at, 'Exists');
    return fix(title, 'unsafe', exists, value === undefined ? [] : removeKey(document, value.at));
  }
  if (value === undefined) return fix(title, 'unsafe', insertKey(document, at, 'operator', 'Exists', { after: 'key' }));
  // The entry of the value becomes that of the operator.
  const renamed = renameKey(document, value.at, 'operator');
  return fix(title, 'unsafe', renamed, replaceScalar(document, value.at, 'Exists'));
}

/** Replaces a misspelling if one known name is close: by case and hyphens, or by one typing slip (`NoShedule`). */
function respell(written: Located<string>, known: readonly string[], context: Context): Fix | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z]/g, '')
      .replace(/s$/, '');
  const text = plain(written.value);
  const same = known.filter((name) => plain(name) === text);
  const [match, ...others] = same.length > 0 ? same : known.filter((name) => isSlip(plain(name), text));
  if (match === undefined || others.length > 0) return undefined;
  return fix(`Change to ${match}`, 'safe', replaceScalar(context.document, written.at, match));
}

function hasText(located: Located<string> | undefined): boolean {
  return located !== undefined && located.value !== '';
}

function quoted(text: string): string {
  return `"${shorten(text, 30)}"`;
}

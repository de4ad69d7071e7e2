import { isTaintEffect, taintEffects } from '../model/node-pool.ts';
import type { PodSet, Toleration } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { entries, isIncomplete, isNull, isTemplated, keySpanOf, type Located, spanOf } from '../yaml/cursor.ts';
import { insertKey, removeKey, renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A toleration that the API server refuses.
 *
 * ## Why
 *
 * A toleration is checked when the pod is created: `Exists` takes no value, an empty key goes with `Exists` only, operators and effects are
 * spelt in one way, and `tolerationSeconds` goes with the effect `NoExecute` only. Otherwise the pod is refused; a
 * Deployment or a Job is accepted by some of its checks and then never gets a pod.
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
 * Safe where the mistake has one plain repair: a misspelt operator or effect, a value beside `Exists` that says nothing ("true"), seconds
 * beside an effect that knows none. What would let the pod onto more nodes than it may have meant is unsafe.
 *
 * ## Sources
 *
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 * - [Kubernetes: validation of tolerations](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 */
export default defineRule({
  topic: 'toleration',
  severity: 'error',
  podSet(podSet: PodSet, context: PodSetContext) {
    for (const toleration of podSet.tolerations) {
      if (toleration.at.node.kind !== 'map' || isIncomplete(toleration.at)) continue;
      checkOperator(toleration, context);
      checkEffect(toleration, context);
      checkSeconds(toleration, context);
      checkKey(toleration, context);
    }
  },
});

/** Lt and Gt exist from Kubernetes 1.35. */
const operators = ['Exists', 'Equal', 'Lt', 'Gt'] as const;

function checkOperator(toleration: Toleration, context: PodSetContext): void {
  const { key, operator, value } = toleration;
  const { document } = context;
  if (operator === undefined || isTemplated(operator.at) || operator.value === '') return;
  if (operator.value === 'Exists') {
    if (value === undefined || isTemplated(value.at) || value.value === '') return;
    context.report({
      message: `Operator Exists takes no value, but the value is ${quoted(value.value)}: the API server refuses the pod`,
      span: keySpanOf(value.at),
      fixes: () => [
        // Without a key, Exists tolerates every taint.
        fix(
          'Remove the value: Exists matches any value',
          hasText(key) && /^(true|present|exists)$/i.test(value.value) ? 'safe' : 'unsafe',
          removeKey(document, value.at),
        ),
        hasText(key)
          ? fix(
              'Set the operator to Equal, which compares the value',
              'unsafe',
              replaceScalar(document, operator.at, 'Equal'),
            )
          : undefined,
      ],
    });
    return;
  }
  if (operators.some((known) => known === operator.value)) return;
  context.report({
    message: `Operator ${quoted(operator.value)} does not exist (Exists or Equal): the API server refuses the pod`,
    span: spanOf(operator.at),
    fixes: () => [respell(operator, operatorsFor(toleration), context)],
  });
}

/** The operators that go with what else the toleration says: Exists with no value, Equal with a key. */
function operatorsFor({ key, value }: Toleration): readonly string[] {
  return [...(hasText(value) ? [] : ['Exists']), ...(hasText(key) ? ['Equal'] : [])];
}

function checkEffect({ effect, tolerationSeconds }: Toleration, context: PodSetContext): void {
  if (effect === undefined || isTemplated(effect.at) || effect.value === '') return;
  if (isTaintEffect(effect.value)) return;
  context.report({
    message: `Effect ${quoted(effect.value)} does not exist (${taintEffects.join(', ')}): the API server refuses the pod`,
    span: spanOf(effect.at),
    fixes: () => [respell(effect, tolerationSeconds === undefined ? taintEffects : ['NoExecute'], context)],
  });
}

function checkSeconds({ tolerationSeconds, effect, at }: Toleration, context: PodSetContext): void {
  if (tolerationSeconds === undefined || isTemplated(tolerationSeconds) || isNull(tolerationSeconds)) return;
  if (effect !== undefined && (isTemplated(effect.at) || effect.value === 'NoExecute')) return;
  // A misspelt effect is the cause, and is told by itself.
  if (hasText(effect) && !isTaintEffect(effect?.value)) return;
  const { document } = context;
  const evict = () =>
    effect === undefined
      ? insertKey(document, at, 'effect', 'NoExecute', { after: 'tolerationSeconds' })
      : replaceScalar(document, effect.at, 'NoExecute');
  context.report({
    message: `tolerationSeconds needs the effect NoExecute, not ${effect?.value || 'none'}: the API server refuses the pod`,
    span: keySpanOf(tolerationSeconds),
    fixes: () => [
      fix('Remove tolerationSeconds', hasText(effect) ? 'safe' : 'unsafe', removeKey(document, tolerationSeconds)),
      fix('Set the effect to NoExecute', 'unsafe', evict()),
    ],
  });
}

function checkKey({ at, key, operator, value }: Toleration, context: PodSetContext): void {
  if (hasText(key) || isTemplated(key?.at)) return;
  if (isTemplated(operator?.at) || operator?.value === 'Exists') return;
  if (hasText(operator) && operator?.value !== 'Equal') return;
  context.report({
    message: 'A toleration without a key needs the operator Exists: the API server refuses the pod',
    span: operator === undefined ? keySpanOf(key?.at ?? entries(at)[0] ?? at) : spanOf(operator.at),
    fixes: () => [tolerateAll({ at, operator, value }, context)],
  });
}

/** Operator Exists, and no value beside it. */
function tolerateAll(
  { at, operator, value }: Pick<Toleration, 'at' | 'operator' | 'value'>,
  { document }: PodSetContext,
): Fix | undefined {
  const title = 'Set the operator to Exists: every taint is tolerated';
  if (operator !== undefined) {
    const exists = replaceScalar(document, operator.at, 'Exists');
    return fix(title, 'unsafe', exists, value === undefined ? [] : removeKey(document, value.at));
  }
  if (value === undefined) return fix(title, 'unsafe', insertKey(document, at, 'operator', 'Exists', { after: 'key' }));
  // The value's entry becomes the operator's.
  const renamed = renameKey(document, value.at, 'operator');
  return fix(title, 'unsafe', renamed, replaceScalar(document, value.at, 'Exists'));
}

/** Puts the only near spelling in place. */
function respell(written: Located<string>, known: readonly string[], context: PodSetContext): Fix | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z]/g, '')
      .replace(/s$/, '');
  const [match, ...others] = known.filter((name) => plain(name) === plain(written.value));
  if (match === undefined || others.length > 0) return undefined;
  return fix(`Write ${match}`, 'safe', replaceScalar(context.document, written.at, match));
}

function hasText(located: Located<string> | undefined): boolean {
  return located !== undefined && located.value !== '';
}

function quoted(text: string): string {
  return `"${shorten(text, 30)}"`;
}

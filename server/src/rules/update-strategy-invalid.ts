import { isSet, isUnknown, writtenNumber, writtenText } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { quoted, wholeNumber } from '../rewrite/whole-number.ts';
import { asNumber, asText, type Cursor, getIn, isIncomplete, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { insertKey, removeKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * The update strategy of a Deployment, StatefulSet or DaemonSet contradicts itself.
 *
 * ## Why
 *
 * `rollingUpdate` belongs to the type `RollingUpdate`: next to `Recreate` or `OnDelete` it is not allowed, and the API server rejects the
 * object. This often happens when the type is changed so that a new version does not need free GPUs next to the old one. maxSurge and
 * maxUnavailable are whole numbers or percentages.
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat
 * spec:
 *   strategy:
 *     type: Recreate
 *     rollingUpdate:
 *       maxSurge: 1
 *   selector:
 *     matchLabels: {app: chat}
 *   template:
 *     metadata:
 *       labels: {app: chat}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:0.9.2
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat
 * spec:
 *   strategy:
 *     type: Recreate
 *   selector:
 *     matchLabels: {app: chat}
 *   template:
 *     metadata:
 *       labels: {app: chat}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:0.9.2
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the type may be the mistake.
 *
 * ## When it is silent
 *
 * For templates. surge-both-zero reports two bounds of 0.
 *
 * ## Sources
 *
 * - [Kubernetes: strategy](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy)
 * - [Kubernetes: validation of apps](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/apps/validation/validation.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, context) {
    if (groupOf(apiVersion) !== 'apps' || !/^(Deployment|StatefulSet|DaemonSet)$/.test(kind)) return;
    const spec = getIn(root, 'spec');
    const strategy = getIn(spec, kind === 'Deployment' ? 'strategy' : 'updateStrategy');
    const rejection = `the API server rejects the ${kind}`;
    if (isIncomplete(strategy)) return;
    checkType(strategy, kind, rejection, context);
    for (const bound of ['maxSurge', 'maxUnavailable'])
      checkBound(getIn(strategy, 'rollingUpdate', bound), rejection, context);
    if (kind === 'Deployment') checkDeadline(spec, rejection, context);
    if (kind === 'DaemonSet') checkBounds(getIn(strategy, 'rollingUpdate'), rejection, context);
  },
});

function checkType(
  strategy: Cursor | undefined,
  kind: string,
  rejection: string,
  { report, document }: RuleContext,
): void {
  const type = getIn(strategy, 'type');
  const update = getIn(strategy, 'rollingUpdate');
  const written = writtenText(type);
  if (type === undefined || !isSet(update) || isTemplated(update) || kind === 'DaemonSet') return;
  if (written !== (kind === 'Deployment' ? 'Recreate' : 'OnDelete')) return;
  report({
    message: `rollingUpdate is not allowed with the type ${written}: ${rejection}`,
    span: keySpanOf(update),
    fixes: () => [
      fix('Remove rollingUpdate', 'unsafe', removeKey(document, update)),
      fix('Set the type to RollingUpdate', 'unsafe', replaceScalar(document, type, 'RollingUpdate')),
    ],
  });
}

function checkBound(bound: Cursor | undefined, rejection: string, { report, document }: RuleContext): void {
  const text = asText(bound);
  if (bound === undefined || text === undefined || (isUnknown(bound) && !/^[^${}<>]*%$/.test(text))) return;
  const percent = /^\d+%$/.test(text);
  const number = asNumber(bound);
  const tooMuch = percent && bound.step === 'maxUnavailable' && Number(text.slice(0, -1)) > 100;
  if (!tooMuch && (percent || (number !== undefined && number >= 0))) return;
  report({
    message: tooMuch
      ? `maxUnavailable must be at most 100%, not ${text}: ${rejection}`
      : `${String(bound.step)} must be a whole number or a percentage such as 25%, not ${shorten(quoted(bound, text), 20)}: ${rejection}`,
    span: spanOf(bound),
    fixes: () => [wholeNumber(bound, document)],
  });
}

function checkDeadline(spec: Cursor | undefined, rejection: string, { report }: RuleContext): void {
  const deadline = getIn(spec, 'progressDeadlineSeconds');
  const ready = getIn(spec, 'minReadySeconds');
  const limit = deadline === undefined ? 600 : writtenNumber(deadline);
  const wait = writtenNumber(ready);
  if (limit === undefined || limit < 0 || wait === undefined || wait < limit) return;
  if (wait === 0 && deadline === undefined) return;
  const place = deadline ?? ready;
  if (place === undefined || isIncomplete(spec)) return;
  report({
    message: `progressDeadlineSeconds (${limit}) must be greater than minReadySeconds (${wait}): ${rejection}`,
    span: spanOf(place),
  });
}

/** A DaemonSet either starts the new pod first or stops the old one first. */
function checkBounds(update: Cursor | undefined, rejection: string, { report, document }: RuleContext): void {
  const surge = getIn(update, 'maxSurge');
  const unavailable = getIn(update, 'maxUnavailable');
  const isZero = (bound: Cursor | undefined) => /^0+%?$/.test(asText(bound) ?? '');
  if (isIncomplete(update) || [surge, unavailable].some((one) => isUnknown(one) && !asText(one)?.endsWith('%'))) return;
  if (surge !== undefined && unavailable === undefined && !isZero(surge)) {
    report({
      message: `maxSurge requires maxUnavailable: 0, which is 1 by default: ${rejection}`,
      span: spanOf(surge),
      fixes: () => [fix('Set maxUnavailable to 0', 'unsafe', insertKey(document, update, 'maxUnavailable', 0))],
    });
  } else if (unavailable !== undefined && isZero(unavailable) && (surge === undefined || isZero(surge))) {
    report({ message: `maxSurge and maxUnavailable must not both be 0: ${rejection}`, span: spanOf(unavailable) });
  } else if (surge !== undefined && unavailable !== undefined && !isZero(surge) && !isZero(unavailable)) {
    report({
      message: `A DaemonSet must not have both maxSurge and maxUnavailable: ${rejection}`,
      span: spanOf(surge),
    });
  }
}

import { isSet, isUnknown } from '../evidence/written.ts';
import { fix } from '../rewrite/fix.ts';
import { quoted, wholeNumber } from '../rewrite/whole-number.ts';
import { asText, type Cursor, getIn, isIncomplete, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A PodDisruptionBudget that the API server rejects.
 *
 * ## Why
 *
 * A budget says either how many pods must stay (`minAvailable`) or how many may be gone (`maxUnavailable`), as a whole number or a percentage up
 * to 100%. With both, the API server rejects it, and the pods have no budget.
 *
 * ```yaml invalid
 * apiVersion: policy/v1
 * kind: PodDisruptionBudget
 * metadata:
 *   name: gpu-server
 * spec:
 *   minAvailable: 1
 *   maxUnavailable: 1
 *   selector:
 *     matchLabels: {app: gpu-server}
 * ```
 *
 * ```yaml fixed
 * apiVersion: policy/v1
 * kind: PodDisruptionBudget
 * metadata:
 *   name: gpu-server
 * spec:
 *   minAvailable: 1
 *   selector:
 *     matchLabels: {app: gpu-server}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows which of the two is meant.
 *
 * ## When it is silent
 *
 * For templates.
 *
 * ## Sources
 *
 * - [Kubernetes: disruption budgets](https://kubernetes.io/docs/tasks/run-application/configure-pdb/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, { report, document }) {
    if (kind !== 'PodDisruptionBudget' || !apiVersion.startsWith('policy/')) return;
    const spec = getIn(root, 'spec');
    const least = getIn(spec, 'minAvailable');
    const most = getIn(spec, 'maxUnavailable');
    const rejection = 'the API server rejects the budget';
    if (isSet(least) && isSet(most) && !document.template && !isIncomplete(spec)) {
      report({
        message: `minAvailable and maxUnavailable must not both be set: ${rejection}`,
        span: keySpanOf(most),
        fixes: () => [
          fix('Remove maxUnavailable', 'unsafe', removeKey(document, most)),
          fix('Remove minAvailable', 'unsafe', removeKey(document, least)),
        ],
      });
    }
    for (const bound of [least, most]) {
      const text = wrongText(bound);
      if (bound === undefined || text === undefined) continue;
      report({
        message: `${String(bound.step)} must be a whole number or a percentage up to 100%, not ${shorten(quoted(bound, text), 20)}: ${rejection}`,
        span: spanOf(bound),
        fixes: () => [wholeNumber(bound, document)],
      });
    }
  },
});

/** The text of a bound that is neither; number-out-of-range reports negative numbers. */
function wrongText(bound: Cursor | undefined): string | undefined {
  const text = asText(bound);
  if (bound?.node.kind !== 'scalar' || text === undefined || text === '') return undefined;
  if (typeof bound.node.value !== 'string') return undefined;
  const percent = /^(\d{1,6})%$/.exec(text);
  // A percent sign is otherwise a part of placeholders.
  if (percent === null) return isUnknown(bound) && !/^[\d.]+ *%$/.test(text) ? undefined : text;
  return Number(percent[1]) > 100 ? text : undefined;
}

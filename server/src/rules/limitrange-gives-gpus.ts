import { acceleratorResource } from '../catalog/index.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
} from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A LimitRange gives accelerators to containers that do not request any.
 *
 * ## Why
 *
 * The defaults of a LimitRange apply to every container of the namespace that does not set the resource itself: to proxies, to sidecars and to
 * init containers. A default of one GPU makes each of them hold a GPU, and a pod with three containers holds three. A maximum (`max`) without
 * a default is also the default, and a minimum (`min`) becomes a request, which the API server rejects without a limit.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: LimitRange
 * metadata:
 *   name: gpus
 *   namespace: research
 * spec:
 *   limits:
 *     - type: Container
 *       max:
 *         nvidia.com/gpu: 4
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: LimitRange
 * metadata:
 *   name: gpus
 *   namespace: research
 * spec:
 *   limits:
 *     - type: Container
 *       max:
 *         nvidia.com/gpu: 4
 *       default:
 *         nvidia.com/gpu: 0
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: pods that rely on the default must request their GPUs.
 *
 * ## When it is silent
 *
 * For limits of type Pod, which have no defaults, and if the default is 0.
 *
 * ## Sources
 *
 * - [Kubernetes: limit ranges](https://kubernetes.io/docs/concepts/policy/limit-range/)
 * - [Kubernetes: defaults of a LimitRange](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/v1/defaults.go)
 */
export default defineRule({
  topic: 'quota',
  severity: 'warning',
  manifest({ root, kind, apiVersion }, context) {
    if (kind !== 'LimitRange' || apiVersion !== 'v1') return;
    for (const item of items(getIn(root, 'spec', 'limits'))) {
      if (asText(getIn(item, 'type')) === 'Container' && !isIncomplete(item)) checkItem(item, context);
    }
  },
});

function checkItem(item: Cursor, context: RuleContext): void {
  const fields = ['default', 'max', 'defaultRequest', 'min'].map((key) => [key, getIn(item, key)] as const);
  if (fields.some(([, field]) => isUnseen(field))) return;
  const seen = new Set<string>();
  for (const [key, field] of fields) {
    for (const entry of entries(field)) {
      const resource = keyOf(entry);
      // The first field that names a resource decides what containers get.
      if (seen.has(resource) || acceleratorResource(resource) === undefined) continue;
      seen.add(resource);
      const { value } = lowerQuantity(entry);
      if (value !== null && Number.isInteger(value) && value > 0) report(key, entry, value, item, context);
    }
  }
}

function report(field: string, entry: Cursor, count: number, item: Cursor, context: RuleContext): void {
  const resource = keyOf(entry);
  context.report({
    message: isDefault(field)
      ? `${field === 'max' ? 'Without a default, max is the default' : 'default also applies to sidecars and init containers'}: every container that does not set ${resource} gets ${count}`
      : `${field} gives every container a request of ${count} ${resource} without a limit: the API server rejects pods that do not set it`,
    span: keySpanOf(entry),
    fixes: () => (isDefault(field) ? [giveNone(field, entry, item, context)] : []),
  });
}

function isDefault(field: string): boolean {
  return field === 'default' || field === 'max';
}

/** Undefined if a minimum or a default request forbids 0. */
function giveNone(field: string, entry: Cursor, item: Cursor, { document }: RuleContext): Fix | undefined {
  const resource = keyOf(entry);
  if (['min', 'defaultRequest'].some((key) => getIn(item, key, resource) !== undefined)) return undefined;
  const title = `Set the default of ${resource} to 0`;
  if (field === 'default') return fix(title, 'unsafe', replaceScalar(document, entry, 0));
  const defaults = getIn(item, 'default');
  const edits =
    defaults === undefined
      ? insertKey(document, item, 'default', { [resource]: 0 }, { after: 'max' })
      : insertKey(document, defaults, resource, 0);
  return fix(title, 'unsafe', edits);
}

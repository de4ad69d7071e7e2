import type { Vendor } from '../catalog/index.ts';
import { meantResource } from '../catalog/resource-spelling.ts';
import { gpuPools, nodeWord, poolResource } from '../evidence/gpu-pools.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, renameKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A Karpenter pool of GPU nodes has no limits, or one for a resource that no node has.
 *
 * ## Why
 *
 * Karpenter adds nodes as long as pods stay Pending. Without `spec.limits`, nothing caps the cost of a loop that creates pods or of a
 * scaler without a maximum.
 *
 * ```yaml invalid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   template:
 *     spec:
 *       requirements:
 *         - key: karpenter.k8s.aws/instance-family
 *           operator: In
 *           values: ["p5"]
 *       taints:
 *         - key: nvidia.com/gpu
 *           effect: NoSchedule
 * ```
 *
 * ```yaml valid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   template:
 *     spec:
 *       requirements:
 *         - key: karpenter.k8s.aws/instance-family
 *           operator: In
 *           values: ["p5"]
 *       taints:
 *         - key: nvidia.com/gpu
 *           effect: NoSchedule
 *   limits:
 *     nvidia.com/gpu: 16
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the number is only a guess; replace it with your own.
 *
 * ## When it is silent
 *
 * For pools that may also start nodes without accelerators, pools with any limit (a cpu limit also bounds nodes), and pools with a fixed
 * number of nodes.
 *
 * ## Sources
 *
 * - [Karpenter: spec.limits](https://karpenter.sh/docs/concepts/nodepools/#speclimits)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  wasteful: true,
  options: {
    // The GPUs of one large node: only the owner knows the right number.
    gpus: { default: 8, least: 1, description: 'Limit that the fix writes.' },
  },
  manifest(manifest, context) {
    const gpus = context.option('gpus');
    for (const { spec, kind, pool, because, vendor } of gpuPools(manifest)) {
      if (spec === undefined || getIn(spec, 'replicas') !== undefined) continue;
      const limits = getIn(spec, 'limits');
      if (isIncomplete(limits) || isTemplated(limits)) continue;
      for (const entry of entries(limits)) checkLimit(entry, entries(limits).map(keyOf), vendor, context);
      if (entries(limits).length > 0) continue;
      const name = pool.name === null ? '' : ` ${shorten(pool.name)}`;
      context.report({
        message: `${kind}${name} (${shorten(because, 36)}) has no limits: it can start any number of ${nodeWord(vendor)} nodes`,
        span: keySpanOf(spec),
        fixes: () => [limit(spec, limits, vendor, gpus, context)],
      });
    }
  },
});

/** Reports a limit that bounds nothing, because no node has a resource of its name. */
function checkLimit(
  entry: Cursor,
  names: readonly string[],
  vendor: Vendor | null,
  { report, document }: RuleContext,
): void {
  const name = keyOf(entry);
  const meant = /^gpus?$/i.test(name) ? (poolResource(vendor) ?? 'nvidia.com/gpu') : meantResource(name);
  // The right name limits the pool already.
  if (meant === undefined || names.includes(meant)) return;
  report({
    message: `No node has a resource named ${shorten(name, 40)}; did you mean ${meant}? The limit has no effect`,
    span: keySpanOf(entry),
    fixes: () => [fix(`Rename to ${meant}`, 'unsafe', renameKey(document, entry, meant))],
  });
}

function limit(
  spec: Cursor,
  limits: Cursor | undefined,
  vendor: Vendor | null,
  gpus: number,
  { document }: RuleContext,
): Fix | undefined {
  const resource = poolResource(vendor);
  if (resource === undefined) return undefined;
  const edits =
    limits === undefined
      ? insertKey(document, spec, 'limits', { [resource]: gpus })
      : insertKey(document, limits, resource, gpus);
  return fix(`Limit the pool to ${gpus} ${resource}`, 'unsafe', edits);
}

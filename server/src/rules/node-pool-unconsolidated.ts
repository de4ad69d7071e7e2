import { hoursIn } from '../evidence/go-duration.ts';
import { type GpuPool, gpuPools, nodeWord } from '../evidence/gpu-pools.ts';
import type { Manifest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule } from './rule.ts';

/**
 * Karpenter removes the empty nodes of a GPU pool late or never.
 *
 * ## Why
 *
 * A GPU node costs the same with and without pods. A disruption budget of 0 nodes also blocks the removal of empty nodes, and with
 * `consolidateAfter: Never` Karpenter does not look for them: each node that a burst of pods started stays until it expires.
 *
 * ```yaml invalid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   disruption:
 *     consolidationPolicy: WhenEmpty
 *     consolidateAfter: 5m
 *     budgets:
 *       - nodes: "0"
 *   limits:
 *     nvidia.com/gpu: 16
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
 * ```yaml fixed
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   disruption:
 *     consolidationPolicy: WhenEmpty
 *     consolidateAfter: 5m
 *     budgets:
 *       - nodes: "0"
 *         reasons:
 *           - Drifted
 *           - Underutilized
 *   limits:
 *     nvidia.com/gpu: 16
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
 * ## Fix safety
 *
 * Unsafe: empty nodes are removed. The budget still protects nodes with pods.
 *
 * ## When it is silent
 *
 * For pools that may also start nodes without accelerators, pools with a fixed number of nodes, reserved capacity, and budgets with a schedule or
 * only for other reasons. Without a consolidation policy or delay next to the budget, and for delays of more than an hour, it is information.
 *
 * ## Sources
 *
 * - [Karpenter: disruption budgets](https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets)
 * - [Karpenter: spec.disruption](https://karpenter.sh/docs/concepts/nodepools/#specdisruption)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  wasteful: true,
  manifest(manifest, context) {
    for (const found of gpuPools(manifest)) {
      const kept = keptNodes(manifest, found);
      if (kept === undefined) continue;
      const { cause, span, wanted, budget } = kept;
      const name = found.pool.name === null ? '' : ` ${shorten(found.pool.name)}`;
      context.report({
        message: `${found.kind}${name} keeps empty ${nodeWord(found.vendor)} nodes: ${cause}`,
        span,
        ...(!wanted && { severity: 'info' }),
        fixes: () => [spareBusy(context.document, budget, manifest)],
      });
    }
  },
});

interface Kept {
  readonly cause: string;
  readonly span: Span;
  /** Whether the pool says in another field that empty nodes are to be removed. */
  readonly wanted: boolean;
  readonly budget?: Cursor;
}

function keptNodes({ kind }: Manifest, { spec, owner }: GpuPool): Kept | undefined {
  if (spec === undefined || getIn(spec, 'replicas') !== undefined || mayBeReserved(owner)) return undefined;
  if (kind === 'Provisioner') return keptByProvisioner(spec);
  const disruption = getIn(spec, 'disruption');
  const delay = getIn(disruption, 'consolidateAfter');
  if (disruption === undefined || isIncomplete(disruption)) return undefined;
  if (delay !== undefined && !isTemplated(delay) && asText(delay) === 'Never')
    return { cause: 'consolidateAfter is Never', span: spanOf(delay), wanted: false };
  if (delay !== undefined && hoursIn(asText(delay)) > longestHours)
    return { cause: `consolidateAfter is ${asText(delay)}`, span: spanOf(delay), wanted: false };
  const budget = items(getIn(disruption, 'budgets')).find(blocksRemoval);
  const nodes = getIn(budget, 'nodes');
  if (budget === undefined || nodes === undefined) return undefined;
  const wanted = delay !== undefined || getIn(disruption, 'consolidationPolicy') !== undefined;
  return {
    cause: `a disruption budget of ${asText(nodes)} nodes blocks their removal`,
    span: spanOf(nodes),
    wanted,
    budget,
  };
}

/** A new pod finds a warm node for that long; longer, most of the time is paid for nothing. */
const longestHours = 1;

/** A budget that always holds, and also for empty nodes. */
function blocksRemoval(budget: Cursor): boolean {
  const [nodes, reasons] = [getIn(budget, 'nodes'), getIn(budget, 'reasons')];
  if (nodes === undefined || isTemplated(nodes) || !/^0%?$/.test(asText(nodes) ?? '')) return false;
  if (isIncomplete(budget) || getIn(budget, 'schedule') !== undefined || getIn(budget, 'duration') !== undefined)
    return false;
  return reasons === undefined || items(reasons).some((reason) => asText(reason) === 'Empty');
}

/** Before v1beta1, nothing was removed unless one of two fields said so. */
function keptByProvisioner(spec: Cursor): Kept | undefined {
  const consolidation = getIn(spec, 'consolidation', 'enabled');
  const isOff = consolidation === undefined || asBoolean(consolidation) === false;
  if (!isOff || getIn(spec, 'ttlSecondsAfterEmpty') !== undefined) return undefined;
  return { cause: 'it has neither consolidation nor ttlSecondsAfterEmpty', span: keySpanOf(spec), wanted: true };
}

/** Reserved capacity is paid for with or without a node; a requirement that a template writes may ask for it. */
function mayBeReserved(owner: Cursor): boolean {
  const requirements = getIn(owner, 'requirements');
  return isUnseen(requirements) || items(requirements).some(mayReserve);
}

function mayReserve(requirement: Cursor): boolean {
  const [key, values] = [getIn(requirement, 'key'), getIn(requirement, 'values')];
  if (key === undefined || isTemplated(key)) return isUnseen(key) || isIncomplete(requirement);
  const label = asText(key)?.split('/').at(-1) ?? '';
  if (label.startsWith('capacity-reservation-')) return true;
  if (label !== 'capacity-type') return false;
  return isUnseen(values) || items(values).some((value) => isTemplated(value) || asText(value) === 'reserved');
}

/** Keeps the protection of nodes with pods. Budgets have reasons since v1. */
function spareBusy(document: YamlDocument, budget: Cursor | undefined, { apiVersion }: Manifest): Fix | undefined {
  if (budget === undefined || apiVersion !== 'karpenter.sh/v1' || getIn(budget, 'reasons') !== undefined)
    return undefined;
  const edits = insertKey(document, budget, 'reasons', ['Drifted', 'Underutilized']);
  return fix('Limit the budget to nodes that are drifted or underutilized', 'unsafe', edits);
}

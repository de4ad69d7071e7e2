import { hoursIn } from '../evidence/go-duration.ts';
import { gpuPools, nodeWord } from '../evidence/gpu-pools.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, getIn, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * Karpenter replaces every node of a GPU pool within an hour.
 *
 * ## Why
 *
 * `expireAfter` is the longest life of a node, not how long it may be idle: after it, Karpenter drains the node whatever runs on it. A GPU
 * node needs minutes to start, load its drivers and pull large images, so that much of a short life is paid for nothing.
 *
 * ```yaml invalid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   limits:
 *     nvidia.com/gpu: 16
 *   template:
 *     spec:
 *       expireAfter: 20m
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
 *   limits:
 *     nvidia.com/gpu: 16
 *   template:
 *     spec:
 *       expireAfter: 720h
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
 * Unsafe: it writes Karpenter's default, 30 days. For empty nodes, use `consolidateAfter`.
 *
 * ## When it is silent
 *
 * From an hour on, and for pools that may also start nodes without accelerators.
 *
 * ## Sources
 *
 * - [Karpenter: expiration](https://karpenter.sh/docs/concepts/disruption/#expiration)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  wasteful: true,
  manifest(manifest, { document, report }) {
    for (const { kind, spec, owner, pool, vendor } of gpuPools(manifest)) {
      const seconds = getIn(spec, 'ttlSecondsUntilExpired');
      const life = seconds ?? getIn(owner, 'expireAfter') ?? getIn(spec, 'disruption', 'expireAfter');
      if (life === undefined || isTemplated(life)) continue;
      const hours = hoursIn(`${asText(life)}${seconds === undefined ? '' : 's'}`);
      if (hours === 0 || hours >= 1) continue;
      const name = pool.name === null ? '' : ` ${shorten(pool.name, 40)}`;
      const whole = seconds === undefined ? '720h' : 2592000;
      report({
        message: `${kind}${name} replaces each ${nodeWord(vendor)} node ${Math.round(hours * 60)} min after its start, idle or not: raise ${keyOf(life)}`,
        span: spanOf(life),
        fixes: () => [fix(`Set ${keyOf(life)} to ${whole}`, 'unsafe', replaceScalar(document, life, whole))],
      });
    }
  },
});

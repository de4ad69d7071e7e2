import { bareMachinePools } from '../evidence/bare-machine-pools.ts';
import { type GpuPool, gpuPools, hasTaints, poolResource, softEffects } from '../evidence/gpu-pools.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A pool of GPU nodes has no taint, or only one that the scheduler may ignore.
 *
 * ## Why
 *
 * Without a taint, any pod can land on a GPU node, and any Pending pod can start one. The GPUs cost money but stay idle, and pods that
 * need them may not fit because the node's CPU and memory are taken. A startup taint (`ebs.csi.aws.com/agent-not-ready`) is removed once the
 * node is ready, and the effect PreferNoSchedule keeps other pods away only while there is room elsewhere (information).
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
 *   limits:
 *     nvidia.com/gpu: 16
 * ```
 *
 * ```yaml fixed
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
 *           value: "true"
 *           effect: NoSchedule
 *   limits:
 *     nvidia.com/gpu: 16
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: pods that already use the pool then need a toleration.
 *
 * ## When it is silent
 *
 * For pools that may also start nodes without accelerators, and for GKE and kOps, which taint their GPU nodes themselves. Of the pools of OpenShift,
 * Cluster API and Crossplane, those on AWS and Azure are judged.
 *
 * ## Sources
 *
 * - [Karpenter: NodePools](https://karpenter.sh/docs/concepts/nodepools/)
 * - [eksctl: taints](https://eksctl.io/usage/nodegroup-taints/)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  wasteful: true,
  manifest(manifest, context) {
    for (const described of gpuPools(manifest)) {
      const { pool, kind, because, owner } = described;
      const soft = softEffects(described);
      if (hasTaints(described) && soft.length === 0) continue;
      const [devices, device] = deviceWords(described);
      const name = pool.name === null ? '' : ` ${shorten(pool.name)}`;
      const [effect] = soft;
      if (effect !== undefined) {
        context.report({
          severity: 'info',
          message: `PreferNoSchedule is only a preference: pods that request no ${device} start on nodes of ${kind}${name} (${shorten(because, 36)}) when others are full`,
          span: spanOf(effect),
          fixes: () => [
            fix(
              'Set the effect to NoSchedule',
              'unsafe',
              ...soft.map((one) => replaceScalar(context.document, one, 'NoSchedule')),
            ),
          ],
        });
        continue;
      }
      const place = getIn(owner, 'requirements') ?? getIn(owner, 'name') ?? owner;
      const none = items(described.taints).length > 0 ? 'only a startup taint' : 'no taint';
      context.report({
        message: `${devices} ${kind}${name} (${shorten(because, 36)}) has ${none}: pods that request no ${device} can start and fill its nodes`,
        span: kind === 'node group' ? spanOf(place) : keySpanOf(place),
        fixes: () => [taint(described, context)],
      });
    }
    for (const { name, type, vendor, owner } of bareMachinePools(manifest)) {
      const place = getIn(manifest.root, 'metadata', 'name') ?? getIn(manifest.root, 'kind');
      context.report({
        message: `GPU ${manifest.kind}${name === null ? '' : ` ${shorten(name)}`} (${shorten(type, 36)}) has no taint: pods that request no GPU can start and fill its nodes`,
        span: spanOf(place ?? manifest.root),
        fixes: () => (owner === undefined ? [] : [taint({ owner, vendor }, context)]),
      });
    }
  },
});

/** The kind of the nodes' devices, and the noun for one device. */
function deviceWords({ vendor }: GpuPool): readonly [string, string] {
  if (vendor === null) return ['Accelerator', 'accelerator'];
  if (vendor === 'aws') return ['Neuron', 'Neuron device'];
  return vendor === 'habana' ? ['Gaudi', 'Gaudi device'] : ['GPU', 'GPU'];
}

function taint({ owner, vendor }: Pick<GpuPool, 'owner' | 'vendor'>, { document }: RuleContext): Fix | undefined {
  const key = poolResource(vendor);
  if (key === undefined) return undefined;
  const value = { key, value: 'true', effect: 'NoSchedule' };
  return fix(
    `Add the taint ${key}=true:NoSchedule`,
    'unsafe',
    addItem(document, owner, 'taints', value, { after: 'requirements' }),
  );
}

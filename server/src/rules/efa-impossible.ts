import { type InstanceType, instanceType, isInstanceTypeLabel } from '../catalog/index.ts';
import { plural } from '../cost/money.ts';
import { countOf } from '../model/pod.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { PodSet } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A pod requests more EFA devices than its instance type has.
 *
 * ## Why
 *
 * EFA devices are part of the machine: p4d has 4, p5 has 32, g5.xlarge has none. A pod that requests more than its instance type has stays
 * Pending, and an autoscaler adds no node for it.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p4d.24xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *           vpc.amazonaws.com/efa: 32
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p4d.24xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *           vpc.amazonaws.com/efa: 4
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: another instance type may be the right solution.
 *
 * ## When it is silent
 *
 * If no instance type is selected, or if one of several is unknown.
 *
 * ## Sources
 *
 * - [Amazon EC2: EFA on accelerated instances](https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html)
 * - [Karpenter: instance types](https://karpenter.sh/docs/reference/instance-types/)
 */
export default defineRule({
  topic: 'network',
  severity: 'error',
  container({ resources }, context) {
    const types = selectedTypes(context.podSet);
    if (types === undefined) return;
    const largest = types.reduce((found, type) => (efaCount(type) > efaCount(found) ? type : found));
    for (const key of ['limits', 'requests']) {
      const quantity = getIn(resources, key, 'vpc.amazonaws.com/efa');
      const count = quantity === undefined ? null : countOf(lowerQuantity(quantity));
      if (quantity === undefined || count === null || count <= efaCount(largest)) continue;
      context.report({
        message: `The container requests ${plural(count, 'EFA device')}, but ${largest.name} has ${efaCount(largest) === 0 ? 'none' : efaCount(largest)}: the pod stays Pending`,
        span: spanOf(quantity),
        fixes: () => [setCount(resources, efaCount(largest), context)],
      });
      return;
    }
  },
});

/** The limit and the request of a device must be equal. */
function setCount(resources: Cursor | undefined, count: number, { document }: PodSetContext): Fix | undefined {
  if (count === 0) return undefined;
  const edits = ['limits', 'requests'].map((key) => {
    const quantity = getIn(resources, key, 'vpc.amazonaws.com/efa');
    return quantity === undefined ? [] : replaceScalar(document, quantity, count);
  });
  return fix(`Set vpc.amazonaws.com/efa to ${count}`, 'unsafe', ...edits);
}

function efaCount({ rdma, rdmaDevices }: InstanceType): number {
  return rdma === 'EFA' ? (rdmaDevices ?? Number.POSITIVE_INFINITY) : 0;
}

/** The AWS instance types that the pod selects; undefined if one is unknown or has no sourced number of EFA devices. */
function selectedTypes({ selectors }: PodSet): readonly [InstanceType, ...InstanceType[]] | undefined {
  const selector = selectors.find(({ key }) => isInstanceTypeLabel(key));
  const types = (selector?.values ?? []).map(({ value, at: place }) =>
    isTemplated(place) ? undefined : instanceType(value),
  );
  const known = types.filter((type) => type !== undefined);
  const [first, ...others] = known;
  const sourced = known.every(
    ({ provider, unsourced }) =>
      provider === 'aws' &&
      !unsourced.includes('all') &&
      !unsourced.includes('rdma') &&
      !unsourced.includes('rdmaDevices'),
  );
  return first === undefined || known.length < types.length || !sourced ? undefined : [first, ...others];
}

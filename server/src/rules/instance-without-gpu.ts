import { acceleratorResource, gpus, instanceType, isInstanceTypeLabel } from '../catalog/index.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet } from '../model/workload.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A pod asks for an accelerator on an instance type that has none of that kind.
 *
 * ## Why
 *
 * The selector and the request must hold on one node. A type without GPUs, or with those of another vendor, never offers the resource:
 * the pod stays Pending.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: m5.4xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g5.4xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For types that are not known, and where one of several types has such an accelerator.
 *
 * ## Sources
 *
 * - [Amazon EC2: instance types](https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-types.html)
 * - [Google Compute Engine: machine families](https://cloud.google.com/compute/docs/machine-resource)
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  podSet(podSet, context) {
    const wanted = wantedOf(podSet);
    if (wanted === undefined) return;
    for (const { key, values } of podSet.selectors) {
      const [first] = values;
      if (!isInstanceTypeLabel(key) || first === undefined) continue;
      if (values.some(({ value, at }) => isTemplated(at) || !lacks(value, wanted.vendor))) continue;
      const shown = values.length === 1 ? first.value : `none of ${values.length} types (${first.value} ...)`;
      context.report({
        message: `${shown} ${values.length === 1 ? 'has no' : 'has'} ${wanted.resource}, which the pod asks for: it stays Pending`,
        span: spanOf(first.at),
      });
    }
  },
});

function wantedOf({ accelerators }: PodSet): { readonly resource: string; readonly vendor: string } | undefined {
  const asked = accelerators.find(({ perPod }) => perPod === null || perPod > 0);
  const resource = asked && resourceName(asked.requested);
  const vendor = acceleratorResource(resource ?? '')?.vendor;
  return resource === undefined || vendor === undefined ? undefined : { resource, vendor };
}

/** Families without any accelerator. AWS names those with one by g, p, inf, trn, dl, vt, f; Google's N1 can be given GPUs. */
const plainTypes = [
  /^(?:m|c|r|t|x|i|d|z)\d[a-z-]*\.(?:nano|micro|small|medium|large|\d*xlarge|metal(?:-\d+xl)?)$/,
  /^(?:e2|n2|n2d|n4|c2|c2d|c3|c3d|c4|c4a|t2d|t2a|m1|m2|m3|h3)-(?:standard|highmem|highcpu|micro|small|medium|megamem|ultramem|metal)(?:-\d+)?$/,
];

function lacks(type: string, vendor: string): boolean {
  const known = instanceType(type);
  if (known === undefined) return plainTypes.some((pattern) => pattern.test(type));
  const model = gpus.get(known.gpu ?? '');
  return model !== undefined && model.vendor !== vendor;
}

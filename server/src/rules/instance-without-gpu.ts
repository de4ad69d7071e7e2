import { plainGoogleFamilies } from '../catalog/google-families.ts';
import {
  gpus,
  gpusNamed,
  instanceType,
  isInstanceTypeLabel,
  knownAccelerator,
  nodeLabelMeaning,
  providerName,
} from '../catalog/index.ts';
import { hasNone } from '../catalog/offered-gpus.ts';
import { oneOf } from '../catalog/word-patterns.ts';
import { poolMachinesOf } from '../evidence/pool-machines.ts';
import { kindOf } from '../model/kinds/index.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet } from '../model/workload.ts';
import { isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A pod requests an accelerator on an instance type that does not have it, or a task asks a cloud for a GPU that the cloud does not have.
 *
 * ## Why
 *
 * One node must satisfy both the selector and the request. An instance type without GPUs, or with GPUs of another vendor, never offers the
 * resource: the pod stays Pending. SkyPilot and dstack rent a machine with the card that a task names: on a cloud that has never had that card, such
 * as `A10G` outside AWS, they find none.
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
 * The same applies to a node pool of the project whose labels the pod selects: `g4ad` has AMD's GPUs, `g4dn` NVIDIA's. That is a warning, since another pool
 * may have the same labels.
 *
 * ## When it is silent
 *
 * For unknown types, and if one of several types has such an accelerator. For tasks that may run on several clouds, for clouds other than AWS
 * and Google Cloud, and for GPUs so new that a cloud may add them.
 *
 * ## Sources
 *
 * - [Amazon EC2: instance types](https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-types.html)
 * - [Google Compute Engine: machine families](https://cloud.google.com/compute/docs/machine-resource)
 * - [aws/karpenter-provider-aws#7754](https://github.com/aws/karpenter-provider-aws/issues/7754)
 * - [SkyPilot: the catalog of clouds and accelerators](https://github.com/skypilot-org/skypilot-catalog)
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  podSet(podSet, context) {
    // A task rents the machine that its card decides, not the other way round.
    const rents = kindOf(context.workload).keepsFiles !== undefined;
    const provider = rents ? podSet.placement.provider : null;
    for (const { at, candidates, modelFrom, requested } of podSet.accelerators) {
      if (provider === null || at === undefined || requested.kind !== 'field' || modelFrom !== 'field') continue;
      const models = candidates.flatMap((id) => gpus.get(id) ?? []);
      const [first] = models;
      if (first === undefined || models.length < candidates.length || !hasNone(provider, models)) continue;
      context.report({
        message: `${providerName(provider)} has no ${first.name}: the task never starts`,
        span: gpusNamed(keyOf(at)).length > 0 ? keySpanOf(at) : spanOf(at),
      });
    }
    const requested = requestOf(podSet);
    // Simulated nodes have any label and any device.
    if (requested === undefined || podSet.selectors.some(({ key }) => /kwok|simulated|fake/i.test(key))) return;
    const [selector] = podSet.selectors;
    const pool = poolMachinesOf(podSet, context.crossReferences);
    const vendors = pool?.machines.map(({ gpu }) => gpus.get(gpu ?? '')?.vendor) ?? [];
    if (
      pool !== undefined &&
      selector !== undefined &&
      !vendors.some((one) => one == null || one === requested.vendor)
    ) {
      const [card] = pool.machines.flatMap(({ gpu }) => gpus.get(gpu ?? '') ?? []);
      context.report({
        severity: 'warning',
        message: `The machines of ${pool.whose} have ${card?.name}, not ${requested.resource}: the pod stays Pending`,
        span: spanOf(selector.at),
      });
      return;
    }
    for (const { key, values } of podSet.selectors) {
      const [first] = values;
      const what = isInstanceTypeLabel(key)
        ? 'types'
        : nodeLabelMeaning(key) === 'instance-family'
          ? 'families'
          : undefined;
      if (what === undefined || first === undefined) continue;
      // The smallest machine of a family stands for all.
      const typeOf = (value: string) => (what === 'types' ? value : smallestOf(key, value));
      if (values.some(({ value, at }) => isTemplated(at) || !lacks(typeOf(value), requested.vendor))) continue;
      const types =
        values.length === 1 ? `${first.value} has no` : `None of the ${values.length} ${what} (${first.value}, …) has`;
      context.report({
        message: `${types} ${requested.resource}: the pod stays Pending`,
        span: spanOf(first.at),
      });
    }
  },
});

function requestOf({ accelerators }: PodSet): { readonly resource: string; readonly vendor: string } | undefined {
  const request = accelerators.find(({ perPod }) => perPod === null || perPod > 0);
  const resource = request && resourceName(request.requested);
  const vendor = knownAccelerator(resource ?? '')?.vendor;
  return resource === undefined || vendor == null ? undefined : { resource, vendor };
}

/**
 * Families without accelerators. AWS families with accelerators start with g, p, inf, trn, dl, vt or f; Google's N1 can have GPUs attached;
 * Azure's start with N, and Oracle's have GPU in their name.
 */
const plainTypes = [
  /^[mcrtxidz]\d[a-z-]*\.(?:nano|micro|small|medium|large|\d*xlarge|metal(?:-\d+xl)?)$/,
  new RegExp(
    `^(?:${oneOf(plainGoogleFamilies)})-` +
      `(?:${oneOf('standard highmem highcpu micro small medium megamem ultramem metal')})(?:-\\d+)?$`,
  ),
  /^Standard_(?:[ABDEFLM]|DC|EC|FX|H[BC]?)\d\w*$/,
  /^(?:VM|BM)\.(?:Standard|DenseIO|Optimized)[\w.]*$/,
];

function smallestOf(key: string, family: string): string {
  return key.startsWith('cloud.google.com/') ? `${family}-standard-4` : `${family}.large`;
}

function lacks(type: string, vendor: string): boolean {
  const known = instanceType(type);
  if (known === undefined) return plainTypes.some((pattern) => pattern.test(type.replace(/^ml\./, '')));
  const model = gpus.get(known.gpu ?? '');
  return model !== undefined && model.vendor !== vendor;
}

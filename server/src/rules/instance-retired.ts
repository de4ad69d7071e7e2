import { isInstanceTypeLabel, providerName, saleOf } from '../catalog/index.ts';
import { placesAt } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { asText, type Cursor, getIn, isTemplated, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A pod or a pool selects an instance type that its cloud has retired.
 *
 * ## Why
 *
 * A cloud starts no machine of a retired type and stops those that are left. A pod that selects it stays Pending, and a pool that names
 * it cannot grow. Old examples often name such types.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: Standard_NC6s_v3
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
 *     node.kubernetes.io/instance-type: Standard_NC24ads_A100_v4
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
 * If another type next to it is still available, and for templated values. A retirement date that is still ahead is **information**.
 *
 * ## Sources
 *
 * - [Azure: retired sizes](https://learn.microsoft.com/azure/virtual-machines/sizes/retirement/retired-sizes-list)
 * - [Azure: retirement of NC, NCv2 and ND](https://learn.microsoft.com/azure/virtual-machines/n-series-migration)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  manifest({ apiVersion, kind, root }, context) {
    const inObject = `${groupOf(apiVersion)}/${kind}`;
    for (const path of machinePaths[inObject] ?? []) check(placesAt(root, path), 'no node starts', context);
    if (kind === 'ResourceFlavor' || kind === 'HardwareProfile') {
      const labels = [...placesAt(root, 'spec.nodeLabels.*'), ...placesAt(root, 'spec.nodeSelector.*')];
      check(
        labels.filter((at) => isInstanceTypeLabel(keyOf(at))),
        'its pods stay Pending',
        context,
      );
    }
    if (groupOf(apiVersion) !== 'karpenter.sh') return;
    for (const requirement of placesAt(root, 'spec.template.spec.requirements.*')) {
      const key = asText(getIn(requirement, 'key')) ?? '';
      if (!isInstanceTypeLabel(key) || asText(getIn(requirement, 'operator')) !== 'In') continue;
      check(items(getIn(requirement, 'values')), 'the pool starts no node', context);
    }
  },
  podSet({ selectors }, context) {
    for (const { key, values } of selectors) {
      if (!isInstanceTypeLabel(key)) continue;
      check(
        values.map(({ at }) => at),
        'the pod stays Pending',
        context,
      );
    }
  },
});

/** Where objects that start nodes have their instance types. */
const machinePaths = table<readonly string[]>({
  'kaito.sh/Workspace': ['resource.instanceType'],
  'kaito.sh/InferenceSet': ['spec.template.resource.instanceType'],
  'kaito.sh/RAGEngine': ['spec.compute.instanceType'],
  'infrastructure.cluster.x-k8s.io/AzureManagedMachinePool': ['spec.sku'],
  'infrastructure.cluster.x-k8s.io/AzureMachineTemplate': ['spec.template.spec.vmSize'],
  'infrastructure.cluster.x-k8s.io/AzureMachinePool': ['spec.template.vmSize'],
  'containerservice.azure.com/ManagedClustersAgentPool': ['spec.vmSize'],
  'containerservice.azure.upbound.io/KubernetesClusterNodePool': ['spec.forProvider.vmSize'],
  'containerservice.azure.m.upbound.io/KubernetesClusterNodePool': ['spec.forProvider.vmSize'],
  'machine.openshift.io/MachineSet': ['spec.template.spec.providerSpec.value.vmSize'],
});

/** Reports alternatives of which none can be had. */
function check(places: readonly Cursor[], consequence: string, { report }: RuleContext): void {
  const sales = places.map((at) => (isTemplated(at) ? undefined : saleOf(asText(at) ?? '')));
  const [first] = places;
  const [sale] = sales;
  if (first === undefined || sale === undefined || sales.some((one) => one?.retired === undefined)) return;
  const cloud = providerName(sale.provider);
  const instead = sale.successor === undefined ? '' : `; the series ${sale.successor} replaces it`;
  const isPlanned = sales.some((one) => one?.planned === true);
  report({
    ...(isPlanned && { severity: 'info' as const }),
    message: isPlanned
      ? `${cloud} set ${sale.retired} as the retirement date of ${asText(first)}: from then on, ${consequence}${instead}`
      : `${cloud} retired ${asText(first)} on ${sale.retired}: ${consequence}${instead}`,
    span: spanOf(first),
  });
}

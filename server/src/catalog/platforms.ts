import { type Table, table, tableOf } from '../yaml/table.ts';
import { sourceText, storedPlatforms } from './stored.ts';
import type { PlatformFacts, Provider } from './types.ts';

/** What each platform does with GPU nodes, by id (gke-standard, eks-karpenter, aks ...). */
export const platforms: ReadonlyMap<string, PlatformFacts> = new Map(
  storedPlatforms.platforms.map(({ date: _date, sources, ...platform }) => [
    platform.id,
    {
      ...platform,
      spotLabels: tableOf(Object.entries(platform.spotLabels)),
      sources: tableOf(
        Object.entries(sources).map(([field, places]) => [field, sourceText(storedPlatforms.sources, places)] as const),
      ),
    },
  ]),
);

/** Taint keys that mark spot nodes: put on by AKS, and by convention on GKE. */
export const spotTaintKeys: readonly string[] = ['kubernetes.azure.com/scalesetpriority', 'cloud.google.com/gke-spot'];

export type SelectedCapacity = 'spot' | 'on-demand' | 'reserved';

const capacityLabels = table<Table<SelectedCapacity>>({
  'cloud.google.com/gke-spot': table({ true: 'spot' }),
  'cloud.google.com/gke-preemptible': table({ true: 'spot' }),
  'cloud.google.com/gke-provisioning': table({ spot: 'spot', preemptible: 'spot', standard: 'on-demand' }),
  'karpenter.sh/capacity-type': table({ spot: 'spot', 'on-demand': 'on-demand', reserved: 'reserved' }),
  'eks.amazonaws.com/capacityType': table({ SPOT: 'spot', ON_DEMAND: 'on-demand', CAPACITY_BLOCK: 'reserved' }),
  'kubernetes.azure.com/scalesetpriority': table({ spot: 'spot', regular: 'on-demand' }),
  'kubernetes.azure.com/priority': table({ spot: 'spot', regular: 'on-demand' }),
});

/** The kind of capacity that a node label selects; undefined where it says nothing of it. Values are compared as Kubernetes does, exactly. */
export function spotSelector(key: string, value: string): SelectedCapacity | undefined {
  return capacityLabels[key]?.[value];
}

const labelOwners: readonly (readonly [prefix: string, provider: Provider])[] = [
  ['karpenter.k8s.aws/', 'aws'],
  ['eks.amazonaws.com/', 'aws'],
  ['k8s.amazonaws.com/', 'aws'],
  ['cloud.google.com/', 'gcp'],
  ['kubernetes.azure.com/', 'azure'],
  ['karpenter.azure.com/', 'azure'],
  ['gpu.nvidia.com/class', 'coreweave'],
  ['gpu.nvidia.com/model', 'coreweave'],
];

/** The provider whose nodes alone carry a label; null where several do (karpenter.sh/*, nvidia.com/*). */
export function providerOfLabel(key: string): Provider | null {
  return labelOwners.find(([prefix]) => (prefix.endsWith('/') ? key.startsWith(prefix) : key === prefix))?.[1] ?? null;
}

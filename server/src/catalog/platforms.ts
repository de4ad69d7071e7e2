import { sourceText, storedPlatforms } from './stored.ts';
import type { PlatformFacts, Provider } from './types.ts';

/** What each platform does with GPU nodes, by id (gke-standard, eks-karpenter, aks ...). */
export const platforms: ReadonlyMap<string, PlatformFacts> = new Map(
  storedPlatforms.platforms.map(({ date: _date, sources, ...platform }) => [
    platform.id,
    {
      ...platform,
      sources: Object.fromEntries(
        Object.entries(sources).map(([field, places]) => [field, sourceText(storedPlatforms.sources, places)]),
      ),
    },
  ]),
);

/** Taint keys that mark spot nodes: put on by AKS, and by convention on GKE. */
export const spotTaintKeys: readonly string[] = ['kubernetes.azure.com/scalesetpriority', 'cloud.google.com/gke-spot'];

export type SelectedCapacity = 'spot' | 'on-demand' | 'reserved';

const capacityLabels: Readonly<Record<string, Readonly<Record<string, SelectedCapacity>>>> = {
  'cloud.google.com/gke-spot': { true: 'spot' },
  'cloud.google.com/gke-preemptible': { true: 'spot' },
  'cloud.google.com/gke-provisioning': { spot: 'spot', preemptible: 'spot', standard: 'on-demand' },
  'karpenter.sh/capacity-type': { spot: 'spot', 'on-demand': 'on-demand', reserved: 'reserved' },
  'eks.amazonaws.com/capacityType': { SPOT: 'spot', ON_DEMAND: 'on-demand', CAPACITY_BLOCK: 'reserved' },
  'kubernetes.azure.com/scalesetpriority': { spot: 'spot', regular: 'on-demand' },
  'kubernetes.azure.com/priority': { spot: 'spot', regular: 'on-demand' },
};

/** The kind of capacity that a node label selects; undefined where it says nothing of it. Values are compared as Kubernetes does, exactly. */
export function spotSelector(key: string, value: string): SelectedCapacity | undefined {
  const values = Object.hasOwn(capacityLabels, key) ? capacityLabels[key] : undefined;
  return values !== undefined && Object.hasOwn(values, value) ? values[value] : undefined;
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

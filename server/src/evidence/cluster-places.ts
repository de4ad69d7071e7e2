import type { Provider } from '../catalog/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, getIn, isTemplated } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import type { TerraformRegion } from './terraform-pools.ts';

/**
 * The kinds that state where a cluster is, and the field of the spec that does. https://cluster-api.sigs.k8s.io/reference/providers,
 * https://azure.github.io/azure-service-operator/reference/containerservice, https://cloud.google.com/config-connector/docs/reference/overview,
 * https://marketplace.upbound.io
 */
const clusters = table<readonly [cloud: Provider, ...path: string[]]>({
  'controlplane.cluster.x-k8s.io/AWSManagedControlPlane': ['aws', 'region'],
  'controlplane.cluster.x-k8s.io/ROSAControlPlane': ['aws', 'region'],
  'infrastructure.cluster.x-k8s.io/AWSCluster': ['aws', 'region'],
  'infrastructure.cluster.x-k8s.io/AzureCluster': ['azure', 'location'],
  'infrastructure.cluster.x-k8s.io/AzureManagedControlPlane': ['azure', 'location'],
  'infrastructure.cluster.x-k8s.io/GCPCluster': ['gcp', 'region'],
  'infrastructure.cluster.x-k8s.io/GCPManagedCluster': ['gcp', 'region'],
  'infrastructure.cluster.x-k8s.io/GCPManagedControlPlane': ['gcp', 'location'],
  'containerservice.azure.com/ManagedCluster': ['azure', 'location'],
  'container.cnrm.cloud.google.com/ContainerCluster': ['gcp', 'location'],
  'container.gcp.upbound.io/Cluster': ['gcp', 'forProvider', 'location'],
  'container.gcp.m.upbound.io/Cluster': ['gcp', 'forProvider', 'location'],
  'containerservice.azure.upbound.io/KubernetesCluster': ['azure', 'forProvider', 'location'],
  'containerservice.azure.m.upbound.io/KubernetesCluster': ['azure', 'forProvider', 'location'],
  'eks.aws.upbound.io/Cluster': ['aws', 'forProvider', 'region'],
  'eks.aws.m.upbound.io/Cluster': ['aws', 'forProvider', 'region'],
});

/** Where the cluster is that an object describes; null for other objects. */
export function clusterPlace({ root, apiVersion, kind }: Manifest): readonly TerraformRegion[] | null {
  const [cloud, ...path] = clusters[`${groupOf(apiVersion)}/${kind}`] ?? [];
  if (cloud === undefined) return null;
  const place = getIn(root, 'spec', ...path);
  const stated = isTemplated(place) ? null : asText(place);
  return [{ cloud, by: 'cluster', place: stated ?? null }];
}

/** The names of these kinds. */
export const clusterKinds: readonly string[] = [
  ...new Set(Object.keys(clusters).map((name) => name.slice(name.indexOf('/') + 1))),
];

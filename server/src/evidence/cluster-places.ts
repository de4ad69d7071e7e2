import type { Provider } from '../catalog/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, getIn, isTemplated } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import type { TerraformRegion } from './terraform-pools.ts';

/** The kinds of Cluster API that state where a cluster is, and the field that does. https://cluster-api.sigs.k8s.io/reference/providers */
const clusters = table<readonly [cloud: Provider, key: string]>({
  'controlplane.cluster.x-k8s.io/AWSManagedControlPlane': ['aws', 'region'],
  'controlplane.cluster.x-k8s.io/ROSAControlPlane': ['aws', 'region'],
  'infrastructure.cluster.x-k8s.io/AWSCluster': ['aws', 'region'],
  'infrastructure.cluster.x-k8s.io/AzureCluster': ['azure', 'location'],
  'infrastructure.cluster.x-k8s.io/AzureManagedControlPlane': ['azure', 'location'],
  'infrastructure.cluster.x-k8s.io/GCPCluster': ['gcp', 'region'],
  'infrastructure.cluster.x-k8s.io/GCPManagedCluster': ['gcp', 'region'],
  'infrastructure.cluster.x-k8s.io/GCPManagedControlPlane': ['gcp', 'location'],
});

/** Where the cluster is that an object of Cluster API describes; null for other objects. */
export function clusterPlace({ root, apiVersion, kind }: Manifest): readonly TerraformRegion[] | null {
  const [cloud, key] = clusters[`${groupOf(apiVersion)}/${kind}`] ?? [];
  if (cloud === undefined || key === undefined) return null;
  const place = getIn(root, 'spec', key);
  const stated = isTemplated(place) ? null : asText(place);
  return [{ cloud, by: 'cluster', place: stated ?? null }];
}

/** The names of these kinds. */
export const clusterKinds: readonly string[] = Object.keys(clusters).map((name) => name.slice(name.indexOf('/') + 1));

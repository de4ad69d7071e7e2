/** Who manages a pool of nodes. */
export type PoolManager = 'karpenter' | 'gke' | 'eks' | 'eksctl' | 'aks' | 'coreweave' | 'doks' | 'oke' | 'other';

/**
 * The labels whose value is the pool of a node, the most specific first: a node of Karpenter may also have the labels of its cloud.
 * Sources: aws/karpenter-provider-aws@1d927085; the guides of GKE, EKS, eksctl, AKS and DOKS to node pools; CoreWeave's autoscaler in
 * kubernetes/autoscaler; oracle-terraform-modules/terraform-oci-oke (2026-11-22).
 */
const poolLabels: readonly (readonly [key: string, manager: PoolManager])[] = [
  ['karpenter.sh/nodepool', 'karpenter'],
  ['karpenter.sh/provisioner-name', 'karpenter'],
  ['cloud.google.com/gke-nodepool', 'gke'],
  ['eks.amazonaws.com/nodegroup', 'eks'],
  ['alpha.eksctl.io/nodegroup-name', 'eksctl'],
  ['kubernetes.azure.com/agentpool', 'aks'],
  ['agentpool', 'aks'],
  ['compute.coreweave.com/node-pool', 'coreweave'],
  ['doks.digitalocean.com/node-pool', 'doks'],
  ['oke.oraclecloud.com/pool.name', 'oke'],
];

/** Names of labels of other platforms: `ibm-cloud.kubernetes.io/worker-pool-name`, `kops.k8s.io/instancegroup`, `node-pool`. */
const poolName =
  /(?:^|[/.-])(?:node|worker|agent|instance|machine)-?(?:pool|group|set)(?:[-.]?name)?$|(?:^|\/)pool(?:[-.]?name)?$/;

/** The label that names the pool of a node, with its value; undefined if there is none. */
export function poolLabelOf(
  labels: ReadonlyMap<string, string>,
): { readonly key: string; readonly value: string; readonly manager: PoolManager } | undefined {
  for (const [key, manager] of poolLabels) {
    const value = labels.get(key);
    if (value !== undefined && value !== '') return { key, value, manager };
  }
  // The shortest of several, because the others describe the same pool.
  const others = [...labels].filter(([key, value]) => value !== '' && poolName.test(key));
  const [found] = others.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  return found === undefined ? undefined : { key: found[0], value: found[1], manager: 'other' };
}

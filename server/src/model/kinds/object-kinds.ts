/** A kind of object that runs no pods itself: what runs them names it, or it says something of them. */
export interface ObjectKind {
  /** The API group without its version; empty for the core group. */
  readonly group: string;
  readonly kinds: readonly string[];
  /** It is in no namespace. */
  readonly cluster?: true;
  /** Its objects bear on accelerators even where they name none: they scale workloads, or describe nodes. */
  readonly bears?: true;
}

export const objectKinds: readonly ObjectKind[] = [
  { group: 'keda.sh', kinds: ['ScaledObject'], bears: true },
  { group: 'keda.sh', kinds: ['TriggerAuthentication'] },
  { group: 'http.keda.sh', kinds: ['HTTPScaledObject'], bears: true },
  { group: 'autoscaling', kinds: ['HorizontalPodAutoscaler'], bears: true },
  { group: 'autoscaling.aibrix.ai', kinds: ['PodAutoscaler'], bears: true },
  { group: 'policy', kinds: ['PodDisruptionBudget'] },

  { group: 'karpenter.sh', kinds: ['NodePool', 'Provisioner', 'NodeClaim'], cluster: true, bears: true },
  { group: 'karpenter.k8s.aws', kinds: ['EC2NodeClass'], cluster: true, bears: true },
  { group: 'karpenter.azure.com', kinds: ['AKSNodeClass'], cluster: true, bears: true },
  { group: 'cloud.google.com', kinds: ['ComputeClass'], cluster: true, bears: true },
  { group: 'eksctl.io', kinds: ['ClusterConfig'], bears: true },

  { group: 'kueue.x-k8s.io', kinds: ['LocalQueue'] },
  {
    group: 'kueue.x-k8s.io',
    kinds: ['ClusterQueue', 'ResourceFlavor', 'Topology', 'WorkloadPriorityClass'],
    cluster: true,
  },
  { group: 'resource.k8s.io', kinds: ['DeviceClass'], cluster: true },

  { group: '', kinds: ['ConfigMap', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim'] },
  { group: 'storage.k8s.io', kinds: ['StorageClass'], cluster: true },
  { group: 'node.k8s.io', kinds: ['RuntimeClass'], cluster: true },
  { group: 'scheduling.k8s.io', kinds: ['PriorityClass'], cluster: true },

  // These bring in objects that are not in any file.
  { group: 'helm.toolkit.fluxcd.io', kinds: ['HelmRelease'] },
  { group: 'argoproj.io', kinds: ['Application', 'ApplicationSet'] },
];

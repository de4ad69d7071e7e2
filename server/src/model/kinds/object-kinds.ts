/** How objects of a kind relate to those that run pods. */
export type ObjectUse =
  /** Sets the replicas of others. */
  | 'scaler'
  /** Describes pools of nodes. */
  | 'pool'
  /** Describes the nodes of a pool. */
  | 'nodes'
  /** Installs objects that are not in any file. */
  | 'installer'
  /** Referenced by others. */
  | 'named';

/** A kind that runs no pods itself but references objects that do, or is referenced by them. */
export interface ObjectKind {
  /** The API group without its version; empty for the core group. */
  readonly group: string;
  readonly kinds: readonly string[];
  readonly use: ObjectUse;
  /** The pool is read by the meaning of its fields, as in Terraform. */
  readonly byFields?: true;
  /** The list of pools in the spec, if the object has several. */
  readonly pools?: readonly string[];
  /** The label with the pool's name that its nodes get. */
  readonly label?: string;
  /** The kind is cluster-scoped. */
  readonly cluster?: true;
}

export const objectKinds: readonly ObjectKind[] = [
  { group: 'keda.sh', kinds: ['ScaledObject'], use: 'scaler' },
  { group: 'http.keda.sh', kinds: ['HTTPScaledObject'], use: 'scaler' },
  { group: 'autoscaling', kinds: ['HorizontalPodAutoscaler'], use: 'scaler' },
  { group: 'autoscaling.aibrix.ai', kinds: ['PodAutoscaler'], use: 'scaler' },

  { group: 'kubeflow-pipelines', kinds: ['PlatformSpec'], use: 'named' },

  { group: 'karpenter.sh', kinds: ['NodePool', 'Provisioner'], use: 'pool', cluster: true },
  { group: 'eksctl.io', kinds: ['ClusterConfig'], use: 'pool' },
  { group: 'cloud.google.com', kinds: ['ComputeClass'], use: 'pool', cluster: true },
  { group: 'machine.openshift.io', kinds: ['MachineSet'], use: 'pool', byFields: true },
  { group: 'autoscaling.openshift.io', kinds: ['MachineAutoscaler'], use: 'nodes' },
  { group: 'hive.openshift.io', kinds: ['MachinePool'], use: 'pool', byFields: true },
  { group: 'hypershift.openshift.io', kinds: ['NodePool'], use: 'pool', byFields: true },
  {
    group: 'kops.k8s.io',
    kinds: ['InstanceGroup'],
    use: 'pool',
    byFields: true,
    label: 'kops.k8s.io/instancegroup',
  },
  {
    group: 'core.gardener.cloud',
    kinds: ['Shoot'],
    use: 'pool',
    byFields: true,
    pools: ['provider', 'workers'],
    label: 'worker.gardener.cloud/pool',
  },
  {
    group: 'infrastructure.cluster.x-k8s.io',
    kinds: [
      'AWSMachinePool',
      'AWSManagedMachinePool',
      'AzureManagedMachinePool',
      'GCPManagedMachinePool',
      'OCIManagedMachinePool',
      'ROSAMachinePool',
    ],
    use: 'pool',
    byFields: true,
  },
  { group: 'cluster.x-k8s.io', kinds: ['MachineDeployment'], use: 'pool' },
  {
    group: 'infrastructure.cluster.x-k8s.io',
    kinds: ['AWSMachineTemplate', 'AzureMachineTemplate', 'GCPMachineTemplate', 'OCIMachineTemplate'],
    use: 'nodes',
  },
  {
    group: 'infrastructure.cluster.x-k8s.io',
    kinds: [
      'AWSCluster',
      'AzureCluster',
      'AzureManagedControlPlane',
      'GCPCluster',
      'GCPManagedCluster',
      'GCPManagedControlPlane',
    ],
    use: 'nodes',
  },
  { group: 'controlplane.cluster.x-k8s.io', kinds: ['AWSManagedControlPlane', 'ROSAControlPlane'], use: 'nodes' },
  { group: 'provisioning.cattle.io', kinds: ['Cluster'], use: 'pool' },
  { group: 'rke-machine-config.cattle.io', kinds: ['Amazonec2Config', 'AzureConfig', 'GoogleConfig'], use: 'nodes' },
  { group: 'k0rdent.mirantis.com', kinds: ['ClusterDeployment'], use: 'pool' },
  { group: 'container.cnrm.cloud.google.com', kinds: ['ContainerNodePool'], use: 'pool', byFields: true },
  { group: 'container.gcp.upbound.io', kinds: ['NodePool'], use: 'pool', cluster: true, byFields: true },
  { group: 'eks.services.k8s.aws', kinds: ['Nodegroup'], use: 'pool', byFields: true },
  { group: 'eks.aws.upbound.io', kinds: ['NodeGroup'], use: 'pool', cluster: true, byFields: true },
  {
    group: 'containerservice.azure.upbound.io',
    kinds: ['KubernetesClusterNodePool'],
    use: 'pool',
    cluster: true,
    byFields: true,
  },
  // The namespaced kinds of Crossplane 2.
  { group: 'container.gcp.m.upbound.io', kinds: ['NodePool'], use: 'pool', byFields: true },
  { group: 'eks.aws.m.upbound.io', kinds: ['NodeGroup'], use: 'pool', byFields: true },
  { group: 'containerservice.azure.m.upbound.io', kinds: ['KubernetesClusterNodePool'], use: 'pool', byFields: true },
  { group: 'containerservice.azure.com', kinds: ['ManagedClustersAgentPool'], use: 'pool', byFields: true },
  { group: 'containerservice.azure.com', kinds: ['ManagedCluster'], use: 'nodes' },
  { group: 'container.cnrm.cloud.google.com', kinds: ['ContainerCluster'], use: 'nodes' },
  { group: 'container.gcp.upbound.io', kinds: ['Cluster'], use: 'nodes', cluster: true },
  { group: 'container.gcp.m.upbound.io', kinds: ['Cluster'], use: 'nodes' },
  { group: 'containerservice.azure.upbound.io', kinds: ['KubernetesCluster'], use: 'nodes', cluster: true },
  { group: 'containerservice.azure.m.upbound.io', kinds: ['KubernetesCluster'], use: 'nodes' },
  { group: 'eks.aws.upbound.io', kinds: ['Cluster'], use: 'nodes', cluster: true },
  { group: 'eks.aws.m.upbound.io', kinds: ['Cluster'], use: 'nodes' },
  { group: 'compute.coreweave.com', kinds: ['NodePool'], use: 'pool', cluster: true, byFields: true },
  { group: 'pulumi.com', kinds: ['Project'], use: 'pool' },
  { group: 'cloudformation', kinds: ['CloudFormationTemplate'], use: 'pool' },
  { group: 'karpenter.sh', kinds: ['NodeClaim'], use: 'nodes', cluster: true },
  { group: 'karpenter.k8s.aws', kinds: ['EC2NodeClass'], use: 'nodes', cluster: true },
  { group: 'karpenter.azure.com', kinds: ['AKSNodeClass'], use: 'nodes', cluster: true },
  { group: 'eks.amazonaws.com', kinds: ['NodeClass'], use: 'nodes', cluster: true },

  { group: 'helm.toolkit.fluxcd.io', kinds: ['HelmRelease'], use: 'installer' },
  { group: 'argoproj.io', kinds: ['Application', 'ApplicationSet'], use: 'installer' },

  { group: 'kueue.x-k8s.io', kinds: ['LocalQueue'], use: 'named' },
  {
    group: 'kueue.x-k8s.io',
    kinds: ['ClusterQueue', 'ResourceFlavor', 'Topology', 'WorkloadPriorityClass'],
    use: 'named',
    cluster: true,
  },
  { group: 'scheduling.volcano.sh', kinds: ['PodGroup'], use: 'named' },
  { group: 'scheduling.volcano.sh', kinds: ['Queue'], use: 'named', cluster: true },
  { group: 'scheduling.x-k8s.io', kinds: ['PodGroup'], use: 'named' },
  { group: 'scheduling.run.ai', kinds: ['Queue'], use: 'named', cluster: true },
  { group: 'apps.nvidia.com', kinds: ['NIMCache'], use: 'named' },
  { group: 'infrastructure.opendatahub.io', kinds: ['HardwareProfile'], use: 'named' },
  { group: 'resource.k8s.io', kinds: ['DeviceClass'], use: 'named', cluster: true },
  { group: 'keda.sh', kinds: ['TriggerAuthentication'], use: 'named' },
  { group: 'policy', kinds: ['PodDisruptionBudget'], use: 'named' },
  { group: 'networking.k8s.io', kinds: ['NetworkPolicy'], use: 'named' },
  { group: 'cilium.io', kinds: ['CiliumNetworkPolicy'], use: 'named' },
  { group: 'cilium.io', kinds: ['CiliumClusterwideNetworkPolicy'], use: 'named', cluster: true },
  { group: 'projectcalico.org', kinds: ['GlobalNetworkPolicy'], use: 'named', cluster: true },
  { group: 'crd.projectcalico.org', kinds: ['GlobalNetworkPolicy'], use: 'named', cluster: true },
  { group: 'serving.kserve.io', kinds: ['LocalModelCache'], use: 'named', cluster: true },
  { group: 'serving.kserve.io', kinds: ['LocalModelNamespaceCache'], use: 'named' },
  { group: '', kinds: ['PersistentVolume'], use: 'named', cluster: true },
  { group: '', kinds: ['ConfigMap', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim', 'Service'], use: 'named' },
  { group: '', kinds: ['LimitRange', 'ResourceQuota'], use: 'named' },
  { group: 'storage.k8s.io', kinds: ['StorageClass'], use: 'named', cluster: true },
  { group: 'node.k8s.io', kinds: ['RuntimeClass'], use: 'named', cluster: true },
  { group: 'scheduling.k8s.io', kinds: ['PriorityClass'], use: 'named', cluster: true },
];

/** The kinds (without groups) with a use. */
export function kindsFor(use: ObjectUse): readonly string[] {
  return [...new Set(objectKinds.flatMap((entry) => (entry.use === use ? entry.kinds : [])))];
}

/** The kind of a pool, or of several, that is read by the meaning of its fields. */
export function poolOfFields(group: string, kind: string): ObjectKind | undefined {
  return byFields.find((entry) => entry.group === group && entry.kinds.includes(kind));
}

const byFields = objectKinds.filter((entry) => entry.byFields === true);

/** Whether objects of a group are files that list the resources of a cloud, without metadata. */
export function listsPools(group: string): boolean {
  return group === 'cloudformation' || group === 'pulumi.com';
}

/** Whether objects of a kind affect accelerators even if they name none: they scale workloads or describe nodes. */
export function affectsAccelerators({ use }: ObjectKind): boolean {
  return use === 'scaler' || use === 'pool' || use === 'nodes';
}

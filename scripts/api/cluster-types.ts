// Types of custom resources for nodes, queues and autoscalers, in the form of custom-types.ts.
//
// Sources, read 2026-11-22: the Go types of kubernetes-sigs/kueue (v1beta1, v1beta2); 2026-11-24: kubernetes-sigs/karpenter (v1); 2026-11-29:
// aws/karpenter-provider-aws (v1); 2026-11-30: eksctl-io/eksctl (the schema of v1alpha5), kedacore/keda (ScaledObject v1alpha1), volcano-sh/apis
// (scheduling v1beta1), kubernetes-sigs/kueue (ProvisioningRequestConfig v1beta2), NVIDIA/k8s-dra-driver-gpu (ComputeDomain v1beta1).

/** The type of an object by apiVersion and kind. */
export const clusterKinds: Readonly<Record<string, string>> = {
  'autoscaling.x-k8s.io/v1/ProvisioningRequest': 'ProvisioningRequest',
  'autoscaling.x-k8s.io/v1beta1/ProvisioningRequest': 'ProvisioningRequest',
  'eksctl.io/v1alpha5/ClusterConfig': 'EksctlConfig',
  'karpenter.k8s.aws/v1/EC2NodeClass': 'EC2NodeClass',
  'karpenter.sh/v1/NodePool': 'NodePool',
  'karpenter.sh/v1alpha1/NodeOverlay': 'NodeOverlay',
  'keda.sh/v1alpha1/ScaledObject': 'ScaledObject',
  'kueue.x-k8s.io/v1beta1/AdmissionCheck': 'AdmissionCheck',
  'kueue.x-k8s.io/v1beta1/ClusterQueue': 'ClusterQueue',
  'kueue.x-k8s.io/v1beta1/LocalQueue': 'LocalQueue',
  'kueue.x-k8s.io/v1beta1/ProvisioningRequestConfig': 'ProvisioningRequestConfig',
  'kueue.x-k8s.io/v1beta1/ResourceFlavor': 'ResourceFlavor',
  'kueue.x-k8s.io/v1beta1/Topology': 'KueueTopology',
  'kueue.x-k8s.io/v1beta1/WorkloadPriorityClass': 'WorkloadPriorityClass',
  'kueue.x-k8s.io/v1beta2/AdmissionCheck': 'AdmissionCheck',
  'kueue.x-k8s.io/v1beta2/ClusterQueue': 'ClusterQueue',
  'kueue.x-k8s.io/v1beta2/LocalQueue': 'LocalQueue',
  'kueue.x-k8s.io/v1beta2/ProvisioningRequestConfig': 'ProvisioningRequestConfig',
  'kueue.x-k8s.io/v1beta2/ResourceFlavor': 'ResourceFlavor',
  'kueue.x-k8s.io/v1beta2/Topology': 'KueueTopology',
  'kueue.x-k8s.io/v1beta2/WorkloadPriorityClass': 'WorkloadPriorityClass',
  'resource.nvidia.com/v1beta1/ComputeDomain': 'ComputeDomain',
  'scheduling.volcano.sh/v1beta1/PodGroup': 'VolcanoPodGroup',
  'scheduling.volcano.sh/v1beta1/Queue': 'VolcanoQueue',
};

const object = (spec: string) => `apiVersion kind metadata:ObjectMeta spec:${spec} status:*`;

/** The fields of each type. */
export const clusterTypes: Readonly<Record<string, string>> = {
  // Karpenter
  EC2NodeClass: object('EC2NodeClassSpec'),
  EC2NodeClassSpec:
    'subnetSelectorTerms!:[EC2Subnet securityGroupSelectorTerms!:[EC2SecurityGroup amiSelectorTerms!:[EC2AMI amiFamily:=AL2|AL2023|Bottlerocket|Custom|Windows2019|Windows2022|Windows2025 role instanceProfile userData blockDeviceMappings:[EC2BlockDevice metadataOptions:EC2Metadata instanceStorePolicy tags:* kubelet:* detailedMonitoring:b associatePublicIPAddress:b capacityReservationSelectorTerms:* context placementGroupSelector:* networkInterfaces:* connectionTracking:* ipPrefixCount:* cpuOptions:*',
  EC2Subnet: 'tags:* id',
  EC2SecurityGroup: 'tags:* id name',
  EC2AMI: 'alias tags:* id name owner ssmParameter',
  EC2BlockDevice: 'deviceName ebs:EC2Volume rootVolume:b',
  EC2Volume:
    'deleteOnTermination:b encrypted:b iops:i kmsKeyID snapshotID throughput:i volumeInitializationRate:i volumeSize:* volumeType',
  EC2Metadata: 'httpEndpoint httpProtocolIPv6 httpPutResponseHopLimit:i httpTokens',
  NodePool: object('NodePoolSpec'),
  NodePoolSpec: 'template:NodePoolTemplate disruption:NodePoolDisruption limits:{q weight:i replicas:i',
  NodePoolTemplate: 'metadata:NodePoolMetadata spec:NodePoolNode',
  NodePoolMetadata: 'labels:{s annotations:{s',
  NodePoolNode:
    'nodeClassRef:NodeClassRef requirements:[NodePoolRequirement taints:[NodeTaint startupTaints:[NodeTaint expireAfter terminationGracePeriod',
  NodeClassRef: 'group! kind! name!',
  NodePoolRequirement: 'key! operator!:=In|NotIn|Exists|DoesNotExist|Gt|Lt|Gte|Lte values:[s minValues:i',
  NodePoolDisruption:
    'consolidateAfter! consolidationPolicy:=WhenEmpty|WhenEmptyOrUnderutilized|Balanced budgets:[NodePoolBudget',
  NodeOverlay: object('NodeOverlaySpec'),
  NodeOverlaySpec: 'requirements:[NodePoolRequirement priceAdjustment:x price:x capacity:* weight:i',
  NodePoolBudget: 'nodes schedule duration reasons:[s',
  // Kueue
  ClusterQueue: object('ClusterQueueSpec'),
  ClusterQueueSpec:
    'resourceGroups:[ResourceGroup cohort cohortName queueingStrategy:=StrictFIFO|BestEffortFIFO namespaceSelector:LabelSelector flavorFungibility:* preemption:Preemption admissionChecks:* admissionChecksStrategy:* stopPolicy:=None|Hold|HoldAndDrain fairSharing:* admissionScope:* excludeResourcePrefixes:* concurrentAdmissionPolicy:*',
  Preemption:
    'reclaimWithinCohort:=Never|LowerPriority|Any withinClusterQueue:=Never|LowerPriority|LowerOrNewerEqualPriority borrowWithinCohort:*',
  ResourceGroup: 'coveredResources!:[s flavors!:[FlavorQuotas',
  FlavorQuotas: 'name! resources!:[QueueQuota',
  QueueQuota: 'name! nominalQuota!:q borrowingLimit:q lendingLimit:q',
  LocalQueue: object('LocalQueueSpec'),
  LocalQueueSpec: 'clusterQueue stopPolicy:=None|Hold|HoldAndDrain fairSharing:*',
  ResourceFlavor: object('ResourceFlavorSpec'),
  ResourceFlavorSpec: 'nodeLabels:{s nodeTaints:[NodeTaint tolerations:[FlavorToleration topologyName',
  NodeTaint: 'key! value effect!:=NoSchedule|PreferNoSchedule|NoExecute timeAdded',
  FlavorToleration: '+Toleration operator:=Exists|Equal',
  WorkloadPriorityClass: 'apiVersion kind metadata:ObjectMeta value!:i description',
  AdmissionCheck: object('AdmissionCheckSpec'),
  AdmissionCheckSpec: 'controllerName retryDelayMinutes:i parameters:*',
  KueueTopology: object('KueueTopologySpec'),
  KueueTopologySpec: 'levels:[KueueTopologyLevel',
  KueueTopologyLevel: 'nodeLabel',
  ProvisioningRequest: object('ProvisioningRequestSpec'),
  ProvisioningRequestSpec: 'podSets:[ProvisioningPodSet provisioningClassName parameters:{s',
  ProvisioningPodSet: 'count:i podTemplateRef:*',
  ProvisioningRequestConfig: object('ProvisioningRequestConfigSpec'),
  ProvisioningRequestConfigSpec:
    'provisioningClassName parameters:{s managedResources:[s retryStrategy:ProvisioningRetry podSetUpdates:* podSetMergePolicy',
  ProvisioningRetry: 'backoffLimitCount:i backoffBaseSeconds:i backoffMaxSeconds:i',
  // KEDA. Rules report bounds, triggers and targets that are missing or wrong.
  ScaledObject: object('ScaledObjectSpec'),
  ScaledObjectSpec:
    'scaleTargetRef:ScaleTarget pollingInterval:i initialCooldownPeriod:i cooldownPeriod:i idleReplicaCount:i minReplicaCount:i maxReplicaCount:i advanced:ScaledObjectAdvanced triggers:[ScaleTrigger fallback:*',
  ScaleTarget: 'name apiVersion kind envSourceContainerName',
  ScaledObjectAdvanced:
    'horizontalPodAutoscalerConfig:ScaledObjectHPA restoreToOriginalReplicaCount:b scalingModifiers:*',
  ScaledObjectHPA: 'behavior:HorizontalPodAutoscalerBehavior name',
  // Volcano's scheduler
  VolcanoQueue: object('VolcanoQueueSpec'),
  VolcanoQueueSpec:
    'weight:i capability:{q reclaimable:b extendClusters:* guarantee:* affinity:* type parent deserved:{q priority:i dequeueStrategy',
  VolcanoPodGroup: object('VolcanoPodGroupSpec'),
  VolcanoPodGroupSpec:
    'minMember:i minTaskMember:* queue priorityClassName minResources:{q networkTopology:* subGroupPolicy:*',
  // NVIDIA's DRA driver
  ComputeDomain: object('ComputeDomainSpec'),
  ComputeDomainSpec: 'numNodes:i channel:*',
  // eksctl
  EksctlConfig:
    'apiVersion kind metadata:* accessConfig:* addons:* addonsConfig:* autoModeConfig:* availabilityZones:* capabilities:* cloudWatch:* controlPlaneScalingConfig:* deletionProtection:* fargateProfiles:* gitops:* git:* iam:* iamIdentityMappings:* identityProviders:* karpenter:* kubernetesNetworkConfig:* localZones:* managedNodeGroups:[EksctlManagedGroup nodeGroups:[EksctlGroup outpost:* privateCluster:* remoteNetworkConfig:* secretsEncryption:* status:* upgradePolicy:* vpc:* zonalShiftConfig:*',
  EksctlBase:
    'additionalEncryptedVolume additionalVolumes:* ami amiFamily asgSuspendProcesses:* availabilityZones:* bottlerocket:* capacityReservation:* desiredCapacity:i disableIMDSv1:b disablePodIMDS:b ebsOptimized:b efaEnabled:b enableDetailedMonitoring:b iam:* instanceMarketOptions:* instanceName instancePrefix instanceSelector:* instanceType labels:* maxPodsPerNode:i maxSize:i minSize:i name outpostARN overrideBootstrapCommand placement:* preBootstrapCommands:* privateNetworking:b propagateASGTags:b securityGroups:* ssh:* subnets:* tags:* taints:* updateConfig:* volumeEncrypted:b volumeIOPS:i volumeKmsKeyID volumeName volumeSize:i volumeThroughput:i volumeType',
  EksctlManagedGroup: '+EksctlBase instanceTypes:* launchTemplate:* nodeRepairConfig:* releaseVersion spot:b',
  EksctlGroup:
    '+EksctlBase asgMetricsCollection:* classicLoadBalancerNames:* clusterDNS containerRuntime cpuCredits enclaveEnabled:b instancesDistribution:EksctlDistribution kubeletExtraConfig:* localZones:* maxInstanceLifetime:i targetGroupARNs:*',
  EksctlDistribution:
    'capacityRebalance:b instanceTypes:* maxPrice:n onDemandBaseCapacity:i onDemandPercentageAboveBaseCapacity:i spotAllocationStrategy spotInstancePools:i',
};

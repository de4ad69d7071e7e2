// Types of custom resources of operators that run models and data jobs, or install devices, in the form of custom-types.ts.
//
// Sources, read 2026-11-30: the Go types of kubeflow/spark-operator (v1beta2), ai-dynamo/dynamo (v1alpha1), kubernetes-sigs/gateway-api-inference-extension
// (v1, v1alpha2), kaito-project/kaito (InferenceSet v1alpha1, v1beta1), vllm-project/aibrix (autoscaling, model and orchestration v1alpha1), kserve/kserve
// (local models v1alpha1), NVIDIA/gpu-operator (NVIDIADriver v1alpha1), ROCm/gpu-operator (DeviceConfig v1alpha1),
// Azure/karpenter-provider-azure (AKSNodeClass v1beta1), kai-scheduler/KAI-Scheduler (Queue v2).

/** The type of an object by apiVersion and kind. */
export const operatorKinds: Readonly<Record<string, string>> = {
  'amd.com/v1alpha1/DeviceConfig': 'DeviceConfig',
  'autoscaling.aibrix.ai/v1alpha1/PodAutoscaler': 'AIBrixAutoscaler',
  'inference.networking.x-k8s.io/v1alpha2/InferenceModel': 'InferenceModel',
  'inference.networking.x-k8s.io/v1alpha2/InferencePool': 'FormerInferencePool',
  'inference.networking.k8s.io/v1/InferencePool': 'InferencePool',
  'kaito.sh/v1alpha1/InferenceSet': 'InferenceSet',
  'kaito.sh/v1beta1/InferenceSet': 'InferenceSet',
  'karpenter.azure.com/v1alpha2/AKSNodeClass': 'AKSNodeClass',
  'karpenter.azure.com/v1beta1/AKSNodeClass': 'AKSNodeClass',
  'model.aibrix.ai/v1alpha1/ModelAdapter': 'ModelAdapter',
  'nvidia.com/v1alpha1/DynamoComponentDeployment': 'DynamoComponentDeployment',
  'nvidia.com/v1alpha1/DynamoGraphDeployment': 'DynamoGraphDeployment',
  'nvidia.com/v1alpha1/NVIDIADriver': 'NVIDIADriver',
  'orchestration.aibrix.ai/v1alpha1/StormService': 'StormService',
  'scheduling.run.ai/v2/Queue': 'KAIQueue',
  'serving.kserve.io/v1alpha1/LocalModelCache': 'LocalModelCache',
  'serving.kserve.io/v1alpha1/LocalModelNamespaceCache': 'LocalModelCache',
  'serving.kserve.io/v1alpha1/LocalModelNodeGroup': 'LocalModelNodeGroup',
  'sparkoperator.k8s.io/v1beta2/ScheduledSparkApplication': 'ScheduledSparkApplication',
  'sparkoperator.k8s.io/v1beta2/SparkApplication': 'SparkApplication',
};

const object = (spec: string) => `apiVersion kind metadata:ObjectMeta spec:${spec} status:*`;

/** The fields of each type. */
export const operatorTypes: Readonly<Record<string, string>> = {
  // Spark. The schema leaves pod templates open, and the type of securityContext has changed.
  SparkApplication: object('SparkApplicationSpec'),
  ScheduledSparkApplication: object('ScheduledSparkSpec'),
  ScheduledSparkSpec:
    'schedule template:SparkApplicationSpec suspend:b concurrencyPolicy successfulRunHistoryLimit:i failedRunHistoryLimit:i timeZone',
  SparkApplicationSpec:
    'type:=Java|Python|Scala|R sparkVersion mode:=cluster|client|in-cluster-client proxyUser image imagePullPolicy imagePullSecrets:[s mainClass mainApplicationFile arguments:[s sparkConf:{s hadoopConf:{s sparkConfigMap hadoopConfigMap volumes:[Volume driver:SparkDriver executor:SparkExecutor deps:* restartPolicy:SparkRestart nodeSelector:{s failureRetries:i retryInterval:i pythonVersion memoryOverheadFactor monitoring:* batchScheduler timeToLiveSeconds:i batchSchedulerOptions:* sparkUIOptions:* driverIngressOptions:* dynamicAllocation:SparkAllocation suspend:b',
  SparkPod:
    'template:* cores:i coreLimit coreRequest memory memoryOverhead gpu:SparkGPU image configMaps:* secrets:* env:[EnvVar envVars:{s envFrom:[EnvFromSource envSecretKeyRefs:* labels:{s annotations:{s volumeMounts:[VolumeMount affinity:Affinity tolerations:[Toleration podSecurityContext:* securityContext:* schedulerName sidecars:[Container initContainers:[Container hostNetwork:b nodeSelector:{s dnsConfig:* terminationGracePeriodSeconds:i serviceAccount hostAliases:* shareProcessNamespace:b runtimeClassName javaOptions lifecycle:* ports:* priorityClassName',
  SparkDriver: '+SparkPod podName kubernetesMaster serviceAnnotations:{s serviceLabels:{s',
  SparkExecutor: '+SparkPod instances:i deleteOnTermination:b',
  SparkGPU: 'name! quantity!:i',
  SparkRestart:
    'type:=Never|Always|OnFailure onSubmissionFailureRetries:i onFailureRetries:i onSubmissionFailureRetryInterval:i onFailureRetryInterval:i',
  SparkAllocation:
    'enabled:b initialExecutors:i minExecutors:i maxExecutors:i shuffleTrackingEnabled:b shuffleTrackingTimeout:i',
  // Dynamo
  DynamoGraphDeployment: object('DynamoGraphSpec'),
  DynamoGraphSpec:
    'annotations:{s labels:{s priorityClassName pvcs:[DynamoClaim services:{DynamoService envs:[EnvVar backendFramework:=sglang|vllm|trtllm restart:* topologyConstraint:* experimental:* providerOverride:* dynamoGraph',
  DynamoComponentDeployment: object('DynamoComponentSpec'),
  DynamoComponentSpec: '+DynamoService backendFramework:=sglang|vllm|trtllm dynamoComponent dynamoTag',
  DynamoService:
    'annotations:{s labels:{s serviceName componentType subComponentType dynamoNamespace globalDynamoNamespace:b resources:DynamoResources autoscaling:* envs:[EnvVar envFromSecret volumeMounts:* pvc:* ingress:* modelRef:* sharedMemory:DynamoMemory extraPodMetadata:* extraPodSpec:DynamoPod livenessProbe:Probe readinessProbe:Probe replicas:i multinode:DynamoNodes scalingAdapter:* eppConfig:* checkpoint:* gpuMemoryService:* failover:*',
  DynamoClaim: 'create:b name storageClass size:q volumeAccessMode',
  DynamoResources: 'requests:DynamoAmounts limits:DynamoAmounts claims:*',
  DynamoAmounts: 'cpu memory gpu gpuType custom:{s',
  DynamoMemory: 'disabled:b size:q',
  DynamoNodes: 'nodeCount:i',
  DynamoPod: '+PodSpec mainContainer:Container',
  // The inference extension of the Gateway API
  InferencePool: object('InferencePoolSpec'),
  InferencePoolSpec: 'selector:LabelSelector targetPorts:[InferencePort endpointPickerRef:EndpointPicker appProtocol:*',
  InferencePort: 'number!:i',
  EndpointPicker: 'group kind name! port:InferencePort portNumber:i failureMode:=FailOpen|FailClose',
  FormerInferencePool: object('FormerInferencePoolSpec'),
  FormerInferencePoolSpec: 'selector:{s targetPortNumber:i extensionRef:FormerEndpointPicker',
  FormerEndpointPicker: 'group kind name! portNumber:i targetPortNumber:i failureMode:=FailOpen|FailClose',
  InferenceModel: object('InferenceModelSpec'),
  InferenceModelSpec:
    'modelName criticality:=Critical|Standard|Sheddable targetModels:[InferenceTarget poolRef:InferencePoolRef',
  InferenceTarget: 'name! weight:i',
  InferencePoolRef: 'group kind name!',
  // KAITO
  InferenceSet: object('InferenceSetSpec'),
  InferenceSetSpec:
    'template:InferenceSetTemplate replicas:i nodeCountLimit:i labelSelector:LabelSelector updateStrategy:* autoUpgrade:InferenceSetUpgrade',
  InferenceSetTemplate: 'metadata:* resource:InferenceSetResource inference:KaitoInference cache:*',
  InferenceSetResource: 'instanceType partition:*',
  InferenceSetUpgrade: 'enabled:b strategy:=InPlace|Surge maintenanceWindow:*',
  // AIBrix
  AIBrixAutoscaler: object('AIBrixAutoscalerSpec'),
  AIBrixAutoscalerSpec:
    'scaleTargetRef:ObjectReference subTargetSelector:* minReplicas:i maxReplicas:i schedules:* metricsSources:[AIBrixMetric observeWindowSeconds:i panicWindowSeconds:i predictive:* scalingStrategy:=HPA|KPA|APA',
  AIBrixMetric:
    'metricSourceType:=pod|resource|custom|external|domain protocolType:=http|https endpoint path port targetMetric! targetValue!',
  ModelAdapter: object('ModelAdapterSpec'),
  ModelAdapterSpec:
    'baseModel podSelector:LabelSelector schedulerName artifactURL credentialsSecretRef:* replicas:i additionalConfig:{s',
  StormService: object('StormServiceSpec'),
  StormServiceSpec:
    'replicas:i mode:=Replica|Pooled selector:LabelSelector stateful:b template:StormTemplate updateStrategy:StormUpdate revisionHistoryLimit:i paused:b disruptionTolerance:*',
  StormUpdate: 'type:=RollingUpdate|InPlaceUpdate maxUnavailable:x maxSurge:x',
  StormTemplate: 'metadata:* spec:StormRoles',
  StormRoles: 'roles:[StormRole updateStrategy:=Parallel|Sequential|Interleave schedulingStrategy:*',
  StormRole:
    'name replicas:i upgradeOrder:i podGroupSize:i updateStrategy:* stateful:b template:PodTemplateSpec disruptionTolerance:* podRecoveryPolicy schedulingStrategy:*',
  // KServe
  LocalModelCache: object('LocalModelCacheSpec'),
  LocalModelCacheSpec: 'sourceModelUri modelSize:q nodeGroup nodeGroups:[s serviceAccountName storage:*',
  LocalModelNodeGroup: object('LocalModelNodeGroupSpec'),
  LocalModelNodeGroupSpec:
    'storageLimit:q persistentVolumeSpec:PersistentVolumeSpec persistentVolumeClaimSpec:PersistentVolumeClaimSpec',
  // What installs drivers and device plugins
  NVIDIADriver: object('NVIDIADriverSpec'),
  NVIDIADriverSpec:
    'driverType:=gpu|vgpu|vgpu-host-manager usePrecompiled:b useOpenKernelModules:b kernelModuleType:=auto|open|proprietary startupProbe:DriverProbe livenessProbe:DriverProbe readinessProbe:DriverProbe rdma:DriverRDMA gds:DriverPart gdrcopy:DriverPart repository image version imagePullPolicy imagePullSecrets:[s manager:* resources:ResourceRequirements args:[s env:[EnvVar repoConfig:* certConfig:* licensingConfig:* virtualTopologyConfig:* kernelModuleConfig:* secretEnv nodeSelector:{s nodeAffinity:NodeAffinity labels:{s annotations:{s tolerations:[Toleration priorityClassName podSecurityContext:*',
  DriverProbe: 'initialDelaySeconds:i timeoutSeconds:i periodSeconds:i successThreshold:i failureThreshold:i',
  DriverRDMA: 'enabled:b useHostMofed:b',
  DriverPart: 'enabled:b repository image version imagePullPolicy imagePullSecrets:[s args:[s env:[EnvVar',
  DeviceConfig: object('DeviceConfigSpec'),
  DeviceConfigSpec:
    'driver:AMDDriver metricsExporter:AMDExporter devicePlugin:AMDPlugin selector:{s commonConfig:* testRunner:* configManager:* remediationWorkflow:*',
  AMDDriver:
    'enable:b blacklist:b amdgpuInstallerRepoURL version image imageRegistryTLS:* imageRegistrySecret:* imageSign:* imageBuild:* driverType upgradePolicy:* tolerations:* useSourceImage:b',
  AMDExporter:
    'enable:b image imageRegistrySecret:* port:i serviceType:=ClusterIP|NodePort nodePort:i config:* rbacConfig:* selector:{s imagePullPolicy tolerations:* upgradePolicy:* prometheus:* podAnnotations:* serviceAnnotations:* resource:* podResourceAPISocketPath',
  AMDPlugin:
    'devicePluginImage nodeLabellerImage imageRegistrySecret:* enableNodeLabeller:b enableDevicePlugin:b devicePluginImagePullPolicy nodeLabellerImagePullPolicy devicePluginArguments:* nodeLabellerArguments:* devicePluginTolerations:* nodeLabellerTolerations:* upgradePolicy:* kubeletSocketPath',
  AKSNodeClass: object('AKSNodeClassSpec'),
  AKSNodeClassSpec:
    'vnetSubnetID osDiskSizeGB:i imageFamily:=Ubuntu|Ubuntu2204|Ubuntu2404|AzureLinux imageVersion fipsMode:=FIPS|Disabled tags:{s kubelet:* maxPods:i security:* localDNS:* artifactStreaming:* linuxOSConfig:*',
  KAIQueue: object('KAIQueueSpec'),
  KAIQueueSpec: 'displayName parentQueue resources:KAIResources priority:i preemptMinRuntime reclaimMinRuntime',
  KAIResources: 'gpu:KAIAmount cpu:KAIAmount memory:KAIAmount',
  KAIAmount: 'quota:n overQuotaWeight:n limit:n',
};

// Types of custom resources, in the form of server/src/catalog/data/api.json. `+Type` stands for all fields of that type, none of them required. Fields that
// differ between versions are `*`, or in neither list of required fields.
//
// Sources, read 2026-11-22: the Go types of kserve/kserve (v1alpha1, v1beta1), kubernetes-sigs/lws (v1), kubernetes-sigs/jobset (v1alpha2),
// kubernetes-sigs/kueue (v1beta1, v1beta2), kaito-project/kaito (v1alpha1, v1beta1), kubeflow/trainer (v1alpha1), kubeflow/mpi-operator (v2beta1), kubeflow/training-operator (v1),
// ray-project/kuberay (v1); 2026-11-24: kubernetes-sigs/karpenter (v1); 2026-11-29: aws/karpenter-provider-aws (v1);
// 2026-11-28: vllm-project/production-stack (operator, v1alpha1), kubeai-project/kubeai (v1), kubeflow/notebooks (v1), kubevirt/kubevirt (v1), knative/serving (v1), kedacore/keda (v1alpha1), volcano-sh/apis (batch v1alpha1), NVIDIA/k8s-nim-operator (v1alpha1);
// 2026-11-29: prometheus-operator/prometheus-operator (v1), NVIDIA/gpu-operator (v1), k3s-io/helm-controller (v1), argoproj/argo-cd (v1alpha1), intel/intel-device-plugins-for-kubernetes (v1); GKE's reference of ComputeClass (v1).

/** The type of an object by apiVersion and kind. */
export const customKinds: Readonly<Record<string, string>> = {
  'apps.nvidia.com/v1alpha1/NIMCache': 'NIMCache',
  'apps.nvidia.com/v1alpha1/NIMPipeline': 'NIMPipeline',
  'apps.nvidia.com/v1alpha1/NIMService': 'NIMService',
  'batch.volcano.sh/v1alpha1/Job': 'VolcanoJob',
  'argoproj.io/v1alpha1/Application': 'ArgoApplication',
  'argoproj.io/v1alpha1/ApplicationSet': 'ArgoApplicationSet',
  'cloud.google.com/v1/ComputeClass': 'ComputeClass',
  'deviceplugin.intel.com/v1/GpuDevicePlugin': 'GpuDevicePlugin',
  'helm.cattle.io/v1/HelmChart': 'HelmChart',
  'helm.cattle.io/v1/HelmChartConfig': 'HelmChart',
  'helm.toolkit.fluxcd.io/v2/HelmRelease': 'HelmRelease',
  'helm.toolkit.fluxcd.io/v2beta1/HelmRelease': 'HelmRelease',
  'helm.toolkit.fluxcd.io/v2beta2/HelmRelease': 'HelmRelease',
  'jobset.x-k8s.io/v1alpha2/JobSet': 'JobSet',
  'kaito.sh/v1alpha1/Workspace': 'Workspace',
  'kaito.sh/v1beta1/Workspace': 'Workspace',
  'keda.sh/v1alpha1/ScaledJob': 'ScaledJob',
  'kubeai.org/v1/Model': 'KubeAIModel',
  'kubeflow.org/v1/JAXJob': 'JAXJob',
  'kubeflow.org/v1/Notebook': 'Notebook',
  'kubeflow.org/v1alpha1/Notebook': 'Notebook',
  'kubeflow.org/v1beta1/Notebook': 'Notebook',
  'kubeflow.org/v1/PaddleJob': 'PaddleJob',
  'kubeflow.org/v1/PyTorchJob': 'PyTorchJob',
  'kubeflow.org/v1/TFJob': 'TFJob',
  'kubeflow.org/v1/XGBoostJob': 'XGBoostJob',
  // The trainer of a TrainJob has had the same fields since.
  'kubeflow.org/v2alpha1/TrainJob': 'V2TrainJob',
  'kubeflow.org/v2beta1/MPIJob': 'MPIJob',
  'kubevirt.io/v1/VirtualMachine': 'VirtualMachine',
  'kubevirt.io/v1/VirtualMachineInstance': 'VirtualMachineInstance',
  'leaderworkerset.x-k8s.io/v1/LeaderWorkerSet': 'LeaderWorkerSet',
  'production-stack.vllm.ai/v1alpha1/VLLMRuntime': 'VLLMRuntime',
  'monitoring.coreos.com/v1/PodMonitor': 'PodMonitor',
  'monitoring.coreos.com/v1/PrometheusRule': 'PrometheusRule',
  'monitoring.coreos.com/v1/ServiceMonitor': 'ServiceMonitor',
  'nvidia.com/v1/ClusterPolicy': 'ClusterPolicy',
  'ray.io/v1/RayCluster': 'RayCluster',
  'ray.io/v1/RayJob': 'RayJob',
  'ray.io/v1/RayService': 'RayService',
  'serving.knative.dev/v1/Service': 'KnativeService',
  'serving.kserve.io/v1alpha1/ClusterServingRuntime': 'ServingRuntime',
  'serving.kserve.io/v1alpha1/LLMInferenceService': 'LLMInferenceService',
  'serving.kserve.io/v1alpha2/LLMInferenceService': 'LLMInferenceService',
  'serving.kserve.io/v1alpha1/ServingRuntime': 'ServingRuntime',
  'serving.kserve.io/v1beta1/InferenceService': 'InferenceService',
  'trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime': 'TrainingRuntime',
  'trainer.kubeflow.org/v1alpha1/TrainingRuntime': 'TrainingRuntime',
  'trainer.kubeflow.org/v1alpha1/TrainJob': 'TrainJob',
};

const object = (spec: string) => `apiVersion kind metadata:ObjectMeta spec:${spec} status:*`;
const framework = (specs: string) =>
  `elasticPolicy:ElasticPolicy nprocPerNode runPolicy:RunPolicy successPolicy:* enableDynamicWorker:b ${specs}!:{ReplicaSpec`;

/** The fields of each type. */
export const customTypes: Readonly<Record<string, string>> = {
  // KServe
  InferenceService: object('InferenceServiceSpec'),
  InferenceServiceSpec: 'predictor!:Predictor transformer:Component explainer:*',
  Component: `+PodSpec minReplicas:i maxReplicas:i scaleTarget:i scaleMetric:=cpu|memory|concurrency|rps scaleMetricType:* autoScaling:* containerConcurrency:i timeout:i canaryTrafficPercent:i logger:* batcher:* labels:{s annotations:{s deploymentStrategy:DeploymentStrategy storageUris:*`,
  Predictor:
    '+Component model:KServeModel workerSpec:KServeWorker sklearn:KServeFramework xgboost:KServeFramework tensorflow:KServeFramework pytorch:KServeFramework triton:KServeFramework onnx:KServeFramework huggingface:KServeFramework pmml:KServeFramework lightgbm:KServeFramework paddle:KServeFramework catboost:KServeFramework openvino:KServeFramework',
  KServeFramework: '+Container storageUri runtimeVersion protocolVersion storage:*',
  KServeModel: '+KServeFramework modelFormat!:KServeModelFormat runtime',
  KServeModelFormat: 'name! version',
  KServeWorker: '+PodSpec pipelineParallelSize:i tensorParallelSize:i',
  ServingRuntime: object('ServingRuntimeSpec'),
  ServingRuntimeSpec:
    '+PodSpec labels:{s annotations:{s supportedModelFormats:[SupportedModelFormat multiModel:b disabled:b protocolVersions:[s workerSpec:ServingRuntimeWorker grpcEndpoint grpcDataEndpoint httpDataEndpoint replicas:i storageHelper:* builtInAdapter:*',
  ServingRuntimeWorker: '+KServeWorker labels:{s annotations:{s',
  SupportedModelFormat: 'name! version autoSelect:b priority:i',
  LLMInferenceService: object('LLMInferenceServiceSpec'),
  LLMInferenceServiceSpec:
    'model:* replicas:i parallelism:* template:PodSpec worker:PodSpec prefill:LLMWorkload router:LLMRouter baseRefs:* scaling:* labels:{s annotations:{s storageInitializer:* tracing:*',
  LLMWorkload: 'replicas:i parallelism:* template:PodSpec worker:PodSpec scaling:* labels:{s annotations:{s',
  // Fields of later versions are unknown.
  LLMRouter: '~ scheduler:LLMScheduler',
  LLMScheduler: '~ template:PodSpec replicas:i',
  // vLLM's production stack, KubeAI, Kubeflow's notebooks
  VLLMRuntime: object('VLLMRuntimeSpec'),
  VLLMRuntimeSpec:
    'model!:VLLMRuntimeModel vllmConfig!:VLLMRuntimeConfig lmCacheConfig:* storageConfig:* deploymentConfig!:VLLMDeployment autoscalingConfig:*',
  VLLMRuntimeModel:
    'modelURL! hfTokenSecret:* enableLoRA:b enableTool:b toolCallParser maxModelLen:i dtype maxNumSeqs:i chatTemplate',
  VLLMRuntimeConfig:
    'enableChunkedPrefill:b enablePrefixCaching:b tensorParallelSize:i gpuMemoryUtilization maxLoras:i extraArgs:[s v1:b port:i env:*',
  VLLMDeployment:
    'replicas:i nodeSelectorTerms:* toleration:[Toleration deploymentStrategy resources!:VLLMResources image!:* sidecarConfig:*',
  VLLMResources: 'cpu memory gpu gpuType',
  KubeAIModel: object('KubeAIModelSpec'),
  KubeAIModelSpec:
    'url engine:=OLlama|VLLM|FasterWhisper|Infinity features:[=TextGeneration|TextEmbedding|Reranking|SpeechToText resourceProfile cacheProfile image args:[s env:{s envFrom:* files:* adapters:* replicas:i minReplicas:i maxReplicas:i autoscalingDisabled:b targetRequests:i scaleDownDelaySeconds:i owner loadBalancing:* priorityClassName podOverrides:*',
  Notebook: object('NotebookSpec'),
  NotebookSpec: 'template:NotebookTemplate',
  NotebookTemplate: 'metadata:* spec:PodSpec',
  // KubeVirt
  VirtualMachine: object('VirtualMachineSpec'),
  VirtualMachineSpec:
    'running:b runStrategy instancetype:* preference:* template:VirtualMachineTemplate dataVolumeTemplates:* updateVolumesStrategy',
  VirtualMachineTemplate: 'metadata:ObjectMeta spec:VirtualMachineInstanceSpec',
  VirtualMachineInstance: object('VirtualMachineInstanceSpec'),
  VirtualMachineInstanceSpec:
    'domain:VirtualMachineDomain volumes:* networks:* nodeSelector:{s affinity:Affinity tolerations:[Toleration evictionStrategy terminationGracePeriodSeconds:i priorityClassName schedulerName topologySpreadConstraints:* startStrategy livenessProbe:* readinessProbe:* hostname subdomain dnsPolicy dnsConfig:* accessCredentials:* architecture resourceClaims:* utilityVolumes:*',
  VirtualMachineDomain:
    'resources:VirtualMachineResources cpu:VirtualMachineCPU memory:VirtualMachineMemory machine:* firmware:* clock:* features:* devices:VirtualMachineDevices ioThreadsPolicy ioThreads:* chassis:* launchSecurity:*',
  VirtualMachineResources: 'requests:{q limits:{q overcommitGuestOverhead:b',
  VirtualMachineCPU:
    'cores:i sockets:i maxSockets:i threads:i model features:* dedicatedCpuPlacement:b numa:* isolateEmulatorThread:b realtime:*',
  VirtualMachineMemory: 'guest:q maxGuest:q hugepages:*',
  VirtualMachineDevices:
    'gpus:[VirtualMachineGPU hostDevices:[VirtualMachineGPU disks:* interfaces:* inputs:* filesystems:* watchdog:* tpm:* rng:* sound:* downwardMetrics:* clientPassthrough:* panicDevices:* video:* autoattachGraphicsDevice:b autoattachMemBalloon:b autoattachPodInterface:b autoattachSerialConsole:b autoattachInputDevice:b autoattachVSOCK:b blockMultiQueue:b networkInterfaceMultiqueue:b disableHotplug:b useVirtioTransitional:b logSerialConsole:b',
  VirtualMachineGPU: 'name! deviceName virtualGPUOptions:* tag claimName requestName',
  // What installs charts: https://fluxcd.io/flux/components/helm/api/v2/, https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/
  // k3s and RKE2: fields of later versions are unknown.
  HelmChart: object('HelmChartSpec'),
  HelmChartSpec: '~ valuesContent:s set bootstrap:b',
  HelmRelease: object('HelmReleaseSpec'),
  HelmReleaseSpec:
    'chart:HelmReleaseChart chartRef:* interval suspend:b releaseName targetNamespace storageNamespace dependsOn:* timeout maxHistory:i serviceAccountName persistentClient:b driftDetection:* install:* upgrade:* rollback:* uninstall:* test:* postRenderers:* valuesFrom:* values:* kubeConfig:* commonMetadata:* waitStrategy:* healthCheckExprs:*',
  HelmReleaseChart: 'metadata:* spec:HelmReleaseSource',
  HelmReleaseSource:
    'chart version sourceRef:* interval valuesFiles:* valuesFile reconcileStrategy ignoreMissingValuesFiles:b verify:*',
  ArgoApplication: 'apiVersion kind metadata:ObjectMeta spec:ArgoApplicationSpec operation:* status:*',
  ArgoApplicationSet: 'apiVersion kind metadata:ObjectMeta spec:ArgoApplicationSetSpec status:*',
  ArgoApplicationSetSpec:
    'goTemplate:b goTemplateOptions:* generators:* template:ArgoApplicationTemplate templatePatch syncPolicy:* strategy:* preservedFields:* applyNestedSelectors:b ignoreApplicationDifferences:*',
  ArgoApplicationTemplate: 'metadata:* spec:ArgoApplicationSpec',
  ArgoApplicationSpec:
    'source:ArgoSource sources:[ArgoSource sourceHydrator:* destination:* project syncPolicy:ArgoSyncPolicy ignoreDifferences:* info:* revisionHistoryLimit:i',
  ArgoSyncPolicy: 'automated:ArgoAutomatedSync syncOptions:[s retry:ArgoRetry managedNamespaceMetadata:*',
  ArgoAutomatedSync: 'prune:b selfHeal:b allowEmpty:b enabled:b',
  ArgoRetry: 'limit:i backoff:* refresh:b',
  ArgoSource: 'repoURL path targetRevision chart helm:ArgoHelm kustomize:* directory:* plugin:* ref name',
  ArgoHelm:
    'valueFiles:[s values valuesObject:ArgoValues parameters:[ArgoParameter fileParameters:* releaseName version passCredentials:b ignoreMissingValueFiles:b skipCrds:b skipSchemaValidation:b skipTests:b namespace kubeVersion apiVersions:*',
  ArgoParameter: 'name value forceString:b',
  ArgoValues: '~',
  // Intel's device plugin
  GpuDevicePlugin: object('GpuDevicePluginSpec'),
  GpuDevicePluginSpec:
    'image initImage sharedDevNum:i logLevel:i enableMonitoring:b resourceManager:b preferredAllocationPolicy:=balanced|packed|none bypathMode:=none|single|all monitoringMode:=split|single allowIDs denyIDs nodeSelector:{s tolerations:[Toleration',
  // GKE: https://cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass
  ComputeClass: object('ComputeClassSpec'),
  ComputeClassSpec:
    'priorities:[ComputePriority priorityDefaults:* nodePoolAutoCreation:ComputeCreation nodePoolConfig:* nodePoolGroup:* autoscalingPolicy:* activeMigration:* whenUnsatisfiable:=ScaleUpAnyway|DoNotScaleUp autopilot:* allocationStrategyDefaults:* buffers:* description',
  ComputeCreation: 'enabled:b shieldedInstanceConfig:*',
  ComputePriority:
    'machineFamily machineType spot:b minCpuPlatform minCores:i minMemoryGb:i storage:* gpu:ComputeGPU tpu:ComputeTPU nodepools:[s reservations:* maxPodsPerNode:i maxRunDurationSeconds:i flexStart:* placement:* location:* nodeSystemConfig:* podFamily capacityCheckWaitTimeSeconds:i',
  ComputeGPU: 'type count:i driverVersion gpuSharing:*',
  ComputeTPU: 'type count:i topology',
  // The Prometheus operator: https://prometheus-operator.dev/docs/api-reference/api/
  MonitorSpec:
    'jobLabel podTargetLabels:[s selector!:LabelSelector selectorMechanism namespaceSelector:MonitorNamespaces sampleLimit:i targetLimit:i scrapeProtocols:[s fallbackScrapeProtocol scrapeClassicHistograms:b labelLimit:i labelNameLengthLimit:i labelValueLengthLimit:i keepDroppedTargets:i attachMetadata:* scrapeClass bodySizeLimit nativeHistogramBucketLimit:i nativeHistogramMinBucketFactor:* convertClassicHistogramsToNHCB:b scrapeNativeHistograms:b',
  MonitorNamespaces: 'any:b matchNames:[s',
  // Rules report ports and times that are numbers.
  MonitorEndpoint:
    'port:* targetPort:x path scheme params:* interval:* scrapeTimeout:* tlsConfig:* bearerTokenFile bearerTokenSecret:* authorization:* basicAuth:* oauth2:* honorLabels:b honorTimestamps:b trackTimestampsStaleness:b metricRelabelings:* relabelings:* proxyUrl noProxy proxyFromEnvironment:b proxyConnectHeader:* followRedirects:b enableHttp2:b filterRunning:b',
  ServiceMonitor: object('ServiceMonitorSpec'),
  ServiceMonitorSpec: '+MonitorSpec targetLabels:[s endpoints!:[MonitorEndpoint serviceDiscoveryRole',
  PodMonitor: object('PodMonitorSpec'),
  PodMonitorSpec: '+MonitorSpec podMetricsEndpoints:[PodMonitorEndpoint',
  PodMonitorEndpoint: '+MonitorEndpoint portNumber:i',
  PrometheusRule: object('PrometheusRuleSpec'),
  PrometheusRuleSpec: 'groups:[RuleGroup',
  RuleGroup: 'name! rules:[AlertingRule interval:* labels:{s query_offset:* limit:i partial_response_strategy',
  AlertingRule: 'record alert expr!:x for:* keep_firing_for:* labels:{s annotations:{s',
  // Knative, KEDA and Volcano
  KnativeService: object('KnativeServiceSpec'),
  KnativeServiceSpec: 'template:KnativeTemplate traffic:*',
  KnativeTemplate: 'metadata:ObjectMeta spec:KnativeRevision',
  KnativeRevision:
    '+PodSpec containerConcurrency:i timeoutSeconds:i responseStartTimeoutSeconds:i idleTimeoutSeconds:i',
  ScaledJob: object('ScaledJobSpec'),
  ScaledJobSpec:
    'jobTargetRef!:JobSpec pollingInterval:i successfulJobsHistoryLimit:i failedJobsHistoryLimit:i rolloutStrategy rollout:* envSourceContainerName minReplicaCount:i maxReplicaCount:i scalingStrategy:* triggers!:[ScaleTrigger',
  ScaleTrigger: 'type name useCachedMetrics:b metadata:* authenticationRef:* metricType',
  VolcanoJob: object('VolcanoJobSpec'),
  VolcanoJobSpec:
    'schedulerName minAvailable:i volumes:* tasks:[VolcanoTask policies:* plugins:* runningEstimate:* queue maxRetry:i ttlSecondsAfterFinished:i priorityClassName minSuccess:i networkTopology:*',
  VolcanoTask:
    'name replicas:i minAvailable:i template:PodTemplateSpec policies:* topologyPolicy:* maxRetry:i dependsOn:* partitionPolicy:*',
  // LeaderWorkerSet
  LeaderWorkerSet: object('LeaderWorkerSetSpec'),
  LeaderWorkerSetSpec:
    'replicas:i leaderWorkerTemplate!:LeaderWorkerTemplate rolloutStrategy:LeaderWorkerRollout startupPolicy:=LeaderCreated|LeaderReady networkConfig:LeaderWorkerNetwork',
  LeaderWorkerTemplate:
    'leaderTemplate:PodTemplateSpec workerTemplate!:PodTemplateSpec size:i restartPolicy:=RecreateGroupOnPodRestart|RecreateGroupAfterStart|None|Default subGroupPolicy:LeaderWorkerSubGroup volumeClaimTemplates:[PersistentVolumeClaim persistentVolumeClaimRetentionPolicy:*',
  LeaderWorkerNetwork: 'subdomainPolicy:=Shared|UniquePerReplica',
  LeaderWorkerRollout: 'type:=RollingUpdate rollingUpdateConfiguration:LeaderWorkerUpdate',
  LeaderWorkerUpdate: 'partition:i maxUnavailable:x maxSurge:x',
  LeaderWorkerSubGroup: 'subGroupPolicyType:=LeaderWorker|LeaderExcluded subGroupSize:i',
  // JobSet
  JobSet: object('JobSetSpec'),
  JobSetSpec:
    'replicatedJobs:[ReplicatedJob network:JobSetNetwork successPolicy:JobSetSuccess failurePolicy:JobSetFailure startupPolicy:JobSetStartup suspend:b coordinator:JobSetCoordinator managedBy ttlSecondsAfterFinished:i volumeClaimPolicies:*',
  JobSetNetwork: 'enableDNSHostnames:b subdomain publishNotReadyAddresses:b',
  JobSetSuccess: 'operator!:=All|Any targetReplicatedJobs:[s',
  JobSetFailure: 'maxRestarts:i restartStrategy rules:*',
  JobSetStartup: 'startupPolicyOrder!:=AnyOrder|InOrder',
  JobSetCoordinator: 'replicatedJob! jobIndex:i podIndex:i',
  ReplicatedJob: 'name! template!:JobTemplateSpec replicas:i dependsOn:* groupName',
  // KAITO: a Workspace has no spec.
  Workspace: 'apiVersion kind metadata:ObjectMeta resource:KaitoResource inference:KaitoInference tuning:* status:*',
  KaitoInference: 'preset:* template:PodTemplateSpec config adapters:*',
  KaitoResource: 'count:i instanceType labelSelector:LabelSelector preferredNodes:[s partition:*',
  // Kubeflow
  MPIJob: object('MPIJobSpec'),
  MPIJobSpec:
    'slotsPerWorker:i runPolicy:RunPolicy mpiReplicaSpecs!:{ReplicaSpec sshAuthMountPath waitForWorkers:b launcherCreationPolicy mpiImplementation:=OpenMPI|Intel|MPICH runLauncherAsWorker:b',
  ReplicaSpec: 'replicas:i template:PodTemplateSpec restartPolicy',
  ElasticPolicy:
    'minReplicas:i maxReplicas:i rdzvBackend rdzvPort:i rdzvHost rdzvId rdzvConf:* standalone:b nProcPerNode:i maxRestarts:i metrics:*',
  RunPolicy:
    'cleanPodPolicy ttlSecondsAfterFinished:i activeDeadlineSeconds:i backoffLimit:i schedulingPolicy:* suspend:b managedBy',
  JAXJob: object('JAXJobSpec'),
  JAXJobSpec: framework('jaxReplicaSpecs'),
  PaddleJob: object('PaddleJobSpec'),
  PaddleJobSpec: framework('paddleReplicaSpecs'),
  PyTorchJob: object('PyTorchJobSpec'),
  PyTorchJobSpec: framework('pytorchReplicaSpecs'),
  TFJob: object('TFJobSpec'),
  TFJobSpec: framework('tfReplicaSpecs'),
  XGBoostJob: object('XGBoostJobSpec'),
  XGBoostJobSpec: framework('xgbReplicaSpecs'),
  TrainJob: object('TrainJobSpec'),
  TrainJobSpec:
    'runtimeRef!:RuntimeRef initializer:* trainer:Trainer labels:{s annotations:{s podSpecOverrides:* podTemplateOverrides:* runtimePatches:* suspend:b activeDeadlineSeconds:i managedBy',
  V2TrainJob: object('V2TrainJobSpec'),
  V2TrainJobSpec: '+TrainJobSpec datasetConfig:* modelConfig:*',
  TrainingRuntime: object('TrainingRuntimeSpec'),
  TrainingRuntimeSpec: 'mlPolicy:MLPolicy podGroupPolicy:* template:JobSetTemplate',
  MLPolicy: 'numNodes:i torch:* mpi:* jax:* xgboost:* flux:* plainML:*',
  JobSetTemplate: 'metadata:ObjectMeta spec:JobSetSpec',
  RuntimeRef: 'name! apiGroup kind',
  Trainer: 'image command:[s args:[s env:[EnvVar numNodes:i resourcesPerNode:ResourceRequirements numProcPerNode:x',
  // NIM. Rules report a NIMService without authSecret.
  NIMCache: object('NIMCacheSpec'),
  NIMCacheSpec:
    'source!:NIMSource storage!:NIMStorage resources:NIMCacheResources tolerations:[Toleration nodeSelector:{s gpuSelectors:{s userID:i groupID:i runtimeClassName env:[EnvVar proxy:* certConfig:*',
  NIMSource: 'ngc:NIMSourceNGC dataStore:* nemoDataStore:* hf:*',
  NIMSourceNGC: 'authSecret modelPuller pullSecret model:NIMModel modelEndpoint',
  NIMModel:
    'profiles:[s autoDetect:b precision engine tensorParallelism qosProfile gpus:[NIMProduct lora:b buildable:b',
  NIMProduct: 'product ids:[s',
  NIMCacheResources: 'gpus:i cpu:q memory:q',
  NIMStorage: 'pvc:NIMClaim hostPath',
  NIMClaim: 'create:b name storageClass size volumeAccessMode subPath annotations:{s',
  NIMPipeline: object('NIMPipelineSpec'),
  NIMPipelineSpec: 'services:[NIMPipelineService',
  NIMPipelineService: 'name enabled:b spec:NIMServiceSpec dependencies:*',
  NIMService: object('NIMServiceSpec'),
  NIMServiceSpec:
    'image:NIMImage command:[s args:[s env:[EnvVar authSecret storage:NIMServiceStorage labels:{s annotations:{s nodeSelector:{s tolerations:[Toleration affinity:Affinity podAffinity:PodAffinity resources:ResourceRequirements draResources:* expose:NIMExpose livenessProbe:NIMProbe readinessProbe:NIMProbe startupProbe:NIMProbe scale:NIMScale schedulerName metrics:NIMMetrics replicas:i userID:i groupID:i runtimeClassName proxy:* multiNode:* inferencePlatform router:* initContainers:* sidecarContainers:* type nimCache:*',
  NIMServiceStorage: '+NIMStorage nimCache:NIMCacheVolume sharedMemorySizeLimit:q readOnly:b emptyDir:*',
  NIMCacheVolume: 'name profile',
  NIMImage: 'repository tag pullPolicy pullSecrets:[s',
  NIMExpose: 'service:NIMExposedService ingress:* router:*',
  NIMExposedService: 'type name port:i grpcPort:i metricsPort:i annotations:{s openaiPort:i',
  NIMProbe: 'enabled:b probe:Probe',
  NIMScale: 'enabled:b annotations:{s hpa:NIMHPA',
  NIMHPA: 'minReplicas:i maxReplicas:i metrics:[MetricSpec behavior:*',
  NIMMetrics: 'enabled:b serviceMonitor:*',
  // NVIDIA's GPU operator
  ClusterPolicy: object('ClusterPolicySpec'),
  ClusterPolicySpec:
    'operator:* daemonsets:ClusterPolicyDaemonsets driver:* toolkit:ClusterPolicyToolkit devicePlugin:ClusterPolicyOperand dcgmExporter:ClusterPolicyOperand dcgm:ClusterPolicyOperand nodeStatusExporter:ClusterPolicyOperand gfd:ClusterPolicyOperand mig:ClusterPolicyMIG migManager:ClusterPolicyOperand psp:* psa:* validator:* gds:* gdrcopy:* fabricManager:* sandboxWorkloads:* vfioManager:* sandboxDevicePlugin:* kataSandboxDevicePlugin:* vgpuManager:* vgpuDeviceManager:* cdi:* kataManager:* ccManager:* hostPaths:*',
  ClusterPolicyDaemonsets:
    'labels:* annotations:* tolerations:[Toleration priorityClassName updateStrategy rollingUpdate:*',
  ClusterPolicyOperand:
    'enabled:b repository image version imagePullPolicy imagePullSecrets:* resources:* args:* env:[EnvVar config:* mps:* service:* serviceMonitor:* hostPID:b hostPort:* hostNetwork:b hpcJobMapping:* gpuClientsConfig:* labels:* annotations:* securityContext:*',
  ClusterPolicyToolkit:
    'enabled:b repository image version imagePullPolicy imagePullSecrets:* resources:* args:* env:[EnvVar installDir hostNetwork:* labels:* annotations:*',
  ClusterPolicyMIG: 'strategy:=none|single|mixed',
  // Ray
  RayCluster: object('RayClusterSpec'),
  RayClusterSpec:
    'headGroupSpec!:HeadGroupSpec workerGroupSpecs:[WorkerGroupSpec rayVersion enableInTreeAutoscaling:b autoscalerOptions:AutoscalerOptions headServiceAnnotations:{s suspend:b managedBy gcsFaultToleranceOptions:* authOptions:* upgradeStrategy:*',
  HeadGroupSpec:
    'serviceType headService:* enableIngress:b rayStartParams:{s template!:PodTemplateSpec resources:* labels:*',
  WorkerGroupSpec:
    'groupName! replicas:i minReplicas:i maxReplicas:i numOfHosts:i idleTimeoutSeconds:i rayStartParams:{s template!:PodTemplateSpec scaleStrategy:* suspend:b resources:* labels:*',
  AutoscalerOptions:
    'resources:ResourceRequirements image imagePullPolicy env:[EnvVar envFrom:[EnvFromSource volumeMounts:[VolumeMount securityContext:SecurityContext idleTimeoutSeconds:i upscalingMode:=Default|Aggressive|Conservative version command:* args:*',
  RayJob: object('RayJobSpec'),
  RayJobSpec:
    'activeDeadlineSeconds:i waitingTtlSeconds:i preRunningDeadlineSeconds:i backoffLimit:i rayClusterSpec:RayClusterSpec submitterPodTemplate:PodTemplateSpec metadata:{s clusterSelector:{s submitterConfig:* managedBy deletionStrategy:* deletionPolicy:* entrypoint runtimeEnvYAML runtimeEnv jobId submissionMode entrypointResources entrypointNumCpus:n entrypointNumGpus:n ttlSecondsAfterFinished:i shutdownAfterJobFinishes:b suspend:b schedule',
  RayService: object('RayServiceSpec'),
  RayServiceSpec:
    'serveConfigV2 rayClusterConfig:RayClusterSpec serviceUnhealthySecondThreshold:i deploymentUnhealthySecondThreshold:i rayClusterDeletionDelaySeconds:i serveService:* upgradeStrategy:* excludeHeadPodFromServeSvc:b suspend:b managedBy',
};

// The keys of well-known charts' values, in the form of custom-types.ts, and the names that are mistaken for them. Keys are of all versions
// that were read, so an unknown key is in none of them. A type that starts with `~` has untyped keys.
//
// Sources, read 2026-11-28 (values.yaml, schemas or templates): otwld/ollama-helm (0.1 to 1.30), open-webui/helm-charts (6.x),
// jupyterhub/zero-to-jupyterhub-k8s (0.9 to 4.x; its schema rejects other keys since 1.0, pull request 2200), ray-project/kuberay (ray-cluster 0.3 to
// 1.4), vllm-project/production-stack (vllm-stack 0.1), NVIDIA/nim-deploy (nim-llm 1.x), NVIDIA/gpu-operator (v1.x to v25.x),
// NVIDIA/k8s-device-plugin (0.9 to 0.18), jellyfin/jellyfin-helm (2.x), blakeblackshear/blakeshome-charts (frigate 7.x), immich-app/immich-charts
// (0.9; 0.10 and later by pull request 188 and rwlove/home-ops#12956), bjw-s-labs/helm-charts (common 2.x to 5.x; its schemas reject other keys below a controller). KubeSpawner: jupyterhub/kubespawner (7.x).
// Read 2026-11-29: plexinc/pms-docker (plex-media-server 0.1 to 1.x), go-skynet/helm-charts (local-ai 1.x to 3.x), NVIDIA/dcgm-exporter (3.x, 4.x), kubeai-project/kubeai
// (models).

/**
 * The chart's names, the type of its values, and paths of which its values have at least so many (one is enough if the name is written). A path
 * that no other chart has is there twice; one with `?` counts only if the name is written, and the version if it matters. What changed with a
 * version (a major one, or `0.10`; 0 for none) is compared only if the version is known. The last column has parts of its publisher's repositories: with one of them and the name, values need no path.
 */
export const charts = [
  [
    'ollama',
    'OllamaValues',
    2,
    'ollama.gpu.enabled ollama.gpu.type ollama.gpu.number ollama.models.pull ollama.models.pull ollama.models.run persistentVolume.enabled',
    1,
    'otwld',
  ],
  [
    'open-webui',
    'OpenWebUIValues',
    2,
    'ollama ollamaUrls pipelines websocket extraEnvVars sso openaiBaseApiUrl',
    0,
    'openwebui open-webui',
  ],
  ['jupyterhub', 'JupyterHubValues', 2, 'singleuser hub proxy scheduling', 0, 'jupyterhub hub.jupyter.org'],
  [
    'ray-cluster',
    'RayClusterValues',
    2,
    'head.rayStartParams head.initArgs worker.rayStartParams worker.groupName additionalWorkerGroups common.containerEnv',
    0,
    'kuberay',
  ],
  ['vllm-stack production-stack', 'VLLMStackValues', 1, 'servingEngineSpec.modelSpec', 0, 'vllm-project vllm-stack'],
  [
    'nim-llm',
    'NIMValues',
    2,
    'model.ngcAPISecret model.nimCache model.openaiPort model.name persistence',
    0,
    'nvidia ngc',
  ],
  [
    'gpu-operator',
    'GPUOperatorValues',
    2,
    'driver toolkit dcgmExporter migManager nodeStatusExporter daemonsets operator.defaultRuntime ?mig.strategy ?migStrategy ?devicePlugin ?gfd ?operator ?cdi',
    0,
    'nvidia ngc',
  ],
  [
    'nvidia-device-plugin',
    'DevicePluginValues',
    2,
    'gfd config.map config.name migStrategy failOnInitError',
    0,
    'nvidia nvdp',
  ],
  ['jellyfin', 'JellyfinValues', 2, 'jellyfin.enableDLNA jellyfin.command jellyfin.args podPrivileges', 0, 'jellyfin'],
  [
    'frigate',
    'FrigateValues',
    2,
    'gpu.nvidia.enabled gpu.nvidia.runtimeClassName coral.enabled shmSize persistence.media envFromSecrets strategyType',
    0,
    'blakeblackshear blakeshome',
  ],
  [
    'plex-media-server',
    'PlexValues',
    2,
    'pms.configStorage pms.configStorage pms.storageClassName pms.storageClassName pms.gpu rclone statefulSet',
    0,
    'plex',
  ],
  [
    'local-ai localai',
    'LocalAIValues',
    2,
    'deployment.env.threads deployment.env.modelsPath deployment.modelsPath deployment.prompt_templates promptTemplates modelsConfigs models.list ?deployment',
    0,
    'go-skynet localai',
  ],
  ['kubeai-models models', 'KubeAIModelsValues', 1, 'catalog.*.resourceProfile', 0, 'kubeai'],
  [
    'dcgm-exporter',
    'DCGMExporterValues',
    2,
    'kubeletPath kubeletPath arguments serviceMonitor customMetrics',
    0,
    'nvidia dcgm',
  ],
  ['immich', 'ImmichValues', 2, 'immich machine-learning', '0.10', 'immich'],
  ['app-template', 'AppValues', 1, 'controllers.*.containers ?image.repository', 3, ''],
] as const;

/** Types whose unknown keys the chart's schema rejects. */
export const strictCharts =
  'JupyterHubValues SingleUser SingleUserStorage AppController AppContainer AppImage AppProbes AppPod AppVolume';

/** Keys that are mistaken for others, by type: `written>meant`. What is meant may be a path, or words. Keys of older versions have `>>`. */
export const chartAliases: Readonly<Record<string, string>> = {
  OllamaValues:
    'persistence>persistentVolume storage>persistentVolume pvc>persistentVolume env>extraEnv extraEnvVars>extraEnv environment>extraEnv envFrom>extraEnvFrom',
  OllamaServer: 'defaultModel>>models.pull',
  OllamaGPU: 'count>number gpus>number num>number numGPU>number replicas>number nbrGpu>>number vendor>type',
  OpenWebUIValues: 'env>extraEnvVars extraEnv>extraEnvVars persistentVolume>persistence gpu>ollama.ollama.gpu',
  SingleUser:
    'tolerations>extraTolerations runtimeClassName>extraPodConfig.runtimeClassName nodeAffinity>extraNodeAffinity resources>extraResource env>extraEnv environment>extraEnv limits>extraResource.limits profiles>profileList',
  SingleUserResource: 'requests>guarantees',
  SpawnerOverride:
    'extraTolerations>tolerations runtimeClassName>extra_pod_config.runtimeClassName extraEnv>environment env>environment extraResource>extra_resource_limits resources>extra_resource_limits extraPodConfig>extra_pod_config tag>image image_tag>image imageTag>image memory>mem_limit memory_limit>mem_limit cpu>cpu_limit command>cmd volumeMounts>volume_mounts extraVolumes>volumes extra_volumes>volumes extraVolumeMounts>volume_mounts extra_volume_mounts>volume_mounts extra_tolerations>tolerations annotations>extra_annotations labels>extra_labels defaultUrl>default_url',
  RayClusterValues: 'workerGroups>additionalWorkerGroups workerGroupSpecs>additionalWorkerGroups headGroupSpec>head',
  RayWorkerValues: 'env>containerEnv environment>containerEnv',
  VLLMModel:
    'gpu>requestGPU gpus>requestGPU gpuCount>requestGPU numGPUs>requestGPU cpu>requestCPU memory>requestMemory nodeSelector>nodeSelectorTerms replicas>replicaCount model>modelURL',
  VLLMSettings: 'maxModelLength>maxModelLen tp>tensorParallelSize tensorParallelism>tensorParallelSize args>extraArgs',
  NIMModel: 'gpus>resources gpu>resources',
  GPUOperatorValues:
    'migStrategy>mig.strategy timeSlicing>devicePlugin.config sharing>devicePlugin.config defaultRuntime>operator.defaultRuntime runtimeClass>operator.runtimeClass runtimeClassName>operator.runtimeClass gpuFeatureDiscovery>gfd nvidiaFeatureDiscovery>gfd dcgm-exporter>dcgmExporter',
  GPUOperand:
    'strategy>mig.strategy tolerations>daemonsets.tolerations priorityClassName>daemonsets.priorityClassName updateStrategy>daemonsets.updateStrategy arguments>args extraEnv>env extraArgs>args',
  GPUPluginConfig:
    'map>data sharing>devicePlugin.config.data timeSlicing>devicePlugin.config.data flags>devicePlugin.config.data configMap>name defaultProfile>default defaultConfig>default',
  GPUDevicePlugin:
    'migStrategy>mig.strategy tolerations>daemonsets.tolerations priorityClassName>daemonsets.priorityClassName updateStrategy>daemonsets.updateStrategy arguments>args extraEnv>env extraArgs>args timeSlicing>config.name sharing>config.name',
  GPUDriver:
    'tolerations>daemonsets.tolerations priorityClassName>daemonsets.priorityClassName updateStrategy>daemonsets.updateStrategy extraEnv>env extraArgs>args',
  GPUToolkit:
    'tolerations>daemonsets.tolerations priorityClassName>daemonsets.priorityClassName updateStrategy>daemonsets.updateStrategy arguments>args extraEnv>env extraArgs>args',
  NFDValues: 'tolerations>worker.tolerations nodeSelector>worker.nodeSelector',
  DevicePluginConfig: 'sharing>config.map timeSlicing>config.map flags>config.map',
  DevicePluginValues:
    'sharing>config.map timeSlicing>config.map flags>config.map mig>migStrategy gpuFeatureDiscovery>gfd configMap>config.map',
  FrigateValues: 'nvidia>gpu.nvidia',
  FrigateGPU: 'enabled>nvidia.enabled runtimeClassName>nvidia.runtimeClassName',
  JellyfinValues: 'gpu>resources.limits env>jellyfin.env',
  PlexValues: 'env>extraEnv gpu>pms.gpu persistence>pms.configStorage',
  LocalAIValues: 'env>deployment.env image>deployment.image',
  ImmichPart:
    'image>>controllers.main.containers.main.image env>>controllers.main.containers.main.env envFrom>>controllers.main.containers.main.envFrom resources>>controllers.main.containers.main.resources probes>>controllers.main.containers.main.probes securityContext>>controllers.main.containers.main.securityContext nodeSelector>>defaultPodOptions.nodeSelector tolerations>>defaultPodOptions.tolerations runtimeClassName>>defaultPodOptions.runtimeClassName affinity>>defaultPodOptions.affinity topologySpreadConstraints>>defaultPodOptions.topologySpreadConstraints podSecurityContext>>defaultPodOptions.securityContext',
  AppValues:
    'image>containers resources>containers env>containers envFrom>containers probes>containers command>containers args>containers securityContext>containers podSecurityContext>defaultPodOptions.securityContext',
  AppController:
    'image>containers resources>containers env>containers envFrom>containers probes>containers command>containers args>containers lifecycle>containers securityContext>containers',
  AppContainer:
    'livenessProbe>probes.liveness readinessProbe>probes.readiness startupProbe>probes.startup imagePullPolicy>image.pullPolicy volumeMounts>persistence volumes>persistence extraVolumeMounts>persistence extraVolumes>persistence extraEnv>env extraEnvVars>env extraEnvFrom>envFrom extraArgs>args environment>env entrypoint>command gpus>resources.limits devices>resources.limits deploy>resources.limits runtime>defaultPodOptions.runtimeClassName privileged>securityContext.privileged shm_size>persistence',
  AppPod: 'podSecurityContext>securityContext',
  AppVolume: 'mountPath>globalMounts.path',
};

const scaffold =
  'affinity autoscaling enabled fullnameOverride global image imagePullSecrets ingress livenessProbe nameOverride namespaceOverride nodeSelector:{s podAnnotations podLabels podSecurityContext priorityClassName readinessProbe replicaCount resources runtimeClassName securityContext service serviceAccount startupProbe tags tolerations topologySpreadConstraints volumeMounts volumes extraObjects';

const rayPod =
  'groupName type labels rayVersion serviceAccountName restartPolicy initArgs rayStartParams containerEnv:[EnvVar envFrom resources annotations nodeSelector:{s tolerations affinity podSecurityContext securityContext ports volumes volumeMounts sidecarContainers initContainers command args topologySpreadConstraints priority priorityClassName image imagePullSecrets lifecycle livenessProbe readinessProbe startupProbe runtimeClassName hostNetwork dnsConfig dnsPolicy schedulerName terminationGracePeriodSeconds enabled';

/** The keys of each type. */
export const chartTypes: Readonly<Record<string, string>> = {
  ScaffoldValues: `~ ${scaffold}`,
  OllamaValues:
    '~ +ScaffoldValues ollama:OllamaServer knative lifecycle extraArgs extraEnv:[EnvVar extraEnvFrom persistentVolume:OllamaVolume updateStrategy initContainers hostIPC hostPID hostNetwork hostAliases dnsPolicy dnsConfig terminationGracePeriodSeconds tests deployment httpRoute gateway extraContainers revisionHistoryLimit',
  OllamaServer: '~ port gpu:OllamaGPU models:OllamaModels insecure mountPath',
  OllamaGPU: '~ enabled type number nvidiaResource mig:OllamaMIG draEnabled draDriverClass draExistingClaimTemplate',
  OllamaMIG: '~ enabled devices',
  OllamaModels: '~ pull run create clean',
  OllamaVolume:
    '~ enabled accessModes annotations existingClaim size storageClass volumeMode subPath volumeName labels',
  OpenWebUIValues:
    '~ +ScaffoldValues ollama:OllamaValues ollamaUrls ollamaUrlsFromExtraEnv pipelines tika websocket redis-cluster workload clusterDomain extraLabels annotations revisionHistoryLimit strategy command args copyAppData managedCertificate route persistence hostAliases enableOpenaiApi openaiBaseApiUrl openaiBaseApiUrls openaiApiKey openaiApiKeys databaseUrl extraEnvVars:[EnvVar commonEnvVars extraEnvFrom extraInitContainers extraContainers containerSecurityContext sso extraResources logging postgresql',
  JupyterHubValues:
    '~ fullnameOverride nameOverride enabled custom imagePullSecret imagePullSecrets hub proxy singleuser:SingleUser scheduling prePuller ingress httpRoute cull debug global rbac auth',
  SingleUser:
    '~ networkTools cloudMetadata networkPolicy events extraAnnotations extraLabels extraFiles extraEnv lifecycleHooks initContainers extraContainers allowPrivilegeEscalation uid fsGid serviceAccountName podNameTemplate nodeSelector:{s extraTolerations extraNodeAffinity extraPodAffinity extraPodAntiAffinity extraResource:SingleUserResource storage:SingleUserStorage image imagePullSecret startTimeout cpu memory cmd args defaultUrl extraPodConfig profileList:[SpawnerProfile allowedUsers',
  SingleUserResource: '~ limits guarantees',
  SingleUserStorage: '~ type extraLabels extraVolumes extraVolumeMounts capacity homeMountPath dynamic static',
  SpawnerProfile: '~ display_name description slug default kubespawner_override:SpawnerOverride profile_options',
  SpawnerOverride:
    '~ image image_pull_policy image_pull_secrets cmd args start_timeout http_timeout node_selector tolerations node_affinity_required node_affinity_preferred pod_affinity_required pod_affinity_preferred pod_anti_affinity_required pod_anti_affinity_preferred extra_resource_limits extra_resource_guarantees cpu_limit cpu_guarantee mem_limit mem_guarantee environment:{* volumes volume_mounts storage_class storage_capacity storage_access_modes storage_pvc_ensure pvc_name_template pvc_name pod_name_template working_dir uid gid fs_gid supplemental_gids privileged allow_privilege_escalation container_security_context pod_security_context extra_container_config extra_pod_config extra_containers extra_annotations extra_labels init_containers lifecycle_hooks service_account automount_service_account_token default_url notebook_dir scheduler_name priority_class_name debug ip port namespace poll_interval disable_user_config storage_selector storage_extra_labels storage_extra_annotations delete_pvc',
  RayClusterValues:
    '~ image nameOverride fullnameOverride imagePullSecrets gcsFaultTolerance common head:RayHeadValues worker:RayWorkerValues additionalWorkerGroups:{RayWorkerValues service headServiceSuffix global enabled',
  RayHeadValues: `~ ${rayPod} replicas enableInTreeAutoscaling autoscalerOptions headService`,
  RayWorkerValues: `~ ${rayPod} disabled replicas minReplicas maxReplicas miniReplicas maxiReplicas numOfHosts idleTimeoutSeconds`,
  VLLMStackValues:
    '~ servingEngineSpec:VLLMEngine routerSpec cacheserverSpec lookupserverSpec loraController loraAdapters sharedPvcStorage sharedStorage extraObjects grafanaDashboards kube-prometheus-stack global enabled',
  VLLMEngine:
    '~ enableEngine labels annotations configs modelSpec:[VLLMModel containerPort servicePort vllmApiKey strategy env envFrom affinity tolerations runtimeClassName schedulerName securityContext containerSecurityContext startupProbe livenessProbe readinessProbe sidecar serviceMonitor maxUnavailablePodDisruptionBudget imagePullPolicy imagePullSecrets extraPorts extraVolumes extraVolumeMounts podAnnotations priorityClassName serviceAccountName',
  VLLMModel:
    '~ enabled annotations podAnnotations podLabels labels name repository tag imagePullPolicy imagePullSecret imagePullSecrets modelURL modelRevision replicaCount requestCPU requestMemory requestGPU requestGPUType requestGPUMem requestGPUMemPercentage requestGPUCores limitCPU limitMemory limitGPUMem limitGPUMemPercentage limitGPUCores resources pvcStorage pvcAccessMode pvcMatchLabels pvcLabels pvcAnnotations storageClass vllmConfig:VLLMSettings lmcacheConfig hf_token env:[EnvVar envFrom envFromSecret nodeSelectorTerms:[NodeSelectorTerm nodeName affinity tolerations tolerationsPolicy runtimeClassName serviceAccountName priorityClassName shmSize chatTemplate enableLoRA enableTool toolCallParser initContainer extraVolumes extraVolumeMounts raySpec lwsSpec keda serviceAnnotations terminationGracePeriodSeconds command lifecycle strategy startupProbe livenessProbe readinessProbe securityContext podSecurityContext sidecar',
  VLLMSettings:
    '~ v0 v1 enableChunkedPrefill enablePrefixCaching maxModelLen dtype tensorParallelSize pipelineParallelSize maxNumSeqs maxLoras gpuMemoryUtilization extraArgs runner convert task env',
  NIMValues:
    '~ +ScaffoldValues containerSecurityContext customCommand customArgs env envVars extraVolumes extraVolumeMounts initContainers healthPort statefulSet metrics model:NIMModel persistence nfs hostPath csi multiNode extraResources',
  NIMModel:
    '~ nimCache name ngcAPISecret ngcAPIKey hfTokenSecret openaiPort labels jsonLogging logLevel legacyCompat numGpus subPath modelStorePath openai_port nemo_port numWorkers trtModelName tritonModelName dataStoreURL customizationSource',
  GPUOperatorValues:
    '~ platform nfd:GPUNFD psa psp cdi:GPUCDI sandboxWorkloads:GPUSandboxes hostPaths daemonsets:GPUOperands validator operator mig:GPUMIG driver:GPUDriver toolkit:GPUToolkit devicePlugin:GPUDevicePlugin dcgm:GPUOperand dcgmExporter:GPUOperand dcgmPodExporter gfd:GPUOperand migManager:GPUOperand nodeStatusExporter:GPUOperand gds:GPUOperand gdrcopy:GPUOperand vgpuManager:GPUOperand vgpuDeviceManager:GPUOperand vfioManager:GPUOperand kataManager:GPUOperand sandboxDevicePlugin:GPUOperand kataSandboxDevicePlugin:GPUOperand ccManager:GPUOperand node-feature-discovery:NFDValues extraObjects replicaCount nameOverride fullnameOverride global enabled draDriver',
  GPUOperands: '~ labels annotations tolerations priorityClassName updateStrategy rollingUpdate',
  GPUOperand:
    '~ enabled repository image version imagePullPolicy imagePullSecrets env args resources securityContext config service serviceMonitor hostPID hostPort hostNetwork hpcJobMapping gpuClientsConfig',
  GPUDevicePlugin:
    '~ enabled repository image version imagePullPolicy imagePullSecrets env args resources securityContext config:GPUPluginConfig mps',
  GPUNFD: '~ enabled nodefeaturerules deployNodeFeatureRules',
  GPUCDI: '~ enabled default nriPluginEnabled',
  GPUSandboxes: '~ enabled defaultWorkload mode',
  GPUPluginConfig: '~ create name default data:{s',
  GPUDriver:
    '~ enabled nvidiaDriverCRD kernelModuleType usePrecompiled useOpenKernelModules repository image version imagePullPolicy imagePullSecrets startupProbe livenessProbe readinessProbe rdma upgradePolicy manager env secretEnv args resources securityContext hostNetwork repoConfig licensingConfig virtualTopology kernelModuleConfig certConfig',
  NFDValues: '~ enabled image imagePullSecrets master worker gc topologyUpdater featureGates tls prometheus',
  GPUMIG: '~ strategy:=none|single|mixed',
  GPUToolkit: '~ enabled repository image version imagePullPolicy imagePullSecrets env:[EnvVar resources installDir',
  DevicePluginValues:
    '~ +ScaffoldValues config:DevicePluginConfig compatWithCPUManager migStrategy:=none|single|mixed failOnInitError deviceListStrategy:=envvar|volume-mounts|cdi-annotations|cdi-cri deviceIDStrategy:=uuid|index nvidiaDriverRoot gdrcopyEnabled gdsEnabled mofedEnabled deviceDiscoveryStrategy selectorLabelsOverride componentSelectorLabels allowDefaultNamespace updateStrategy devicePlugin gfd nfd mps cdi legacyDaemonsetAPI',
  DevicePluginConfig: '~ name map:{s default fallbackStrategies',
  JellyfinValues:
    '~ +ScaffoldValues revisionHistoryLimit deploymentStrategy deploymentAnnotations jellyfin:JellyfinServer persistence metrics networkPolicy httpRoute extraInitContainers extraContainers initContainers hostNetwork dnsConfig dnsPolicy podPrivileges extraVolumes extraVolumeMounts envFrom',
  JellyfinServer: '~ enableDLNA command args env envFrom',
  FrigateValues:
    '~ +ScaffoldValues strategyType env envFromSecrets coral gpu:FrigateGPU extraVolumes extraVolumeMounts shmSize config probes persistence hostNetwork dnsPolicy',
  FrigateGPU: '~ nvidia',
  PlexValues:
    '~ image global dnsConfig dnsPolicy hostNetwork ingress httpRoute pms:PlexServer initContainer extraInitContainers runtimeClassName rclone imagePullSecrets nameOverride fullnameOverride serviceAccount statefulSet service nodeSelector:{s tolerations affinity priorityClassName commonLabels extraEnv extraVolumeMounts extraVolumes extraContainers extraManifests enabled',
  PlexServer:
    '~ storageClassName configStorage configExistingClaim claimSecret gpu resources podSecurityContext securityContext shareProcessNamespace livenessProbe readinessProbe',
  LocalAIValues:
    '~ replicaCount deployment:LocalAIServer resources promptTemplates modelsConfigs models persistence initContainers sidecarContainers service ingress nodeSelector:{s tolerations affinity nameOverride fullnameOverride global enabled',
  LocalAIServer:
    '~ image env modelsPath runtimeClassName imagePullSecrets pullPolicy prompt_templates download_model secretEnv',
  KubeAIModelsValues: '~ catalog:{KubeAICatalogModel all',
  KubeAICatalogModel: '~ enabled metadata +KubeAIModelSpec',
  DCGMExporterValues:
    '~ +ScaffoldValues arguments kubeletPath rollingUpdate hostNetwork podLabels serviceMonitor prometheusRule tlsServerConfig basicAuth extraHostVolumes extraConfigMapVolumes extraVolumeMounts extraEnv customMetrics kubernetes kubernetesDRA debugDump',
  ImmichValues:
    '~ +ScaffoldValues env envFrom immich server:ImmichPart machine-learning:ImmichPart valkey redis postgresql useSecret controllers common microservices web proxy typesense defaultPodOptions',
  ImmichPart:
    '~ enabled controllers defaultPodOptions persistence service ingress route serviceMonitor serviceAccount configMaps secrets rawResources networkpolicies global annotations labels fullnameOverride nameOverride namespaceOverride imagePullSecrets podAnnotations podLabels priorityClassName replicaCount autoscaling livenessProbe readinessProbe startupProbe volumes volumeMounts extraEnv extraVolumes extraVolumeMounts controller initContainers additionalContainers command args hostNetwork',
  AppValues:
    '~ global enabled defaultPodOptions:AppPod defaultPodOptionsStrategy defaultContainerOptions controllers:{AppController serviceAccount configMaps configMapsFromFolder secrets secretsFromFolder externalSecrets defaultExternalSecretStoreRef ingress route listenerSets service serviceMonitor podMonitor networkpolicies persistence:{AppVolume rbac rawResources',
  AppController:
    '~ enabled type annotations labels extraSelectorLabels pod:AppPod replicas revisionHistoryLimit applyDefaultContainerOptionsToInitContainers defaultContainerOptionsStrategy defaultContainerOptions initContainers:{AppContainer containers:{AppContainer serviceAccount podDisruptionBudget strategy rollingUpdate horizontalPodAutoscaler statefulset cronjob job forceRename nameOverride prefix suffix',
  AppContainer:
    '~ enabled args command dependsOn env envFrom image:AppImage lifecycle nameOverride order ports probes:AppProbes resources restartPolicy securityContext stdin terminationMessagePath terminationMessagePolicy tty workingDir resizePolicy',
  AppImage: '~ repository tag digest pullPolicy',
  AppProbes: '~ liveness readiness startup',
  AppPod:
    '~ affinity annotations automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks hostAliases hostIPC hostNetwork hostPID hostUsers hostname imagePullSecrets labels nodeSelector:{s priorityClassName resources resourceClaims resizePolicy restartPolicy runtimeClassName schedulerName schedulingGates securityContext shareProcessNamespace terminationGracePeriodSeconds tolerations topologySpreadConstraints',
  AppVolume:
    '~ enabled globalMounts advancedMounts type accessMode annotations dataSource dataSourceRef labels retain size storageClass volumeName existingClaim name identifier externalSecretRef defaultMode items path server medium sizeLimit hostPath hostPathType image pullPolicy volumeSpec sources readOnly subPath nameOverride forceRename prefix suffix objectName',
};

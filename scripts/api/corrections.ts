// What the models of @kubernetes/client-node do not say: enums, quantities, and which required fields the API server insists on.
// Source: the validation of Kubernetes 1.34 (pkg/apis/*/validation) and types in k8s.io/api, read 2026-11-22.

/** The fields with a fixed set of values, by type and field. An empty value is the default; `/` stands for qualified names. */
export const enums: Readonly<Record<string, string>> = {
  'Container.imagePullPolicy': 'Always|IfNotPresent|Never',
  'Container.restartPolicy': 'Always|OnFailure|Never',
  'Container.terminationMessagePolicy': 'File|FallbackToLogsOnError',
  'ContainerPort.protocol': 'TCP|UDP|SCTP',
  'ContainerResizePolicy.resourceName': 'cpu|memory',
  'ContainerResizePolicy.restartPolicy': 'NotRequired|RestartContainer',
  'CronJobSpec.concurrencyPolicy': 'Allow|Forbid|Replace',
  'DaemonSetUpdateStrategy.type': 'RollingUpdate|OnDelete',
  'DeploymentStrategy.type': 'Recreate|RollingUpdate',
  'DeviceToleration.operator': 'Exists|Equal',
  'ExactDeviceRequest.allocationMode': 'ExactCount|All',
  'HTTPIngressPath.pathType': 'Exact|Prefix|ImplementationSpecific',
  'HPAScalingPolicy.type': 'Pods|Percent',
  'HPAScalingRules.selectPolicy': 'Max|Min|Disabled',
  'HTTPGetAction.scheme': 'HTTP|HTTPS',
  'HostPathVolumeSource.type': 'DirectoryOrCreate|Directory|FileOrCreate|File|Socket|CharDevice|BlockDevice',
  'ImageVolumeSource.pullPolicy': 'Always|IfNotPresent|Never',
  'JobSpec.completionMode': 'NonIndexed|Indexed',
  'JobSpec.podReplacementPolicy': 'TerminatingOrFailed|Failed',
  'LabelSelectorRequirement.operator': 'In|NotIn|Exists|DoesNotExist',
  'LimitRangeItem.type': 'Pod|Container|PersistentVolumeClaim|/',
  'MetricSpec.type': 'Resource|ContainerResource|Pods|Object|External',
  'MetricTarget.type': 'Utilization|Value|AverageValue',
  'NetworkPolicyPort.protocol': 'TCP|UDP|SCTP',
  'NetworkPolicySpec.policyTypes': 'Ingress|Egress',
  'NodeSelectorRequirement.operator': 'In|NotIn|Exists|DoesNotExist|Gt|Lt',
  'PersistentVolumeClaimSpec.accessModes': 'ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod',
  'PersistentVolumeClaimSpec.volumeMode': 'Filesystem|Block',
  'PersistentVolumeSpec.accessModes': 'ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod',
  'PersistentVolumeSpec.volumeMode': 'Filesystem|Block',
  'PersistentVolumeSpec.persistentVolumeReclaimPolicy': 'Retain|Delete|Recycle',
  'PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy': 'IfHealthyBudget|AlwaysAllow',
  'PodFailurePolicyOnExitCodesRequirement.operator': 'In|NotIn',
  'PodFailurePolicyRule.action': 'FailJob|FailIndex|Ignore|Count',
  'PodOS.name': 'linux|windows',
  'PodSecurityContext.fsGroupChangePolicy': 'OnRootMismatch|Always',
  'PodSecurityContext.supplementalGroupsPolicy': 'Merge|Strict',
  'PodSpec.dnsPolicy': 'ClusterFirst|ClusterFirstWithHostNet|Default|None',
  'PodSpec.preemptionPolicy': 'PreemptLowerPriority|Never',
  'PodSpec.restartPolicy': 'Always|OnFailure|Never',
  'PriorityClass.preemptionPolicy': 'PreemptLowerPriority|Never',
  'ResourceQuotaSpec.scopes':
    'Terminating|NotTerminating|BestEffort|NotBestEffort|PriorityClass|CrossNamespacePodAffinity|VolumeAttributesClass',
  'ScopedResourceSelectorRequirement.scopeName':
    'Terminating|NotTerminating|BestEffort|NotBestEffort|PriorityClass|CrossNamespacePodAffinity|VolumeAttributesClass',
  'ScopedResourceSelectorRequirement.operator': 'In|NotIn|Exists|DoesNotExist',
  'SeccompProfile.type': 'Localhost|RuntimeDefault|Unconfined',
  'AppArmorProfile.type': 'Localhost|RuntimeDefault|Unconfined',
  'SecurityContext.procMount': 'Default|Unmasked',
  'ServicePort.protocol': 'TCP|UDP|SCTP',
  'ServiceSpec.externalTrafficPolicy': 'Cluster|Local',
  'ServiceSpec.internalTrafficPolicy': 'Cluster|Local',
  'ServiceSpec.ipFamilyPolicy': 'SingleStack|PreferDualStack|RequireDualStack',
  'ServiceSpec.sessionAffinity': 'ClientIP|None',
  'ServiceSpec.type': 'ClusterIP|NodePort|LoadBalancer|ExternalName',
  'StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted': 'Retain|Delete',
  'StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled': 'Retain|Delete',
  'StatefulSetSpec.podManagementPolicy': 'OrderedReady|Parallel',
  'StatefulSetUpdateStrategy.type': 'RollingUpdate|OnDelete',
  'StorageClass.reclaimPolicy': 'Delete|Retain',
  'StorageClass.volumeBindingMode': 'Immediate|WaitForFirstConsumer',
  'TopologySpreadConstraint.nodeAffinityPolicy': 'Honor|Ignore',
  'TopologySpreadConstraint.nodeTaintsPolicy': 'Honor|Ignore',
  'TopologySpreadConstraint.whenUnsatisfiable': 'DoNotSchedule|ScheduleAnyway',
  'VolumeMount.mountPropagation': 'None|HostToContainer|Bidirectional',
  'VolumeMount.recursiveReadOnly': 'Disabled|IfPossible|Enabled',
};

/** Strings, and maps of strings, that hold a resource.Quantity. */
export const quantities: ReadonlySet<string> = new Set([
  'CapacityRequirements.requests',
  'EmptyDirVolumeSource.sizeLimit',
  'HPAScalingRules.tolerance',
  'LimitRangeItem.default',
  'LimitRangeItem.defaultRequest',
  'LimitRangeItem.max',
  'LimitRangeItem.maxLimitRequestRatio',
  'LimitRangeItem.min',
  'MetricTarget.averageValue',
  'MetricTarget.value',
  'Overhead.podFixed',
  'PersistentVolumeSpec.capacity',
  'PodSpec.overhead',
  'ResourceFieldSelector.divisor',
  'ResourceQuotaSpec.hard',
  'ResourceRequirements.limits',
  'ResourceRequirements.requests',
  'VolumeResourceRequirements.limits',
  'VolumeResourceRequirements.requests',
]);

/** Fields that the schema calls required, but the server accepts without: zero or empty is valid, or a default applies. */
export const notRequired: ReadonlySet<string> = new Set([
  'HTTPHeader.value',
  'LimitRangeSpec.limits',
  'PodFailurePolicyOnPodConditionsPattern.status',
  'PriorityClass.value',
  'StatefulSetSpec.serviceName',
  'Sysctl.value',
]);

/** Fields that the schema calls optional, but the server rejects an object without, or a controller its pods. */
export const required: ReadonlySet<string> = new Set(['Container.image']);

/** Fields of later versions than the models: name, type. */
export const laterFields: Readonly<Record<string, readonly string[]>> = {
  // Kubernetes 1.35 and 1.36
  PodSpec: ['workloadRef:*', 'schedulingGroup:*'],
  PodCertificateProjection: ['userAnnotations:{s'],
};

/** Types without a schema of their own, or written by the server alone. */
export const opaque: ReadonlySet<string> = new Set(['any', 'object', 'V1ManagedFieldsEntry', 'V1OwnerReference']);

/** The kinds of the table, by group and version. */
export const kinds: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'ConfigMap',
    'LimitRange',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  'apps/v1': ['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'autoscaling/v1': ['HorizontalPodAutoscaler'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'batch/v1': ['CronJob', 'Job'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'node.k8s.io/v1': ['RuntimeClass'],
  'policy/v1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'resource.k8s.io/v1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate'],
  'resource.k8s.io/v1beta1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate'],
  'resource.k8s.io/v1beta2': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'storage.k8s.io/v1': ['StorageClass'],
};

/** Models whose name differs from version + kind. */
export const models: Readonly<Record<string, string>> = {
  'resource.k8s.io/v1/ResourceClaim': 'ResourceV1ResourceClaim',
};

/** The kinds that a text names anywhere, found without reading it: a file that names none that matters is not parsed. */
export function kindsIn(text: string): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (const [, kind = ''] of text.matchAll(/(?:^|[\s{,])["']?kind["']?[ \t]*:[ \t]*["']?([A-Z]\w{1,60})/g))
    kinds.add(kind);
  return kinds;
}

/** Kinds by which other objects can be told more, or which they name. */
const targetKinds: ReadonlySet<string> = new Set([
  ...[
    'ServingRuntime',
    'ClusterServingRuntime',
    'LLMInferenceServiceConfig',
    'InferenceService',
    'LLMInferenceService',
  ],
  ...['TrainingRuntime', 'ClusterTrainingRuntime'],
  ...['LocalQueue', 'ClusterQueue', 'ResourceFlavor', 'Topology', 'WorkloadPriorityClass'],
  ...['ResourceClaim', 'ResourceClaimTemplate', 'DeviceClass'],
  ...['ScaledObject', 'HorizontalPodAutoscaler', 'TriggerAuthentication'],
  ...['NodePool', 'Provisioner', 'ClusterConfig', 'EC2NodeClass', 'AKSNodeClass', 'NodeClaim'],
  ...[
    'PersistentVolumeClaim',
    'StorageClass',
    'ConfigMap',
    'Secret',
    'ServiceAccount',
    'RuntimeClass',
    'PriorityClass',
  ],
  ...['Deployment', 'StatefulSet', 'ReplicaSet', 'Rollout', 'LeaderWorkerSet', 'RayCluster', 'CloneSet'],
]);

export function isTargetKind(kind: string): boolean {
  return targetKinds.has(kind);
}

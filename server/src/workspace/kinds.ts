/** The kinds of use that a text names anywhere, found without reading it: a file that names none is not parsed. */
export function kindsIn(text: string): ReadonlySet<string> {
  const kinds = new Set<string>();
  // Most of a long text is passed over by the platform's own search.
  for (let at = text.indexOf('kind'); at >= 0; at = text.indexOf('kind', at + 4)) {
    value.lastIndex = at + 4;
    const kind = value.exec(text)?.[1];
    if (kind !== undefined && targetKinds.has(kind)) kinds.add(kind);
  }
  return kinds;
}

const value = /["']?[ \t]*:[ \t]*["']?([A-Z]\w{1,60})/y;

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

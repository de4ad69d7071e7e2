/** The kinds of use that a text names anywhere, found without reading it: a file that names none is not parsed. */
export function kindsIn(text: string): ReadonlySet<string> {
  const kinds = new Set(valuesOf(text, 'kind').filter((kind) => targetKinds.has(kind)));
  // Pods that share a claim have to know of each other.
  if (text.includes(claimUse)) kinds.add(claimUse);
  return kinds;
}

/** Stands among the kinds for whatever names a ResourceClaim: no kind is called so. */
export const claimUse = 'resourceClaimName';

/** The names in a text by which its objects are found, or what they name. */
export function namesIn(text: string): ReadonlySet<string> {
  // `deployment` is the former key of what an HTTPScaledObject scales.
  return new Set(['name', 'deployment', claimUse].flatMap((key) => valuesOf(text, key)));
}

/** Most of a long text is passed over by the platform's own search. */
function valuesOf(text: string, key: string): readonly string[] {
  const values: string[] = [];
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
    word.lastIndex = at + key.length;
    const found = word.exec(text)?.[1];
    if (found !== undefined) values.push(found);
  }
  return values;
}

const word = /["']?[ \t]*:[ \t]*["']?([\w.-]{1,253})/y;

/** Kinds that say more of other objects, or which these name. */
const targetKinds: ReadonlySet<string> = new Set([
  ...[
    'ServingRuntime',
    'ClusterServingRuntime',
    'LLMInferenceServiceConfig',
    'InferenceService',
    'LLMInferenceService',
  ],
  ...['HelmRelease', 'Application', 'ApplicationSet'],
  ...['TrainingRuntime', 'ClusterTrainingRuntime'],
  ...['LocalQueue', 'ClusterQueue', 'ResourceFlavor', 'Topology', 'WorkloadPriorityClass'],
  ...['ResourceClaim', 'ResourceClaimTemplate', 'DeviceClass'],
  ...[
    'ScaledObject',
    'HTTPScaledObject',
    'HorizontalPodAutoscaler',
    'PodAutoscaler',
    'TriggerAuthentication',
    'PodDisruptionBudget',
  ],
  ...['NodePool', 'Provisioner', 'ClusterConfig', 'ComputeClass', 'EC2NodeClass', 'AKSNodeClass', 'NodeClaim'],
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
  ...['StormService', 'RayClusterFleet', 'InferenceSet'],
]);

export function isTargetKind(kind: string): boolean {
  return targetKinds.has(kind);
}

import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { table } from '../yaml/table.ts';

/** A reference from one object to another. */
export interface Reference {
  /** The span of the name. */
  readonly span: Span;
  /** Possible kinds as `<group>/<kind>`. The first one with an object of the name applies. */
  readonly kinds: readonly string[];
  readonly name: string;
  /** The namespace of the target; null if the reference and its object have none. */
  readonly namespace: string | null;
}

/** All references of an object. */
export function referencesOf(manifest: Manifest): readonly Reference[] {
  return namesIn(manifest).map(({ at: cursor, ...reference }) => ({ span: spanOf(cursor), ...reference }));
}

/** A reference, with the cursor of its value. */
export interface NamedAt extends Omit<Reference, 'span'> {
  readonly at: Cursor;
}

/** All fields of an object that name another object. */
export const namesIn = once((manifest: Manifest): readonly NamedAt[] => {
  const found: NamedAt[] = [];
  walk(manifest.root, manifest, found, 0);
  return found;
});

const maxDepth = 40;

function walk(cursor: Cursor, manifest: Manifest, found: NamedAt[], depth: number): void {
  if (depth > maxDepth || cursor.node.kind === 'scalar') return;
  for (const child of cursor.node.kind === 'map' ? entries(cursor) : items(cursor)) {
    if (child.node.kind !== 'scalar') walk(child, manifest, found, depth + 1);
    else if (typeof child.step === 'string') {
      const kinds = targetsOf(child, manifest);
      const name = claimIn(child) ?? asText(child);
      if (kinds.length === 0 || name === undefined || name === '' || isTemplated(child)) continue;
      const namespace = asText(getIn(child.parent, 'namespace')) ?? manifest.namespace;
      found.push({ at: child, kinds, name, namespace });
    }
  }
}

/** The claim in an address of KServe: https://kserve.github.io/website/docs/model-serving/storage/providers/pvc */
function claimIn(cursor: Cursor): string | undefined {
  return /^(?:storageU|u)ri$/.test(keyOf(cursor)) ? /^pvc:\/\/([a-z\d.-]+)/.exec(asText(cursor) ?? '')?.[1] : undefined;
}

/** Keys that determine the kind of the referenced object. */
const byKey = table<readonly string[]>({
  runtimeClassName: ['node.k8s.io/RuntimeClass'],
  priorityClassName: ['scheduling.k8s.io/PriorityClass'],
  storageClassName: ['storage.k8s.io/StorageClass'],
  serviceAccountName: ['/ServiceAccount'],
  resourceClaimName: ['resource.k8s.io/ResourceClaim'],
  resourceClaimTemplateName: ['resource.k8s.io/ResourceClaimTemplate'],
  deviceClassName: ['resource.k8s.io/DeviceClass'],
  'kueue.x-k8s.io/queue-name': ['kueue.x-k8s.io/LocalQueue'],
  'kueue.x-k8s.io/priority-class': ['kueue.x-k8s.io/WorkloadPriorityClass'],
  'ray.io/cluster': ['ray.io/RayCluster'],
  'scheduling.k8s.io/group-name': ['scheduling.volcano.sh/PodGroup'],
  'scheduling.x-k8s.io/pod-group': ['scheduling.x-k8s.io/PodGroup'],
  'scheduling.volcano.sh/queue-name': ['scheduling.volcano.sh/Queue'],
  'kai.scheduler/queue': ['scheduling.run.ai/Queue'],
  parentQueue: ['scheduling.run.ai/Queue'],
  'karpenter.sh/nodepool': ['karpenter.sh/NodePool'],
  'cloud.google.com/compute-class': ['cloud.google.com/ComputeClass'],
});

/** Mappings whose `name` references an object. */
const byHolder = table<readonly string[]>({
  configMap: ['/ConfigMap'],
  configMapRef: ['/ConfigMap'],
  configMapKeyRef: ['/ConfigMap'],
  secretRef: ['/Secret'],
  secretKeyRef: ['/Secret'],
  authenticationRef: ['keda.sh/TriggerAuthentication'],
  nimCache: ['apps.nvidia.com/NIMCache'],
});

function targetsOf(cursor: Cursor, manifest: Manifest): readonly string[] {
  const key = keyOf(cursor);
  const direct = byKey[key];
  if (direct !== undefined) return direct;
  const { parent } = cursor;
  const holder = parent === undefined ? '' : keyOf(parent);
  if (claimIn(cursor) !== undefined) return ['/PersistentVolumeClaim'];
  if (key === 'claimName') return holder === 'persistentVolumeClaim' ? ['/PersistentVolumeClaim'] : [];
  if (key === 'secretName') return holder === 'secret' ? ['/Secret'] : [];
  if (key === 'name') return namedBy(cursor, holder, manifest);
  const own = `${groupOf(manifest.apiVersion)}/${manifest.kind}`;
  if (key === 'runtime' && holder === 'model' && own === 'serving.kserve.io/InferenceService') return servingRuntimes;
  if (key === 'clusterQueue' && own === 'kueue.x-k8s.io/LocalQueue') return ['kueue.x-k8s.io/ClusterQueue'];
  if (key === 'queue' && /^(?:batch|scheduling)\.volcano\.sh\//.test(own)) return ['scheduling.volcano.sh/Queue'];
  if (key === 'topologyName' && own === 'kueue.x-k8s.io/ResourceFlavor') return ['kueue.x-k8s.io/Topology'];
  return [];
}

const servingRuntimes = ['serving.kserve.io/ServingRuntime', 'serving.kserve.io/ClusterServingRuntime'];

function namedBy(cursor: Cursor, holder: string, manifest: Manifest): readonly string[] {
  const known = byHolder[holder];
  if (known !== undefined) return known;
  const { parent } = cursor;
  const writtenKind = asText(getIn(parent, 'kind'));
  if (holder === 'scaleTargetRef') return [withGroup(writtenKind ?? 'Deployment', asText(getIn(parent, 'apiVersion')))];
  if (holder === 'runtimeRef') {
    const kind = writtenKind ?? 'ClusterTrainingRuntime';
    return kind.endsWith('TrainingRuntime') ? [`trainer.kubeflow.org/${kind}`] : [];
  }
  if (holder === 'nodeClassRef')
    return [`${asText(getIn(parent, 'group')) ?? 'karpenter.k8s.aws'}/${writtenKind ?? 'EC2NodeClass'}`];
  const above = parent?.parent === undefined ? '' : keyOf(parent.parent);
  if (above === 'flavors' && manifest.kind === 'ClusterQueue') return ['kueue.x-k8s.io/ResourceFlavor'];
  if (above === 'imagePullSecrets') return ['/Secret'];
  if (above === 'baseRefs') return ['serving.kserve.io/LLMInferenceServiceConfig'];
  return [];
}

/** A reference to a workload of a built-in kind may omit the group. */
function withGroup(kind: string, apiVersion: string | undefined): string {
  if (apiVersion !== undefined) return `${groupOf(apiVersion)}/${kind}`;
  return `apps/${kind}`;
}

import { table } from '../yaml/table.ts';
import { apiKind, apiKinds, customHome, servedVersions } from './api-types.ts';
import { isSlip } from './spelling.ts';

/** Why no API server has a kind in an apiVersion. */
export type NotServed =
  /** A release of Kubernetes (1.`release`) removed it in favor of `use`; `same` if the objects have the same fields there. */
  | { readonly why: 'removed'; readonly release: number; readonly use: string; readonly same: boolean }
  /** Current releases of an operator (`by`) do not have it; `recent` if a release of the last two years still did. */
  | {
      readonly why: 'operator';
      readonly by: string;
      readonly use: string;
      readonly same: boolean;
      readonly recent: boolean;
    }
  /** The kind is in another group. */
  | { readonly why: 'group'; readonly use: string }
  /** The version never had the kind. */
  | { readonly why: 'version'; readonly use: string }
  /** The version never had the kind, and no current one has: `use` is its successor, with other fields. */
  | { readonly why: 'ended'; readonly use: string }
  /** The kind is misspelled. */
  | { readonly why: 'kind'; readonly use: string };

/**
 * Kinds that a release removed from an apiVersion, with the current one. `*`: the fields differ.
 * Source: https://kubernetes.io/docs/reference/using-api/deprecation-guide/, read 2026-11-22.
 */
const removed = table<readonly [release: number, use: string, changed?: '*']>({
  'extensions/v1beta1/DaemonSet': [16, 'apps/v1', '*'],
  'extensions/v1beta1/Deployment': [16, 'apps/v1', '*'],
  'extensions/v1beta1/ReplicaSet': [16, 'apps/v1', '*'],
  'apps/v1beta1/Deployment': [16, 'apps/v1', '*'],
  'apps/v1beta1/StatefulSet': [16, 'apps/v1', '*'],
  'apps/v1beta2/DaemonSet': [16, 'apps/v1', '*'],
  'apps/v1beta2/Deployment': [16, 'apps/v1'],
  'apps/v1beta2/ReplicaSet': [16, 'apps/v1'],
  'apps/v1beta2/StatefulSet': [16, 'apps/v1', '*'],
  'autoscaling/v2beta1/HorizontalPodAutoscaler': [25, 'autoscaling/v2', '*'],
  'autoscaling/v2beta2/HorizontalPodAutoscaler': [26, 'autoscaling/v2'],
  'batch/v1beta1/CronJob': [25, 'batch/v1'],
  'batch/v2alpha1/CronJob': [21, 'batch/v1'],
  'extensions/v1beta1/Ingress': [22, 'networking.k8s.io/v1', '*'],
  'extensions/v1beta1/NetworkPolicy': [16, 'networking.k8s.io/v1'],
  'networking.k8s.io/v1beta1/Ingress': [22, 'networking.k8s.io/v1', '*'],
  'node.k8s.io/v1beta1/RuntimeClass': [25, 'node.k8s.io/v1'],
  'policy/v1beta1/PodDisruptionBudget': [25, 'policy/v1', '*'],
  'rbac.authorization.k8s.io/v1alpha1/ClusterRole': [22, 'rbac.authorization.k8s.io/v1'],
  'rbac.authorization.k8s.io/v1alpha1/ClusterRoleBinding': [22, 'rbac.authorization.k8s.io/v1', '*'],
  'rbac.authorization.k8s.io/v1alpha1/Role': [22, 'rbac.authorization.k8s.io/v1'],
  'rbac.authorization.k8s.io/v1alpha1/RoleBinding': [22, 'rbac.authorization.k8s.io/v1', '*'],
  'rbac.authorization.k8s.io/v1beta1/ClusterRole': [22, 'rbac.authorization.k8s.io/v1'],
  'rbac.authorization.k8s.io/v1beta1/ClusterRoleBinding': [22, 'rbac.authorization.k8s.io/v1'],
  'rbac.authorization.k8s.io/v1beta1/Role': [22, 'rbac.authorization.k8s.io/v1'],
  'rbac.authorization.k8s.io/v1beta1/RoleBinding': [22, 'rbac.authorization.k8s.io/v1'],
  'scheduling.k8s.io/v1alpha1/PriorityClass': [22, 'scheduling.k8s.io/v1'],
  'scheduling.k8s.io/v1beta1/PriorityClass': [22, 'scheduling.k8s.io/v1'],
  'storage.k8s.io/v1beta1/StorageClass': [22, 'storage.k8s.io/v1'],
});

type Operator = readonly [by: string, use: string, form?: '*' | 'recent'];

const training: Operator = ['the Training Operator', 'kubeflow.org/v1'];
const firstTraining: Operator = ['the Training Operator', 'kubeflow.org/v1', '*'];
const mpi: Operator = ['the MPI Operator', 'kubeflow.org/v2beta1', '*'];
const trainer: Operator = ['Kubeflow Trainer', 'trainer.kubeflow.org/v1alpha1', 'recent'];
const kueue: Operator = ['Kueue', 'kueue.x-k8s.io/v1beta1', '*'];
const kserve: Operator = ['KServe', 'serving.kserve.io/v1beta1', '*'];

/**
 * Versions of custom resources that their operators no longer serve. `*`: the kind or the fields differ.
 * Sources, read 2026-11-22: the CRDs of kubeflow/training-operator@v1.3, kubernetes-sigs/kueue@v0.5, kubernetes-sigs/jobset@v0.2, volcano-sh/volcano@v1.8, kserve/kserve@v0.7, kubeflow/trainer@v2.0;
 * https://github.com/kubernetes-sigs/kueue/issues/12417 (Topology, 2026-11-30), https://github.com/kubeflow/mpi-operator/releases/tag/v0.4.0, https://keda.sh/docs/2.0/migration/, https://karpenter.sh/docs/upgrading/upgrade-guide/.
 */
const removedByOperators = table<Operator>({
  'tensorflow.org/v1alpha1/TfJob': ['the Training Operator', 'TFJob of kubeflow.org/v1', '*'],
  'kubeflow.org/v1alpha1/TFJob': firstTraining,
  'kubeflow.org/v1alpha1/PyTorchJob': firstTraining,
  'kubeflow.org/v1alpha2/TFJob': training,
  'kubeflow.org/v1beta1/TFJob': training,
  'kubeflow.org/v1beta2/TFJob': training,
  'kubeflow.org/v1alpha2/PyTorchJob': training,
  'kubeflow.org/v1beta1/PyTorchJob': training,
  'kubeflow.org/v1beta2/PyTorchJob': training,
  'kubeflow.org/v1alpha1/MPIJob': mpi,
  'kubeflow.org/v2alpha1/ClusterTrainingRuntime': trainer,
  'kubeflow.org/v2alpha1/TrainJob': trainer,
  'kubeflow.org/v2alpha1/TrainingRuntime': trainer,
  'jobset.x-k8s.io/v1alpha1/JobSet': ['JobSet', 'jobset.x-k8s.io/v1alpha2', '*'],
  'kueue.x-k8s.io/v1alpha1/ClusterQueue': kueue,
  'kueue.x-k8s.io/v1alpha1/LocalQueue': kueue,
  'kueue.x-k8s.io/v1alpha1/ResourceFlavor': kueue,
  'kueue.x-k8s.io/v1alpha2/ClusterQueue': kueue,
  'kueue.x-k8s.io/v1alpha2/LocalQueue': kueue,
  'kueue.x-k8s.io/v1alpha2/ResourceFlavor': kueue,
  'kueue.x-k8s.io/v1alpha1/Topology': ['Kueue', 'kueue.x-k8s.io/v1beta1', 'recent'],
  'scheduling.incubator.k8s.io/v1alpha1/PodGroup': ['Volcano', 'scheduling.volcano.sh/v1beta1'],
  'serving.kubeflow.org/v1alpha2/InferenceService': kserve,
  'serving.kubeflow.org/v1beta1/InferenceService': ['KServe', 'serving.kserve.io/v1beta1'],
  'keda.k8s.io/v1alpha1/ScaledObject': ['KEDA', 'keda.sh/v1alpha1', '*'],
  'karpenter.sh/v1alpha5/Provisioner': ['Karpenter', 'NodePool of karpenter.sh/v1', '*'],
  'karpenter.k8s.aws/v1alpha1/AWSNodeTemplate': ['Karpenter', 'EC2NodeClass of karpenter.k8s.aws/v1', '*'],
  'karpenter.sh/v1beta1/NodePool': ['Karpenter 1.1', 'karpenter.sh/v1', 'recent'],
  'karpenter.k8s.aws/v1beta1/EC2NodeClass': ['Karpenter 1.1', 'karpenter.k8s.aws/v1', 'recent'],
});

/**
 * Kinds under the group of related ones, by their names unmistakable, with the version that has them.
 * Sources: the CRDs of kubernetes/autoscaler (vertical-pod-autoscaler), kedacore/keda, kedacore/http-add-on, kubernetes-sigs/karpenter and aws/karpenter-provider-aws.
 */
const elsewhere = table<string>({
  'autoscaling.k8s.io/HorizontalPodAutoscaler': 'autoscaling/v2',
  'keda.sh/HorizontalPodAutoscaler': 'autoscaling/v2',
  'autoscaling/VerticalPodAutoscaler': 'autoscaling.k8s.io/v1',
  'autoscaling/ScaledObject': 'keda.sh/v1alpha1',
  'autoscaling.k8s.io/ScaledObject': 'keda.sh/v1alpha1',
  'http.keda.sh/ScaledObject': 'keda.sh/v1alpha1',
  'keda.sh/HTTPScaledObject': 'http.keda.sh/v1alpha1',
  'karpenter.k8s.aws/NodePool': 'karpenter.sh/v1',
  'karpenter.sh/EC2NodeClass': 'karpenter.k8s.aws/v1',
  'serving.knative.dev/InferenceService': 'serving.kserve.io/v1beta1',
  'trainer.kubeflow.org/MPIJob': 'kubeflow.org/v2beta1',
  'trainer.kubeflow.org/PyTorchJob': 'kubeflow.org/v1',
  'trainer.kubeflow.org/TFJob': 'kubeflow.org/v1',
});

/** Versions that never had a kind, which another version of its group, or of a related one, has. Source: the CRDs of KServe and Kubeflow. */
const otherVersions = table<string>({
  'serving.kserve.io/v1beta1/ServingRuntime': 'serving.kserve.io/v1alpha1',
  'serving.kserve.io/v1beta1/ClusterServingRuntime': 'serving.kserve.io/v1alpha1',
  'kubeflow.org/v1/TrainJob': 'trainer.kubeflow.org/v1alpha1',
});

type Versions = readonly [versions: string, ended?: string];

const firstJobs: Versions = ['v1alpha1 v1alpha2 v1beta1 v1beta2 v1', ''];
const rayKinds: Versions = ['v1alpha1 v1'];
const karpenterKinds: Versions = ['v1beta1 v1'];
const kueueKinds: Versions = ['v1alpha1 v1alpha2 v1beta1 v1beta2'];

/**
 * All versions that ever had a kind of an operator, oldest first. No other before the last one had it. Later ones may follow, unless the operator
 * has ended the kind: in favor of the one named here, or without a successor of its own.
 * Sources: the API folders of kubeflow/mpi-operator, kubernetes-sigs/karpenter, ray-project/kuberay and NVIDIA/gpu-operator, read 2026-11-30;
 * for the other kinds, the sources of the versions above and of data/api.json.
 */
const everServed = table<Versions>({
  'kubeflow.org/PyTorchJob': firstJobs,
  'kubeflow.org/TFJob': firstJobs,
  'kubeflow.org/MPIJob': ['v1alpha1 v1alpha2 v1 v2beta1'],
  'karpenter.sh/Provisioner': ['v1alpha1 v1alpha2 v1alpha3 v1alpha4 v1alpha5', 'NodePool of karpenter.sh/v1'],
  'karpenter.sh/NodePool': karpenterKinds,
  'karpenter.sh/NodeClaim': karpenterKinds,
  'karpenter.k8s.aws/AWSNodeTemplate': ['v1alpha1', 'EC2NodeClass of karpenter.k8s.aws/v1'],
  'karpenter.k8s.aws/EC2NodeClass': karpenterKinds,
  'ray.io/RayCluster': rayKinds,
  'ray.io/RayJob': rayKinds,
  'ray.io/RayService': rayKinds,
  'kueue.x-k8s.io/ClusterQueue': kueueKinds,
  'kueue.x-k8s.io/LocalQueue': kueueKinds,
  'kueue.x-k8s.io/ResourceFlavor': kueueKinds,
  'serving.kserve.io/InferenceService': ['v1beta1'],
  'nvidia.com/ClusterPolicy': ['v1'],
});

/** The groups of Kubernetes whose kinds and versions are all known. The versions of resource.k8s.io still change. */
const groups: ReadonlySet<string> = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'extensions',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);

/** Undefined if the API serves the kind in that version, or if that is unknown. */
export function notServed(apiVersion: string, kind: string): NotServed | undefined {
  const [by, replacement, form] = removedByOperators[`${apiVersion}/${kind}`] ?? [];
  if (by !== undefined && replacement !== undefined)
    return { why: 'operator', by, use: replacement, same: form === undefined, recent: form === 'recent' };
  if (apiKind(apiVersion, kind) !== undefined) return undefined;
  const group = groupOf(apiVersion);
  const home = elsewhere[`${group}/${kind}`];
  if (home !== undefined) return { why: 'group', use: home };
  const other = otherVersions[`${apiVersion}/${kind}`];
  if (other !== undefined) return { why: 'version', use: other };
  const never = neverServed(apiVersion, kind);
  if (never !== undefined) return never;
  // The groups of custom resources contain a dot.
  if (!groups.has(group) && group.includes('.')) return undefined;
  const gone = removed[`${apiVersion}/${kind}`];
  if (gone !== undefined) return { why: 'removed', release: gone[0], use: gone[1], same: gone[2] === undefined };
  const served = servedVersions(kind);
  const use = served.at(-1);
  if (use !== undefined)
    return served.some((one) => groupOf(one) === group) ? { why: 'version', use } : { why: 'group', use };
  const custom = customHome(kind);
  if (custom !== undefined) return { why: 'group', use: custom };
  const meant = apiKinds.filter((known) => apiKind(apiVersion, known) !== undefined);
  const same =
    // `kubectl get pods` has the plural.
    meant.find((known) => [known, `${known}s`].some((name) => name.toLowerCase() === kind.toLowerCase())) ??
    meant.find((known) => isSlip(known, kind));
  return same === undefined ? undefined : { why: 'kind', use: same };
}

/** A version that a kind never had. Later ones than those known are not judged, because the kind may get them, unless it has ended. */
function neverServed(apiVersion: string, kind: string): NotServed | undefined {
  const group = groupOf(apiVersion);
  const [known, ended] = everServed[`${group}/${kind}`] ?? [];
  if (known === undefined) return undefined;
  const versions = known.split(' ');
  const last = versions.at(-1) ?? '';
  const written = apiVersion.slice(group.length + 1);
  const [age, end] = [ageOf(written), ageOf(last)];
  if (versions.includes(written) || age === null || end === null || (age > end && ended === undefined))
    return undefined;
  return ended === undefined || ended === ''
    ? { why: 'version', use: `${group}/${last}` }
    : { why: 'ended', use: ended };
}

/** The place of a version in the order in which versions follow each other: v1alpha1, v1beta1, v1, v2alpha1. */
function ageOf(version: string): number | null {
  const [, major, stage, minor] = /^v(\d{1,2})(?:(alpha|beta)(\d{1,2}))?$/.exec(version) ?? [];
  if (major === undefined) return null;
  const stages = stage === undefined ? 2 : stage === 'beta' ? 1 : 0;
  return Number(major) * 1000 + stages * 100 + Number(minor ?? 0);
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

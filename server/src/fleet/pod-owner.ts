import type { PodOwner } from './cluster-view.ts';
import { at, list, text } from './json.ts';

/**
 * The workload that a pod belongs to, as a manifest names it, without asking the API server for the objects between: the labels of operators name
 * it, a ReplicaSet is named after its Deployment, and the pods of a CronJob's Job end with the minute of its start. Null for a pod on its own.
 */
export function ownerOf(pod: unknown): PodOwner | null {
  const label = (name: string) => text(at(pod, 'metadata', 'labels', name));
  for (const [key, kind] of labels) {
    const name = label(key);
    if (name !== undefined && name !== '') return { kind: kind ?? trainingKind(pod), name };
  }
  const references = list(at(pod, 'metadata', 'ownerReferences'));
  const controller = references.find((each) => at(each, 'controller') === true) ?? references[0];
  const kind = text(at(controller, 'kind')) ?? '';
  const name = text(at(controller, 'name')) ?? '';
  // The kubelet owns the pods of its own files.
  if (kind === '' || kind === 'Node') return null;
  const hash = label('pod-template-hash');
  if (kind === 'ReplicaSet' && hash !== undefined && name.endsWith(`-${hash}`))
    return { kind: 'Deployment', name: name.slice(0, -hash.length - 1) };
  const scheduled = /^(.+)-\d{8}$/.exec(name)?.[1];
  return kind === 'Job' && scheduled !== undefined ? { kind: 'CronJob', name: scheduled } : { kind, name };
}

/**
 * Labels that operators put on the pods of an object, outermost first. Null: the operator has several kinds.
 * Sources: the label constants of kserve/kserve, ray-project/kuberay, kubernetes-sigs/{jobset,lws}, kubeflow/training-operator,
 * volcano-sh/volcano and argoproj/argo-workflows.
 */
const labels: readonly (readonly [label: string, kind: string | null])[] = [
  ['serving.kserve.io/inferenceservice', 'InferenceService'],
  ['workflows.argoproj.io/workflow', 'Workflow'],
  ['training.kubeflow.org/job-name', null],
  ['jobset.sigs.k8s.io/jobset-name', 'JobSet'],
  ['leaderworkerset.sigs.k8s.io/name', 'LeaderWorkerSet'],
  ['ray.io/cluster', 'RayCluster'],
  ['volcano.sh/job-name', 'Job'],
  ['serving.knative.dev/service', 'Service'],
];

/** The kind of the training operator that owns the pod. */
function trainingKind(pod: unknown): string {
  const references = list(at(pod, 'metadata', 'ownerReferences'));
  return references.flatMap((each) => text(at(each, 'kind')) ?? []).find((kind) => kind.endsWith('Job')) ?? 'Job';
}

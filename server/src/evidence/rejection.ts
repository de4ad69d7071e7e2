import { apiFields } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { kindEntry } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Manifest, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isNull, isUnseen, items, keyOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { table } from '../yaml/table.ts';
import { isUnknown, placesAt } from './written.ts';

/** The controllers whose pod templates the API server validates; of others, it rejects the pods. */
const validated = wordSet(
  '/ReplicationController /PodTemplate apps/Deployment apps/ReplicaSet apps/DaemonSet batch/Job batch/CronJob',
);

/** What happens to an object whose pods are invalid: "the API server rejects the Deployment". */
export function rejectionOf({ kind, apiVersion }: Pick<Manifest, 'kind' | 'apiVersion'>): string {
  const group = groupOf(apiVersion);
  if (group === '' && kind === 'Pod') return 'the API server rejects the pod';
  return `the API server rejects ${validated.has(`${group}/${kind}`) ? `the ${kind}` : 'its pods'}`;
}

/** Whether the whole text could be read: values next to a syntax error are not what was meant. */
function isReadable({ problems }: YamlDocument): boolean {
  return problems.length === 0 || problems.every(({ readable }) => readable === true);
}

/** Whether the pods are written as a pod spec, of which the API server accepts nothing that it rejects elsewhere. Most rules about pods ask. */
export function isPodSpec(podSet: PodSet, workload: Workload): boolean {
  const known = podSpecs.get(podSet);
  if (known?.workload === workload) return known.value;
  const value = isPlainSpec(podSet, workload);
  podSpecs.set(podSet, { workload, value });
  return value;
}

const podSpecs = new WeakMap<PodSet, { readonly workload: Workload; readonly value: boolean }>();

function isPlainSpec({ pod }: PodSet, workload: Workload): boolean {
  if (isValues(workload) || !isReadable(workload.manifest.document)) return false;
  if (workload.byShape && (!isInTemplate(pod) || isPattern(pod) || hasOwnForm(pod))) return false;
  return ownContainers(pod, workload).length > 0 || getIn(pod, 'containers')?.node.kind === 'seq';
}

/**
 * The containers that a pod has outside `containers` and `initContainers`: those of a workflow's template, the main one of a service of Dynamo, and the
 * steps of a task of Tekton.
 */
export function ownContainers(pod: Cursor, { apiVersion }: Workload): readonly Cursor[] {
  const paths = containerPaths[groupOf(apiVersion)] ?? [];
  return paths.flatMap((path) => placesAt(pod, path)).filter(({ node }) => node.kind === 'map');
}

const containerPaths = table<readonly string[]>({
  'argoproj.io': ['container', 'script', 'containerSet.containers.*', 'sidecars.*'],
  'nvidia.com': ['mainContainer'],
  'tekton.dev': ['steps.*', 'sidecars.*'],
});

/** Whether a pod spec is that of a template somewhere in an object: operators of any kind take it from Kubernetes' own types. */
function isInTemplate({ step, parent }: Cursor): boolean {
  return step === 'spec' && parent?.step !== undefined;
}

/** Whether the containers are those of a pattern that policies compare with pods, or merge into them: `name: "*"`. */
function isPattern(pod: Cursor): boolean {
  const names = items(getIn(pod, 'containers')).map((one) => asText(getIn(one, 'name')) ?? '');
  return names.some((name) => /[*?|!<>]/.test(name));
}

/** Whether an operator has its own format for pods: a part has another form than in the API, such as `volumeMounts` as a mapping. */
function hasOwnForm(pod: Cursor): boolean {
  const containers = items(getIn(pod, 'containers'));
  const ports = containers.flatMap((one) => items(getIn(one, 'ports')));
  if (ports.some((port) => !isUnseen(port) && getIn(port, 'containerPort') === undefined)) return true;
  return isOfOtherForm(pod, 'PodSpec') || containers.some((one) => isOfOtherForm(one, 'Container'));
}

function isOfOtherForm(at: Cursor, type: string): boolean {
  const fields = apiFields(type);
  return entries(at).some((entry) => {
    const form = fields.get(keyOf(entry))?.type.form;
    if (form === undefined || isUnseen(entry) || isNull(entry)) return false;
    const { kind } = entry.node;
    return form === 'list' ? kind !== 'seq' : (form === 'object' || form === 'map') && kind !== 'map';
  });
}

/** Groups whose objects contain whole pod templates, to which no controller adds containers or volumes of the same names. */
const wholeTemplates: ReadonlySet<string> = new Set([
  '',
  'apps',
  'apps.openshift.io',
  'batch',
  'kubeflow.org',
  'ray.io',
  'jobset.x-k8s.io',
  'leaderworkerset.x-k8s.io',
  'batch.volcano.sh',
  // Rollouts; the volumes of a workflow's template are elsewhere.
  'argoproj.io',
  'keda.sh',
  'serving.knative.dev',
]);

/** Whether everything that the pods consist of is in the object, so that a missing entry is also missing in the cluster. */
export function isWholePod(podSet: PodSet, workload: Workload): boolean {
  if (!isPodSpec(podSet, workload) || workload.partial || workload.role === 'definition') return false;
  // An operator fills in such a file before it applies it.
  if (workload.role === 'infrastructure' && podSet.containers.some(({ image }) => isUnknown(image?.at))) return false;
  return (
    wholeTemplates.has(groupOf(workload.apiVersion)) && (podSet.pod.step === 'spec' || podSet.pod.step === undefined)
  );
}

/** Kubernetes' own groups, in which names and labels follow the common rules. */
const ownGroups: ReadonlySet<string> = new Set([
  ...['', 'apps', 'batch', 'autoscaling', 'policy', 'networking.k8s.io', 'storage.k8s.io', 'scheduling.k8s.io'],
  ...['node.k8s.io', 'resource.k8s.io'],
]);

/** Whether an object is one that an API server stores, and not a file of a client (a kustomization, a ClusterConfig of eksctl). */
export function isServedKind({ kind, apiVersion, document }: Manifest): boolean {
  if (!isReadable(document)) return false;
  const group = groupOf(apiVersion);
  if (ownGroups.has(group)) return true;
  return kindEntry(group, kind) !== undefined || /(?:^|\.)(?:kueue\.x-k8s\.io|keda\.sh|karpenter\.sh)$/.test(group);
}

import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import type { Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';

/** A minimum of pods that a scheduler waits for, but that the object does not have. */
export interface GangMinimum {
  readonly at: Cursor;
  readonly field: string;
  readonly count: number;
  readonly pods: number;
}

/**
 * The minimum that an operator passes to its group of pods (`schedulingPolicy.minAvailable`), and that of Volcano's annotation:
 * https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
 */
export function unreachableMinimums(workload: Workload): readonly GangMinimum[] {
  const { manifest, partial, podSets } = workload;
  const policy = getIn(manifest.root, 'spec', 'runPolicy', 'schedulingPolicy');
  const marks = [...manifest.annotations, ...podSets.flatMap(({ annotations }) => annotations)].map(({ at }) => at);
  const mark = marks.find((at) => keyOf(at) === ofOwner);
  // Several objects can share a named group.
  const isShared = marks.some((at) => keyOf(at) === 'scheduling.k8s.io/group-name');
  const written = [getIn(policy, 'minAvailable'), isShared ? undefined : mark].filter((at) => at !== undefined);
  // Groups and elastic jobs have several sizes, and other objects can add pods to a group.
  if (written.length === 0 || partial || isGroupKind(workload) || hasOtherSizes(workload)) return [];
  const pods = podsOf(workload);
  return written.flatMap((at) => {
    const text = asText(at) ?? '';
    const count = /^\d{1,5}$/.test(text) && !isUnseen(at) ? Number(text) : 0;
    return pods === null || pods === 0 || count <= pods ? [] : [{ at, field: keyOf(at), count, pods }];
  });
}

/** Volcano makes one group of the pods of an owner. */
const ofOwner = 'scheduling.volcano.sh/group-min-member';

function hasOtherSizes(workload: Workload): boolean {
  return kindOf(workload).elasticPolicy?.(workload.manifest.root) !== undefined || workload.byShape;
}

/** All pods of an object; null if a template may add some. */
function podsOf({ manifest: { root }, podSets }: Workload): number | null {
  const spec = getIn(root, 'spec');
  const roles = entries(spec).filter((entry) => keyOf(entry).endsWith('ReplicaSpecs'));
  if (isIncomplete(spec) || roles.some((one) => isUnseen(one) || entries(one).some(isUnseen))) return null;
  return podSets.reduce<number | null>(
    (sum, { pods: { min, max } }) => (sum === null || max === null || min !== max ? null : sum + max),
    0,
  );
}

/**
 * A group of an MPIJob that also waits for the launcher, which is created only after the workers are ready. By default, it waits for all pods:
 * https://github.com/kubeflow/mpi-operator/blob/v0.6.0/pkg/controller/podgroup.go (2026-11-30)
 */
export function lateLauncher({
  kind,
  apiVersion,
  manifest: { root },
  partial,
  podSets,
}: Workload): LateLauncher | undefined {
  const spec = getIn(root, 'spec');
  const policy = getIn(spec, 'runPolicy', 'schedulingPolicy');
  if (kind !== 'MPIJob' || apiVersion !== 'kubeflow.org/v2beta1' || partial || policy === undefined) return undefined;
  if (asText(getIn(spec, 'launcherCreationPolicy')) !== 'WaitForWorkersReady') return undefined;
  const { min, max } = podSets.find(({ name }) => name === 'Worker')?.pods ?? { min: null, max: null };
  if (isIncomplete(spec) || isIncomplete(policy) || min === null || min !== max || min === 0) return undefined;
  const minimum = getIn(policy, 'minAvailable');
  // Kueue takes the priority from here, without a group.
  if (entries(policy).every((entry) => keyOf(entry) === 'priorityClass')) return undefined;
  const count = minimum === undefined ? min + 1 : Number(asText(minimum) ?? Number.NaN);
  return count === min + 1 ? { at: minimum ?? policy, minimum, workers: min } : undefined;
}

export interface LateLauncher {
  readonly at: Cursor;
  /** The written minimum. */
  readonly minimum: Cursor | undefined;
  readonly workers: number;
}

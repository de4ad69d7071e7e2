import { plural } from '../cost/money.ts';
import { lateLauncher, unreachableMinimums } from '../evidence/gang-minimums.ts';
import { mpiTasks } from '../evidence/mpi-tasks.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerCount } from '../model/pod.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asNumber, type Cursor, getIn, isIncomplete, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A gang of pods, such as a Volcano job, waits for more pods than it has.
 *
 * ## Why
 *
 * Volcano starts a gang when `minAvailable` pods can run together. If the job has fewer pods, the webhook rejects it; without the
 * webhook, the gang never starts. The training operator passes `schedulingPolicy.minAvailable` to the scheduler, and Volcano reads
 * `scheduling.volcano.sh/group-min-member` from other objects. Pods that name a PodGroup wait until it has `minMember` pods.
 *
 * The group of an MPIJob waits for all workers and the launcher, unless `schedulingPolicy.minAvailable` says less. With `launcherCreationPolicy:
 * WaitForWorkersReady`, the launcher is created only after the workers are ready, so both wait for each other.
 *
 * ```yaml invalid
 * apiVersion: batch.volcano.sh/v1alpha1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   minAvailable: 5
 *   tasks:
 *     - name: worker
 *       replicas: 4
 *       template:
 *         spec:
 *           containers:
 *             - name: main
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch.volcano.sh/v1alpha1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   minAvailable: 4
 *   tasks:
 *     - name: worker
 *       replicas: 4
 *       template:
 *         spec:
 *           containers:
 *             - name: main
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: more replicas may be the right change instead.
 *
 * ## When it is silent
 *
 * If the number is below the pod count, which is Volcano's elastic mode. That is a warning only if Volcano's pytorch plugin gives all pods
 * one world size or mpirun starts its processes in all pods of a task, no task waits for another and no launch is elastic.
 *
 * ## Sources
 *
 * - [volcano-sh/volcano: validation of jobs](https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate/admit_job.go)
 * - [kubeflow/mpi-operator#608](https://github.com/kubeflow/mpi-operator/issues/608)
 * - [volcano-sh/volcano#1959](https://github.com/volcano-sh/volcano/issues/1959)
 */
export default defineRule({
  topic: 'gang',
  severity: 'error',
  manifest({ kind, root, namespace, name, isPatch }, context) {
    const minimum = getIn(root, 'spec', 'minMember');
    const count = asNumber(minimum);
    if (kind !== 'PodGroup' || minimum === undefined || count === undefined || isPatch) return;
    const pods = name === null ? null : context.crossReferences.gangPods(namespace, name);
    if (pods === null || count <= pods) return;
    context.report({
      severity: 'warning',
      message: `minMember is ${count}, but only ${plural(pods, 'pod')} of the project ${pods === 1 ? 'names' : 'name'} the group: the scheduler never starts it`,
      span: spanOf(minimum),
      fixes: () => [fix(`Set minMember to ${pods}`, 'unsafe', replaceScalar(context.document, minimum, pods))],
    });
  },
  workload(workload, context) {
    const { kind, apiVersion, manifest, podSets } = workload;
    for (const { at, count, field, pods } of unreachableMinimums(workload)) {
      context.report({
        message: `${field} is ${count}, but the job has only ${plural(pods, 'pod')}: the scheduler never starts it`,
        span: spanOf(at),
      });
    }
    const late = lateLauncher(workload);
    if (late !== undefined) {
      const { at, minimum, workers } = late;
      context.report({
        severity: 'warning',
        message: `The gang waits for ${plural(workers, 'worker')} and the launcher, but WaitForWorkersReady creates the launcher last: the job never starts; set minAvailable to ${workers}`,
        span: minimum === undefined ? keySpanOf(at) : spanOf(minimum),
        fixes: () => [
          fix(
            `Set minAvailable to ${workers}`,
            'unsafe',
            minimum === undefined
              ? insertKey(context.document, at, 'minAvailable', workers)
              : replaceScalar(context.document, minimum, workers),
          ),
        ],
      });
    }
    if (kind !== 'Job' || !apiVersion.startsWith('batch.volcano.sh/')) return;
    const spec = getIn(manifest.root, 'spec');
    const tasks = getIn(spec, 'tasks');
    if (tasks === undefined || isIncomplete(spec) || isIncomplete(tasks)) return;
    const pods = items(tasks).map((task) => lowerCount(getIn(task, 'replicas'), 1));
    for (const [index, task] of items(tasks).entries()) {
      check(getIn(task, 'minAvailable'), pods[index] ?? null, 'the task has');
    }
    const total = pods.reduce<number | null>((sum, count) => (sum === null || count === null ? null : sum + count), 0);
    const jobField = getIn(spec, 'minAvailable');
    if (pods.length > 0) check(jobField, total, 'the tasks have');
    const minimum = asNumber(jobField);
    if (
      jobField !== undefined &&
      minimum !== undefined &&
      total !== null &&
      minimum < total &&
      (isGang(spec, podSets, total) || isMpi(spec, workload))
    ) {
      context.report({
        severity: 'warning',
        message: `minAvailable is ${minimum}, but the job's ${plural(total, 'pod')} wait for each other: some may hold accelerators while others stay Pending`,
        span: spanOf(jobField),
        fixes: () => [set(jobField, total)],
      });
    }

    function set(written: Cursor, count: number): Fix | undefined {
      return fix(`Set minAvailable to ${count}`, 'unsafe', replaceScalar(context.document, written, count));
    }

    function check(written: Cursor | undefined, podCount: number | null, owner: string): void {
      const count = asNumber(written);
      if (written === undefined || count === undefined || podCount === null || count <= podCount) return;
      context.report({
        message: `minAvailable is ${count}, but ${owner} only ${plural(podCount, 'pod')}: the job never starts`,
        span: spanOf(written),
        fixes: () => [set(written, podCount)],
      });
    }
  },
});

/** mpirun starts processes in all pods of another task, and fails as long as one of them is missing. */
function isMpi(spec: Cursor | undefined, workload: Workload): boolean {
  const tasks = mpiTasks(workload);
  if (tasks === undefined || workload.podSets.length !== 2 || !requestsAccelerators(tasks.workers)) return false;
  // A minimum of 0 waits for nothing.
  return !items(getIn(spec, 'tasks')).some(
    (task) => getIn(task, 'dependsOn') !== undefined || (asNumber(getIn(task, 'minAvailable') ?? task) ?? 0) > 0,
  );
}

/** Volcano's pytorch plugin sets WORLD_SIZE to the number of pods, or each launch names it: no pod proceeds before all are running. */
function isGang(spec: Cursor | undefined, podSets: readonly PodSet[], total: number): boolean {
  const plugin = getIn(spec, 'plugins', 'pytorch') !== undefined;
  if (
    items(getIn(spec, 'tasks')).some(
      (task) => getIn(task, 'dependsOn') !== undefined || getIn(task, 'minAvailable') !== undefined,
    )
  )
    return false;
  return (
    podSets.length > 0 &&
    podSets.every((podSet) => {
      const { containers } = podSet;
      const line = containers.flatMap(({ command, args }) => [...command, ...args].map(({ value }) => value)).join(' ');
      const isCounted = plugin || new RegExp(`--nnodes[= ]${total}(?:\\s|$)`).test(line);
      return (
        isCounted &&
        requestsAccelerators(podSet) &&
        !/nnodes[= ](?:(?!nnodes[= ])\S)*:|elastic|\$\(?\{?(MIN|NNODES)/.test(line)
      );
    })
  );
}

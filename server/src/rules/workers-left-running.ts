import { isDriven, mpiTasks } from '../evidence/mpi-tasks.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asNumber,
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * The workers of an MPI job keep running, with their accelerators, after the job ends.
 *
 * ## Why
 *
 * The workers run an SSH server, in which mpirun starts the processes: they never end by themselves. The MPI operator deletes them only
 * with `cleanPodPolicy: Running` or `All`; its default is `None`. A Volcano Job ends them if a policy of the task that runs mpirun completes the
 * job (`event: TaskCompleted`, `action: CompleteJob`). The parameter servers of a TFJob also stay with `None`.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v2beta1
 * kind: MPIJob
 * metadata:
 *   name: pretrain
 * spec:
 *   runPolicy:
 *     cleanPodPolicy: None
 *   mpiReplicaSpecs:
 *     Launcher:
 *       template:
 *         spec:
 *           containers:
 *             - name: launcher
 *               image: registry.example/horovod:0.28.1
 *               command: [mpirun, -np, "2", python, train.py]
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: worker
 *               image: registry.example/horovod:0.28.1
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: kubeflow.org/v2beta1
 * kind: MPIJob
 * metadata:
 *   name: pretrain
 * spec:
 *   runPolicy:
 *     cleanPodPolicy: Running
 *   mpiReplicaSpecs:
 *     Launcher:
 *       template:
 *         spec:
 *           containers:
 *             - name: launcher
 *               image: registry.example/horovod:0.28.1
 *               command: [mpirun, -np, "2", python, train.py]
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: worker
 *               image: registry.example/horovod:0.28.1
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: logs and files that only the workers hold are lost with them.
 *
 * ## When it is silent
 *
 * For workers without accelerators, and for jobs that are deleted within an hour of their end (`ttlSecondsAfterFinished`).
 *
 * ## Sources
 *
 * - [MPI operator: the default of CleanPodPolicy is None](https://github.com/kubeflow/trainer/issues/1753)
 * - [Volcano: an MPI job](https://volcano.sh/en/docs/mpi_on_volcano/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  workload(workload, context) {
    const { manifest, podSets, partial } = workload;
    if (partial || manifest.kind !== workload.kind) return;
    const spec = getIn(manifest.root, 'spec');
    const tasks = mpiTasks(workload);
    const { launcher } = kindOf(workload);
    if (spec === undefined || isUnseen(spec) || (tasks === undefined && launcher === undefined)) return;
    const stays = podSets.some(
      (podSet) =>
        podSet.pods.max !== 0 &&
        requestsAccelerators(podSet) &&
        (isDriven(podSet, workload) || (workload.kind === 'TFJob' && podSet.name === launcher?.waits)),
    );
    if (!stays) return;
    if (tasks !== undefined) {
      const [task] = items(getIn(spec, 'tasks')).filter((one) => asText(getIn(one, 'name')) === tasks.launcher.name);
      const name = getIn(task, 'name');
      if (task === undefined || name === undefined || [task, spec].some(mayEndJob)) return;
      context.report({
        message: 'No policy completes the job when this task ends (TaskCompleted): its workers keep their accelerators',
        span: spanOf(name),
      });
      return;
    }
    if (/^(?:MPIJob|TFJob)$/.test(workload.kind)) checkCleaning(spec, context);
  },
});

/** Reports pods that the operator of Kubeflow leaves alone. Only the MPI operator does so by default. */
function checkCleaning(spec: Cursor, context: WorkloadContext): void {
  const run = getIn(spec, 'runPolicy');
  const policy = getIn(run, 'cleanPodPolicy') ?? getIn(spec, 'cleanPodPolicy');
  const ttl = getIn(run, 'ttlSecondsAfterFinished') ?? getIn(spec, 'ttlSecondsAfterFinished');
  if (isUnseen(run) || isTemplated(policy) || (ttl !== undefined && !((asNumber(ttl) ?? 0) > 3600))) return;
  const { kind, apiVersion } = context.workload;
  // The first version removes its workers.
  if (apiVersion.endsWith('/v1alpha1')) return;
  if (policy === undefined ? kind !== 'MPIJob' : asText(policy) !== 'None') return;
  const who = kind === 'MPIJob' ? 'workers' : 'parameter servers';
  context.report({
    message: `cleanPodPolicy is ${policy === undefined ? 'not set (None)' : 'None'}: the ${who} keep their accelerators after the job ends`,
    span: policy === undefined ? keySpanOf(run ?? spec) : spanOf(policy),
    fixes: () => [deletePods(policy, run, context)],
  });
}

function deletePods(
  policy: Cursor | undefined,
  run: Cursor | undefined,
  { document }: WorkloadContext,
): Fix | undefined {
  const edits =
    policy === undefined
      ? setKey(document, run, 'cleanPodPolicy', 'Running')
      : replaceScalar(document, policy, 'Running');
  return fix('Set cleanPodPolicy to Running', 'unsafe', edits);
}

/** Whether a job or a task of Volcano has a policy for the end of a task. */
function mayEndJob(at: Cursor): boolean {
  const policies = getIn(at, 'policies');
  if (isUnseen(at) || isUnseen(policies) || isIncomplete(policies)) return true;
  return items(policies).some((policy) => {
    const events = [getIn(policy, 'event'), ...items(getIn(policy, 'events'))];
    return (
      isUnseen(policy) ||
      events.some((event) => isTemplated(event) || /^(?:TaskCompleted|\*)$/.test(asText(event) ?? ''))
    );
  });
}

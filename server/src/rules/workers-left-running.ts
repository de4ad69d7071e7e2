import { baseName } from '../command/shell.ts';
import { findWaiting } from '../command/waiting.ts';
import { endlessRole, waitsForLauncher } from '../evidence/endless-roles.ts';
import { isDriven, mpiTasks } from '../evidence/mpi-tasks.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { processInput } from '../model/process-input.ts';
import type { Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asNumber, asText, type Cursor, getIn, isTemplated, isUnseen, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * Workers keep running, with their accelerators, after the work of their job has ended.
 *
 * ## Why
 *
 * The workers run an SSH server, in which mpirun starts the processes: they never end by themselves. The MPI operator deletes them only
 * with `cleanPodPolicy: Running` or `All`; its default is `None`. A Volcano Job ends them if a policy of the task that runs mpirun completes the
 * job (`event: TaskCompleted`, `action: CompleteJob`), a JobSet with a success policy that names only the work. The same applies to model servers
 * and sleeping containers in such roles, and to a launcher that only waits after its work. The parameter servers of a TFJob also stay with `None`.
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
 * For workers without accelerators or with a command that may end, for a Volcano Job or a JobSet if a role may end the others or what a role runs
 * is unknown, and for other jobs that are deleted within an hour of their end (`ttlSecondsAfterFinished`).
 *
 * ## Sources
 *
 * - [MPI operator: CleanPodPolicy defaults to None](https://github.com/kubeflow/trainer/issues/1753)
 * - [Volcano: policies of a job](https://volcano.sh/en/docs/vcjob/)
 * - [JobSet: success policy](https://jobset.sigs.k8s.io/docs/concepts/)
 * - [Volcano: an MPI job](https://volcano.sh/en/docs/mpi_on_volcano/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  workload(workload, context) {
    const { manifest, podSets, partial } = workload;
    if (partial || manifest.kind !== workload.kind) return;
    if (isExempt(workload)) return;
    reportEndless(workload, context);
    reportWaiting(workload, context);
    const { launcher } = kindOf(workload);
    const spec = getIn(manifest.root, 'spec');
    if (spec === undefined || isUnseen(spec) || !/^(?:MPIJob|TFJob)$/.test(workload.kind)) return;
    const stays = podSets.some(
      (podSet) =>
        podSet.pods.max !== 0 &&
        requestsAccelerators(podSet) &&
        ((isDriven(podSet, workload) && waitsForLauncher(podSet)) ||
          (workload.kind === 'TFJob' && podSet.name === launcher?.waits)),
    );
    if (stays) checkCleaning(spec, context);
  },
});

/** Reports the role of a Volcano Job or a JobSet that keeps the object running when the work has ended. */
function reportEndless(workload: Workload, { document, report }: WorkloadContext): void {
  const found = endlessRole(workload);
  if (found === undefined) return;
  const { container, words, work, reason, fix: end } = found;
  const span =
    words === undefined ? spanOf(getIn(container.at, 'name') ?? container.at) : spanOfWords(document, container, words);
  if (span === undefined) return;
  const program = words === undefined ? "The image's SSH server" : shorten(baseName(words[0].text), 20);
  report({
    message: `${program} never exits, and ${reason} after ${shorten(work.name, 30)}: the accelerators stay occupied after the work has ended`,
    span,
    fixes: () => [end()],
  });
}

/** Reports a launcher that waits after its work, while its workers keep their accelerators. */
function reportWaiting(workload: Workload, { document, report }: WorkloadContext): void {
  const { manifest, podSets } = workload;
  const workers = podSets.find((podSet) => isDriven(podSet, workload) && requestsAccelerators(podSet));
  const launcher =
    workers && (mpiTasks(workload)?.launcher ?? podSets.find(({ name }) => name === kindOf(workload).launcher?.waits));
  if (launcher === undefined || requestsAccelerators(launcher)) return;
  const spec = getIn(manifest.root, 'spec');
  if ([launcher.pod, getIn(spec, 'runPolicy')].some((place) => getIn(place, 'activeDeadlineSeconds') !== undefined))
    return;
  for (const container of launcher.containers) {
    const waiting = container.type === 'app' ? findWaiting(processInput(container)) : undefined;
    if (waiting?.kind !== 'works-first' || waiting.seconds !== Number.POSITIVE_INFINITY || waiting.mayServe) continue;
    const span = spanOfWords(document, container, waiting.words);
    if (span === undefined) continue;
    report({
      message: `The launcher only waits after its work (${shorten(waiting.what, 48)}): its workers keep their accelerators`,
      span,
    });
  }
}

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
    // Whoever leaves the default may want to read the workers' logs.
    severity: policy === undefined ? 'info' : 'warning',
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

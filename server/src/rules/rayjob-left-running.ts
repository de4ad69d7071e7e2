import { recognizeProgram } from '../command/programs.ts';
import { allCommands, readScript } from '../command/shell.ts';
import { formatHourly } from '../cost/format.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asBoolean, asText, getIn, isIncomplete, isNull, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * The cluster of a RayJob keeps its GPUs after the job has ended.
 *
 * ## Why
 *
 * KubeRay makes a cluster for each RayJob and, unless `shutdownAfterJobFinishes` is true, leaves it running when the job is done: the
 * nodes are paid for until somebody deletes the RayJob.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayJob
 * metadata:
 *   name: tune
 * spec:
 *   entrypoint: python tune.py
 *   rayClusterSpec:
 *     headGroupSpec:
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - name: head
 *               image: registry.example/ray:2.46.0
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: ray.io/v1
 * kind: RayJob
 * metadata:
 *   name: tune
 * spec:
 *   entrypoint: python tune.py
 *   shutdownAfterJobFinishes: true
 *   rayClusterSpec:
 *     headGroupSpec:
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - name: head
 *               image: registry.example/ray:2.46.0
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the cluster goes, and with it the logs and files that only its pods have.
 *
 * ## When it is silent
 *
 * Where the job runs in a cluster that exists anyway (`clusterSelector`), where a `deletionStrategy` says what happens, where the
 * entrypoint is a model server, which does not end, and for clusters without accelerators, or whose accelerators the autoscaler
 * takes away.
 *
 * ## Sources
 *
 * - [Ray: RayJob configuration](https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayjob-quick-start.html)
 * - [Kueue: run a RayJob](https://kueue.sigs.k8s.io/docs/tasks/run/rayjobs/)
 */
export default defineRule({
  topic: 'scale-to-zero',
  severity: 'warning',
  workload(workload, context) {
    if (workload.kind !== 'RayJob' || workload.partial) return;
    const spec = getIn(workload.manifest.root, 'spec');
    if (spec === undefined || isIncomplete(spec) || getIn(spec, 'clusterSelector') !== undefined) return;
    if (getIn(spec, 'deletionStrategy') !== undefined || getIn(spec, 'deletionPolicy') !== undefined) return;
    if (isServer(asText(getIn(spec, 'entrypoint')) ?? '')) return;
    const shutdown = getIn(spec, 'shutdownAfterJobFinishes');
    if (isTemplated(shutdown) || asBoolean(shutdown) === true) return;
    if (shutdown !== undefined && !isNull(shutdown) && asBoolean(shutdown) !== false) return;
    // Groups that the autoscaler takes down to nothing cost nothing when they are idle.
    const holds = workload.podSets.some((podSet) => podSet.pods.min !== 0 && requestsAccelerators(podSet));
    if (!holds) return;
    const idle = context.costOf(workload).cost?.idleHourly ?? 0;
    const amount = idle === 0 ? '' : ` (${formatHourly(idle)})`;
    const said = shutdown === undefined ? 'not set' : (asText(shutdown) ?? 'empty');
    context.report({
      message: `shutdownAfterJobFinishes is ${said}: the cluster and its accelerators stay up after the job ends${amount}`,
      span: shutdown === undefined ? keySpanOf(spec) : spanOf(shutdown),
      fixes: () => [shutDown(context)],
    });
  },
});

function isServer(entrypoint: string): boolean {
  const program = recognizeProgram(allCommands(readScript(entrypoint).statements));
  return program?.use === 'serving' && program.confidence === 'certain';
}

function shutDown({ document, manifest }: WorkloadContext): Fix | undefined {
  const spec = getIn(manifest.root, 'spec');
  const written = getIn(spec, 'shutdownAfterJobFinishes');
  const edits =
    written === undefined
      ? insertKey(document, spec, 'shutdownAfterJobFinishes', true, { after: 'entrypoint' })
      : replaceScalar(document, written, true);
  return fix('Shut the cluster down when the job ends', 'unsafe', edits);
}

import { recognizeProgram } from '../command/programs.ts';
import { allCommands, readScript } from '../command/shell.ts';
import { formatHourly } from '../cost/money.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asNumber,
  asText,
  getIn,
  isIncomplete,
  isNull,
  isTemplated,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * The cluster of a RayJob keeps its accelerators after the job ends.
 *
 * ## Why
 *
 * KubeRay creates a cluster for each RayJob and leaves it running when the job ends, unless `shutdownAfterJobFinishes` is true: the nodes
 * cost money until someone deletes the RayJob.
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
 * Unsafe: logs and files that only the cluster's pods hold are lost with the cluster.
 *
 * ## When it is silent
 *
 * If the job runs in an existing cluster (`clusterSelector`), and if a `deletionStrategy` is set. For clusters without accelerators, or whose
 * accelerators the autoscaler removes.
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
    const shutdown = getIn(spec, 'shutdownAfterJobFinishes');
    // KubeRay rejects such a job, which ray-invalid reports.
    if ((asNumber(getIn(spec, 'ttlSecondsAfterFinished')) ?? 0) > 0) return;
    if (isTemplated(shutdown) || asBoolean(shutdown) === true) return;
    if (shutdown !== undefined && !isNull(shutdown) && asBoolean(shutdown) !== false) return;
    // Groups that the autoscaler scales to zero cost nothing when they are idle.
    const holds = workload.podSets.some((podSet) => podSet.pods.min !== 0 && requestsAccelerators(podSet));
    if (!holds) return;
    const idle = context.costOf(workload).cost?.idleHourly ?? 0;
    const amount = idle === 0 ? '' : ` (${formatHourly(idle)})`;
    const state = shutdown === undefined ? 'not set' : (asText(shutdown) ?? 'empty');
    const ends = isServer(asText(getIn(spec, 'entrypoint')) ?? '')
      ? 'when its server stops or fails'
      : 'after the job ends';
    context.report({
      message: `shutdownAfterJobFinishes is ${state}: the cluster keeps its accelerators ${ends}${amount}`,
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
  const edits = setKey(document, spec, 'shutdownAfterJobFinishes', true, { after: 'entrypoint' });
  return fix('Set shutdownAfterJobFinishes to true', 'unsafe', edits);
}

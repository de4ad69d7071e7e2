import { type PathTree, pathTree, placesInTree } from '../evidence/path-tree.ts';
import { isPodSpec, isServedKind, rejectionOf } from '../evidence/rejection.ts';
import { placesAt, writtenNumber } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A number is outside the range that the API server accepts.
 *
 * ## Why
 *
 * Replicas, seconds and limits are not negative, ports are from 1 to 65,535, and the weight of a preference is from 1 to 100. The API
 * server rejects the object otherwise. The same applies to the counts of JobSets, LeaderWorkerSets, TrainJobs and InferenceServices.
 * A file mode such as 400 without a leading zero is decimal, octal 0620, which is a warning.
 * A deadline of 0 seconds is accepted for a job, which then fails before its work starts.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       ports:
 *         - containerPort: 80000
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       ports:
 *         - containerPort: 8000
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For templates, and for values that are not numbers.
 *
 * ## Sources
 *
 * - [Kubernetes: validation of pods](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 * - [Kubernetes: validation of apps](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/apps/validation/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, { report }) {
    const { root, kind, apiVersion } = manifest;
    if (!isServedKind(manifest)) return;
    const ranges = rangesOf[`${groupOf(apiVersion)}/${kind}`];
    for (const { problem, at } of ranges === undefined ? [] : outOfRange(root, ranges)) {
      report({ message: `${problem}: the API server rejects the ${kind}`, span: spanOf(at) });
    }
    const start = kind === 'CronJob' ? getIn(root, 'spec', 'startingDeadlineSeconds') : undefined;
    const seconds = writtenNumber(start) ?? -1;
    if (start !== undefined && seconds >= 0 && seconds < 10)
      report({
        severity: 'warning',
        message: `startingDeadlineSeconds ${seconds} is below 10: the controller looks only every 10 s, and runs may never start`,
        span: spanOf(start),
      });
    for (const at of deadlinesOf(manifest).filter((one) => writtenNumber(one) === 0)) {
      report({
        message: `activeDeadlineSeconds 0 ends the ${kind} at once: its work never starts`,
        span: spanOf(at),
      });
    }
  },
  podSet(podSet, { report, workload, document }) {
    if (!isPodSpec(podSet, workload)) return;
    for (const path of modes) for (const at of placesAt(podSet.pod, path)) checkMode(at, document, report);
    for (const { problem, at } of outOfRange(podSet.pod, rangesInPods)) {
      report({
        message: `${problem}: ${rejectionOf(workload)}`,
        span: spanOf(at),
        fixes: () => {
          const mode = at.step === 'defaultMode' && at.node.kind === 'scalar' ? at.node.source : '';
          // As in `chmod 755`.
          if (!/^[0-7]{3}$/.test(mode)) return [];
          return [
            fix(
              `Change to ${Number.parseInt(mode, 8)} (octal ${mode})`,
              'safe',
              replaceScalar(document, at, Number.parseInt(mode, 8)),
            ),
          ];
        },
      });
    }
  },
});

const modes = ['volumes.*.configMap.defaultMode', 'volumes.*.secret.defaultMode', 'volumes.*.projected.defaultMode'];

/** Reports a decimal number that is only sensible as an octal one: 400 is 0620, which lets a group write a key. */
function checkMode(at: Cursor, document: YamlDocument, report: PodSetContext['report']): void {
  const written = at.node.kind === 'scalar' && !isTemplated(at) ? at.node.source : '';
  if (!/^(?:400|440|444|500)$/.test(written)) return;
  const octal = Number(written).toString(8);
  report({
    severity: 'warning',
    message: `defaultMode ${written} is decimal and means octal 0${octal}: write ${Number.parseInt(written, 8)} for 0${written}`,
    span: spanOf(at),
    fixes: () => [
      fix(
        `Change to ${Number.parseInt(written, 8)} (octal ${written})`,
        'unsafe',
        replaceScalar(document, at, Number.parseInt(written, 8)),
      ),
    ],
  });
}

/** A path with the least and the greatest valid number. */
type Range = readonly [path: string, least: number, most?: number | undefined];

type Ranges = PathTree<Range>;

const rangesAt = (ranges: readonly Range[]): Ranges => pathTree(ranges.map((range) => [range[0], range]));

const below = (parent: string, ranges: readonly Range[]) =>
  ranges.map(([path, least, most]): Range => [`${parent}.${path}`, least, most]);

const probeRanges: readonly Range[] = [
  ['initialDelaySeconds', 0],
  ['timeoutSeconds', 0],
  ['periodSeconds', 0],
  ['successThreshold', 0],
  ['failureThreshold', 0],
  ['httpGet.port', 1, 65_535],
  ['tcpSocket.port', 1, 65_535],
  ['grpc.port', 1, 65_535],
];

const containerRanges: readonly Range[] = [
  ['ports.*.containerPort', 1, 65_535],
  ['ports.*.hostPort', 0, 65_535],
  ['securityContext.runAsUser', 0],
  ['securityContext.runAsGroup', 0],
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe) => below(probe, probeRanges)),
];

// A negative terminationGracePeriodSeconds is accepted, and means 1.
const podRanges: readonly Range[] = [
  ['activeDeadlineSeconds', 1],
  ['securityContext.runAsUser', 0],
  ['securityContext.runAsGroup', 0],
  ['securityContext.fsGroup', 0],
  ['securityContext.supplementalGroups.*', 0],
  ['volumes.*.configMap.defaultMode', 0, 0o777],
  ['volumes.*.secret.defaultMode', 0, 0o777],
  ['volumes.*.projected.defaultMode', 0, 0o777],
  ['volumes.*.projected.sources.*.serviceAccountToken.expirationSeconds', 600, 2 ** 32],
  ['topologySpreadConstraints.*.maxSkew', 1],
  ['topologySpreadConstraints.*.minDomains', 1],
  ['affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.weight', 1, 100],
  ['affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.weight', 1, 100],
  ['affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.weight', 1, 100],
];

const rangesInPods = rangesAt([
  ...podRanges,
  ...below('containers.*', containerRanges),
  ...below('initContainers.*', containerRanges),
]);

const job: readonly Range[] = [
  ['parallelism', 0],
  ['completions', 0],
  ['backoffLimit', 0],
  ['backoffLimitPerIndex', 0],
  ['maxFailedIndexes', 0],
  ['activeDeadlineSeconds', 0],
  ['ttlSecondsAfterFinished', 0],
];

const replicated: readonly Range[] = [
  ['spec.replicas', 0],
  ['spec.minReadySeconds', 0],
  ['spec.revisionHistoryLimit', 0],
];

/** The ports of an allowed direction. */
const policyPorts = (direction: string): readonly Range[] => [
  [`spec.${direction}.*.ports.*.port`, 1, 65_535],
  [`spec.${direction}.*.ports.*.endPort`, 1, 65_535],
];

const rangesOf = table<Ranges>({
  'apps/Deployment': rangesAt([...replicated, ['spec.progressDeadlineSeconds', 0]]),
  'apps/StatefulSet': rangesAt([
    ...replicated,
    ['spec.updateStrategy.rollingUpdate.partition', 0],
    ['spec.ordinals.start', 0],
  ]),
  'apps/ReplicaSet': rangesAt(replicated),
  'apps/DaemonSet': rangesAt(replicated.slice(1)),
  'batch/Job': rangesAt(below('spec', job)),
  'batch/CronJob': rangesAt([
    ...below('spec.jobTemplate.spec', job),
    ['spec.startingDeadlineSeconds', 0],
    ['spec.successfulJobsHistoryLimit', 0],
    ['spec.failedJobsHistoryLimit', 0],
  ]),
  'autoscaling/HorizontalPodAutoscaler': rangesAt([
    // hpa-min-zero reports a minimum of 0.
    ['spec.minReplicas', 0],
    ['spec.maxReplicas', 1],
    ['spec.targetCPUUtilizationPercentage', 1],
    ['spec.behavior.*.stabilizationWindowSeconds', 0, 3600],
    ['spec.behavior.*.policies.*.periodSeconds', 1, 1800],
    ['spec.behavior.*.policies.*.value', 1],
  ]),
  'policy/PodDisruptionBudget': rangesAt([
    ['spec.minAvailable', 0],
    ['spec.maxUnavailable', 0],
  ]),
  'leaderworkerset.x-k8s.io/LeaderWorkerSet': rangesAt([
    ['spec.replicas', 0],
    ['spec.leaderWorkerTemplate.size', 1],
  ]),
  'jobset.x-k8s.io/JobSet': rangesAt([['spec.replicatedJobs.*.replicas', 0]]),
  'trainer.kubeflow.org/TrainJob': rangesAt([
    ['spec.trainer.numNodes', 1],
    ['spec.trainer.numProcPerNode', 1],
  ]),
  'serving.kserve.io/InferenceService': rangesAt([
    ['spec.predictor.minReplicas', 0],
    ['spec.predictor.maxReplicas', 0],
    ['spec.predictor.containerConcurrency', 0],
  ]),
  'kueue.x-k8s.io/ClusterQueue': rangesAt([['spec.resourceGroups.*.flavors.*.resources.*.nominalQuota', 0]]),
  '/Service': rangesAt([
    ['spec.ports.*.port', 1, 65_535],
    ['spec.ports.*.targetPort', 1, 65_535],
    ['spec.sessionAffinityConfig.clientIP.timeoutSeconds', 1, 86_400],
  ]),
  'networking.k8s.io/NetworkPolicy': rangesAt([...policyPorts('ingress'), ...policyPorts('egress')]),
  'networking.k8s.io/Ingress': rangesAt([['spec.rules.*.http.paths.*.backend.service.port.number', 1, 65_535]]),
  'scheduling.k8s.io/PriorityClass': rangesAt([['value', -(2 ** 31), 1_000_000_000]]),
});

/** The deadlines that apply to the whole of a job, or to each job that the object creates. */
function deadlinesOf({ root, apiVersion, kind }: Manifest): readonly Cursor[] {
  if (!/Job(?:Set)?$/.test(kind)) return [];
  // The first versions of Kubeflow's jobs had no `runPolicy`.
  const isEarly = /^kubeflow\.org\/v1(?:alpha|beta)\d/.test(apiVersion);
  const paths = isEarly ? ['spec'] : (deadlinePaths[groupOf(apiVersion)] ?? []);
  return paths.flatMap((path) => placesAt(root, `${path}.activeDeadlineSeconds`));
}

const deadlinePaths = table<readonly string[]>({
  batch: ['spec', 'spec.jobTemplate.spec'],
  'jobset.x-k8s.io': ['spec.replicatedJobs.*.template.spec'],
  'kubeflow.org': ['spec.runPolicy'],
});

/** The numbers at the paths of the ranges that the API server rejects. */
function outOfRange(root: Cursor, ranges: Ranges) {
  return placesInTree(root, ranges).flatMap(({ at, value: [, least, most] }) => {
    const problem = rangeProblem(at, least, most);
    return problem === undefined ? [] : [{ problem, at }];
  });
}

function rangeProblem(at: Cursor, least: number, most: number | undefined): string | undefined {
  const number = writtenNumber(at);
  if (number === undefined || (number >= least && (most === undefined || number <= most))) return undefined;
  const mode = most === 0o777;
  const shown = (one: number) => (mode && one !== 0 ? `0${one.toString(8)}` : one.toLocaleString('en-US'));
  const range =
    most === undefined
      ? `at least ${least}`
      : number > most && least < 0
        ? `at most ${shown(most)}`
        : `from ${shown(least)} to ${shown(most)}`;
  const source = mode && at.node.kind === 'scalar' ? at.node.source : '';
  const written = /^[1-9]\d*$/.test(source) ? `${source} (octal ${shown(number)})` : shown(number);
  return `${nameOf(at)} must be ${range}, not ${written}`;
}

function nameOf(at: Cursor): string {
  return keyOf(at) || (at.parent === undefined ? '' : keyOf(at.parent));
}

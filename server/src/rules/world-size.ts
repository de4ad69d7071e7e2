import { findMpiProcesses, findNodeCounts, type LocalProcesses } from '../command/processes.ts';
import { plural } from '../cost/money.ts';
import { tpuSlice } from '../cost/tpu-slices.ts';
import { missedBound } from '../evidence/elastic-bounds.ts';
import { excessRanks, podsOfLeaderGroup } from '../evidence/expected-ranks.ts';
import { eachLaunch, processInput, wholeGpus } from '../evidence/launch.ts';
import { knowsNobody, localLaunch } from '../evidence/lone-launch.ts';
import { giveEachGpuASlot, leavesGpusIdle, slotsFor, startsMore, wrongSlots } from '../evidence/mpi-workers.ts';
import { differsByRank, loneFlag } from '../evidence/torchrun-nodes.ts';
import { hasStockRuntime, pythonAlone } from '../evidence/trainer-runtime.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import { topologyLabel } from '../model/placement.ts';
import { lowerCount } from '../model/pod.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { setLastNumber } from '../rewrite/words.ts';
import { asNumber, entries, getIn, isIncomplete, isUnseen, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A distributed launch expects a different number of nodes or processes than the job has.
 *
 * ## Why
 *
 * The rendezvous waits until all expected nodes have joined. With fewer pods than `--nnodes` it waits until its timeout, while every pod holds
 * its GPUs. With more, the surplus pods are excluded. A fixed number also contradicts the bounds of an elastic job. `mpirun` does not start
 * more processes than the workers have slots; with fewer, GPUs stay idle. The pods of a TPU slice must use all its chips: the software on each
 * node waits for all others. A Job never runs more pods at once than its `completions`, whatever its `parallelism`. Ranks that find each other
 * by the name of the object wait for as many ranks as a variable says.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nnodes=4", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 4
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nnodes=4", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the number of pods may be the mistake.
 *
 * ## When it is silent
 *
 * If a number comes from a variable or a template, for elastic ranges (`1:4`) that a policy allows, for fewer nodes than pods in kinds whose
 * pods may form several groups, for fewer processes of `mpirun` if each may use several GPUs, and for scripts that work alone by their rank.
 *
 * ## Sources
 *
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 * - [Kubernetes: parallelism of Jobs](https://kubernetes.io/docs/concepts/workloads/controllers/job/#controlling-parallelism)
 * - [GKE: plan TPUs](https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus)
 * - [Open MPI: mpirun](https://docs.open-mpi.org/en/main/man-openmpi/man1/mpirun.1.html)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'warning',
  workload(workload, context) {
    if (workload.partial) return;
    checkCompletions(workload, context);
    const { document, report } = context;
    const bound = missedBound(workload);
    if (bound !== undefined) report(bound);
    const wrong = wrongSlots(workload);
    if (wrong === undefined) return;
    const { at, slots, gpus, effect } = wrong;
    report({
      message: `slotsPerWorker is ${slots}, but a worker has ${plural(gpus, 'GPU')}: ${effect}`,
      span: spanOf(at),
      fixes: () => {
        const edits = startsMore(workload, gpus) ? undefined : replaceScalar(document, at, gpus);
        return [fix(`Set slotsPerWorker to ${gpus}`, 'unsafe', edits)];
      },
    });
  },
  podSet(podSet, context) {
    const { workload } = context;
    for (const { problem, at } of excessRanks(podSet, workload)) context.report({ message: problem, span: spanOf(at) });
    const slice = tpuSlice(podSet);
    const pods = workload.partial ? null : podsOfSlice(podSet, workload);
    const perPod = acceleratorByName(podSet.accelerators, 'google.com/tpu')?.perPod ?? null;
    const topology = podSet.selectors.find(({ key }) => key === topologyLabel)?.values[0];
    if (slice === undefined || pods === null || perPod === null || perPod < 4 || topology === undefined) return;
    const requested = pods * perPod;
    // Pods of single nodes work alone.
    if (
      requested === slice.chips ||
      (requested > slice.chips && (slice.chips <= perPod || !/^Job/.test(workload.kind)))
    )
      return;
    const [only, then] =
      requested > slice.chips
        ? ['', `only ${slice.chips / perPod} of them fit in the slice`]
        : ['only ', 'TPU software waits for the other nodes of the slice'];
    context.report({
      message: `gke-tpu-topology ${slice.topology} has ${plural(slice.chips, 'chip')}, but the ${plural(pods, 'pod')} ${pods === 1 ? 'requests' : 'request'} ${only}${requested}: ${then}`,
      span: spanOf(topology.at),
    });
  },
  container: eachLaunch((container, context: PodSetContext) => {
    const { workload } = context;
    if (container.type === 'app') reportPython(container, context);
    // A task of SkyPilot is only partial because its command line can change it.
    if ((workload.partial && kindOf(workload).sameScript !== true) || container.type !== 'app') return;
    const pods = podsOfGroup(context);
    const bounds = elasticBounds(workload);
    if (bounds !== undefined) {
      for (const launch of findNodeCounts(processInput(container))) {
        if (typeof launch.count !== 'number') continue;
        reportMismatch(
          launch,
          pods !== null && launch.count > pods
            ? `${shorten(launch.text)} exceeds the ${plural(pods, 'pod')} that the job starts with: ${effectOf(launch, pods - launch.count)}`
            : `${shorten(launch.text)} fixes the number of nodes: the job cannot use its elasticPolicy (${bounds})`,
          undefined,
          // A job of this size runs; it only never grows or shrinks.
          launch.count === pods ? 'info' : 'warning',
        );
      }
    } else {
      // If the pods may form several groups, none of them has more pods than the object.
      const isLone = pods === null && knowsNobody(container, context.podSet, workload);
      const most =
        pods ?? (isLone || isGroupKind(workload) || meetsInOwnPod(container, workload) ? totalPods(workload) : null);
      for (const launch of most === null ? [] : findNodeCounts(processInput(container))) {
        const { count } = launch;
        if (most === null || typeof count !== 'number' || (pods === null ? count <= most : count === pods)) continue;
        if (count === 1 && differsByRank(processInput(container))) continue;
        const problem = `${shorten(launch.text)} does not match the job's ${plural(most, 'pod')}`;
        reportMismatch(launch, `${problem}: ${isLone ? waits : effectOf(launch, most - count)}`, pods ?? undefined);
      }
    }
    const alone =
      pods !== null && pods > 1 && isRank(container, workload) ? loneFlag(processInput(container)) : undefined;
    if (alone !== undefined) {
      const launch: LocalProcesses = { kind: 'launch', count: 1, text: '--standalone', words: [alone, alone] };
      reportMismatch(launch, `--standalone makes each of the ${pods} pods its own job: they do not train together`);
    }
    const local = localLaunch(container, context.podSet, workload);
    if (local !== undefined) {
      const launch: LocalProcesses = { kind: 'launch', count: 1, text: local.program, words: local.words };
      reportMismatch(
        launch,
        `${local.program} starts processes only in the launcher, which has no GPU: the workers stay idle`,
      );
    }
    const launches = findMpiProcesses(processInput(container));
    for (const launch of launches) {
      const { count, text, program, oversubscribes } = launch;
      const { slots, owner } = slotsFor(launch, workload);
      if (slots === null || typeof count !== 'number') continue;
      const started = `${program} ${shorten(text)}`;
      if (count > slots && !oversubscribes) {
        // Without slotsPerWorker, that is the number to set.
        const isSet = owner !== 'hosts' && getIn(workload.manifest.root, 'spec', 'slotsPerWorker') !== undefined;
        const message = `${started} needs ${plural(count, 'slot')}, but the ${owner} have ${slots}: ${program} does not start`;
        const other = () => (isSet ? giveEachGpuASlot(workload, count, context.document) : undefined);
        reportMismatch(launch, message, isSet ? slots : undefined, 'warning', other);
      } else if (owner !== 'hosts' && launches.length === 1 && leavesGpusIdle(launch, count, slots, workload)) {
        const idle = slots - count;
        const message = `${started} uses ${count} of the ${owner}' ${slots} slots: ${plural(idle, 'GPU')} ${idle === 1 ? 'stays' : 'stay'} idle`;
        reportMismatch(launch, message, slots);
      }
    }

    function reportMismatch(
      { words, text }: LocalProcesses,
      message: string,
      right?: number,
      severity: 'warning' | 'info' = 'warning',
      other?: () => Fix | undefined,
    ): void {
      const lines: Container['command'] = [...container.command, ...container.args];
      const span = words && spanOfWords(context.document, lines, words);
      if (words === undefined || span === undefined) return;
      context.report({
        message,
        span,
        severity,
        fixes: () => {
          if (right === undefined) return [];
          const edits = setLastNumber(context.document, lines, words, right);
          return [other?.(), fix(`Change ${shorten(text, 30)} to ${right}`, 'unsafe', edits)];
        },
      });
    }
  }),
});

/** Reports a program on several nodes of Kubeflow's own runtime that no launcher starts. */
function reportPython(
  container: Container,
  { workload, podSet, document, report, crossReferences }: PodSetContext,
): void {
  const nodes = podSet.pods.min ?? 0;
  if (nodes < 2 || podSet.accelerators.length === 0 || !hasStockRuntime(workload, crossReferences)) return;
  const words = pythonAlone(container);
  const span = words && spanOfWords(document, container, words);
  if (words === undefined || span === undefined) return;
  report({
    message: `The runtime tells only torchrun about the other nodes: ${shorten(`${words[0].text} ${words[1].text}`, 40)} trains alone on each of the ${nodes} nodes`,
    span,
  });
}

/** A Job never runs more pods at once than it needs completions. The surplus is a mistake if the ranks wait for it. */
function checkCompletions({ kind, apiVersion, manifest, podSets }: Workload, { document, report }: RuleContext): void {
  if (kind !== 'Job' || !apiVersion.startsWith('batch/')) return;
  const written = getIn(manifest.root, 'spec', 'completions');
  const completions = asNumber(written);
  const parallelism = asNumber(getIn(manifest.root, 'spec', 'parallelism'));
  if (written === undefined || completions === undefined || parallelism === undefined || parallelism <= completions)
    return;
  for (const podSet of podSets) {
    for (const container of podSet.containers.filter(namesAccelerators)) {
      const gpus = wholeGpus(container, podSet);
      const size = container.env.find(({ name, value }) => {
        const isProcesses = name === 'WORLD_SIZE';
        if (!isProcesses && !/^(?:PET_)?(?:NNODES|NUM_NODES|NUM_MACHINES)$/.test(name)) return false;
        const count = /^\d{1,5}$/.test(value?.value ?? '') ? Number(value?.value) : 0;
        return gpus !== null && count > completions * (isProcesses ? Math.max(1, gpus) : 1);
      });
      if (size === undefined) continue;
      report({
        message: `completions ${completions} limits the Job to ${plural(completions, 'pod')} at once, but ${size.name} is ${size.value?.value}: its ranks wait for pods that never start`,
        span: spanOf(written),
        fixes: () => [
          fix(`Set completions to ${parallelism}`, 'unsafe', replaceScalar(document, written, parallelism)),
        ],
      });
      return;
    }
  }
}

/** What follows if a launch expects other nodes than the job has. Lightning compares its own number with the launch. */
function effectOf({ text }: LocalProcesses, surplus: number): string {
  if (/trainer\.num[-_]nodes/i.test(text)) return 'the trainer rejects the world size';
  if (surplus < 0) return waits;
  return `${plural(surplus, 'pod')} ${surplus === 1 ? 'is' : 'are'} excluded`;
}

const waits = 'the launch waits for pods that never join';

/** The pods on one slice: those of a Job, of one Job of a JobSet, of a group, or of a replica of Ray's workers. */
function podsOfSlice({ pods, pod }: PodSet, { kind, manifest, podSets }: Workload): number | null {
  const group = pod.parent?.parent;
  if (getIn(group, 'groupName') !== undefined && !isIncomplete(group)) {
    // Before the field existed, the replicas were the hosts.
    const hosts = getIn(group, 'numOfHosts');
    return hosts === undefined ? pods.max : lowerCount(hosts, 1);
  }
  const [first, ...more] = podSets;
  const template = kind === 'LeaderWorkerSet' ? getIn(manifest.root, 'spec', 'leaderWorkerTemplate') : undefined;
  // A part of the group, or only its workers, may have a slice of its own.
  if (template !== undefined) {
    const isWhole = more.length === 0 && getIn(template, 'subGroupPolicy') === undefined && first?.pod === pod;
    return isWhole && !isIncomplete(template) ? lowerCount(getIn(template, 'size'), 1) : null;
  }
  if (pods.min === null || pods.min !== pods.max) return null;
  if (kind === 'Job') return podSets.length === 1 ? pods.min : null;
  const [only, ...others] = kind === 'JobSet' ? items(getIn(manifest.root, 'spec', 'replicatedJobs')) : [];
  const replicas = only === undefined || others.length > 0 ? null : lowerCount(getIn(only, 'replicas'), 1);
  return replicas === null || replicas === 0 ? null : pods.min / replicas;
}

/** The pods that meet in one rendezvous, for kinds whose pods are one group. */
function podsOfGroup({ workload, podSet }: PodSetContext): number | null {
  const { gang, sameScript } = kindOf(workload);
  if (workload.kind === 'LeaderWorkerSet') return podsOfLeaderGroup(workload);
  // Each replica of a service is its own group.
  if (sameScript === true && workload.role === 'serving') return null;
  if (sameScript === true) return podSet.pods.min === podSet.pods.max ? podSet.pods.min : null;
  if (gang === 'object') return totalPods(workload);
  return gang === 'podSet' && podSet.pods.min !== null && podSet.pods.min > 1 ? podSet.pods.min : null;
}

/** Whether the pods are the ranks of one group for certain: those of a Job can divide work among them. */
function isRank({ env }: Container, workload: Workload): boolean {
  return (
    kindOf(workload).gang === 'object' ||
    env.some(({ name, value }) => name === 'MASTER_ADDR' && !/^(?:localhost|127\.)/.test(value?.value ?? ''))
  );
}

/** Whether a command names the first pod of its own StatefulSet or the like: the pods meet there, and no others do. */
function meetsInOwnPod({ command, args }: Container, workload: Workload): boolean {
  if (kindOf(workload).addresses === undefined) return false;
  const words = [...command, ...args].flatMap(({ value }) => value.split(/[^a-z0-9-]+/));
  return words.includes(`${workload.name}-0`);
}

/** The bounds of an elastic job whose launch can have several sizes; undefined for other jobs. */
function elasticBounds({ kind, apiVersion, manifest }: Workload): string | undefined {
  const policy = kindOf({ kind, apiVersion }).elasticPolicy?.(manifest.root);
  const min = asNumber(getIn(policy, 'minReplicas'));
  const max = asNumber(getIn(policy, 'maxReplicas'));
  return min !== undefined && max !== undefined && min < max ? `${min} to ${max} pods` : undefined;
}

function totalPods({ podSets, manifest }: Workload): number | null {
  let all = 0;
  // A template may write a whole role.
  const roles = entries(getIn(manifest.root, 'spec')).filter((entry) => keyOf(entry).endsWith('ReplicaSpecs'));
  if (roles.some((one) => isUnseen(one) || entries(one).some(isUnseen))) return null;
  for (const { pods } of podSets) {
    if (pods.min === null || pods.min !== pods.max) return null;
    all += pods.min;
  }
  return all;
}

import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { plural } from '../cost/money.ts';
import { missingIndex } from '../evidence/completion-index.ts';
import { processInput } from '../evidence/launch.ts';
import { configuredRank } from '../evidence/launcher-config.ts';
import { fixedLocalRank } from '../evidence/local-rank.ts';
import { namedRank } from '../evidence/named-ranks.ts';
import {
  assignedVariables,
  isOneOfGroup,
  isRankName,
  labelled,
  meetsByVariable,
  ownMaster,
  type Rank,
  setsRanks,
  unrankedMeeting,
} from '../evidence/pod-ranks.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { isElsewhere } from '../evidence/shared-master.ts';
import { leastPods, repeatedRank, sharedRank, startsTogether } from '../evidence/task-ranks.ts';
import { isNodeCount, launchAlone } from '../evidence/torchrun-nodes.ts';
import { unmetMessage, unmetNodes } from '../evidence/unmet-nodes.ts';
import { groupsOf } from '../model/kinds/groups.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * All pods of a distributed job have the same rank or none, or each takes itself for the first node.
 *
 * ## Why
 *
 * Each node of a distributed job needs its own rank. A number in the pod template is the same in every pod, so all of them claim the same
 * rank and wait for the others: the job never starts, and all its accelerators stay idle. The rank must come from the pod's index. Only the
 * pods of Jobs with `completionMode: Indexed` have an index: in others, the variable JOB_COMPLETION_INDEX and the label do not exist. With
 * MASTER_ADDR alone, their pods look for the first of them without knowing which one it is. The name of a pod is not a rank, and ends in random letters in
 * such Jobs and in Deployments.
 *
 * On machines of SkyPilot and dstack, torchrun without `--nnodes` trains the same model once on each machine.
 *
 * torchrun takes rank 0 if a command has neither a rank nor a rendezvous, and meets at its own localhost without an address. It reads `PET_NODE_RANK` and
 * `PET_MASTER_ADDR`, but not `RANK` and `MASTER_ADDR`. A rendezvous has one `--rdzv-id` for all pods. DeepSpeed finds other nodes only in a
 * hostfile. Volcano's `VC_TASK_INDEX` starts at 0 in each task of a job.
 *
 * `LOCAL_RANK` is the GPU of one process: fixed in a container with several GPUs, it leaves all but one of them idle.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   completions: 4
 *   parallelism: 4
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nnodes=4, --node-rank=0, --master-addr=train-0.train, train.py]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   completions: 4
 *   parallelism: 4
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nnodes=4, --node-rank=$(JOB_COMPLETION_INDEX), --master-addr=train-0.train, train.py]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the mode of an existing Job cannot change.
 *
 * ## When it is silent
 *
 * If the rank comes from a variable without a known value, if a script, a queue or another service may give it, if the job has one node, and for the leader or master of a group. A missing rank
 * is reported only for the jobs whose controllers set no variables for torchrun: Jobs, JobSets, StatefulSets, Volcano's Jobs, and PyTorchJobs that
 * have neither a Master nor an `elasticPolicy`.
 * If the numbers of pods and of nodes are variables, a fixed rank is information, as is MASTER_ADDR if the program of the image is unknown: it
 * may meet the others without ranks. The severity is error if the job can certainly not start: a flag has the same rank in all pods, torchrun finds no other node, or a launcher
 * gets an empty rank.
 *
 * ## Sources
 *
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 * - [SkyPilot: distributed jobs](https://docs.skypilot.co/en/latest/running-jobs/distributed-jobs.html)
 * - [Kubernetes: Indexed Jobs](https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode)
 */
export default defineRule({
  topic: 'training',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload } = context;
    const local = container.type === 'app' && !isExempt(workload) ? fixedLocalRank(container, podSet) : undefined;
    if (local !== undefined && !workload.partial) {
      context.report({
        message: `LOCAL_RANK ${local.value.value} gives the only process GPU ${local.value.value}: the other ${plural(local.gpus - 1, 'GPU')} of the container ${local.gpus === 2 ? 'stays' : 'stay'} idle; torchrun starts a process for each`,
        span: spanOf(local.value.at),
      });
    }
    if (checkTasks(container, context) || checkRoles(container, context)) return;
    const groups = groupsOf(workload);
    const pods = podSet.pods.min === null || groups === null ? null : podSet.pods.min / Math.max(groups, 1);
    if (podSet.pods.min === null && container.type === 'app') checkOpen(container, context);
    if (pods === null || pods < 2 || container.type !== 'app' || isExempt(workload)) return;
    if (kindOf(workload).sameScript === true) checkAlone(container, pods, 'nodes', context);
    if (workload.partial) return;
    if (startsTogether(workload)) checkAlone(container, pods, 'pods', context);
    if (meetsByVariable(container, workload) && checkAlone(container, pods, 'pods', context, /^PET_/)) return;
    if (container.accelerators.length === 0 || isOneOfGroup(podSet)) return;
    const index = missingIndex(container, context.document, workload);
    if (index !== undefined) {
      context.report({
        severity: index.isRank ? 'error' : 'warning',
        message: `${index.text} is ${index.isOwn ? 'not set' : 'empty'} without completionMode Indexed: ${index.isRank ? 'the launch stops, because its rank is not a number' : 'programs stop when they read it as a number'}`,
        span: index.span,
        fixes: () => [indexedFix(index.job, context)],
      });
      return;
    }
    const named = namedRank(container, context.document, podSet, workload);
    if (named !== undefined) {
      const { job, ...found } = named;
      context.report({ ...found, fixes: () => (job === undefined ? [] : [indexedFix(job, context)]) });
      return;
    }
    const rank = fixedRank(container, context);
    if (rank !== undefined) {
      context.report({
        // A script may set the variable again.
        severity: rank.isFlag ? 'error' : 'warning',
        message: `${shorten(rank.text, 40)} is the same in all ${pods} pods: each needs its own rank, so the job never starts`,
        span: rank.span,
      });
      return;
    }
    const master = ownMaster(container, context.document, workload);
    if (master !== undefined) {
      context.report({
        severity: 'error',
        message: `${shorten(master.text, 40)} is ${master.what}: the ${pods} pods never find each other`,
        span: master.span,
      });
      return;
    }
    const nodes = unmetNodes(container, context.document, workload);
    if (nodes !== undefined) {
      context.report({ severity: 'error', message: unmetMessage(nodes, pods), span: nodes.span });
      return;
    }
    const meeting = unrankedMeeting(container, workload);
    if (meeting === undefined || isElsewhere(meeting.address, workload, context.crossReferences)) return;
    // rank-without-dns reports the address of a pod of the Job.
    if (workload.name !== null && meeting.address.startsWith(`${workload.name}-`)) return;
    context.report({
      ...(meeting.isLikely && { severity: 'info' }),
      message: `${meeting.text} makes the ${pods} pods one job, but nothing tells a pod its rank: only Jobs with completionMode Indexed number their pods`,
      span: meeting.span,
    });
  },
});

/** Reports a rank next to a number of nodes that is a variable: it is right for one node only. */
function checkOpen(container: Container, context: PodSetContext): void {
  const { podSet, workload, report } = context;
  if (workload.partial || isExempt(workload) || container.accelerators.length === 0 || isOneOfGroup(podSet)) return;
  const rank = fixedRank(container, context, /^\$\{?[A-Z_a-z]\w*\}?$/);
  if (rank?.isFlag !== true) return;
  report({
    severity: 'info',
    message: `${shorten(rank.text, 40)} is the same in all pods: with more than one node, the job never starts`,
    span: rank.span,
  });
}

/** Reports roles of one group that have the same rank; whether it did. */
function checkRoles(container: Container, { document, podSet, workload, report }: PodSetContext): boolean {
  const shared = container.accelerators.length === 0 ? undefined : sharedRank(container, podSet, workload);
  const span = shared && spanOfWords(document, container, shared.words);
  if (shared === undefined || span === undefined) return false;
  const message = `${shorten(shared.text, 40)} is also the rank of ${shorten(shared.tasks, 40)}: each pod needs its own rank, so the job never starts`;
  report({ severity: 'error', message, span });
  return true;
}

/** Reports tasks that form one group, in which each pod has only the index in its own task; whether it reported any. */
function checkTasks(container: Container, context: PodSetContext): boolean {
  const { document, podSet, workload, report } = context;
  if (kindOf(workload).tasks !== true || container.type !== 'app' || container.accelerators.length === 0) return false;
  const repeated = repeatedRank(container, podSet, workload);
  const span = repeated && spanOfWords(document, container, repeated.words);
  if (repeated !== undefined && span !== undefined) {
    report({
      severity: 'error',
      message: `${shorten(repeated.text, 40)} starts at 0 in each task: ${shorten(repeated.tasks, 40)} both have rank ${repeated.rank}, so the job never starts`,
      span,
    });
    return true;
  }
  const total = leastPods(workload);
  const nodes = workload.podSets.length > 1 && total > 1 ? unmetNodes(container, document, workload) : undefined;
  if (nodes === undefined) return false;
  report({ severity: 'error', message: unmetMessage(nodes, total), span: nodes.span });
  return true;
}

/**
 * Reports torchrun on machines that all run the same script, if nothing tells it of the other machines; whether it did.
 * @param tells the names of variables that tell it
 */
function checkAlone(
  container: Container,
  nodes: number,
  what: 'nodes' | 'pods',
  { document, podSet, report }: PodSetContext,
  tells?: RegExp,
): boolean {
  if (podSet.accelerators.length === 0) return false;
  const words = launchAlone(processInput(container), tells);
  const span = words && spanOfWords(document, container, words);
  if (span === undefined) return false;
  report({
    message: `torchrun without --nnodes trains alone on each of the ${nodes} ${what}: all of them do the same work`,
    span,
  });
  return true;
}

interface FixedRank extends Rank {
  readonly isFlag: boolean;
}

/** @param several what the number of nodes is, if there are several */
function fixedRank(
  container: Container,
  { document, podSet, workload }: PodSetContext,
  several = /^(?!0*1$)\d{1,5}$/,
): FixedRank | undefined {
  const { command, args, env } = processInput(container);
  const commands = allCommands(readCommandLine(command, args, env).statements);
  const flags = commands.flatMap(({ words }) => readFlags(words));
  const assigned = assignedVariables(container);
  const nodes = [
    ...assigned
      .filter(({ name }) => /^(?:PET_)?(?:NNODES|NUM_NODES|NUM_MACHINES)$/.test(name))
      .map(({ value }) => value),
    ...flags.filter((flag) => isNodeCount({ ...flag, dynamic: false })).map(({ value }) => value),
    ...env
      .filter(({ name }) => /^(?:PET_)?(?:NNODES|NUM_NODES|NUM_MACHINES)$|^WORLD_SIZE$/.test(name))
      .map(({ value }) => value),
  ];
  const lines = [...container.command, ...container.args];
  const inFile = configuredRank(container);
  const ofFile = inFile && spanOfWords(document, lines, inFile.words);
  if (ofFile !== undefined) return { text: inFile?.text ?? '', span: ofFile, isFlag: true };
  if (!nodes.some((count) => several.test(count ?? '') && count !== '0')) return undefined;
  const ranks = flags.filter((flag) => meaningOf(flag, 'node-rank') !== undefined);
  for (const flag of ranks) {
    // Each pod takes one of the branches of a script.
    if (ranks.some(({ value }) => value !== flag.value)) break;
    // A variable that the script sets or reads in a loop differs from pod to pod in other ways.
    if (flag.dynamic || flag.isVariable || flag.word.derived) continue;
    const last = flag.valueWord ?? flag.word;
    const span = /^\d{1,5}$/.test(flag.value ?? '') ? spanOfWords(document, lines, [flag.word, last]) : undefined;
    if (span !== undefined)
      return { text: last === flag.word ? flag.word.text : `${flag.word.text} ${last.text}`, span, isFlag: true };
  }
  // These controllers set the variables of each pod themselves.
  if (setsRanks(workload)) return undefined;
  const given = assigned.find(({ name, value }) => isRankName(name) && /^\d{1,5}$/.test(value));
  const isOnly = given !== undefined && isSetOnce(given.name, lines.map(({ value }) => value).join('\n'));
  const span = given && isOnly ? spanOfWords(document, lines, [given.word, given.word]) : undefined;
  if (given !== undefined && span !== undefined) return { text: given.word.text, span, isFlag: false };
  for (const variable of container.env) {
    const value = variable.value ?? labelled(variable, podSet);
    if (value === undefined || !isRankName(variable.name) || !/^\d{1,5}$/.test(value.value)) continue;
    return { text: `${variable.name}=${value.value}`, span: spanOf(value.at), isFlag: false };
  }
  return undefined;
}

/** Whether a script sets a variable once: a branch, `read`, arithmetic or another script may set it again. */
function isSetOnce(name: string, script: string): boolean {
  const others = script.split(new RegExp(`(?<![\\w$\{])${name}(?!\\w)`));
  return others.length === 2 && !/(?:^|[;&|\n])[ \t]*(?:source|eval|\.)[ \t]/.test(script);
}

function indexedFix(job: Cursor, { document }: PodSetContext) {
  // An Indexed Job needs a number of completions.
  if (getIn(job, 'completions') === undefined) return undefined;
  const edits = setKey(document, job, 'completionMode', 'Indexed', { after: 'completions' });
  return fix('Set completionMode to Indexed', 'unsafe', edits);
}

import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { processInput } from '../evidence/launch.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * All pods of a distributed job have the same fixed rank.
 *
 * ## Why
 *
 * Each node of a distributed job needs its own rank. A number in the pod template is the same in every pod, so all of them claim one rank
 * and wait for the others: the job never starts, and all its accelerators stay idle. The rank must come from the pod's index.
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
 * ## When it is silent
 *
 * If the rank comes from a variable without a known value, if the job has one node, and for the leader or master of a group.
 *
 * ## Sources
 *
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 * - [Kubernetes: Indexed Jobs](https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode)
 */
export default defineRule({
  topic: 'training',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload } = context;
    const pods = podSet.pods.min;
    if (pods === null || pods < 2 || container.type !== 'app' || workload.partial || isExempt(workload)) return;
    if (container.accelerators.length === 0 || isOneOfGroup(podSet)) return;
    const rank = fixedRank(container, context);
    if (rank === undefined) return;
    context.report({
      message: `${shorten(rank.text, 40)} is the same in all ${pods} pods: each needs its own rank, so the job never starts`,
      span: rank.span,
    });
  },
});

/** The first pods of groups: there are as many as groups. */
function isOneOfGroup({ name }: PodSet): boolean {
  return /leader|head|master|launcher|driver|coordinator/i.test(name);
}

interface Rank {
  readonly text: string;
  readonly span: Span;
}

function fixedRank(container: Container, { document, workload }: PodSetContext): Rank | undefined {
  const { command, args, env } = processInput(container);
  const commands = allCommands(readCommandLine(command, args, env).statements);
  const flags = commands.flatMap(({ words }) => readFlags(words));
  const nodes = [
    ...flags.filter(isNodeCount).map(({ value }) => value),
    ...env
      .filter(({ name }) => /^(?:PET_)?(?:NNODES|NUM_NODES|NUM_MACHINES)$|^WORLD_SIZE$/.test(name))
      .map(({ value }) => value),
  ];
  if (!nodes.some((count) => /^\d{1,5}$/.test(count ?? '') && Number(count) > 1)) return undefined;
  const lines = [...container.command, ...container.args];
  for (const flag of flags) {
    // A variable that the script sets or reads in a loop differs from pod to pod in other ways.
    if (flag.dynamic || flag.isVariable || flag.word.derived || meaningOf(flag, 'node-rank') === undefined) continue;
    const last = flag.valueWord ?? flag.word;
    const span = /^\d{1,5}$/.test(flag.value ?? '') ? spanOfWords(document, lines, [flag.word, last]) : undefined;
    if (span !== undefined)
      return { text: last === flag.word ? flag.word.text : `${flag.word.text} ${last.text}`, span };
  }
  // These controllers set the variables of each pod themselves.
  if (/^(?:trainer\.)?kubeflow\.org\/|^batch\.volcano\.sh\//.test(workload.apiVersion)) return undefined;
  const variable = container.env.find(({ name, value }) => isRankName(name) && /^\d{1,5}$/.test(value?.value ?? ''));
  return variable?.value && { text: `${variable.name}=${variable.value.value}`, span: spanOf(variable.value.at) };
}

function isNodeCount(flag: Flag): boolean {
  const words = wordsOf(flag.written).join(' ');
  return !flag.dynamic && /^(?:nnodes|n nodes|num nodes|num machines)$/.test(words);
}

function isRankName(name: string): boolean {
  return /^(?:PET_)?(?:NODE_RANK|MACHINE_RANK|GROUP_RANK|RANK)$/.test(name);
}

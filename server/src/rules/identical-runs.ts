import { partOf } from '../catalog/word-patterns.ts';
import { allCommands } from '../command/shell.ts';
import { plural } from '../cost/money.ts';
import { checkpointSigns, mayHaveVariables, mayRunMore } from '../evidence/launch.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { hasDurableMount, isTrial, runsMountedScript } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { commandLineOf } from '../model/process-input.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { asNumber, asText, getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The pods of a Job run the same training and write to the same place.
 *
 * ## Why
 *
 * `parallelism` starts copies of a pod but does not make them parts of one run: without an index, a rank or a queue, each pod trains the same
 * model on its own GPUs, and they overwrite each other's checkpoints. Several GPUs of one pod, or a training job with ranks, make a run faster.
 * Separate runs need a directory each (`completionMode: Indexed` and `$JOB_COMPLETION_INDEX`).
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   parallelism: 4
 *   completions: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [python, train.py, --output_dir=/ckpt/run]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   parallelism: 4
 *   completions: 4
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [python, train.py, --output_dir=/ckpt/run-$(JOB_COMPLETION_INDEX)]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For Indexed Jobs, for programs other than training, and if a variable, a file or a word of the command may tell the pods apart (a rank, a
 * queue, a sweep, the name of the pod).
 *
 * ## Sources
 *
 * - [Kubernetes: parallel execution for Jobs](https://kubernetes.io/docs/concepts/workloads/controllers/job/#parallel-jobs)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'warning',
  wasteful: true,
  podSet(podSet, { workload, document, report }) {
    if (workload.kind !== 'Job' || workload.apiVersion !== 'batch/v1' || workload.partial || document.template) return;
    if (!hasRole(workload, 'training') || isTrial(workload) || !requestsAccelerators(podSet)) return;
    // The hosts of a TPU slice find each other.
    if (acceleratorByName(podSet.accelerators, 'google.com/tpu') !== undefined) return;
    const spec = getIn(workload.manifest.root, 'spec');
    const [parallelism, completions, mode] = ['parallelism', 'completions', 'completionMode'].map((key) =>
      getIn(spec, key),
    );
    const pods = asNumber(parallelism) ?? 0;
    if (parallelism === undefined || pods < 2 || isUnseen(spec) || isTemplated(completions)) return;
    if (asNumber(completions) === 1 || (mode !== undefined && asText(mode) !== 'NonIndexed')) return;
    const [container, ...others] = podSet.containers;
    if (container === undefined || others.length > 0 || isIncomplete(container.at) || mayRunMore(container)) return;
    if (mayHaveVariables(container) || runsMountedScript(container, podSet) || container.scripts.length > 0) return;
    const lines = [...container.command, ...container.args];
    const isTold = container.env.some(({ name, value }) => value === undefined || mayTell.test(name));
    if (isTold || lines.some(({ value }) => mayTell.test(value))) return;
    const { statements, complete } = commandLineOf(container);
    if (!complete || allCommands(statements).some(({ words }) => words.some(({ dynamic }) => dynamic))) return;
    const place = checkpointSigns(container).find(
      ({ kind, flag }) => flag !== undefined && /^(?:path|store)$/.test(kind),
    );
    if (place === undefined) return;
    // In a directory of its own, no pod sees what the others write.
    const isShared = place.kind === 'store' || hasDurableMount(container, podSet);
    const writes = isShared ? ` and write to ${shorten(place.text, 40)}` : '';
    const follows = isShared ? 'overwrite each other and ' : '';
    report({
      message: `All ${plural(pods, 'pod')} run the same training${writes}: they ${follows}finish no sooner than one`,
      span: spanOf(parallelism),
    });
  },
});

/** What may give each pod a part of the work. */
const mayTell = partOf(
  'rank world master nnodes node_ rdzv horovod mpi dist',
  'index shard seed fold split worker queue redis rabbit kafka pubsub sqs celery nats mongo postgres mysql sqlite database',
  'sweep agent optuna study trial tune host pod_ uuid random date mktemp',
);

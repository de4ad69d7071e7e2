import { findHiddenFailure } from '../command/hidden-failure.ts';
import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { processInput } from '../model/process-input.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A job succeeds even if its program fails.
 *
 * ## Why
 *
 * The exit status of a container is that of the last command of its script, and the status of a pipe is that of its last part. Behind
 * `| tee train.log` or `|| echo failed`, a program that crashes ends with success: nothing restarts it from its checkpoint, and whatever
 * waits for the job continues without a model. For pipes, add `set -o pipefail` to the script; otherwise, end it with the status of the program.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:2.1
 *           command: ["bash", "-c", "torchrun --nproc-per-node=1 train.py | tee /data/train.log"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:2.1
 *           command: ["bash", "-o", "pipefail", "-c", "torchrun --nproc-per-node=1 train.py | tee /data/train.log"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For programs that are neither known to train nor the only Python script of the command line, if the script reads the status (`$?`,
 * `PIPESTATUS`, `trap`), does other work at its end, or may end with `exit`, for templates, and for kinds whose pods stay up. If the script
 * goes on and ends with a message or a copy of the results (`; echo done`, `; rclone copy`), the finding is information only.
 *
 * ## Sources
 *
 * - [POSIX: exit status of pipelines and lists](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_09)
 * - [Kubernetes: Jobs](https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet, document } = context;
    const { kind, apiVersion, role } = workload;
    if (container.type !== 'app' || knownRequests(container).length === 0 || isExempt(workload)) return;
    if ((role !== 'batch' && role !== 'training') || likeKind(groupOf(apiVersion), kind)?.staysUp === true) return;
    const lines = [...container.command, ...container.args];
    if (podSet.pods.max === 0 || lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
    const hidden = findHiddenFailure(processInput(container));
    const span = hidden && spanOfWords(document, lines, hidden.words);
    if (hidden === undefined || span === undefined) return;
    context.report({
      severity: hidden.behind.startsWith(';') ? 'info' : 'warning',
      message: `"${shorten(hidden.behind, 30)}" hides the exit status of ${shorten(hidden.program, 30)}: the ${kind} succeeds even if its work fails`,
      span,
    });
  },
});

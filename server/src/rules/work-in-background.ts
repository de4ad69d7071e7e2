import { detaches } from '../command/background.ts';
import { saysSomething } from '../command/hidden-failure.ts';
import { programWords, recognizeProgram } from '../command/programs.ts';
import { baseName, type Statement } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { isListedContainer } from '../model/pod.ts';
import { commandLineOf } from '../model/process-input.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A script starts its program in the background and ends.
 *
 * ## Why
 *
 * A container lives as long as its first process. If that is a shell whose script ends with `python train.py &`, the shell exits at once,
 * the container stops, and the program is killed before it has used the GPU. A Job even succeeds. Remove the `&`, or end the script
 * with `wait`. The same applies to a detached session of tmux or screen (`tmux new -d`).
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   restartPolicy: Never
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command: ["bash", "-c", "python train.py > /data/log 2>&1 &"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   restartPolicy: Never
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command: ["bash", "-c", "python train.py > /data/log 2>&1"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If anything but a message follows, if another known program runs before it, for traps, for Ray's clusters, whose operator appends `ray start`,
 * for templates, and for scripts that cannot be read as a whole.
 *
 * ## Sources
 *
 * - [POSIX: asynchronous lists](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_09_03_02)
 * - [Kubernetes: pod lifecycle](https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, { workload, podSet, document, report }) {
    const lines = [...container.command, ...container.args];
    if (groupOf(workload.apiVersion) === 'ray.io') return;
    if (container.type !== 'app' || !requestsAccelerators(podSet) || !isListedContainer(container.at)) return;
    if (!lines.some(({ value }) => /&\s*(?:$|[^&>\s])|tmux|screen|setsid|start-stop/.test(value))) return;
    if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
    const { statements, script, complete } = commandLineOf(container);
    const at = statements.map((one) => saysSomething(one)).lastIndexOf(false);
    const last = statements[at];
    if (!script || !complete || last?.kind !== 'command') return;
    const detached = !last.background && detaches(last);
    if (!(last.background || detached) || statements.slice(0, at).some(worksBefore)) return;
    const [first] = last.words;
    const end = last.words.at(-1);
    const span = first && end && spanOfWords(document, lines, [first, end]);
    if (span === undefined) return;
    const program = shorten(baseName((detached ? first?.text : programWords(last)[0]) ?? ''), 30);
    report({
      message: detached
        ? `${program} does not wait for its program, and the shell ends: the container exits at once; run the program itself`
        : `${program} starts in the background, and the shell ends: the container exits at once; remove the &, or end with wait`,
      span,
    });
  },
});

/** Whether the work of the container may come before its end. */
function worksBefore(statement: Statement): boolean {
  if (statement.kind !== 'command') return statement.kind === 'loop' || statement.body.some(worksBefore);
  // A trap may wait.
  if (statement.words[0]?.text === 'trap') return true;
  return !statement.background && recognizeProgram([statement])?.use != null;
}

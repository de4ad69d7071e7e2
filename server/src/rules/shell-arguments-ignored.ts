import { baseName } from '../command/shell.ts';
import { innerScript, isShell } from '../command/wrappers.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import { isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A shell runs only the first argument after `-c` and ignores the rest.
 *
 * ## Why
 *
 * `bash -c` takes the whole script as one argument. With `[bash, -c, python, train.py]` the script is `python`, and `train.py` becomes its
 * parameter `$0`, which nothing reads: Python starts without a program and ends at once. Write the command line as one item, or omit the
 * shell.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command: ["/bin/bash", "-c"]
 *       args: ["python", "train.py", "--epochs", "3"]
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
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command: ["/bin/bash", "-c"]
 *       args: ["python train.py --epochs 3"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For scripts that read their parameters (`$0`, `$1`, `$@`), for templates, chart values and unknown kinds, and for pods without
 * accelerators.
 *
 * ## Sources
 *
 * - [POSIX: sh](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/sh.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet } = context;
    const lines = [...container.command, ...container.args];
    const list = container.at.parent;
    if (!requestsAccelerators(podSet) || workload.byShape || isValues(workload) || lines.length < 4) return;
    if (list === undefined || !/^(?:init)?[cC]ontainers$/.test(keyOf(list) ?? '')) return;
    if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
    const inner = innerScript(lines.map(({ value }) => value));
    const script = inner && inner.launcher === 0 ? lines[inner.from] : undefined;
    const rest = inner === undefined ? [] : lines.slice(inner.to);
    const [first] = rest;
    const isOwn = lines.slice(0, inner?.from).some(({ value }) => isShell(baseName(value)));
    if (script === undefined || first === undefined || !isOwn || /\$[\d@*#{(]|\bshift\b|\bset --/.test(script.value))
      return;
    // A name for `$0` is a custom: `sh -c script sh`.
    if (rest.length === 1 && (/^[_-]+$/.test(first.value) || isShell(baseName(first.value)))) return;
    const more = rest.length > 1 ? ` and ${rest.length - 1} more` : '';
    context.report({
      message: `The shell runs only "${shorten(oneLine(script.value), 40)}": it ignores "${shorten(oneLine(first.value), 24)}"${more}`,
      span: spanOf(first.at),
    });
  },
});

function oneLine(text: string): string {
  return text.slice(0, 200).trim().replace(/\s+/g, ' ');
}

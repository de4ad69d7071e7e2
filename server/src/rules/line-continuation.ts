import { allCommands, baseName, type SimpleCommand } from '../command/shell.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { spanInScalar, spanOfWords } from '../rewrite/word-span.ts';
import { isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A line of a script starts with a flag, because the command above it has already ended.
 *
 * ## Why
 *
 * A command continues on the next line only after a backslash that is the last character of its line. Without the backslash, with a space
 * after it, or with a comment between the lines, the program runs without its other flags, and the shell then looks for a
 * program named `--epochs`. In YAML, `>` joins lines only if they have the same indentation.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:2.1
 *           command: ["bash", "-c"]
 *           args:
 *             - |
 *               python train.py --data /data
 *                 --epochs 3
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
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:2.1
 *           command: ["bash", "-c"]
 *           args:
 *             - |
 *               python train.py --data /data \
 *                 --epochs 3
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For templates, for scripts that cannot be read as a whole, and for pods without accelerators.
 *
 * ## Sources
 *
 * - [POSIX: shell command language](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02_01)
 * - [YAML: folded style](https://yaml.org/spec/1.2.2/#813-folded-style)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, { podSet, document, report }) {
    const lines = [...container.command, ...container.args];
    reportSwallowed(lines, podSet, { document, report });
    if (!namesAccelerators(podSet) || !lines.some(({ value }) => /\n\s*--?[a-zA-Z]/.test(value))) return;
    if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
    const { statements, script, complete } = commandLineOf(container);
    if (!script || !complete) return;
    let before: SimpleCommand | undefined;
    for (const one of allCommands(statements)) {
      const [flag] = one.words;
      const program = baseName(before?.words[0]?.text ?? '');
      const span = flag && isFlag(one) ? spanOfWords(document, lines, [flag, flag]) : undefined;
      if (flag !== undefined && span !== undefined && program !== '' && one.after === null) {
        report({
          message: `${shorten(flag.text, 40)} runs as its own command, so ${shorten(program, 20)} gets no such flag: the line above lacks a final backslash, or is a comment`,
          span,
        });
        return;
      }
      before = one;
    }
  },
});

/** A line of a folded block that starts with `#`: the lines below it become part of the comment. */
function reportSwallowed(
  lines: Container['args'],
  podSet: PodSet,
  { document, report }: Pick<PodSetContext, 'document' | 'report'>,
): void {
  for (const line of lines) {
    const { at, value } = line;
    if (at.node.kind !== 'scalar' || at.node.style !== 'folded' || !value.includes(' #') || isTemplated(at)) continue;
    const span = spanOf(at);
    const written = document.text
      .slice(span.start, span.end)
      .split('\n')
      .map((one) => one.trim());
    const comment = written.findIndex(
      (one, index) => index > 0 && one.startsWith('#') && /^--?[a-zA-Z]/.test(written[index + 1] ?? ''),
    );
    const text = written[comment] ?? '';
    const flag = written[comment + 1] ?? '';
    const start = value.indexOf(` ${text} ${flag}`) + text.length + 2;
    if (comment < 0 || start === text.length + 1 || !namesAccelerators(podSet)) continue;
    report({
      message: `A folded block (>) joins its lines, so the comment above swallows ${shorten(flag, 40)}: remove it, or use | with backslashes`,
      span: spanInScalar(document, line, { start, end: start + flag.length }),
    });
    return;
  }
}

/** Whether a command is a flag as a program is never named. */
function isFlag({ words, assignments }: SimpleCommand): boolean {
  const [first] = words;
  return first !== undefined && assignments.length === 0 && !first.derived && /^--?[a-zA-Z][\w.-]+/.test(first.text);
}

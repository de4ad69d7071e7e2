import { allCommands, baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { neverClosed, strayConnector } from '../command/stray-connectors.ts';
import { innerScript } from '../command/wrappers.ts';
import { joinedLine, startsCommand } from '../evidence/folded-lines.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { commandLineOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { spanInScalar, spanOfWords } from '../rewrite/word-span.ts';
import {
  asText,
  type Cursor,
  entries,
  isIncomplete,
  isTemplated,
  items,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A script's lines end in the wrong place: a flag becomes a command, a command becomes an argument, or `&&` has no command.
 *
 * ## Why
 *
 * A command continues on the next line only after a backslash that is the last character of its line. Without the backslash, with a space
 * after it, or with a comment between the lines, the program runs without its other flags, and the shell then looks for a
 * program named `--epochs`. In YAML, `>` joins lines only if they have the same indentation. Lines that YAML joins need no backslash: it would
 * make the space after it a part of the next word. Commands that YAML joins become arguments of the first one and never run, and a comment swallows them. A
 * `&&` at the start of a line or at the end of the script is a syntax error, and so is a quote or an `if` that never ends.
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
 * For templates, for other scripts that cannot be read as a whole, and for pods without accelerators. In the values of charts, joined lines are a
 * warning.
 *
 * ## Sources
 *
 * - [POSIX: shell command language](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02_01)
 * - [YAML: folded style](https://yaml.org/spec/1.2.2/#813-folded-style)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  workload(workload, { document, report }) {
    if (!isValues(workload) || !document.text.includes('\\') || !workload.podSets.some(namesAccelerators)) return;
    const joined = findJoined(workload.manifest.root, 0);
    if (joined !== undefined)
      report({ severity: 'warning', message: `YAML joins these lines: ${whatBackslashesDo}`, span: spanOf(joined) });
  },
  container(container, { podSet, document, report }) {
    const lines = [...container.command, ...container.args];
    reportSwallowed(lines, podSet, { document, report });
    if (!namesAccelerators(podSet) || lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
    if (reportStray(lines, { document, report }) || reportFolded(container, { document, report })) return;
    if (!lines.some(({ value }) => /\n\s*--?[a-zA-Z]|\\(?: |$)/.test(value))) return;
    const { statements, script, complete } = commandLineOf(container);
    if (!complete) return;
    if (!script) {
      // A list needs no continuation: the program gets the backslash.
      const alone = lines.find(({ value }, index) => value === '\\' && isBetweenFlags(lines, index));
      if (alone !== undefined)
        report({
          message:
            'This backslash is a separate argument, which the program rejects: list items need no line continuation',
          span: spanOf(alone.at),
        });
      return;
    }
    let before: SimpleCommand | undefined;
    for (const one of allCommands(statements)) {
      const joined = one.words.find((word) => isJoined(word, lines));
      const place = joined && spanOfWords(document, lines, [joined, joined]);
      if (joined !== undefined && place !== undefined) {
        report({ message: `YAML joins this line with the next: ${whatBackslashesDo}`, span: place });
        return;
      }
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

/** Reports a `&&` without a command before or behind it, and what is never closed. */
function reportStray(
  lines: Container['args'],
  { document, report }: Pick<PodSetContext, 'document' | 'report'>,
): boolean {
  const inner = lines.length < 2 ? undefined : innerScript(lines.map(({ value }) => value));
  const line = inner?.launcher === 0 ? lines[inner.from] : undefined;
  if (line === undefined || line.at.node.kind !== 'scalar') return false;
  // Others, such as zsh, have more forms.
  const isKnown = lines.slice(0, inner?.from).some(({ value }) => /^(?:ba|da|a)?sh$/.test(baseName(value)));
  const mayOpen = isKnown && /["'`({]|\b(?:if|for|while|until|done|fi)\b/.test(line.value);
  const open = mayOpen ? neverClosed(line.value) : undefined;
  if (open !== undefined) {
    const what =
      open === 'quote' ? 'A quote or an expansion of this script is' : 'An if, a loop or a bracket of this script is';
    report({
      severity: 'warning',
      message: `${what} never closed: the shell rejects it as a syntax error`,
      span: spanOf(line.at),
    });
    return true;
  }
  const found = /&&|\|/.test(line.value) ? strayConnector(line.value) : undefined;
  if (found === undefined) return false;
  const { text, start, place } = found;
  const what =
    place === 'end'
      ? `The script ends with ${text}`
      : place === 'pair'
        ? `${text} follows another operator`
        : `No command precedes ${text}, and a line cannot start with it`;
  report({
    message: `${what}: this is a syntax error, and the shell does not run the command`,
    span: spanInScalar(document, line, { start, end: start + text.length }),
  });
  return true;
}

/** Reports a line that becomes an argument of the command above it. */
function reportFolded(container: Container, { document, report }: Pick<PodSetContext, 'document' | 'report'>): boolean {
  const lines = [...container.command, ...container.args];
  const isFolded = lines.some(({ at, value }) => {
    if (at.node.kind !== 'scalar' || at.node.style === 'literal' || !value.includes(' ')) return false;
    const { start, end } = spanOf(at);
    return document.text.slice(start, end).includes('\n');
  });
  if (!isFolded) return false;
  const { statements, script, complete } = commandLineOf(container);
  const found = script && complete ? joinedLine(statements, lines, document) : undefined;
  if (found === undefined) return false;
  report({
    message: `YAML joins these lines, so "${shorten(found.text, 40)}" becomes arguments of ${found.program}: use |, or end the line above with &&`,
    span: found.span,
  });
  return true;
}

/** Whether an argument follows a complete one and precedes a flag or nothing. It may be the value of `--delimiter`. */
function isBetweenFlags(lines: readonly Located<string>[], index: number): boolean {
  const [before, after] = [lines[index - 1]?.value, lines[index + 1]?.value ?? '-'];
  return before !== undefined && !/^-[^=]*$/.test(before) && after.startsWith('-');
}

const whatBackslashesDo = 'the backslash makes a space part of the next word, which the program rejects';

/** Whether a word starts with an escaped space, which a backslash at the end of a line makes if YAML joins the lines. */
function isJoined({ text, item, start, derived }: Word, lines: readonly Located<string>[]): boolean {
  return !derived && /^ \S/.test(text) && lines[item]?.value.startsWith('\\ ', start) === true;
}

/** The first text with a backslash and a space before a flag, which is what YAML makes of lines that it joins. */
function findJoined(at: Cursor, depth: number): Cursor | undefined {
  if (depth > 12) return undefined;
  if (at.node.kind === 'scalar') return /\\ +--[a-z]/.test(asText(at) ?? '') ? at : undefined;
  for (const child of [...entries(at), ...items(at)]) {
    const found = findJoined(child, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A line of a folded block that starts with `#`: the lines below it become part of the comment. */
function reportSwallowed(
  lines: Container['args'],
  podSet: PodSet,
  { document, report }: Pick<PodSetContext, 'document' | 'report'>,
): void {
  for (const line of lines) {
    const { at, value } = line;
    if (at.node.kind !== 'scalar' || at.node.style !== 'folded' || !/(?:^| )#/.test(value) || isTemplated(at)) continue;
    const span = spanOf(at);
    const written = document.text
      .slice(span.start, span.end)
      .split('\n')
      .map((one) => one.trim());
    const comment = written.findIndex((one, index) => {
      const next = written[index + 1] ?? '';
      return index > 0 && one.startsWith('#') && (/^--?[a-zA-Z]/.test(next) || startsCommand(next));
    });
    const text = written[comment] ?? '';
    const next = written[comment + 1] ?? '';
    const found = ` ${value}`.indexOf(` ${text} ${next}`);
    if (comment < 0 || found < 0 || !namesAccelerators(podSet)) continue;
    const start = found + text.length + 1;
    const remedy = next.startsWith('-') ? 'use | with backslashes' : 'use |';
    report({
      message: `A folded block (>) joins its lines, so the comment above swallows ${shorten(next, 40)}: remove it, or ${remedy}`,
      span: spanInScalar(document, line, { start, end: start + next.length }),
    });
    return;
  }
}

/** Whether a command is a flag as a program is never named. */
function isFlag({ words, assignments }: SimpleCommand): boolean {
  const [first] = words;
  return first !== undefined && assignments.length === 0 && !first.derived && /^--?[a-zA-Z][\w.-]+/.test(first.text);
}

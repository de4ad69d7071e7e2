import type { CrossReferences } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { type Cursor, keyOf, keySpanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { tableOf } from '../yaml/table.ts';

// Signs that somebody chose a value on purpose: advice to choose another one would only repeat the question.

/** Whether a comment next to a field, on its line or directly above it, explains its value. A commented field is not an explanation. */
export function isExplained(field: Cursor, { text, comments }: YamlDocument): boolean {
  const { start } = keySpanOf(field);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = endOfLine(text, start);
  const lineBefore = lineStart === 0 ? 0 : text.lastIndexOf('\n', lineStart - 2) + 1;
  return comments.some(({ text: comment, span, ownLine }) => {
    const near = ownLine
      ? span.start >= lineBefore && span.start < lineStart
      : span.start >= start && span.start < lineEnd;
    return near && /[a-z]{3}/i.test(comment) && !/^#+\s*(?:-\s+)?[\w./-]+:(?:\s|$)|^#+\s*gpulint\b/.test(comment);
  });
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** Whether a PodDisruptionBudget keeps pods of the workload available: somebody needs them at all times. */
export function hasBudget(workload: Workload, crossReferences: CrossReferences): boolean {
  const { apiVersion, kind, name, namespace } = workload;
  return workload.podSets.some(({ labels }) => {
    const written = labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
    const serves = name !== null && kind === 'InferenceService' && groupOf(apiVersion) === 'serving.kserve.io';
    // Labels that KServe adds.
    const added: [string, string][] = serves
      ? [
          ['serving.kserve.io/inferenceservice', name],
          ['component', 'predictor'],
          ['app', `isvc.${name}-predictor`],
        ]
      : [];
    const all = [...written, ...added];
    return all.length > 0 && crossReferences.budgetsOf(namespace, tableOf(all)).length > 0;
  });
}

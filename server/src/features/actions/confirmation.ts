import type { FileAnalysis } from '../../analysis.ts';
import { plural } from '../../cost/money.ts';
import type { TextEdit } from '../../yaml/span.ts';

/**
 * Why a user should review a change first: it reaches beyond the line of the caret. Undefined for safe changes, and for changes of one object
 * that remove at most one line: these are visible at the caret, and one undo reverts them.
 */
export function confirmationOf(file: FileAnalysis, edits: readonly TextEdit[], safe: boolean): string | undefined {
  if (safe) return undefined;
  const objects = objectsOf(file, edits);
  if (objects > 1) return `Changes ${plural(objects, 'object')} in this file`;
  const removed = Math.max(0, ...edits.map((edit) => linesRemoved(file.text, edit)));
  return removed > 1 ? `Removes ${plural(removed, 'line')}` : undefined;
}

function objectsOf({ documents }: FileAnalysis, edits: readonly TextEdit[]): number {
  const places = documents.flatMap(({ manifests, base }) =>
    manifests.map(({ root }) => ({ start: root.node.span.start + base, end: root.node.span.end + base })),
  );
  return places.filter(({ start, end }) => edits.some(({ span }) => span.start < end && span.end >= start)).length;
}

/** The number of lines that an edit removes. */
function linesRemoved(text: string, { span, newText }: TextEdit): number {
  return text.slice(span.start, span.end).split('\n').length - newText.split('\n').length;
}

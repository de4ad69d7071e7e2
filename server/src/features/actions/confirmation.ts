import type { FileAnalysis } from '../../analysis.ts';
import { plural } from '../../cost/format.ts';
import type { TextEdit } from '../../yaml/span.ts';

/**
 * Why a person should look at a change before it is made: it reaches further than the line at which it was chosen. Undefined for what is
 * safe, and for a change of one object that takes no more than a key away: that is seen where the caret is, and one undo takes it back.
 */
export function confirmationOf(file: FileAnalysis, edits: readonly TextEdit[], safe: boolean): string | undefined {
  if (safe) return undefined;
  const objects = objectsOf(file, edits);
  if (objects > 1) return `Changes ${plural(objects, 'object')} of this file`;
  const removed = Math.max(0, ...edits.map((edit) => linesRemoved(file.text, edit)));
  return removed > 1 ? `Removes ${plural(removed, 'line')}` : undefined;
}

function objectsOf({ documents }: FileAnalysis, edits: readonly TextEdit[]): number {
  const places = documents.flatMap(({ manifests, base }) =>
    manifests.map(({ root }) => ({ start: root.node.span.start + base, end: root.node.span.end + base })),
  );
  return places.filter(({ start, end }) => edits.some(({ span }) => span.start < end && span.end >= start)).length;
}

/** Whole lines that are gone after an edit. */
function linesRemoved(text: string, { span, newText }: TextEdit): number {
  return text.slice(span.start, span.end).split('\n').length - newText.split('\n').length;
}

import type { DocumentAnalysis } from '../../analysis.ts';
import { getIn, rootCursor } from '../../yaml/cursor.ts';
import type { YamlDocument } from '../../yaml/node.ts';
import { splitObjects } from '../../yaml/parse.ts';
import type { TextEdit } from '../../yaml/span.ts';
import { splitList } from '../../yaml/split-list.ts';

/**
 * False if the parser had to recover from errors, including duplicate keys, and for line endings that Kubernetes' parser counts differently:
 * YAML 1.1 has more of them.
 */
function isFullyParsed({ document, text }: DocumentAnalysis): boolean {
  return document.skipped === null && document.problems.length === 0 && !/\r(?!\n)|[\u0085\u2028\u2029]/.test(text);
}

/** Whether an edit leaves the document usable: it was read without errors, and SOPS has not signed its values. */
export function isEditable(analysis: DocumentAnalysis): boolean {
  return isFullyParsed(analysis) && !isSigned(analysis.document);
}

/** The signature (`mac`) covers every value of an encrypted file, and SOPS decrypts none without it. https://getsops.io/docs/ */
function isSigned({ root }: YamlDocument): boolean {
  return root !== null && getIn(rootCursor(root), 'sops', 'mac') !== undefined;
}

/** Whether there are edits, all within the text, which do not overlap and insert little enough to review. */
export function areApplicable(edits: readonly TextEdit[], text: string): boolean {
  const ordered = [...edits].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  let end = 0;
  for (const { span } of ordered) {
    if (span.start < end || span.end < span.start || span.end > text.length) return false;
    end = span.end;
  }
  return (
    ordered.length > 0 && ordered.reduce((sum, { newText }) => sum + newText.length, 0) <= maxInserted + text.length / 4
  );
}

/** Larger insertions, or ones above a quarter of the document, are too long to review and slow to prove. */
const maxInserted = 20_000;

/** Whether the file splits at the same places, so that the text before and after the document is unaffected. */
export function splitsAlike({ text: before, item }: DocumentAnalysis, after: string): boolean {
  if (/^\uFEFF?---/.test(before) !== /^\uFEFF?---/.test(after)) return false;
  if (/\n$/.test(before) && !/\n$/.test(after)) return false;
  if (item) return isOneItem(after);
  const [only, ...others] = splitObjects(after);
  return only?.text === after && others.length === 0;
}

/** Hide suppression comments: with one of them, the list would be a single document. */
function isOneItem(text: string): boolean {
  const list = `apiVersion: v1\nkind: List\nitems:\n${text.replaceAll('gpulint-disable', 'gpulint-')}`;
  return splitList({ base: 0, text: list }, 0)?.length === 2;
}

/** Whether edits insert only line ends of the kind that the text has. A text with both kinds has no kind to keep. */
export function keepsLineEnds(text: string, edits: readonly TextEdit[]): boolean {
  const windows = text.includes('\r\n');
  if (windows && /(?<!\r)\n/.test(text)) return true;
  return edits.every(({ newText }) =>
    windows ? !/(?<!\r)\n/.test(newText) : !newText.includes('\r') || !text.includes('\n'),
  );
}

/** Whether a text is JSON, and not YAML in flow style. */
export function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether the changed document has no problem, is read as a template if it was one, and has all comments. */
export function parsesAlike(before: DocumentAnalysis, after: DocumentAnalysis): boolean {
  const [was, is] = [before.document, after.document];
  return (
    is.skipped === null &&
    is.template === was.template &&
    is.problems.length === 0 &&
    !hasMore(counted(was.comments, commentKey), counted(is.comments, commentKey))
  );
}

function commentKey({ text }: { readonly text: string }): string {
  return text.trimEnd();
}

/** How many of the values have each key. */
export function counted<T>(values: readonly T[], key: (value: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}

/** Whether one has a higher count for any key than the other. */
export function hasMore(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return [...one].some(([key, count]) => count > (other.get(key) ?? 0));
}

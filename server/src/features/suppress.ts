import { Analysis, type DocumentAnalysis, type FileAnalysis } from '../analysis.ts';
import type { Finding } from '../rules/rule.ts';
import { disableAnnotation } from '../rules/suppressions.ts';
import { asText, at, type Cursor } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { applyEdits, type Span, shiftSpan, type TextEdit } from '../yaml/span.ts';

/** How a finding is silenced. */
export interface Silencing {
  readonly title: string;
  /** Offsets of the file. */
  readonly edits: readonly TextEdit[];
  /** The word that a person writes the reason over; of the file after the edit. */
  readonly reason: Span | undefined;
}

/**
 * A comment above the finding's line that silences its rule there; where no comment can stand (in JSON, within a text of several lines),
 * the annotation of its object. Undefined where neither would silence it: each way is tried on a copy first.
 */
export function silence(file: FileAnalysis, document: DocumentAnalysis, finding: Finding): Silencing | undefined {
  return byComment(file, document, finding) ?? byAnnotation(file, document, finding);
}

const placeholder = 'reason';

function byComment(file: FileAnalysis, document: DocumentAnalysis, finding: Finding): Silencing | undefined {
  const { text, base } = document;
  // JSON has no comments, and what looks like JSON is most often read by something that has none either.
  if (/^\s*[{[]/.test(text) || /\.jsonc?$/.test(file.uri)) return undefined;
  const start = text.lastIndexOf('\n', finding.span.start - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
  const eol = file.text.includes('\r\n') ? '\r\n' : '\n';
  const comment = `${indent}# gpulint-disable-next-line ${finding.rule} -- ${placeholder}`;
  const edits = [{ span: { start, end: start }, newText: comment + eol }];
  if (!silences(file, document, finding, edits, 1)) return undefined;
  const end = base + start + comment.length;
  return {
    title: `Silence ${finding.rule} on this line`,
    edits: toFile(edits, base),
    reason: { start: end - placeholder.length, end },
  };
}

function byAnnotation(file: FileAnalysis, document: DocumentAnalysis, finding: Finding): Silencing | undefined {
  const manifest = document.manifests.find(
    ({ root }) => root.node.span.start <= finding.span.start && finding.span.start <= root.node.span.end,
  );
  const metadata = manifest && at(manifest.root, 'metadata');
  if (metadata === undefined) return undefined;
  const edits = annotate(document, metadata, finding.rule);
  if (edits === undefined || !silences(file, document, finding, edits, 0)) return undefined;
  return { title: `Silence ${finding.rule} for this object`, edits: toFile(edits, document.base), reason: undefined };
}

function annotate({ document }: DocumentAnalysis, metadata: Cursor, rule: string): readonly TextEdit[] | undefined {
  const annotations = at(metadata, 'annotations');
  if (annotations === undefined) return insertKey(document, metadata, 'annotations', { [disableAnnotation]: rule });
  const before = at(annotations, disableAnnotation);
  if (before === undefined) return insertKey(document, annotations, disableAnnotation, rule);
  return replaceScalar(document, before, `${asText(before) ?? ''}, ${rule}`.replace(/^, /, ''));
}

/**
 * On a copy of the document: one finding of the rule fewer, no new problem, and as many comments more as were written. Within a block
 * scalar a comment would become part of its text.
 */
function silences(
  file: FileAnalysis,
  before: DocumentAnalysis,
  { rule }: Finding,
  edits: readonly TextEdit[],
  comments: number,
): boolean {
  const copy = new Analysis().setFile(file.uri, applyEdits(before.text, edits), 0, file.config);
  const [after, ...others] = copy.documents;
  if (after === undefined || others.length > 0) return false;
  const count = ({ findings }: DocumentAnalysis) => findings.filter((finding) => finding.rule === rule).length;
  return (
    count(after) < count(before) &&
    after.document.problems.length <= before.document.problems.length &&
    after.document.comments.length === before.document.comments.length + comments
  );
}

function toFile(edits: readonly TextEdit[], base: number): readonly TextEdit[] {
  return edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText }));
}

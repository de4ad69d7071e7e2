import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Finding } from '../../rules/rule.ts';
import { disableAnnotation } from '../../rules/suppressions.ts';
import { asText, type Cursor, getIn } from '../../yaml/cursor.ts';
import { insertComment, insertKey, replaceScalar } from '../../yaml/edit.ts';
import type { Span, TextEdit } from '../../yaml/span.ts';
import { type Place, type ProofBudget, prove } from './proof.ts';

/** A way to silence a finding. */
export interface Silencing {
  readonly title: string;
  /** Offsets in the document. */
  readonly edits: readonly TextEdit[];
  /** The placeholder for the reason; offsets in the document after the edit. */
  readonly reason: Span | undefined;
}

/**
 * A comment above the finding's line that silences its rule there; if no comment is possible (in JSON, within a multi-line text), the
 * annotation of its object. Undefined if neither would silence the finding: each way is proven on a copy first.
 * @param budget for the proofs; without budget, nothing is offered
 */
export function silence(
  file: FileAnalysis,
  document: DocumentAnalysis,
  finding: Finding,
  budget: ProofBudget,
): Silencing | undefined {
  const before = known.get(finding);
  if (before !== undefined) return before ?? undefined;
  const { fileCharacters } = budget;
  for (const way of [byComment, byAnnotation]) {
    const made = way(file, document, finding);
    if (made === undefined) continue;
    if (budget.characters <= 0) return undefined;
    if (!silences({ file, document }, finding, made, budget)) continue;
    known.set(finding, made);
    return made;
  }
  if (budget.fileCharacters === fileCharacters) known.set(finding, null);
  return undefined;
}

/** Results by finding, null for none: editors request actions at every move of the caret. */
const known = new WeakMap<Finding, Silencing | null>();

const placeholder = 'reason';

function byComment(file: FileAnalysis, { text }: DocumentAnalysis, finding: Finding): Silencing | undefined {
  // JSON has no comments, and tools that read JSON-like text usually accept none.
  if (/^\s*[{[]/.test(text) || /\.jsonc?$/.test(file.uri)) return undefined;
  const eol = file.text.includes('\r\n') ? '\r\n' : '\n';
  const comment = `gpulint-disable-next-line ${finding.rule} -- ${placeholder}`;
  const { edits, span } = insertComment(text, finding.span.start, comment, eol);
  return {
    title: `Silence ${finding.rule} on this line`,
    edits,
    reason: { start: span.end - placeholder.length, end: span.end },
  };
}

function byAnnotation(_: FileAnalysis, document: DocumentAnalysis, finding: Finding): Silencing | undefined {
  const manifest = document.manifests.find(
    ({ root }) => root.node.span.start <= finding.span.start && finding.span.start <= root.node.span.end,
  );
  const metadata = manifest && getIn(manifest.root, 'metadata');
  const edits = metadata && annotate(document, metadata, finding.rule);
  return edits && { title: `Silence ${finding.rule} for this object`, edits, reason: undefined };
}

function annotate({ document }: DocumentAnalysis, metadata: Cursor, rule: string): readonly TextEdit[] | undefined {
  const annotations = getIn(metadata, 'annotations');
  if (annotations === undefined) return insertKey(document, metadata, 'annotations', { [disableAnnotation]: rule });
  const before = getIn(annotations, disableAnnotation);
  if (before === undefined) return insertKey(document, annotations, disableAnnotation, rule);
  return replaceScalar(document, before, `${asText(before) ?? ''}, ${rule}`.replace(/^, /, ''));
}

/** Within a block scalar, a comment would become text: the number of parsed comments must grow by the number of added ones. */
function silences(place: Place, finding: Finding, { edits, reason }: Silencing, budget: ProofBudget): boolean {
  const written = reason === undefined ? 0 : 1;
  const after = prove(place, [{ finding, edits }], budget);
  return after !== undefined && after.document.comments.length === place.document.document.comments.length + written;
}

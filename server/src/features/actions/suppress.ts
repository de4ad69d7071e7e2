import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Finding } from '../../rules/rule.ts';
import { disableAnnotation } from '../../rules/suppressions.ts';
import { asText, type Cursor, getIn } from '../../yaml/cursor.ts';
import { insertComment, insertKey, replaceScalar } from '../../yaml/edit.ts';
import type { Span, TextEdit } from '../../yaml/span.ts';
import { type Place, type ProofBudget, prove } from './proof.ts';

/** How a finding is silenced. */
export interface Silencing {
  readonly title: string;
  /** Offsets of the document. */
  readonly edits: readonly TextEdit[];
  /** The word that a person writes the reason over; of the document after the edit. */
  readonly reason: Span | undefined;
}

/**
 * A comment above the finding's line that silences its rule there; where no comment can stand (in JSON, within a text of several lines),
 * the annotation of its object. Undefined where neither would silence it: each way is proven on a copy first.
 * @param budget is spent by the proofs; when it is used up, nothing more is offered
 */
export function silence(
  file: FileAnalysis,
  document: DocumentAnalysis,
  finding: Finding,
  budget: ProofBudget,
): Silencing | undefined {
  const before = known.get(finding);
  if (before !== undefined) return before ?? undefined;
  const { ofFiles } = budget;
  for (const way of [byComment, byAnnotation]) {
    const made = way(file, document, finding);
    if (made === undefined) continue;
    if (budget.characters <= 0) return undefined;
    if (!silences({ file, document }, finding, made, budget)) continue;
    known.set(finding, made);
    return made;
  }
  if (budget.ofFiles === ofFiles) known.set(finding, null);
  return undefined;
}

/** The ways that were found, null where there is none: editors ask at every move of the caret. */
const known = new WeakMap<Finding, Silencing | null>();

const placeholder = 'reason';

function byComment(file: FileAnalysis, { text }: DocumentAnalysis, finding: Finding): Silencing | undefined {
  // JSON has no comments, and what looks like JSON is most often read by something that has none either.
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

/** Within a block scalar a comment would become part of its text: just as many comments have to be read as were written. */
function silences(place: Place, finding: Finding, { edits, reason }: Silencing, budget: ProofBudget): boolean {
  const written = reason === undefined ? 0 : 1;
  const after = prove(place, [{ finding, edits }], budget);
  return after !== undefined && after.document.comments.length === place.document.document.comments.length + written;
}

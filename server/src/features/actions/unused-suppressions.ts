import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import { didYouMean, nearest } from '../../config.ts';
import { rules } from '../../rules/index.ts';
import type { Suppression } from '../../rules/suppressions.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';

/** A comment or an annotation that silences nothing. The span is in the file. */
export interface UnusedSuppression {
  readonly span: Span;
  readonly message: string;
}

/** The id of the hint in place of a rule's id. It is not a rule: nothing silences it. */
export const unusedSuppressionId = 'unused-suppression';

/** Suppressions without effect. Excludes those whose rule is off or whose text has errors: there the effect is unknown. */
export function unusedSuppressions(file: FileAnalysis): readonly UnusedSuppression[] {
  return file.documents
    .filter(({ suppressions, crashes }) => suppressions.length > 0 && crashes.length === 0)
    .filter(({ document }) => document.problems.length === 0 && document.skipped === null)
    .flatMap((document) => inDocument(document, file));
}

function inDocument({ suppressions, base }: DocumentAnalysis, { config }: FileAnalysis): readonly UnusedSuppression[] {
  const isOff = (id: string) => config.rules[id] === 'off';
  return suppressions
    .filter(({ used }) => !used)
    .filter(({ suppression }) =>
      (suppression.rules.length === 0 ? [...rules.keys()] : suppression.rules).every((id) => !isOff(id)),
    )
    .map(({ suppression }, index) => ({
      span: shiftSpan(suppression.span, base),
      message: messageOf(suppression, index < maxSuggestions),
    }));
}

/** The most unknown ids to find suggestions for: each is compared with all rules. */
const maxSuggestions = 100;

function messageOf({ rules: ids, scope }: Suppression, suggests: boolean): string {
  const unknown = ids.find((id) => !rules.has(id));
  if (unknown !== undefined) {
    const near = suggests ? nearest(cut(unknown), rules.keys()) : [];
    return `No rule is named '${cut(unknown)}': this suppression has no effect${didYouMean(near)}`;
  }
  const finder =
    ids.length === 0
      ? 'no rule finds anything'
      : `${ids.length === 1 ? ids[0] : 'its rules'} find${ids.length === 1 ? 's' : ''} nothing`;
  return `Unused suppression: ${finder} ${places[scope]}`;
}

const places: Readonly<Record<Suppression['scope'], string>> = {
  line: 'on this line',
  'next-line': 'on the next line',
  document: 'below',
  object: 'in this object',
};

function cut(id: string): string {
  return id.length > 60 ? `${id.slice(0, 60)}…` : id;
}

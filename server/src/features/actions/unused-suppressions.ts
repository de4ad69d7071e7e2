import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import { didYouMean, nearest } from '../../config.ts';
import { rules } from '../../rules/index.ts';
import type { Suppression } from '../../rules/suppressions.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';

/** A comment or an annotation that silences nothing. The span is of the file. */
export interface UnusedSuppression {
  readonly span: Span;
  readonly message: string;
}

/** What the hint is called where findings are called by their rule. It is no rule: nothing silences it. */
export const unusedSuppressionId = 'unused-suppression';

/** Suppressions that were not needed. Where a rule was not asked or the text could not be read whole, nobody knows, and nothing is said. */
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
      message: messageOf(suppression, index < MOST_GUESSES),
    }));
}

/** What else may have been meant is guessed for so many: a person reads no more, and each is compared with all rules. */
const MOST_GUESSES = 100;

function messageOf({ rules: ids, scope }: Suppression, guesses: boolean): string {
  const unknown = ids.find((id) => !rules.has(id));
  if (unknown !== undefined) {
    const near = guesses ? nearest(cut(unknown), rules.keys()) : [];
    return `No rule is called '${cut(unknown)}', so this silences nothing${didYouMean(near)}`;
  }
  const what = ids.length === 0 ? 'No rule' : ids.length === 1 ? ids[0] : 'None of these rules';
  return `${what} finds ${ids.length === 1 ? 'nothing' : 'anything'} ${places[scope]}: this can go`;
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

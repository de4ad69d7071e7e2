import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { applySafeFixes } from '../../server/src/cli/apply-fixes.ts';
import type { Action } from '../../server/src/features/actions/code-actions.ts';
import { safeFixes } from '../../server/src/features/actions/safe-fixes.ts';
import type { Severity } from '../../server/src/rules/rule.ts';
import { applyEdits, type TextEdit } from '../../server/src/yaml/span.ts';
import type { Problem } from './target.ts';

/** A change offered to a user. */
export interface Offer {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  /** The rule and message of the finding that it clears; undefined if it clears several. */
  readonly clears: { readonly rule: string; readonly message: string } | undefined;
  /** New findings must be less severe than this. */
  readonly severity: Severity;
  /** It only adds a comment or an annotation. */
  readonly silences: boolean;
}

export function offerOf(action: Action): Offer | undefined {
  const { title, edits, finding } = action;
  if (edits === undefined) return undefined;
  const silences = title.startsWith('Silence ');
  if (finding === undefined) return { title, edits, clears: undefined, severity: 'error', silences };
  const { rule, message, severity } = finding.finding;
  return { title, edits, clears: { rule, message }, severity, silences };
}

const ranks: Readonly<Record<Severity, number>> = { hint: 0, info: 1, warning: 2, error: 3 };

/** The broken promises of an offered change; empty if it keeps what every fix promises. */
export function fixProblems(before: FileAnalysis, offer: Offer): readonly Problem[] {
  const { edits, clears, title } = offer;
  const damage = (sign: string, message: string): Problem => ({
    kind: 'damaged text',
    sign: `fix-${sign}`,
    message: `"${title}"${clears === undefined ? '' : ` of ${clears.rule}`}: ${message}`,
  });
  const { text } = before;
  if (edits.some(({ span }) => span.start < 0 || span.end > text.length || span.end < span.start))
    return [damage('out-of-bounds', `an edit is out of bounds: ${JSON.stringify(edits)}`)];
  let fixed: string;
  try {
    fixed = applyEdits(text, edits);
  } catch (error) {
    return [damage('overlapping', String(error))];
  }
  // A comment that silences the syntax error itself is not a fix: it changes nothing in the object.
  if (!offer.silences && touchesBroken(before, edits))
    return [damage('on-broken-text', 'the document that it edits does not parse')];
  if (fixed === text) return [damage('without-effect', 'it changes nothing')];
  const after = new Analysis().setFile(before.uri, fixed, 0, before.config);
  return changeProblems(before, after, edits)
    .concat(offerProblems(before, after, offer))
    .map(([sign, why]) => damage(`${sign}${clears === undefined ? '' : `-${clears.rule}`}`, why));
}

type Sign = readonly [sign: string, why: string];

/** Only edited documents may change, and none may become less readable. */
function changeProblems(before: FileAnalysis, after: FileAnalysis, edits: readonly TextEdit[]): Sign[] {
  const problems: Sign[] = [];
  if (after.parse !== before.parse)
    problems.push(['changes-parse', `it parses as ${after.parse}, not as ${before.parse}`]);
  if (problemCount(after) > problemCount(before)) problems.push(['breaks', 'the result has more syntax errors']);
  if (after.documents.length !== before.documents.length) {
    problems.push(['changes-documents', `${before.documents.length} documents become ${after.documents.length}`]);
    return problems;
  }
  for (const [index, document] of before.documents.entries()) {
    const end = document.base + document.text.length;
    const edited = edits.some(({ span }) => span.start <= end && span.end >= document.base);
    if (!edited && after.documents[index]?.text !== document.text)
      problems.push(['other-document', `document ${index + 1}, which it does not edit, changes`]);
  }
  for (const [name, pattern] of [
    ['lone-cr', /\r(?!\n)/g],
    ['nul', /\0/g],
  ] as const) {
    if (countOf(before.text, pattern) !== countOf(after.text, pattern))
      problems.push([name, `the number of ${name} changes`]);
  }
  const [lf, crlf] = [/(?<!\r)\n/g, /\r\n/g];
  if (countOf(before.text, lf) === 0 && countOf(before.text, crlf) > 0 && countOf(after.text, lf) > 0)
    problems.push(['line-ends', 'a CRLF text gets a line that ends in LF']);
  if (countOf(before.text, crlf) === 0 && countOf(after.text, crlf) > 0)
    problems.push(['line-ends', 'an LF text gets a line that ends in CRLF']);
  const left = tally(commentsOf(after));
  for (const [comment, count] of tally(commentsOf(before))) {
    if ((left.get(comment) ?? 0) < count) problems.push(['comment', `it loses the comment ${JSON.stringify(comment)}`]);
  }
  return problems;
}

/** It clears its finding and adds none of equal or higher severity. */
function offerProblems(
  before: FileAnalysis,
  after: FileAnalysis,
  { clears, severity, silences, title }: Offer,
): Sign[] {
  const problems: Sign[] = [];
  const had = tally(findingsOf(before).map(({ key }) => key));
  if (clears !== undefined) {
    const own = (file: FileAnalysis) =>
      findingsOf(file).filter(({ rule, message }) => rule === clears.rule && message === clears.message).length;
    const ownRule = (file: FileAnalysis) => findingsOf(file).filter(({ rule }) => rule === clears.rule).length;
    if (own(after) >= own(before) && ownRule(after) >= ownRule(before))
      problems.push([silences ? 'silence-in-vain' : 'keeps-finding', `its finding stays: ${clears.message}`]);
  }
  const now = tally(findingsOf(after).map(({ key }) => key));
  for (const finding of findingsOf(after)) {
    if (ranks[finding.severity] < ranks[severity] || (now.get(finding.key) ?? 0) <= (had.get(finding.key) ?? 0))
      continue;
    problems.push(['brings-finding', `it brings ${finding.rule}: ${finding.message}`]);
    break;
  }
  const offered = (file: FileAnalysis) =>
    file.documents
      .flatMap(({ findings }) => findings.flatMap(({ fixes, rule }) => (rule === clears?.rule ? fixes : [])))
      .filter((fix) => fix.title === title).length;
  if (clears !== undefined && !silences && offered(after) > 0 && offered(after) >= offered(before))
    problems.push(['offered-again', 'it is offered again']);
  return problems;
}

/** Checks fix-all and `--fix`: the result is safe to read, and a second run changes nothing. */
export function fixAllProblems(before: FileAnalysis): readonly Problem[] {
  const damage = (sign: string, message: string): Problem => ({
    kind: 'damaged text',
    sign: `fix-all-${sign}`,
    message,
  });
  const analysis = new Analysis();
  analysis.setConfig(before.config);
  const { file, applied } = applySafeFixes(analysis, analysis.setFile(before.uri, before.text));
  if (applied.length === 0) {
    return file.text === before.text ? [] : [damage('unsaid', 'the text changed though nothing was applied')];
  }
  const problems = changeProblems(before, file, [{ span: { start: 0, end: before.text.length }, newText: '' }]).map(
    ([sign, why]) => damage(sign, why),
  );
  for (const [index, document] of before.documents.entries()) {
    if (isBroken(document) && file.documents[index]?.text !== document.text)
      problems.push(damage('on-broken-text', `document ${index + 1} does not parse and was changed`));
  }
  const again = applySafeFixes(analysis, analysis.setFile(before.uri, file.text));
  if (again.applied.length > 0)
    problems.push(damage('diverges', `a second run applies ${again.applied.map(({ rule }) => rule).join(', ')}`));
  return problems;
}

/** All safe fixes of one round, as "fix all" in an editor applies them. */
export function safeOffer(file: FileAnalysis): Offer | undefined {
  const edits = safeFixes(file).flatMap((fix) => fix.edits);
  return edits.length === 0
    ? undefined
    : { title: 'Fix all', edits, clears: undefined, severity: 'error', silences: false };
}

/** An insertion between two documents may belong to either; it counts against neither. */
function touchesBroken({ documents, text }: FileAnalysis, edits: readonly TextEdit[]): boolean {
  return documents.filter(isBroken).some(({ base, text: { length } }) => {
    const end = base + length;
    return edits.some(
      ({ span }) => (span.start < end || end === text.length) && span.start <= end && (span.end > base || base === 0),
    );
  });
}

function isBroken({ document }: FileAnalysis['documents'][number]): boolean {
  return document.skipped !== null || document.problems.some(({ readable }) => readable !== true);
}

function problemCount(file: FileAnalysis): number {
  return file.documents.reduce((sum, { document }) => sum + document.problems.length, 0);
}

interface Found {
  readonly rule: string;
  readonly message: string;
  readonly severity: Severity;
  /** Excludes what an edit may change: positions and names of containers. */
  readonly key: string;
}

function findingsOf(file: FileAnalysis): readonly Found[] {
  return file.documents.flatMap(({ findings }, index) =>
    findings.map(({ rule, message, severity }) => ({ rule, message, severity, key: `${rule} ${index}` })),
  );
}

function commentsOf(file: FileAnalysis): readonly string[] {
  return file.documents.flatMap(({ document }) => document.comments.map(({ text }) => text.trimEnd()));
}

function tally(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

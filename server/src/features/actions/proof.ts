import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Fix } from '../../rewrite/fix.ts';
import type { Finding, Severity } from '../../rules/rule.ts';
import { splitObjects } from '../../yaml/parse.ts';
import { applyEdits, type TextEdit } from '../../yaml/span.ts';
import { splitList } from '../../yaml/split-list.ts';

/** A change of one document that somebody may make. */
export interface Change {
  /** What it clears; a rewrite clears nothing. */
  readonly finding?: Finding;
  /** Offsets of the document. */
  readonly edits: readonly TextEdit[];
}

/** Characters that may be read again for proofs; the last proof may overdraw. */
export interface ProofBudget {
  /** Of documents: each proof takes the length of its own. */
  characters: number;
  /** Of files: a proof takes the length of its file where the change concerns the documents beside it. */
  ofFiles: number;
}

/** Where something is changed. */
export interface Place {
  readonly file: FileAnalysis;
  readonly document: DocumentAnalysis;
}

/** What one answer to an editor may cost: a tenth of a second's work. Of the largest documents that is one proof for each question. */
export function budgetOfAnswer(): ProofBudget {
  return { characters: 120_000, ofFiles: 500_000 };
}

/**
 * The document after the changes, if they keep what every fix promises; else undefined. This is the one gate between a rule's idea of a fix
 * and anything that a person or `--fix` is offered: the changes are made on a copy, and the copy is read again.
 *
 * The document must have been read without a guess. Afterwards it is cut and read as before, every comment and line end is still there, each
 * finding is gone, and no finding of equal or higher severity is new, in the documents beside it none at all.
 */
export function prove(
  { file, document }: Place,
  changes: readonly Change[],
  budget: ProofBudget,
): DocumentAnalysis | undefined {
  budget.characters -= document.text.length;
  const edits = changes.flatMap((change) => change.edits);
  if (!wasReadWhole(document) || !areApplicable(edits, document.text)) return undefined;
  const text = applyEdits(document.text, edits);
  if (!isCutAlike(document, text)) return undefined;
  const after = document.withText(text);
  if (!keepsPromises(document, after, changes)) return undefined;
  if (file.documents.length === 1 || saidToOthers(document) === saidToOthers(after)) return after;
  const isAffordable = budget.ofFiles > 0;
  // Taken also where there is nothing left, so that nobody remembers this as a verdict.
  budget.ofFiles -= file.text.length;
  if (!isAffordable) return undefined;
  const [start, end] = [document.base, document.base + document.text.length];
  const copy = file.withText(file.text.slice(0, start) + text + file.text.slice(end));
  return keepsFile(file, copy) && copy.documents.some((one) => one.base === start && clears(document, one, changes))
    ? after
    : undefined;
}

/**
 * The same for changes of several documents, with one copy of the file: much less work than a proof for each, where they hold.
 * @param changes by the documents of the file, in their order; those of one document must not touch each other
 */
export function proveInFile(file: FileAnalysis, changes: readonly (readonly Change[])[], budget: ProofBudget): boolean {
  const edits = changes.map((some) => some.flatMap((change) => change.edits));
  const texts = file.documents.map(({ text }, index) => {
    const own = edits[index] ?? [];
    return areApplicable(own, text) ? applyEdits(text, own) : text;
  });
  budget.ofFiles -= file.text.length;
  const copy = file.withText(spliced(file, texts));
  return (
    keepsFile(file, copy) &&
    file.documents.every((document, index) => {
      const after = copy.documents[index];
      if ((edits[index] ?? []).length === 0) return true;
      return after !== undefined && after.text === texts[index] && keepsPromises(document, after, changes[index] ?? []);
    })
  );
}

/** The file with other texts in the places of its documents. */
function spliced({ text, documents }: FileAnalysis, texts: readonly string[]): string {
  let at = 0;
  const parts = documents.map((document, index) => {
    const gap = text.slice(at, document.base);
    at = document.base + document.text.length;
    return gap + (texts[index] ?? document.text);
  });
  return parts.join('') + text.slice(at);
}

/** A file that is cut and read as before, and no document of it that did not change has a finding more. */
export function keepsFile(before: FileAnalysis, after: FileAnalysis): boolean {
  if (after.parse !== before.parse || after.documents.length !== before.documents.length) return false;
  return after.documents.every((document, index) => {
    const was = before.documents[index];
    if (was === undefined || was.findings === document.findings) return was !== undefined;
    return was.text !== document.text || !hasMore(countFindings(document.findings), countFindings(was.findings));
  });
}

/** What the documents beside one may rest on. */
function saidToOthers({ summary }: DocumentAnalysis): string {
  const objects = summary
    .objects()
    .map(({ group, kind, namespace, name, facts }) => [group, kind, namespace, name, facts()]);
  const names = summary.references().map(({ kinds, namespace, name }) => [kinds, namespace, name]);
  return JSON.stringify([objects, names]);
}

function keepsPromises(before: DocumentAnalysis, after: DocumentAnalysis, changes: readonly Change[]): boolean {
  const edits = changes.flatMap((change) => change.edits);
  return (
    wasReadWhole(before) &&
    areApplicable(edits, before.text) &&
    after.text !== before.text &&
    keepsLineEnds(before.text, edits) &&
    (!isJson(before.text) || isJson(after.text)) &&
    readsAlike(before, after) &&
    clears(before, after, changes)
  );
}

/**
 * The fixes of these findings that were proven, each alone as far as the budget lasts and together beyond that.
 * @param known those that were proven already
 */
export function provenFixes(
  place: Place,
  findings: readonly Finding[],
  budget: ProofBudget,
  known: ReadonlySet<Fix> = new Set(),
): ReadonlySet<Fix> {
  const fixes = findings
    .flatMap((finding) => finding.fixes.map((fix) => ({ finding, fix, edits: fix.edits })))
    .filter(({ fix }) => !known.has(fix));
  const proven = new Set(fixes.filter(({ fix }) => verdicts.get(fix) === true).map(({ fix }) => fix));
  let open = fixes.filter(({ fix }) => !verdicts.has(fix));
  const forAllTogether = budget.characters / 2;
  const decide = (some: typeof open) => {
    const { ofFiles } = budget;
    const kept = new Set(provenTogether(place, some, budget));
    for (const change of some) {
      if (kept.has(change)) proven.add(change.fix);
      // With more to spend it might be proven, and the documents beside it may change.
      else if (budget.characters <= 0) continue;
      if (budget.ofFiles === ofFiles) verdicts.set(change.fix, kept.has(change));
    }
  };
  while (open.length > 0 && budget.characters > forAllTogether) {
    decide(open.slice(0, 1));
    open = open.slice(1);
  }
  while (open.length > 0 && budget.characters > 0) {
    const layer = new Set(disjoint(open));
    decide([...layer]);
    open = open.filter((change) => !layer.has(change));
  }
  return proven;
}

/** A verdict holds as long as the analysis that made the fix. */
const verdicts = new WeakMap<Fix, boolean>();

/** As many of the changes as were proven in one go. They must not touch each other. */
export function provenTogether<C extends Change>(
  place: Place,
  changes: readonly C[],
  budget: ProofBudget,
): readonly C[] {
  return largestGood(changes, (some) => budget.characters > 0 && prove(place, some, budget) !== undefined);
}

/** All of the items if they are good together, else what remains when halves that are not good are given up. */
export function largestGood<T>(items: readonly T[], isGood: (items: readonly T[]) => boolean): readonly T[] {
  if (items.length === 0 || isGood(items)) return items;
  if (items.length === 1) return [];
  const middle = items.length >> 1;
  const left = largestGood(items.slice(0, middle), isGood);
  const right = largestGood(items.slice(middle), isGood);
  if (left.length === 0 || right.length === 0) return left.length === 0 ? right : left;
  const both = [...left, ...right];
  return isGood(both) ? both : left;
}

/** The changes that touch none before them. Two insertions at one place touch: which comes first would be chance. */
export function disjoint<C extends Change>(changes: readonly C[]): readonly C[] {
  const taken: TextEdit[] = [];
  return changes.filter(({ edits }) => {
    if (edits.some((edit) => touchesSorted(taken, edit))) return false;
    for (const edit of edits) taken.splice(placeIn(taken, edit.span.start), 0, edit);
    return true;
  });
}

/** The first index whose edit starts at the offset or behind it. */
function placeIn(sorted: readonly TextEdit[], start: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.span.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function touchesSorted(sorted: readonly TextEdit[], { span }: TextEdit): boolean {
  const place = placeIn(sorted, span.start);
  const [before, after] = [sorted[place - 1], sorted[place]];
  if (before !== undefined && before.span.end > span.start) return true;
  return after !== undefined && (after.span.start === span.start || after.span.start < span.end);
}

/**
 * A text with faults was read by guessing what was meant; a key that is set twice is one, too. So was one whose line ends Kubernetes' reader
 * counts otherwise: YAML 1.1 has more of them.
 */
function wasReadWhole({ document, text }: DocumentAnalysis): boolean {
  return document.skipped === null && document.problems.length === 0 && !/\r(?!\n)|[\u0085\u2028\u2029]/.test(text);
}

function areApplicable(edits: readonly TextEdit[], text: string): boolean {
  const ordered = [...edits].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  let at = 0;
  for (const { span } of ordered) {
    if (span.start < at || span.end < span.start || span.end > text.length) return false;
    at = span.end;
  }
  return (
    ordered.length > 0 && ordered.reduce((sum, { newText }) => sum + newText.length, 0) <= mostWritten + text.length / 4
  );
}

/** A change that writes more than this, or than a quarter of its document, is for nobody to read, and would take long to prove. */
const mostWritten = 20_000;

/** The file is cut at the same places: what stands before and behind the document is not touched by it. */
function isCutAlike({ text: before, item }: DocumentAnalysis, after: string): boolean {
  if (/^\uFEFF?---/.test(before) !== /^\uFEFF?---/.test(after)) return false;
  if (/\n$/.test(before) && !/\n$/.test(after)) return false;
  if (item) return isOneItem(after);
  const [only, ...others] = splitObjects(after);
  return only?.text === after && others.length === 0;
}

/** A comment that silences has the list read as one document, which is what it needs to count. */
function isOneItem(text: string): boolean {
  const list = `apiVersion: v1\nkind: List\nitems:\n${text.replaceAll('gpulint-disable', 'gpulint-')}`;
  return splitList({ base: 0, text: list }, 0)?.length === 2;
}

function keepsLineEnds(text: string, edits: readonly TextEdit[]): boolean {
  const windows = text.includes('\r\n');
  if (windows && /(?<!\r)\n/.test(text)) return true;
  return edits.every(({ newText }) =>
    windows ? !/(?<!\r)\n/.test(newText) : !newText.includes('\r') || !text.includes('\n'),
  );
}

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // YAML in flow style: it may say anything that YAML can.
    return false;
  }
}

function readsAlike(before: DocumentAnalysis, after: DocumentAnalysis): boolean {
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

const rank: Readonly<Record<Severity, number>> = { hint: 0, info: 1, warning: 2, error: 3 };
/** A rewrite may bring advice about its new form. */
const rewriteRank = rank.warning;

function clears(before: DocumentAnalysis, after: DocumentAnalysis, changes: readonly Change[]): boolean {
  if (after.crashes.length > before.crashes.length) return false;
  const cleared = changes.flatMap(({ finding }) => finding ?? []);
  const leastRank = cleared.reduce(
    (least, { severity }) => Math.min(least, rank[severity]),
    cleared.length === 0 ? rewriteRank : rank.error,
  );
  const had = countFindings(before.findings);
  const left = countFindings(after.findings);
  for (const [key, count] of countFindings(cleared)) {
    if ((left.get(key) ?? 0) > (had.get(key) ?? 0) - count) return false;
  }
  const grave = after.findings.filter(({ severity }) => rank[severity] >= leastRank);
  return !hasMore(countFindings(grave), had);
}

/** How many findings there are of each rule and container: without what an edit may change, their places and the values in their messages. */
export function countFindings(findings: readonly Finding[]): ReadonlyMap<string, number> {
  return counted(findings, ({ rule, workload, container }) =>
    JSON.stringify([rule, workload?.kind, workload?.name, container]),
  );
}

function counted<T>(values: readonly T[], key: (value: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}

/** Whether one counts more of anything than the other. */
export function hasMore(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return [...one].some(([key, count]) => count > (other.get(key) ?? 0));
}

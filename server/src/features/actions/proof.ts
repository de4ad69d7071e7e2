import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Fix } from '../../rewrite/fix.ts';
import type { Finding, Severity } from '../../rules/rule.ts';
import { applyEdits, type TextEdit } from '../../yaml/span.ts';
import { disjoint } from './disjoint.ts';
import {
  areApplicable,
  counted,
  hasMore,
  isEditable,
  isJson,
  keepsLineEnds,
  parsesAlike,
  splitsAlike,
} from './text-proof.ts';

/** A possible change of one document. */
export interface Change {
  /** The finding that it clears; undefined for rewrites. */
  readonly finding?: Finding;
  /** Offsets in the document. */
  readonly edits: readonly TextEdit[];
}

/** The characters that proofs may read; the last proof may exceed the budget. */
export interface ProofBudget {
  /** For documents: each proof costs the length of its document. */
  characters: number;
  /** For files: a proof costs the length of its file if the change concerns other documents. */
  fileCharacters: number;
}

/** The document to change, and its file. */
export interface Place {
  readonly file: FileAnalysis;
  readonly document: DocumentAnalysis;
}

/** The budget of one answer to an editor: about 0.1 s of work, or a single proof of the largest documents. */
export function budgetOfAnswer(): ProofBudget {
  return { characters: 120_000, fileCharacters: 500_000 };
}

/**
 * The document after the changes, if they keep the promises of every fix; else undefined. This is the only gate between a rule's fix and the
 * fixes that users and `--fix` get: it applies the changes to a copy and parses the copy.
 *
 * The document must have parsed without errors. The changed file must split and parse as before, keep every comment and line ending, and have
 * none of the findings. It must have no new finding of equal or higher severity, and in the other documents no new finding at all.
 */
export function prove(
  { file, document }: Place,
  changes: readonly Change[],
  budget: ProofBudget,
): DocumentAnalysis | undefined {
  budget.characters -= document.text.length;
  const after = proveAlone(document, changes);
  if (after === undefined) return undefined;
  const { text } = after;
  if (file.documents.length === 1 || sharedFacts(document) === sharedFacts(after)) return after;
  const isAffordable = budget.fileCharacters > 0;
  // Charged even to an empty budget, so that callers do not store this as a verdict.
  budget.fileCharacters -= file.text.length;
  if (!isAffordable) return undefined;
  const [start, end] = [document.base, document.base + document.text.length];
  const copy = file.withText(file.text.slice(0, start) + text + file.text.slice(end));
  return keepsFile(file, copy) && copy.documents.some((one) => one.base === start && clears(document, one, changes))
    ? after
    : undefined;
}

/** The document after the changes, if they keep the promises of every fix as far as the document itself can tell. */
export function proveAlone(document: DocumentAnalysis, changes: readonly Change[]): DocumentAnalysis | undefined {
  const edits = changes.flatMap((change) => change.edits);
  if (!isEditable(document) || !areApplicable(edits, document.text)) return undefined;
  const text = applyEdits(document.text, edits);
  if (!splitsAlike(document, text)) return undefined;
  const after = document.withText(text);
  return keepsPromises(document, after, changes) ? after : undefined;
}

/**
 * The same for changes of several documents, with one copy of the file: far less work than one proof per document.
 * @param changes by document, in file order; the changes of one document must not touch each other
 */
export function proveInFile(file: FileAnalysis, changes: readonly (readonly Change[])[], budget: ProofBudget): boolean {
  const edits = changes.map((some) => some.flatMap((change) => change.edits));
  const texts = file.documents.map(({ text }, index) => {
    const own = edits[index] ?? [];
    return areApplicable(own, text) ? applyEdits(text, own) : text;
  });
  budget.fileCharacters -= file.text.length;
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

/** The file with other texts for its documents. */
function spliced({ text, documents }: FileAnalysis, texts: readonly string[]): string {
  let end = 0;
  const parts = documents.map((document, index) => {
    const gap = text.slice(end, document.base);
    end = document.base + document.text.length;
    return gap + (texts[index] ?? document.text);
  });
  return parts.join('') + text.slice(end);
}

/** Whether the file splits and parses as before, and no unchanged document has an additional finding. */
export function keepsFile(before: FileAnalysis, after: FileAnalysis): boolean {
  if (after.parse !== before.parse || after.documents.length !== before.documents.length) return false;
  return after.documents.every((document, index) => {
    const was = before.documents[index];
    if (was === undefined || was.findings === document.findings) return was !== undefined;
    return was.text !== document.text || !hasMore(countFindings(document.findings), countFindings(was.findings));
  });
}

/** The facts of a document that other documents can depend on. */
function sharedFacts({ summary }: DocumentAnalysis): string {
  const objects = summary
    .objects()
    .map(({ group, kind, namespace, name, facts }) => [group, kind, namespace, name, facts()]);
  const names = summary.references().map(({ kinds, namespace, name }) => [kinds, namespace, name]);
  return JSON.stringify([objects, names]);
}

function keepsPromises(before: DocumentAnalysis, after: DocumentAnalysis, changes: readonly Change[]): boolean {
  const edits = changes.flatMap((change) => change.edits);
  return (
    isEditable(before) &&
    areApplicable(edits, before.text) &&
    after.text !== before.text &&
    keepsLineEnds(before.text, edits) &&
    (!isJson(before.text) || isJson(after.text)) &&
    parsesAlike(before, after) &&
    clears(before, after, changes)
  );
}

/**
 * The proven fixes of these findings: each alone while half of the budget lasts, then together. If half of it is not enough for all, those that
 * work together come first.
 * @param known fixes that are already proven
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
  let undecided = fixes.filter(({ fix }) => !verdicts.has(fix));
  const reserve = budget.characters / 2;
  const decide = (some: typeof undecided) => {
    const { fileCharacters } = budget;
    const kept = new Set(provenTogether(place, some, budget));
    for (const change of some) {
      if (kept.has(change)) proven.add(change.fix);
      // A larger budget could prove it, and the other documents can change.
      else if (budget.characters <= 0) continue;
      if (budget.fileCharacters === fileCharacters) verdicts.set(change.fix, kept.has(change));
    }
  };
  if (undecided.length * place.document.text.length > reserve) {
    const { fileCharacters } = budget;
    const kept = new Set(provenTogether(place, disjoint(undecided), budget));
    for (const { fix } of kept) {
      proven.add(fix);
      if (budget.fileCharacters === fileCharacters) verdicts.set(fix, true);
    }
    undecided = undecided.filter((change) => !kept.has(change));
  }
  while (undecided.length > 0 && budget.characters > reserve) {
    decide(undecided.slice(0, 1));
    undecided = undecided.slice(1);
  }
  while (undecided.length > 0 && budget.characters > 0) {
    const layer = new Set(disjoint(undecided));
    decide([...layer]);
    undecided = undecided.filter((change) => !layer.has(change));
  }
  return proven;
}

/** A verdict is valid as long as the analysis that created the fix. */
const verdicts = new WeakMap<Fix, boolean>();

/** The changes that are proven together. They must not touch each other. */
export function provenTogether<C extends Change>(
  place: Place,
  changes: readonly C[],
  budget: ProofBudget,
): readonly C[] {
  return largestGood(changes, (some) => budget.characters > 0 && prove(place, some, budget) !== undefined);
}

/** All items if they are good together, else what remains after bad halves are removed. */
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

const rank: Readonly<Record<Severity, number>> = { hint: 0, info: 1, warning: 2, error: 3 };
/** A rewrite may cause advice about its new form. */
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

/** The number of findings per rule and container. Ignores positions and messages, because edits change them. */
function countFindings(findings: readonly Finding[]): ReadonlyMap<string, number> {
  return counted(findings, ({ rule, workload, container }) =>
    JSON.stringify([rule, workload?.kind, workload?.name, container]),
  );
}

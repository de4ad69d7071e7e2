import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Fix } from '../../rewrite/fix.ts';
import type { Finding } from '../../rules/rule.ts';
import { shiftSpan, type TextEdit } from '../../yaml/span.ts';
import { disjoint } from './disjoint.ts';
import {
  largestGood,
  type Place,
  type ProofBudget,
  proveAlone,
  proveInFile,
  provenFixes,
  provenTogether,
} from './proof.ts';
import { isEditable } from './text-proof.ts';

/** A fix with offsets of the file. */
export interface FileFix {
  readonly rule: string;
  readonly title: string;
  readonly safe: boolean;
  readonly edits: readonly TextEdit[];
}

/** Enough to find one bad fix among many in a document of common size; one or two proofs of the largest documents. */
const editorBudget = 1_000_000;

/**
 * One safe fix for each finding that has one, for "fix all" and `--fix`: those that are proven to work together.
 * @param characters the budget for each document whose fixes do not all work together
 */
export function safeFixes(file: FileAnalysis, characters = editorBudget): readonly FileFix[] {
  return chooseFixes(file, characters, 'safe', ({ fixes }) => fixes.find((fix) => fix.safe));
}

/** One fix for each finding of a rule: the first safe one, else the first. Proven to work together. */
export function fixesOfRule(file: FileAnalysis, rule: string): readonly FileFix[] {
  return chooseFixes(file, editorBudget, `of ${rule}`, (finding) =>
    finding.rule === rule ? (finding.fixes.find((fix) => fix.safe) ?? finding.fixes[0]) : undefined,
  );
}

type Choose = (finding: Finding) => Fix | undefined;

function chooseFixes(file: FileAnalysis, characters: number, choice: string, choose: Choose): readonly FileFix[] {
  const budget = { characters, fileCharacters: 2 * characters };
  const all = file.documents.map((document) => chosenIn(document, choose));
  const together = provenDocuments(file, all, budget);
  return file.documents.flatMap((document, index) => {
    const candidates = all[index] ?? [];
    budget.characters = characters;
    const chosen = together.has(index) ? candidates : provenIn({ file, document }, candidates, budget, choice);
    return chosen.map(({ finding: { rule }, fix: { title, safe, edits } }) => ({
      rule,
      title,
      safe,
      edits: edits.map(({ span, newText }) => ({ span: shiftSpan(span, document.base), newText })),
    }));
  });
}

/** Up to this many documents are proven one by one, so that an edit repeats only one proof. */
const fewDocuments = 20;

/**
 * The proven fixes of all findings of a file, for a report. In many documents, one fix of each finding is proven at a time, all together:
 * a proof of each would cost a copy of the file.
 */
export function reportedFixes(file: FileAnalysis): ReadonlySet<Fix> {
  const budget = { characters: 0, fileCharacters: 2 * copiedCharacters };
  const proven = new Set<Fix>();
  const tried = new Set<Fix>();
  while (budget.fileCharacters > copiedCharacters) {
    const some = file.documents.map((document) =>
      chosenIn(document, ({ fixes }) => fixes.find((fix) => !tried.has(fix))),
    );
    if (some.filter(({ length }) => length > 0).length <= fewDocuments) break;
    const together = provenDocuments(file, some, budget);
    for (const [index, own] of some.entries()) {
      for (const { fix } of own) {
        tried.add(fix);
        if (together.has(index)) proven.add(fix);
      }
    }
  }
  for (const document of file.documents) {
    budget.characters = 2 * editorBudget;
    for (const fix of provenFixes({ file, document }, document.findings, budget, proven)) proven.add(fix);
  }
  return proven;
}

/**
 * The documents, of many with changes, whose changes are proven together: one copy of the file usually proves them all. If not, each is
 * proven alone, which costs one copy for all of them; one that is bad only in the file is found by halves.
 */
function provenDocuments(
  file: FileAnalysis,
  chosen: readonly (readonly Chosen[])[],
  budget: ProofBudget,
): ReadonlySet<number> {
  const changed = file.documents.flatMap((document, index) =>
    (chosen[index] ?? []).length > 0 && isEditable(document) ? [index] : [],
  );
  if (changed.length <= fewDocuments) return new Set();
  const length = file.documents.reduce((sum, { text }) => sum + text.length, 0);
  let copies = Math.max(1, Math.min(maxCopies, Math.floor(copiedCharacters / length)));
  const isGood = (some: readonly number[]): boolean => {
    const part = new Set(some);
    const changes = chosen.map((own, index) => (part.has(index) ? own : []));
    copies -= 1;
    return copies >= 0 && proveInFile(file, changes, budget);
  };
  if (isGood(changed)) return new Set(changed);
  const alone = changed.filter((index) => {
    const document = file.documents[index];
    return document !== undefined && proveAlone(document, chosen[index] ?? []) !== undefined;
  });
  return new Set(largestGood(alone, isGood));
}

/** Enough to find a few bad documents among hundreds. */
const maxCopies = 40;

/** The text of all these copies: about a second of work. In longer files, each document is proven by itself as soon as one is bad. */
const copiedCharacters = 1_000_000;

interface Chosen {
  readonly finding: Finding;
  readonly fix: Fix;
  readonly edits: readonly TextEdit[];
}

/** The proven choices for a document's findings, by the name of the choice. An unchanged document keeps its findings, and thus its proofs. */
const provenChoices = new WeakMap<readonly Finding[], Map<string, readonly Chosen[]>>();

/** If two fixes touch the same text, the first one is chosen; the other is available afterwards. */
function chosenIn({ findings }: DocumentAnalysis, choose: Choose): readonly Chosen[] {
  const chosen = findings.flatMap((finding): Chosen[] => {
    const fix = choose(finding);
    return fix === undefined ? [] : [{ finding, fix, edits: fix.edits }];
  });
  return disjoint(chosen);
}

function provenIn(place: Place, candidates: readonly Chosen[], budget: ProofBudget, choice: string): readonly Chosen[] {
  const { findings } = place.document;
  const before = provenChoices.get(findings)?.get(choice);
  if (before !== undefined) return before;
  const { fileCharacters } = budget;
  const proven = provenTogether(place, candidates, budget);
  // A larger budget could prove more, and a check of other documents is valid only until they change.
  if ((budget.characters > 0 || proven.length === candidates.length) && budget.fileCharacters === fileCharacters) {
    const choices = provenChoices.get(findings) ?? new Map<string, readonly Chosen[]>();
    provenChoices.set(findings, choices.set(choice, proven));
  }
  return proven;
}

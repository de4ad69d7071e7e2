import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Fix } from '../../rewrite/fix.ts';
import type { Finding } from '../../rules/rule.ts';
import { shiftSpan, type TextEdit } from '../../yaml/span.ts';
import { disjoint, type Place, type ProofBudget, proveInFile, provenFixes, provenTogether } from './proof.ts';

/** A fix with offsets of the file. */
export interface FileFix {
  readonly rule: string;
  readonly title: string;
  readonly safe: boolean;
  readonly edits: readonly TextEdit[];
}

/** Enough to find the one bad fix among the many of a document of common size; one proof or two of the largest. */
const editorBudget = 1_000_000;

/**
 * One safe fix for each finding that has one, for "fix all" and `--fix` alike: those that were proven to work together.
 * @param characters that may be read again for each document where its fixes do not work together at once
 */
export function safeFixes(file: FileAnalysis, characters = editorBudget): readonly FileFix[] {
  return chooseFixes(file, characters, 'safe', ({ fixes }) => fixes.find((fix) => fix.safe));
}

/** One fix for each finding of a rule: a safe one where there is one, else the first. Proven to work together. */
export function fixesOfRule(file: FileAnalysis, rule: string): readonly FileFix[] {
  return chooseFixes(file, editorBudget, `of ${rule}`, (finding) =>
    finding.rule === rule ? (finding.fixes.find((fix) => fix.safe) ?? finding.fixes[0]) : undefined,
  );
}

type Choose = (finding: Finding) => Fix | undefined;

function chooseFixes(file: FileAnalysis, characters: number, choice: string, choose: Choose): readonly FileFix[] {
  const budget = { characters, ofFiles: 2 * characters };
  const all = file.documents.map((document) => wantedIn(document, choose));
  // Where many documents are to be changed, one copy of the file mostly proves them all.
  const many = file.documents.length > 1 && all.filter((wanted) => wanted.length > 0).length > fewDocuments;
  const together = many && proveInFile(file, all, budget);
  return file.documents.flatMap((document, index) => {
    const wanted = all[index] ?? [];
    budget.characters = characters;
    const chosen = together ? wanted : provenIn({ file, document }, wanted, budget, choice);
    return chosen.map(({ finding: { rule }, fix: { title, safe, edits } }) => ({
      rule,
      title,
      safe,
      edits: edits.map(({ span, newText }) => ({ span: shiftSpan(span, document.base), newText })),
    }));
  });
}

/** As many are proven one by one, and each again only when it has changed. */
const fewDocuments = 20;

/** The fixes of all findings of a file that were proven, for a report: the first of each together where they are many. */
export function reportedFixes(file: FileAnalysis): ReadonlySet<Fix> {
  const budget = { characters: 0, ofFiles: 20 * editorBudget };
  const first = file.documents.map((document) => wantedIn(document, ({ fixes }) => fixes[0]));
  const many = first.filter((wanted) => wanted.length > 0).length > fewDocuments;
  const together = many && proveInFile(file, first, budget) ? first.flatMap((some) => some.map(({ fix }) => fix)) : [];
  const proven = new Set(together);
  for (const document of file.documents) {
    budget.characters = 2 * editorBudget;
    for (const fix of provenFixes({ file, document }, document.findings, budget, proven)) proven.add(fix);
  }
  return proven;
}

interface Chosen {
  readonly finding: Finding;
  readonly fix: Fix;
  readonly edits: readonly TextEdit[];
}

/** What was chosen of a document's findings, by choice. A document that did not change keeps its findings, and so what was proven of them. */
const known = new WeakMap<readonly Finding[], Map<string, readonly Chosen[]>>();

/** Of two fixes that touch the same text the first one is taken; the other is there the next time. */
function wantedIn({ findings }: DocumentAnalysis, choose: Choose): readonly Chosen[] {
  const wanted = findings.flatMap((finding): Chosen[] => {
    const fix = choose(finding);
    return fix === undefined ? [] : [{ finding, fix, edits: fix.edits }];
  });
  return disjoint(wanted);
}

function provenIn(place: Place, wanted: readonly Chosen[], budget: ProofBudget, choice: string): readonly Chosen[] {
  const { findings } = place.document;
  const before = known.get(findings)?.get(choice);
  if (before !== undefined) return before;
  const { ofFiles } = budget;
  const proven = provenTogether(place, wanted, budget);
  // With more to spend there might be more, and what was held against the other documents holds as long as they do.
  if ((budget.characters > 0 || proven.length === wanted.length) && budget.ofFiles === ofFiles) {
    known.set(findings, (known.get(findings) ?? new Map<string, readonly Chosen[]>()).set(choice, proven));
  }
  return proven;
}

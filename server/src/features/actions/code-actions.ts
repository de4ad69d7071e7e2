import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import type { Finding } from '../../rules/rule.ts';
import { type Span, shiftSpan, type TextEdit, touches } from '../../yaml/span.ts';
import { claimedIn, claimFractions } from './claimed.ts';
import { confirmationOf } from './confirmation.ts';
import { fractionFix, fractionsOf } from './fractions.ts';
import { leverFixes } from './lever-fixes.ts';
import {
  describeSlice,
  heldModel,
  type Sliceable,
  sharedFix,
  sliceableRequests,
  sliceFix,
  slicesOf,
} from './mig-picker.ts';
import { poolFixes } from './pool-fixes.ts';
import { budgetOfAnswer, type ProofBudget, provenFixes } from './proof.ts';
import { type Resizable, resizableIn, smallerFlags } from './resizable.ts';
import { type FileFix, fixesOfRule, safeFixes } from './safe-fixes.ts';
import { silence } from './suppress.ts';

export type ActionKind = 'quickfix' | 'refactor.rewrite' | 'source.fixAll.gpulint';

/** An entry of the light bulb menu. */
export interface Action {
  readonly title: string;
  readonly kind: ActionKind;
  readonly preferred: boolean;
  /** Offsets in the file. */
  readonly edits?: readonly TextEdit[];
  /** The placeholder for the reason of a suppression; offsets in the file after the edits. */
  readonly select?: Span;
  /** Why the user should review the change first; undefined: applied immediately. */
  readonly confirm?: string;
  /** The rule whose findings this fixes in all files of the workspace; there are no edits then. */
  readonly everywhere?: string;
  /** The span in the file of the request for which a picker opens; there are no edits then. */
  readonly picker?: Span;
  /** The span of the request for which the list of smaller, or larger, parts of a GPU opens. */
  readonly fractions?: Span;
  /** The finding that it fixes, with the offset of its document. */
  readonly finding?: { readonly finding: Finding; readonly base: number };
}

export interface ActionQuery {
  /** In the file; empty for a caret. */
  readonly span: Span;
  /** The requested kinds, including their subkinds; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** Findings that the editor shows there, by rule and span in the file. */
  readonly shown: readonly { readonly rule: string; readonly span: Span }[];
  /** Whether the editor can open our pickers. */
  readonly picker: boolean;
}

/** The actions at a place: the fixes of its findings, all safe fixes of the file, cheaper machines, and other forms of a GPU request. */
export function codeActions(file: FileAnalysis, query: ActionQuery): readonly Action[] {
  const actions: Action[] = [];
  if (isRequested(query, 'quickfix')) actions.push(...quickFixes(file, query));
  if (isRequested(query, 'refactor.rewrite')) actions.push(...rewrites(file, query));
  const bulb = query.only === undefined && count(file, () => true) > maxTogether;
  if (isRequested(query, 'source.fixAll.gpulint') && !bulb) actions.push(...fixAll(file));
  return actions;
}

function isRequested({ only }: ActionQuery, kind: ActionKind): boolean {
  return only === undefined || only.some((one) => one === '' || kind === one || kind.startsWith(`${one}.`));
}

function quickFixes(file: FileAnalysis, { span, shown, picker }: ActionQuery): readonly Action[] {
  const found = findingsAt(file, span, shown);
  const budget = budgetOfAnswer();
  const fixes = byDocument(found).flatMap(([document, findings]) => {
    const proven = provenFixes({ file, document }, findings, budget);
    return findings.flatMap((finding) => {
      const offered = finding.fixes.filter((fix) => proven.has(fix));
      const preferred = offered.find((fix) => fix.safe);
      return offered.map((fix): Action => {
        const edits = inFile(fix.edits, document.base);
        return {
          title: fix.title,
          kind: 'quickfix',
          preferred: fix === preferred,
          edits,
          ...confirmPart(confirmationOf(file, edits, fix.safe)),
          finding: { finding, base: document.base },
        };
      });
    });
  });
  const fixedRules = fixes.flatMap(({ finding }) => finding?.finding.rule ?? []);
  const others = [...new Set(fixedRules)].flatMap((rule) => fixKind(file, rule, picker));
  // Nobody needs to silence a hint: it has no squiggle.
  const silencing = found.flatMap(({ finding, document }): Action[] => {
    const way = finding.severity === 'hint' ? undefined : silence(file, document, finding, budget);
    if (way === undefined) return [];
    const { base } = document;
    const { title, reason } = way;
    const edits = inFile(way.edits, base);
    const action = { title, kind: 'quickfix', preferred: false, edits, finding: { finding, base } } as const;
    return [reason === undefined ? action : { ...action, select: shiftSpan(reason, base) }];
  });
  return [...fixes, ...others, ...silencing];
}

function byDocument(found: readonly Found[]): readonly (readonly [DocumentAnalysis, readonly Finding[]])[] {
  const grouped = new Map<DocumentAnalysis, Finding[]>();
  for (const { document, finding } of found) {
    const findings = grouped.get(document) ?? [];
    grouped.set(document, findings);
    findings.push(finding);
  }
  return [...grouped];
}

interface Found {
  readonly finding: Finding;
  readonly document: DocumentAnalysis;
}

/** A longer list helps nobody, and each entry needs a proof. */
const maxFindings = 50;

/**
 * The findings at a place; without one, those of its line, because advice has no squiggle that shows its exact place. If there are too many,
 * only the nearest ones.
 */
function findingsAt(file: FileAnalysis, span: Span, shown: ActionQuery['shown']): readonly Found[] {
  const all = file.documents.flatMap((document) =>
    document.findings.map((finding) => ({ finding, document, place: shiftSpan(finding.span, document.base) })),
  );
  const shownKeys = new Set(shown.map(({ rule, span: { start, end } }) => `${rule} ${start} ${end}`));
  const exact = all.filter(
    ({ finding, place }) => touches(place, span) || shownKeys.has(`${finding.rule} ${place.start} ${place.end}`),
  );
  const line = { start: lineAt(file.text, span.start).start, end: lineAt(file.text, span.end).end };
  const found = exact.length > 0 ? exact : all.filter(({ place: { start } }) => touches(line, { start, end: start }));
  if (found.length <= maxFindings) return found;
  const distance = ({ start }: Span) => Math.abs(start - span.start);
  const nearest = new Set([...found].sort((a, b) => distance(a.place) - distance(b.place)).slice(0, maxFindings));
  return found.filter((one) => nearest.has(one));
}

/** The line that an offset is in, without its end. */
function lineAt(text: string, offset: number): Span {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  return { start, end: end === -1 ? text.length : end };
}

/** With more findings, a light bulb takes too long to prove all fixes; the "fix all" command still does. */
const maxTogether = 1_000;

function count(file: FileAnalysis, matches: (finding: Finding) => boolean): number {
  return file.documents.reduce((sum, { findings }) => sum + findings.filter(matches).length, 0);
}

/** Fixes for all findings of a rule: in the file if it has several, and in the workspace. */
function fixKind(file: FileAnalysis, rule: string, workspace: boolean): readonly Action[] {
  const fixes = count(file, (finding) => finding.rule === rule) > maxTogether ? [] : fixesOfRule(file, rule);
  const everywhere: Action = {
    title: `Fix all ${rule} findings in the workspace…`,
    kind: 'quickfix',
    preferred: false,
    everywhere: rule,
  };
  const here = fixes.length < 2 ? [] : [fixInFile(file, rule, fixes)];
  return [...here, ...(workspace ? [everywhere] : [])];
}

function fixInFile(file: FileAnalysis, rule: string, fixes: readonly FileFix[]): Action {
  const title = `Fix all ${fixes.length} ${rule} findings in this file`;
  const edits = fixes.flatMap((fix) => fix.edits);
  const safe = fixes.every((fix) => fix.safe);
  return { title, kind: 'quickfix', preferred: false, edits, ...confirmPart(confirmationOf(file, edits, safe)) };
}

function confirmPart(confirm: string | undefined): { readonly confirm?: string } {
  return confirm === undefined ? {} : { confirm };
}

/** One edit for all safe fixes. */
function fixAll(file: FileAnalysis): readonly Action[] {
  const edits = safeFixes(file).flatMap((fix) => fix.edits);
  if (edits.length === 0) return [];
  return [{ title: 'Apply all safe gpulint fixes', kind: 'source.fixAll.gpulint', preferred: false, edits }];
}

function rewrites(file: FileAnalysis, query: ActionQuery): readonly Action[] {
  const budget = budgetOfAnswer();
  const parts = sliceableRequests(file, query.span).flatMap((sliceable) => [
    ...(query.picker ? pickSlice(sliceable) : eachSlice(sliceable, budget)),
    ...share(sliceable, budget),
  ]);
  const other = [...poolFixes(file, query.span, budget), ...leverFixes(file, query.span, budget)].map(
    ({ title, edits }): Action => ({ title, kind: 'refactor.rewrite', preferred: false, edits }),
  );
  return [...resizings(file, query, budget), ...other, ...parts];
}

/** The list of parts of a GPU on which the model fits. Without a list, only forms that no other action has and that the nodes offer. */
function resizings(file: FileAnalysis, { span, picker }: ActionQuery, budget: ProofBudget): readonly Action[] {
  const place = resizableIn(file, span);
  if (place === undefined) return picker ? claimed(file, span) : [];
  const found = fractionsOf(place);
  const flags = smallerFlags(place, budget).map(({ title, edits }): Action => ({ ...rewriteAction(title), edits }));
  if (picker)
    return [...(found.length === 0 ? [] : [{ ...rewriteAction(titleOf(place)), fractions: place.span }]), ...flags];
  const fitting = found.flatMap((one): Action[] => {
    const isOffered = place.part === null && /^(?:card|mig|time)/.test(one.id);
    const made = one.needs === null && !isOffered ? fractionFix(place, one, budget) : undefined;
    return made === undefined ? [] : [{ ...rewriteAction(`${made.title} (${one.description})`), edits: made.edits }];
  });
  return [...fitting, ...flags];
}

/** The list for a GPU that a claim requests. */
function claimed(file: FileAnalysis, span: Span): readonly Action[] {
  const place = claimedIn(file, span);
  if (place === undefined || claimFractions(place).length === 0) return [];
  return [{ ...rewriteAction(titleOf(place)), fractions: place.span }];
}

function titleOf({ direction, part }: Pick<Resizable, 'direction' | 'part'>): string {
  if (part !== null) return 'Use more of a GPU…';
  return direction === 'less' ? 'Use less of a GPU…' : 'Use a larger GPU…';
}

function rewriteAction(title: string): Action {
  return { title, kind: 'refactor.rewrite', preferred: false };
}

/** A shared GPU, if the config declares GPU sharing on the nodes. */
function share(sliceable: Sliceable, budget: ProofBudget): readonly Action[] {
  const fix = sharedFix(sliceable, budget);
  if (fix === undefined) return [];
  return [{ title: fix.title, kind: 'refactor.rewrite', preferred: false, edits: fix.edits }];
}

function pickSlice(sliceable: Sliceable): readonly Action[] {
  if (sliceable.config.migStrategy === 'none') return [];
  return [{ title: 'Rewrite to a MIG slice…', kind: 'refactor.rewrite', preferred: false, picker: sliceable.span }];
}

/** One rewrite per slice. Without a picker, the GPU model must be known. */
function eachSlice(sliceable: Sliceable, budget: ProofBudget): readonly Action[] {
  const { gpu } = sliceable;
  if (gpu === undefined) return [];
  const held = heldModel(sliceable);
  return slicesOf(gpu, sliceable).flatMap((option): Action[] => {
    if (held?.fit(option.profile) === 'too-small') return [];
    const fix = sliceFix(sliceable, option.profile, gpu, budget);
    if (fix === undefined) return [];
    const title = `Rewrite to MIG slice ${option.profile.name} (${describeSlice(option, held)})`;
    return [{ title, kind: 'refactor.rewrite', preferred: false, edits: fix.edits }];
  });
}

function inFile(edits: readonly TextEdit[], base: number): readonly TextEdit[] {
  return edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText }));
}

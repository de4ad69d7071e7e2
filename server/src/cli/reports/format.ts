import type { Severity } from '../../rules/rule.ts';
import type { PlacedFix } from '../fix-places.ts';
import type { SourceLines } from './excerpt.ts';
import type { ReportFile, ReportFinding } from './report-schema.ts';
import type { WorkloadText } from './text.ts';

/**
 * unreadable: a walk came upon it and could not read it; missing: so is a path that was named itself; unchecked: a path that was named
 * itself was skipped, because gpulint does not read what it holds; unwritten: a fix could not be saved; broken: gpulint itself failed on the file.
 */
export type Outcome = 'checked' | 'unreadable' | 'missing' | 'unchecked' | 'unwritten' | 'broken';

export interface CheckedFile {
  readonly file: ReportFile;
  /** Its path below the root of the repository, with forward slashes, whatever folder the command ran in; absolute where it is outside. */
  readonly source: string;
  /** Its workloads in words. */
  readonly workloads: readonly WorkloadText[];
  readonly outcome: Outcome;
  /** What was fixed in it, by line. */
  readonly fixes?: readonly PlacedFix[];
  /** The lines of its findings, where the report shows them. */
  readonly lines?: SourceLines;
  /** What its safe fixes would change. */
  readonly diff?: FileDiff;
}

/** A diff, and the name of the file in it: two paths may lead to one file. */
export interface FileDiff {
  readonly name: string;
  readonly text: string;
}

/** All that a run found out, for a renderer. */
export interface CheckedReport {
  readonly files: readonly CheckedFile[];
  readonly failOn: Severity | 'never';
  /** Whether the finding is to be shown: hints only to who asks for them. */
  shows(finding: ReportFinding): boolean;
}

/** A report format. The pieces are written one after the other, so that nobody has to hold all of a long report. */
export type RenderReport = (report: CheckedReport) => Iterable<string>;

/** Whether gpulint did not do what it was asked to, which is status 2. A walk promises no certain file. */
export function isFailure({ outcome }: CheckedFile): boolean {
  return outcome !== 'checked' && outcome !== 'unreadable';
}

/** Why a file was not checked, or not as asked; null where it was. */
export function failureOf({ file, outcome }: CheckedFile): string | null {
  if (outcome === 'unwritten') return 'its fixes could not be saved';
  return outcome === 'checked' && file.parse !== 'skipped' ? null : file.problem;
}

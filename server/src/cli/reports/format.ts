import type { CostEstimate } from '../../cost/types.ts';
import type { CostRow } from '../../features/cost/cost-rows.ts';
import type { PoolRow } from '../../features/pool-lens.ts';
import type { PublishedView } from '../../fleet/cluster-view.ts';
import type { Severity } from '../../rules/rule.ts';
import type { PlacedFix } from '../fix-places.ts';
import type { SourceLines } from './excerpt.ts';
import type { ReportFile, ReportFinding } from './report-schema.ts';

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
  /** What each of its workloads costs; empty if other files of the run count them. */
  readonly rows: readonly (CostRow & { readonly line: number })[];
  /** What the node pools that it describes cost. */
  readonly pools: readonly (PoolRow & { readonly line: number })[];
  /** What its workloads cost, for what the amounts of the report rest on. */
  readonly costs: readonly CostEstimate[];
  /** The age in days of its oldest list price, if that is old. */
  readonly oldPrices?: number;
  readonly outcome: Outcome;
  /** For a kustomization, the URIs of the files that contribute to its workloads. */
  readonly parts?: ReadonlySet<string>;
  /** The URIs of the kustomizations that it installs as they are. */
  readonly installed?: readonly string[];
  /** What was fixed in it, by line. */
  readonly fixes?: readonly PlacedFix[];
  /** The lines of its findings, where the report shows them. */
  readonly lines?: SourceLines;
  /** What its safe fixes would change. */
  readonly diff?: FileDiff;
}

/** A workload as the text report shows it, in the words that the editor uses. */
export interface WorkloadText {
  readonly line: number;
  readonly column: number;
  readonly name: string;
  readonly accelerators: string;
  readonly cost: string;
  /** Whether it would run in the cluster; empty without one. */
  readonly fit: string;
  /** The totals count it, and only the config could say which GPU is meant: the manifest does not even leave a choice of cards. */
  readonly lacksModel: boolean;
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
  /** What the connected cluster offers; undefined without one. */
  readonly cluster?: PublishedView | undefined;
  /** Whether the finding is to be shown: hints only on request. */
  shows(finding: ReportFinding): boolean;
}

/** What the text report adds to advice that it shows once for many places, or null for the findings that it leaves out. */
export type RepeatedAdvice = ReadonlyMap<ReportFinding, string | null>;

/** A report format. The pieces are written one after the other, so that nobody has to hold all of a long report. */
export type RenderReport = (report: CheckedReport) => Iterable<string>;

/** Whether gpulint failed to do what the command says, which is status 2. A walk promises no certain file. */
export function isFailure({ outcome }: CheckedFile): boolean {
  return outcome !== 'checked' && outcome !== 'unreadable';
}

/** Why a file was not checked, or not as the command says; null where it was. */
export function failureOf({ file, outcome }: CheckedFile): string | null {
  if (outcome === 'unwritten') return 'its fixes could not be saved';
  return outcome === 'checked' && file.parse !== 'skipped' ? null : file.problem;
}

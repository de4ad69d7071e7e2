import type { Range } from 'vscode-languageserver';
import type { CostRow } from '../features/cost/cost-rows.ts';
import type { PlaceArgument } from './protocol.ts';

// What the extension and its server exchange about costs: the part of the protocol behind the cost view, the report and the comparison.

export interface BaseTextParams {
  readonly uri: string;
}

/** null: the file is in no repository, or not in its last commit. */
export type BaseTextResult = string | null;

export interface CostChangesParams {
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly uri: string;
  /** As the editor shows it. */
  readonly path: string;
  /** Its text in the last commit; null if it is new. */
  readonly base: string | null;
}

export interface CostChangesResult {
  /** With the total change. */
  readonly title: string;
  readonly changes: readonly CostChangeItem[];
}

export interface CostChangeItem {
  readonly uri: string;
  /** Counts from 0; null if the workload is gone. */
  readonly line: number | null;
  readonly label: string;
  readonly description: string;
}

export const costReportFormats = ['csv', 'json', 'markdown', 'html'] as const;

export type CostReportFormat = (typeof costReportFormats)[number];

export interface CostReportParams extends WorkspaceCostsParams {
  readonly format: CostReportFormat;
  /** For HTML: a random text that permits the style and the script of the page. */
  readonly nonce: string;
}

/** A file, or a sentence with the reason that there is no file. */
export type CostReportResult = CostReportFile | { readonly problem: string };

export interface CostReportFile {
  readonly text: string;
  /** For HTML: what the numbers in `data-place` stand for. */
  readonly places: readonly PlaceArgument[];
  /** For HTML: what the numbers in `data-fix` stand for. */
  readonly fixes: readonly CostReportFix[];
}

/** The fix of a finding at a place. */
export interface CostReportFix extends PlaceArgument {
  readonly title: string;
  /** The message of the finding. */
  readonly message: string;
}

/** Both requests read files for seconds at first: they can be canceled, and report progress. */
export interface WorkspaceCostsParams {
  readonly workDoneToken?: string | number;
}

/** An amount from the floor to the ceiling, in US dollars. */
export interface CostRange {
  readonly min: number;
  readonly max: number;
}

/** What one workload costs, or one release of values. */
export interface WorkspaceCost extends Omit<CostRow, 'possibleHourly' | 'readWith' | 'budgets' | 'start' | 'span'> {
  readonly uri: string;
  /** Relative to its workspace folder, which it starts with if there are several. */
  readonly path: string;
  /** Where the hover with the details opens. */
  readonly range: Range;
}

export interface WorkspaceCostsResult {
  /** Each workload once, sorted by file and position. */
  readonly rows: readonly WorkspaceCost[];
  readonly total: {
    readonly workloads: number;
    readonly unpriced: number;
    readonly gpus: CostRange;
    readonly hourly: CostRange;
    readonly idleHourly: number;
  };
  /** What the amounts are based on; null if there are none. */
  readonly priceBasis: string | null;
}

export const costSorts = ['cost', 'name', 'idle'] as const;

export const costGroups = ['none', 'namespace', 'team', 'gpu', 'file'] as const;

export type CostSort = (typeof costSorts)[number];

export type CostGroup = (typeof costGroups)[number];

export interface CostTreeParams extends WorkspaceCostsParams {
  readonly sort: CostSort;
  readonly group: CostGroup;
}

/** A group, or a workload. */
export interface CostNode {
  /** Stays the same while the amounts change. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** The text for screen readers. */
  readonly spoken: string;
  /** The name of a theme icon. */
  readonly icon: string;
  /** Of a group: its workloads. */
  readonly children?: readonly CostNode[];
  /** Of a workload: where it is. */
  readonly place?: PlaceArgument;
}

export interface CostTreeResult {
  readonly nodes: readonly CostNode[];
  /** `$41.28/h`; empty without workloads. */
  readonly total: string;
  /** The totals in a sentence. */
  readonly message: string;
}

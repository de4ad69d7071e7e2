import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { plural } from '../../cost/money.ts';
import { exceededBudgets } from '../../features/cost/budgets.ts';
import {
  type CostChange,
  increaseOf,
  increaseOfSum,
  isChanged,
  isUnbounded,
  pairWorkloads,
} from '../../features/cost/cost-changes.ts';
import { type CostTotal, totalOf } from '../../features/cost/cost-totals.ts';
import type { ReportedCosts } from '../../features/cost-report/report.ts';
import { checkPaths } from '../check-paths.ts';
import type { CheckPathsOptions } from '../check-run.ts';
import { requireReadable, warnOfFailures } from '../failures.ts';
import { contentOfNamed } from '../file-content.ts';
import { standardInput } from '../files.ts';
import { warnOfOldPrices } from '../prices/in-use.ts';
import { protectInputs, writeReport } from '../report-file.ts';
import { type CheckedFile, isFailure } from '../reports/format.ts';
import { reportSchema } from '../reports/report-schema.ts';
import { shownPath } from '../reports/text.ts';
import { colorStyle, plainStyle, type Style, wantsColor, warn } from '../terminal.ts';
import { ConfigError, UsageError } from '../usage-error.ts';
import { type GitTree, withTreeOf } from './git-tree.ts';
import { reportedCosts } from './reported-costs.ts';
import { costsInFiles, type PlacedCost, type WorkloadCost, workloadCosts } from './workload-costs.ts';

/** Options of `gpulint cost`. */
export interface CostOptions {
  /** The git revision to compare with. */
  readonly base?: string;
  /** An earlier JSON report to compare with. */
  readonly compare?: string;
  /** Undefined for text. */
  readonly render: RenderCosts | undefined;
  readonly output?: string;
  readonly config?: string | false;
  readonly color?: boolean;
  /** Limits in US dollars per hour, at the ceiling of all workloads. */
  readonly maxHourly?: number;
  readonly maxIncrease?: number;
}

/** The costs of a run, for a renderer. */
export interface CostReport {
  /** What the costs are compared with; null if they are not. */
  readonly base: string | null;
  /** With a base, each workload of either side; without one, each workload as its own `after`. */
  readonly changes: readonly CostChange<WorkloadCost>[];
  readonly before: CostTotal | null;
  readonly after: CostTotal;
  /** The workloads of the state after the change, with all that reports of one state show. */
  readonly current: ReportedCosts;
  /** The file that the report is written to; undefined for standard output. */
  readonly output: string | undefined;
  /** What the amounts are based on; undefined if there are none. */
  readonly priceBasis: string | undefined;
  /** The limits that are exceeded, as sentences. */
  readonly exceeded: readonly string[];
}

/** A format of the costs. */
export type RenderCosts = (report: CostReport, style: Style) => Iterable<string>;

/**
 * Writes what the workloads of files and folders cost, and what a change makes of it.
 * @returns the exit status: 2 if a named path could not be checked, otherwise 1 if a limit is exceeded, otherwise 0
 * @throws UsageError if the files, the revision or the earlier report cannot be read
 */
export async function cost(paths: readonly string[], options: CostOptions, text: RenderCosts): Promise<number> {
  const { base, compare, output, config, color, render = text } = options;
  if (base !== undefined && compare !== undefined) throw new UsageError('--base cannot be combined with --compare');
  if (base !== undefined && paths.includes(standardInput)) {
    throw new UsageError('--base cannot compare standard input: name a file or folder');
  }
  if (options.maxIncrease !== undefined && base === undefined && compare === undefined) {
    throw new UsageError('--max-increase requires --base <revision> or --compare <report>');
  }
  protectInputs(output, [...paths, compare, config]);
  const how = { readsTerraform: true, ...(config !== undefined && { config }) };
  const { files, terraformPools } = await checkPaths(paths, how);
  requireReadable(files);
  warnOfOldPrices(files);
  warnOfFailures(files);
  warnOfSyntax(files);
  const pools = terraformPools();
  if (files.length === 0 && pools.length === 0) warn(`no YAML, JSON or Terraform files in ${paths.join(', ')}`);
  const after = costsInFiles(files);
  const before =
    base !== undefined
      ? await costsAt(base, paths, how)
      : compare !== undefined
        ? costsInReport(compare, await readReport(compare))
        : undefined;
  const report = createReport(before, after, reportedCosts(paths, after, files, pools), options);
  const terminal = output === undefined ? process.stdout : {};
  const pieces = render(report, wantsColor(color, terminal) ? colorStyle : plainStyle);
  if (output === undefined) for (const piece of pieces) process.stdout.write(piece);
  else writeReport(output, [...pieces].join(''));
  for (const sentence of report.exceeded) warn(sentence);
  const left = uncovered(report, options);
  if (left > 0) warn(`the limits do not cover ${plural(left, 'workload')} without a price`);
  const open = unbounded(after, report, options);
  if (open > 0) warn(`the limits count ${plural(open, 'workload')} without a known maximum of pods at the minimum`);
  if (files.some(isFailure)) return 2;
  return report.exceeded.length > 0 ? 1 : 0;
}

/** The number of workloads that the limits would count, if they had a price. */
function uncovered({ after, changes }: CostReport, { maxHourly, maxIncrease }: CostOptions): number {
  if (maxHourly !== undefined) return after.unpriced;
  const changed = maxIncrease === undefined ? [] : changes.filter(isChanged);
  return changed.filter((change) => increaseOf(change) === null).length;
}

/** The number of workloads that limits or budgets count, although no bound of their pods is known. */
function unbounded(
  after: readonly PlacedCost[],
  { changes }: CostReport,
  { maxHourly, maxIncrease }: CostOptions,
): number {
  const counted = after.filter(({ isOpen, budgets }) => isOpen && (maxHourly !== undefined || budgets.length > 0));
  const changed = maxIncrease === undefined ? [] : changes.filter((one) => isUnbounded(one) && isChanged(one));
  return Math.max(counted.length, changed.length);
}

/** A document that cannot be parsed has no workloads, so its cost is missing from the totals. */
function warnOfSyntax(files: readonly CheckedFile[]): void {
  for (const { file } of files) {
    for (const { rule, severity, message, range } of file.findings) {
      if (rule !== 'yaml-syntax' || severity !== 'error') continue;
      warn(`${shownPath(file)}:${range.start.line}:${range.start.column}: ${message}`);
    }
  }
}

function createReport(
  before: readonly WorkloadCost[] | undefined,
  after: readonly PlacedCost[],
  current: ReportedCosts,
  { base, compare, output, maxHourly, maxIncrease }: CostOptions,
): CostReport {
  const totals = { before: before === undefined ? null : totalOf(before), after: totalOf(after) };
  const exceeded: string[] = [...exceededBudgets(after)];
  const { hourly } = totals.after;
  if (maxHourly !== undefined && hourly.max > maxHourly) {
    exceeded.push(`the workloads cost up to $${hourly.max.toFixed(2)}/h, more than --max-hourly ${maxHourly}`);
  }
  const changes =
    before === undefined
      ? after.map((one) => ({ before: null, after: one }))
      : pairWorkloads<WorkloadCost>(before, after);
  const increase = totals.before === null ? 0 : increaseOfSum('hourly', totals.before, totals.after, changes).max;
  if (maxIncrease !== undefined && increase > maxIncrease) {
    exceeded.push(`the cost grows by up to $${increase.toFixed(2)}/h, more than --max-increase ${maxIncrease}`);
  }
  return {
    base: base ?? compare ?? null,
    changes,
    ...totals,
    current,
    output,
    priceBasis: current.basis,
    exceeded,
  };
}

async function costsAt(
  revision: string,
  paths: readonly string[],
  how: Pick<CheckPathsOptions, 'config' | 'readsTerraform'>,
): Promise<readonly WorkloadCost[]> {
  return withTreeOf(revision, paths, async (tree) => {
    // The temporary folder stands for the revision.
    const worded = (message: string) => message.replaceAll(`${tree.root}/`, `${revision}:`);
    const replaced = new Set<string>();
    for (;;) {
      try {
        if (tree.paths.length === 0) return [];
        return costsInFiles((await checkPaths(tree.paths, { ...how, root: tree.root })).files);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        const { config } = error instanceof ConfigError ? error : { config: null };
        const name = config === null ? '..' : path.relative(tree.root, config);
        if (name.startsWith('..') || replaced.has(name))
          throw new UsageError(worded(error.message), error.more.map(worded));
        warn(`${worded(error.message)}; its present state applies instead`);
        replaced.add(name);
        takePresent(name, tree);
      }
    }
  });
}

/** A change that repairs a config can be compared: both sides use the file of the working tree, or none. */
function takePresent(name: string, { root, repository }: GitTree): void {
  const [from, to] = [path.join(repository, name), path.join(root, name)];
  fs.rmSync(to);
  if (fs.existsSync(from)) fs.copyFileSync(from, to);
}

function costsInReport(name: string, value: unknown): readonly WorkloadCost[] {
  const report = reportSchema.safeParse(value);
  if (report.success) return workloadCosts(report.data.files);
  const path = report.error.issues[0]?.path.join('.');
  const place = path ? `: ${path} is missing or wrong` : '';
  throw new UsageError(`${name} is not a gpulint report${place}; ${howToReport}`);
}

const howToReport = 'write a report with gpulint check --format json';

/** A report has a few hundred bytes per workload. */
const maxReportBytes = 100 * 1024 * 1024;

async function readReport(name: string): Promise<unknown> {
  const content = await contentOfNamed(name, maxReportBytes);
  if (content.kind !== 'text') throw new UsageError(`cannot read the report ${name}: ${content.reason}`);
  const { text } = content;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name} is not JSON; ${howToReport}`);
  }
}

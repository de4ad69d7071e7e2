import fs from 'node:fs';
import process from 'node:process';
import { configName } from '../config/places.ts';
import { plural } from '../cost/money.ts';
import { unusedSuppressionId } from '../features/actions/unused-suppressions.ts';
import { priceBasis } from '../features/cost/price-basis.ts';
import type { Severity } from '../rules/rule.ts';
import type { RuleSetName } from '../rules/rule-sets.ts';
import { readBaseline, withoutBaselined, writeBaseline } from './baseline.ts';
import { checkPaths } from './check-paths.ts';
import type { CheckPathsOptions } from './check-run.ts';
import { requireReadable, warnOfFailures } from './failures.ts';
import { standardInput } from './files.ts';
import { warnOfOldPrices } from './prices/in-use.ts';
import { protectInputs, writeReport } from './report-file.ts';
import { type CheckedFile, type CheckedReport, isFailure, type RenderReport } from './reports/format.ts';
import { renderFullFile } from './reports/full.ts';
import { repeatedAdvice } from './reports/repeated-advice.ts';
import { summarizeReport } from './reports/summary.ts';
import {
  clusterLine,
  fixWords,
  isAtLeast,
  renderFile,
  renderSummary,
  shownPath,
  type TextOptions,
} from './reports/text.ts';
import { colorStyle, plainStyle, printable, wantsColor, warn } from './terminal.ts';
import { showDiff } from './unified-diff.ts';
import { UsageError } from './usage-error.ts';

export interface CheckOptions {
  /** Undefined for text, which includes the source lines with `full`. */
  readonly render: RenderReport | undefined;
  readonly full?: boolean;
  readonly fix?: boolean;
  /** Write the changes of `fix` as a diff instead of a report; the files stay unchanged. */
  readonly diff?: boolean;
  readonly failOn: Severity | 'never';
  /** A config file; `false` for none, undefined for the nearest. */
  readonly config?: string | false;
  /** The rule set to start from, instead of the one that the config extends. */
  readonly rules?: RuleSetName;
  readonly baseline?: string;
  readonly writeBaseline?: boolean;
  readonly reportUnused?: boolean;
  /** A file to write to instead of standard output. */
  readonly output?: string;
  readonly quiet?: boolean;
  readonly color?: boolean;
  readonly stdinFilename?: string;
  /** Connect to a cluster: its context, or true for the current one. */
  readonly cluster?: string | boolean;
}

/**
 * Checks files, folders and standard input (`-`), and writes the report.
 * @returns the exit status: 2 if gpulint failed on a named path or on a file, otherwise 1 if a finding is at or above `failOn` (with `diff`: if
 * there are changes), otherwise 0
 * @throws UsageError if no file could be read, or if a config, baseline or output file cannot be read or written
 */
export async function check(paths: readonly string[], options: CheckOptions): Promise<number> {
  const { baseline, failOn, writeBaseline: isToWrite = false } = options;
  refuseConflicts(paths, options);
  protectInputs(options.output, [...paths, baseline, options.config]);
  if (isToWrite) protectInputs(baseline, [...paths, options.config]);
  const known = baseline === undefined || isToWrite ? new Set<string>() : await readBaseline(baseline);
  const checked = await checkPaths(paths, howToCheck(options));
  const files = checked.files.map((file) => withoutBaselined(file, known));
  requireReadable(files);
  if (options.quiet !== true && options.diff !== true && !isToWrite) warnOfOldPrices(files);
  if (options.diff === true) return writeDiff(files, options);
  // The text report contains failures and fixes; with other reports and baselines, users may see only standard error.
  if (options.render !== undefined || options.output !== undefined || isToWrite) warnOfFilesAndFixes(files);
  const failed = files.some(isFailure);
  if (isToWrite && baseline !== undefined) {
    const count = writeBaseline(baseline, files);
    process.stdout.write(`${printable(baseline)}: ${plural(count, 'finding')}\n`);
    return failed ? 2 : 0;
  }

  const text = textOptions(options);
  const { cluster } = checked;
  const report: CheckedReport = { files, failOn, cluster, shows: ({ rule, severity }) => text.shows(rule, severity) };
  const pieces =
    options.render?.(report) ??
    (options.full === true
      ? renderText(paths, report, text, renderFullFile)
      : renderText(paths, report, { ...text, repeated: repeatedAdvice(report) }, renderFile));
  write(pieces, options);

  if (failed) return 2;
  const severities = files.flatMap(({ file }) => file.findings.map(({ severity }) => severity));
  return failOn !== 'never' && severities.some((severity) => isAtLeast(severity, failOn)) ? 1 : 0;
}

/** @throws UsageError if options need or exclude each other */
function refuseConflicts(paths: readonly string[], options: CheckOptions): void {
  if (options.writeBaseline === true && options.baseline === undefined) {
    throw new UsageError('--write-baseline requires --baseline <file>');
  }
  if (options.stdinFilename !== undefined && !paths.includes(standardInput)) {
    throw new UsageError('--stdin-filename requires the path -, which reads standard input');
  }
  refusePathAsContext(options.cluster);
  const other = options.writeBaseline === true ? '--write-baseline' : (options.render ?? options.full) && '--format';
  if (options.diff === true && other) throw new UsageError(`--diff cannot be combined with ${other}`);
}

/** Reports on standard error what was not checked and what was fixed. */
function warnOfFilesAndFixes(files: readonly CheckedFile[]): void {
  for (const { file, outcome, fixes = [] } of files) {
    if (outcome === 'missing' || outcome === 'unchecked') warn(`${shownPath(file)}: ${file.problem}`);
    for (const fix of fixes) warn(`${shownPath(file)}: fixed: ${fixWords(fix)} (${fix.rule})`);
  }
}

/** Writes the diff of each file once, even if several links lead to it. Files that could not be checked are reported on standard error. */
function writeDiff(files: readonly CheckedFile[], options: CheckOptions): number {
  const diffs = new Map(files.flatMap(({ diff }) => (diff === undefined ? [] : [[diff.name, diff.text]])));
  warnOfFailures(files);
  const { style, headings } = textOptions(options);
  const isInteractive = headings || style === colorStyle;
  write(isInteractive ? [...diffs.values()].map((diff) => showDiff(diff, style)) : diffs.values(), options);
  if (files.some(isFailure)) return 2;
  return diffs.size > 0 && options.failOn !== 'never' ? 1 : 0;
}

function write(pieces: Iterable<string>, { output }: CheckOptions): void {
  if (output === undefined) for (const piece of pieces) process.stdout.write(piece);
  else writeReport(output, [...pieces].join(''));
}

function howToCheck({ fix, diff, full = false, baseline, output, ...options }: CheckOptions): CheckPathsOptions {
  const own = [baseline, output].filter((file) => file !== undefined);
  return { ...options, fix: diff === true ? 'show' : fix === true ? 'write' : undefined, withLines: full, own };
}

function* renderText(
  paths: readonly string[],
  { files: checked, cluster }: CheckedReport,
  options: TextOptions,
  render: typeof renderFile,
): Generator<string> {
  for (const file of checked) yield render(file, options);
  if (options.quiet) return;
  const files = checked.map(({ file }) => file);
  if (cluster !== undefined) yield `${printable(clusterLine(cluster))}\n`;
  if (checked.some(({ workloads }) => workloads.some(({ lacksModel }) => lacksModel))) yield modelHint;
  if (files.length > 0)
    yield renderSummary(summarizeReport(files), files, options, priceBasis(checked.flatMap(({ costs }) => costs)));
  else yield `no YAML or JSON files in ${paths.map(printable).join(', ')}\n`;
}

const modelHint = `GPU model unknown for some workloads: to see their prices, set gpu in ${configName}, for example gpu: h100-80gb-sxm\n\n`;

/** `--cluster deploy/` takes the folder for a context and checks the current folder. */
function refusePathAsContext(context: CheckOptions['cluster']): void {
  if (typeof context !== 'string' || !/[/\\.]/.test(context) || !fs.existsSync(context)) return;
  throw new UsageError(`--cluster ${context} names a path, not a context; write 'gpulint check ${context} --cluster'`);
}

function textOptions({ quiet = false, failOn, color, output, reportUnused = false }: CheckOptions): TextOptions {
  const limit = failOn === 'never' ? 'info' : failOn;
  // Hints are possible improvements, shown only on request.
  const atLeast = quiet || limit === 'hint' ? limit : 'info';
  const terminal = output === undefined ? process.stdout : {};
  return {
    style: wantsColor(color, terminal) ? colorStyle : plainStyle,
    headings: output === undefined && process.stdout.isTTY === true,
    shows: (rule, severity) => isAtLeast(severity, atLeast) || (reportUnused && rule === unusedSuppressionId),
    quiet,
  };
}

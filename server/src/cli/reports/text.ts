import type { FileAnalysis } from '../../analysis.ts';
import { fromWords, notCounted, plural, roundedCount } from '../../cost/money.ts';
import { missingFor } from '../../cost/no-estimate.ts';
import { noEstimateWords } from '../../cost/no-estimate-words.ts';
import { rangedWords } from '../../cost/possible-cost-words.ts';
import type { Range } from '../../cost/types.ts';
import { listed, sentence, totalsWords } from '../../features/cluster/cluster-words.ts';
import { fitTitle } from '../../features/cluster/fit-blocks.ts';
import { costWords } from '../../features/code-lens.ts';
import { leftOutWords } from '../../features/cost/cost-totals.ts';
import {
  acceleratedWorkloads,
  describeAccelerators,
  describeWorkload,
  deviceNoun,
} from '../../features/hover/gpu-words.ts';
import { memoryNote } from '../../features/memory-records.ts';
import { trainingNote } from '../../features/training-records.ts';
import type { PublishedView } from '../../fleet/cluster-view.ts';
import { clusterWords } from '../../model/nodes-of-others.ts';
import type { Workload } from '../../model/workload.ts';
import type { Severity } from '../../rules/rule.ts';
import { spanOf } from '../../yaml/cursor.ts';
import type { PlacedFix } from '../fix-places.ts';
import { printable, type Style } from '../terminal.ts';
import type { CheckedFile, RepeatedAdvice, WorkloadText } from './format.ts';
import { lineStartsOf, positionAt } from './position.ts';
import type { Report, ReportFile, ReportFinding, ReportWorkload } from './report-schema.ts';
import { countedCost, countedWorkloads } from './summary.ts';

export interface TextOptions {
  readonly style: Style;
  /** For a person: the path once, as a heading. Else each line starts with path:line:column, for grep and for CI logs. */
  readonly headings: boolean;
  /** Whether to show a rule's findings of a severity. */
  shows(rule: string, severity: Severity): boolean;
  /** Findings only: no workloads, no summary. */
  readonly quiet: boolean;
  /** Advice that is shown once for many places. */
  readonly repeated?: RepeatedAdvice;
}

export const severities = ['error', 'warning', 'info', 'hint'] as const satisfies readonly Severity[];

/** Whether a severity is as grave as another or graver. */
export function isAtLeast(severity: Severity, limit: Severity): boolean {
  return severities.indexOf(severity) <= severities.indexOf(limit);
}

/** The workloads of a file that ask for accelerators and run by themselves. */
export function describeWorkloads(file: FileAnalysis): readonly WorkloadText[] {
  const lineStarts = lineStartsOf(file.text);
  return acceleratedWorkloads(file).map(({ workload, document }) => {
    const result = document.costOf(workload);
    const range = document.rangeOf(workload);
    const isKnown = result.unknown === null || range !== undefined;
    return {
      ...positionAt(lineStarts, document.base + spanOf(workload.manifest.root).start),
      name: printable(describeWorkload(workload)),
      accelerators: printable(
        `${describeAccelerators(workload)}${workload.readWith === undefined ? '' : ` with ${workload.readWith}`}`,
      ),
      cost: printable(
        [
          isKnown ? costWords(workload, result, range) : noEstimateWords(result.unknown),
          ...memoryNote(workload, file.config),
          ...trainingNote(workload),
        ].join(' · '),
      ),
      fit: printable(fitTitle(workload, document) ?? ''),
      lacksModel: missingFor(result.unknown) === 'gpu' && lacksCards(workload.podSets),
    };
  });
}

/** Whether a manifest says nothing of the cards of some of its pods. */
function lacksCards(podSets: Workload['podSets']): boolean {
  return podSets.some(({ accelerators }) =>
    accelerators.some(({ model, candidates }) => model === null && candidates.length === 0),
  );
}

/** The lines about one file; empty where there is nothing to say. */
export function renderFile({ file, workloads, fixes = [] }: CheckedFile, options: TextOptions): string {
  const { style, headings, quiet } = options;
  // The log of GitHub Actions takes a line that starts with two colons for a command.
  const name = printable(shownPath(file)).replace(/^(?=\s*::)/, './');
  const blocks: Block[] = [];
  for (const fix of fixes) {
    const line = `${style.green(pad('fixed'))}  ${printable(fixWords(fix))}  ${style.dim(fix.rule)}`;
    blocks.push({ line: 0, column: 0, lines: [line] });
  }
  const problem = skippedProblem(file);
  if (problem !== null) blocks.push({ line: 0, column: 0, lines: [`${pad('skipped')}  ${printable(problem)}`] });
  if (!quiet) blocks.push(...workloadBlocks(workloads, style));
  for (const finding of file.findings) {
    const more = options.repeated?.get(finding);
    if (more !== null && options.shows(finding.rule, finding.severity)) blocks.push(findingBlock(finding, style, more));
  }
  if (blocks.length === 0) return '';

  const places = blocks.map(({ line, column }) => placeText(line, column, headings ? '' : name));
  const width = Math.max(...places.map((place) => place.length));
  const ordered = blocks.map((block, index) => ({ ...block, place: places[index] ?? '' })).sort(byPlace);
  const indent = headings ? '  ' : '';
  const lines = ordered.flatMap(({ place, lines: [first, ...rest] }) => [
    `${indent}${headings ? style.dim(place.padStart(width)) : place.padEnd(width)}  ${first}`,
    ...rest.map((line) => `${indent}${' '.repeat(width)}  ${line}`),
  ]);
  return `${[...(headings ? [style.bold(name)] : []), ...lines, ''].join('\n')}\n`;
}

/** What a fix did, and where. */
export function fixWords({ title, line }: PlacedFix): string {
  return line === null ? title : `line ${line}: ${title}`;
}

/** What the connected cluster offers and costs: `Cluster prod, as of 14:02: 24 GPUs, 6 free · $82.56/h · $13.76/h idle (…)`. */
export function clusterLine({ context, asOf, totals }: PublishedView): string {
  const { basis } = totals.cost;
  const prices = basis.length === 0 ? '' : ` (${listed(basis)})`;
  return `${sentence(clusterWords(context, asOf))}: ${totalsWords(totals)}${prices}`;
}

/** The last lines: what the amounts rest on; how much was looked at, what it costs, what was found. */
export function renderSummary(
  summary: Report['summary'],
  files: readonly ReportFile[],
  { style, shows }: TextOptions,
  basis: string | undefined,
): string {
  const workloads = countedWorkloads(files);
  const definitions = workloads.filter(isDefinition).length;
  const seen = [plural(summary.files, 'file')];
  if (summary.skipped !== undefined) seen.push(`${summary.skipped} skipped`);
  if (definitions < workloads.length || definitions === 0)
    seen.push(plural(workloads.length - definitions, 'workload'));
  if (definitions > 0) seen.push(plural(definitions, 'definition'));
  const running = workloads
    .filter((workload) => countedCost(workload).gpus.max !== 0)
    .flatMap(({ podSets }) => podSets);
  const noun = deviceNoun(running.flatMap(({ accelerators }) => accelerators).filter(({ devices }) => devices !== 0));
  // Workloads without an upper bound count with what is sure.
  const open = workloads.map(countedCost).some(({ gpus }) => gpus.min !== null && gpus.max === null);
  if (summary.gpus.max > 0) seen.push(`${plural(rounded(summary.gpus), noun)}${open ? ' or more' : ''}`);
  const without = workloads.filter((one) => countedCost(one).hourly === null && !isDefinition(one));
  const ranged = without.filter((one) => countedCost(one).possibleHourly !== null).length;
  const perNode = without.filter((one) => countedCost(one).nodeHourly != null).length;
  if (summary.hourly.max > 0 || summary.ranged !== undefined) {
    const left = leftOutWords({ unpriced: without.length, perNode, ranged: { workloads: ranged } }, String);
    const missing = left === '' ? '' : ` and ${left}`;
    const unbounded = workloads.some((one) => countedCost(one).isOpen);
    seen.push(`${rangedWords(summary.hourly, summary.ranged, (sum) => fromWords(sum, unbounded))}${missing}`);
  }
  const findings = files.flatMap((file) => file.findings);
  const found = severities.flatMap((severity) => {
    const all = findings.filter((finding) => finding.severity === severity);
    const shown = all.filter(({ rule }) => shows(rule, severity)).length;
    return [
      ...(shown === 0 ? [] : [colourOf(severity, style)(counted(shown, severity))]),
      ...(shown === all.length ? [] : [`${counted(all.length - shown, severity)} not shown`]),
    ];
  });
  if (summary.baselined !== undefined) found.push(`${summary.baselined} in the baseline`);
  const fixable = findings.filter(({ fixes }) => fixes.some(({ safe }) => safe)).length;
  const last = fixable === 0 ? '' : `; ${fixable} fixable with --fix`;
  const prices =
    basis &&
    style.dim(
      `Prices: ${basis}; 730 h per month; not included: ${notCounted}; --format json shows the basis of each price`,
    );
  return `${prices ? `${prices}\n` : ''}${seen.join(', ')}: ${found.join(', ') || style.green('no findings')}${last}\n`;
}

/** Whether it runs nothing on its own, and is not a release of values either. */
export function isDefinition({ role, release }: ReportWorkload): boolean {
  return role === 'definition' && release === undefined;
}

/** `1 error`, `2 info`. */
export function counted(count: number, severity: Severity): string {
  return severity === 'info' ? `${count} info` : plural(count, severity);
}

/** Shares of many cards add up to figures that nobody needs. */
function rounded({ min, max }: Range): Range {
  return { min: roundedCount(min), max: roundedCount(max) };
}

/** The path from where the command was started. */
export function shownPath({
  path,
  folder,
}: {
  readonly path: string;
  readonly folder?: string | null | undefined;
}): string {
  if (folder === undefined || folder === null || folder === path) return path;
  const above = folder.replace(/^(\.\/)+/, '').replace(/(?<!\/)\/+$/, '');
  return above === '' && folder.startsWith('/')
    ? `/${path}`
    : above === '' || above === '.'
      ? path
      : `${above}/${path}`;
}

/** What stands at one place of a file: a line, and lines that belong below it. */
interface Block {
  /** 0: the file as a whole. */
  readonly line: number;
  readonly column: number;
  readonly lines: readonly string[];
}

/** Problems that concern accelerators are findings of their own; the rest of a file may be as broken as it likes. */
export function skippedProblem({ parse, problem }: ReportFile): string | null {
  return parse === 'skipped' ? problem : null;
}

function workloadBlocks(workloads: readonly WorkloadText[], style: Style): readonly Block[] {
  const nameWidth = Math.max(0, ...workloads.map(({ name }) => name.length));
  const acceleratorsWidth = Math.max(0, ...workloads.map(({ accelerators }) => accelerators.length));
  return workloads.map(({ line, column, name, accelerators, cost, fit }) => ({
    line,
    column,
    lines: [
      `${style.bold(name.padEnd(nameWidth))}  ${accelerators.padEnd(acceleratorsWidth)}  ${cost}`,
      ...(fit === '' ? [] : [`${' '.repeat(nameWidth)}  ${fit}`]),
    ],
  }));
}

function findingBlock(
  { severity, message, rule, range, fixes }: ReportFinding,
  style: Style,
  more: string | undefined,
): Block {
  const word = colourOf(severity, style)(pad(severity));
  return {
    ...range.start,
    lines: [
      `${word}  ${printable(message)}  ${style.dim(printable(rule))}`,
      ...(more === undefined ? [] : [`${pad('')}  ${style.dim(more)}`]),
      ...fixes.map(({ title, safe }) => {
        const mark = safe ? style.green('safe') : 'unsafe';
        return `${pad('')}  ${style.dim('fix:')} ${printable(title)} ${style.dim('(')}${mark}${style.dim(')')}`;
      }),
    ],
  };
}

export function colourOf(severity: Severity, style: Style): (text: string) => string {
  return { error: style.red, warning: style.yellow, info: style.blue, hint: style.dim }[severity];
}

function placeText(line: number, column: number, name: string): string {
  const place = line === 0 ? [] : [line, column];
  return (name === '' ? place : [name, ...place]).join(':');
}

function pad(word: string): string {
  return word.padEnd('warning'.length);
}

function byPlace(a: Block, b: Block): number {
  return a.line - b.line || a.column - b.column;
}

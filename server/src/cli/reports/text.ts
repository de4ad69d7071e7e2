import { gpus } from '../../catalog/index.ts';
import { formatCount, formatHourly, formatMonthly, plural } from '../../cost/format.ts';
import type { Severity } from '../../rules/rule.ts';
import { printable, type Style } from '../terminal.ts';
import type { Report, ReportFile, ReportFinding, ReportWorkload } from './report-schema.ts';

export interface TextOptions {
  readonly style: Style;
  /** For a person: the path once, as a heading. Else each line starts with path:line:column, for grep and for CI logs. */
  readonly headings: boolean;
  /** The mildest severity to show. */
  readonly atLeast: Severity;
  /** Findings only: no workloads, no summary. */
  readonly quiet: boolean;
}

export const severities = ['error', 'warning', 'info', 'hint'] as const satisfies readonly Severity[];

/** Whether a severity is as grave as another or graver. */
export function isAtLeast(severity: Severity, limit: Severity): boolean {
  return severities.indexOf(severity) <= severities.indexOf(limit);
}

/** The lines about one file; empty where there is nothing to say. */
export function renderFile(file: ReportFile, options: TextOptions): string {
  const { style, headings, quiet } = options;
  const name = printable(shownPath(file));
  const blocks: Block[] = [];
  for (const { rule, title } of file.fixed ?? []) {
    blocks.push({
      line: 0,
      column: 0,
      lines: [`${style.green(pad('fixed'))}  ${printable(title)}  ${style.dim(rule)}`],
    });
  }
  const note = noteOf(file);
  if (note !== null) blocks.push({ line: 0, column: 0, lines: [note] });
  if (!quiet) blocks.push(...workloadBlocks(file.workloads, style));
  const shown = file.findings.filter(({ severity }) => isAtLeast(severity, options.atLeast));
  blocks.push(...shown.map((finding) => findingBlock(finding, style)));
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

/** The last line: how much was looked at, what it costs, what was found. */
export function renderSummary(
  summary: Report['summary'],
  files: readonly ReportFile[],
  { style, atLeast }: TextOptions,
): string {
  const seen = [plural(summary.files, 'file'), plural(summary.workloads, 'workload')];
  if (summary.gpus.max > 0) seen.push(plural(summary.gpus, 'GPU'));
  if (summary.hourly.max > 0) seen.push(formatHourly(summary.hourly));
  const found = severities
    .filter((severity) => summary.findings[severity] > 0)
    .map((severity) => {
      const words =
        severity === 'info' ? `${summary.findings.info} info` : plural(summary.findings[severity], severity);
      return isAtLeast(severity, atLeast) ? colourOf(severity, style)(words) : `${words} not shown`;
    });
  const fixable = files
    .flatMap(({ findings }) => findings)
    .filter(({ fixes }) => fixes.some(({ safe }) => safe)).length;
  const last = fixable === 0 ? '' : `; ${fixable} fixable with --fix`;
  return `${seen.join(', ')}: ${found.join(', ') || style.green('no findings')}${last}\n`;
}

/** The path from where the command was started. */
export function shownPath({ path, folder }: Pick<ReportFile, 'path' | 'folder'>): string {
  if (folder === undefined || folder === path) return path;
  const above = folder.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
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

function noteOf({ parse, problem, workloads, findings }: ReportFile): string | null {
  if (problem === null) return null;
  if (parse === 'skipped') return `${pad('skipped')}  ${printable(problem)}`;
  // A problem with a place is a finding already, and a file that is not about accelerators may be as broken as it likes.
  const told = findings.some(({ topic }) => topic === 'syntax');
  return told || (workloads.length === 0 && findings.length === 0) ? null : `${pad('note')}  ${printable(problem)}`;
}

function workloadBlocks(workloads: readonly ReportWorkload[], style: Style): readonly Block[] {
  const rows = workloads.map((workload) => {
    const { kind, name, cost, costProblem, role } = workload;
    const idle = cost !== null && role === 'serving' && cost.idleHourly > 0;
    return [
      printable(name === null ? kind : `${kind}/${name}`),
      acceleratorText(workload),
      cost === null ? (costProblem ?? '') : formatHourly(cost.hourly),
      idle ? `idle ${formatMonthly(cost.idleHourly)}` : '',
    ];
  });
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row, index) => {
    const { line, column } = workloads[index] ?? { line: 1, column: 1 };
    const [name = '', ...rest] = row.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    return { line, column, lines: [`${style.bold(name)}  ${rest.join('  ')}`.trimEnd()] };
  });
}

/** `1–3 × H100 80GB SXM`, `2 × nvidia.com/mig-1g.10gb`: what runs, by what people call it. */
function acceleratorText({ podSets }: ReportWorkload): string {
  const counts = new Map<string, { min: number | null; max: number | null }>();
  for (const { pods, accelerators } of podSets) {
    for (const { resource, perPod, devices, model } of accelerators) {
      if (perPod === 0) continue;
      const whole = perPod === devices;
      const label = (whole && model !== null ? gpus.get(model)?.name : undefined) ?? resource;
      const before = counts.get(label) ?? { min: 0, max: 0 };
      counts.set(label, { min: plus(before.min, perPod, pods.min), max: plus(before.max, perPod, pods.max) });
    }
  }
  return printable([...counts].map(([label, count]) => `${formatCount(count)} × ${label}`).join(' + '));
}

function plus(before: number | null, perPod: number | null, pods: number | null): number | null {
  return before === null || perPod === null || pods === null ? null : before + perPod * pods;
}

function findingBlock({ severity, message, rule, range, fixes }: ReportFinding, style: Style): Block {
  const word = colourOf(severity, style)(pad(severity));
  return {
    ...range.start,
    lines: [
      `${word}  ${printable(message)}  ${style.dim(printable(rule))}`,
      ...fixes.map(({ title, safe }) => {
        const mark = safe ? style.green('safe') : 'unsafe';
        return `${pad('')}  ${style.dim('fix:')} ${printable(title)} ${style.dim('(')}${mark}${style.dim(')')}`;
      }),
    ],
  };
}

function colourOf(severity: Severity, style: Style): (text: string) => string {
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

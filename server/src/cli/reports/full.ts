import { formatHourly, formatMonthly } from '../../cost/money.ts';
import { printable, type Style } from '../terminal.ts';
import { excerptOf, type SourceLines } from './excerpt.ts';
import type { CheckedFile } from './format.ts';
import type { ReportFinding } from './report-schema.ts';
import { colourOf, fixWords, shownPath, skippedProblem, type TextOptions } from './text.ts';

/** What is found in one file as compilers show it: the source line, carets under the span, and the fixes as help. */
export function renderFullFile({ file, fixes = [], lines = new Map() }: CheckedFile, options: TextOptions): string {
  const { style } = options;
  const name = printable(shownPath(file));
  const arrow = style.blue('-->');
  const problem = skippedProblem(file);
  const notes = [
    ...fixes.map((fix) => `${style.green('fixed')}: ${printable(fixWords(fix))} ${style.dim(`[${fix.rule}]`)}`),
    ...(problem === null ? [] : [`${style.yellow('skipped')}: ${printable(problem)}`]),
  ].map((note) => `${note}\n ${arrow} ${name}\n\n`);
  const shown = file.findings.filter(({ rule, severity }) => options.shows(rule, severity));
  return [...notes, ...shown.map((finding) => renderFinding(finding, name, lines, style))].join('');
}

function renderFinding(finding: ReportFinding, name: string, lines: SourceLines, style: Style): string {
  const { severity, rule, message, range, fixes, saving } = finding;
  const colour = colourOf(severity, style);
  const { line, column } = range.start;
  const number = String(line);
  const blank = ' '.repeat(number.length);
  const bar = style.blue('|');
  const source = lines.get(line);
  const excerpt = source === undefined ? undefined : excerptOf(source, range);
  const below = [
    ...(saving === undefined
      ? []
      : [`${style.bold('note')}: saves ${formatHourly(saving.hourly)}, ${formatMonthly(saving.hourly)}`]),
    ...fixes.map(({ title, safe }) => `${style.green('help')}: ${printable(title)} (${safe ? 'safe' : 'unsafe'})`),
  ];
  return [
    `${colour(style.bold(`${severity}[${printable(rule)}]`))}${style.bold(`: ${printable(message)}`)}`,
    `${blank}${style.blue('-->')} ${name}:${line}:${column}`,
    ...(excerpt === undefined
      ? []
      : [
          `${blank} ${bar}`,
          `${style.blue(number)} ${bar} ${excerpt.line}`,
          `${blank} ${bar} ${excerpt.carets.replace(/\^+/, colour)}`,
        ]),
    ...(below.length === 0 ? [] : [`${blank} ${bar}`]),
    ...below.map((one) => `${blank} ${style.blue('=')} ${one}`),
    '\n',
  ].join('\n');
}

import type { Severity } from '../../rules/rule.ts';
import { printable } from '../terminal.ts';
import { type CheckedFile, type CheckedReport, failureOf } from './format.ts';
import type { ReportFinding } from './report-schema.ts';

/** Workflow commands of GitHub Actions: each becomes an annotation at its line. */
export function* renderGithub({ files, shows }: CheckedReport): Generator<string> {
  for (const checked of files) {
    const failure = failureOf(checked);
    if (failure !== null) yield command('warning', { file: checked.source, title: 'gpulint' }, printable(failure));
    for (const finding of checked.file.findings.filter(shows)) yield annotation(checked, finding);
  }
}

function annotation({ source }: CheckedFile, { rule, severity, message, range, docs }: ReportFinding): string {
  const { start, end } = range;
  // GitHub accepts columns only within one line. Its end column is inclusive.
  const columns =
    start.line === end.line ? { col: start.column, endColumn: Math.max(start.column, end.column - 1) } : {};
  const place = { file: source, line: start.line, endLine: end.line, ...columns, title: `gpulint ${rule}` };
  return command(levels[severity], place, `${printable(message)}\n${docs}`);
}

const levels: Readonly<Record<Severity, string>> = {
  error: 'error',
  warning: 'warning',
  info: 'notice',
  hint: 'notice',
};

function command(level: string, properties: Readonly<Record<string, string | number>>, message: string): string {
  const pairs = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${level} ${pairs.join(',')}::${escapeData(message)}\n`;
}

/** Without this, a file's name or value could end the command and start another one. */
function escapeData(text: string): string {
  return text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

/** Line endings have their own escapes; other control characters in a file's name have none and become visible text. */
function escapeProperty(text: string): string {
  const shown = text.split(/([\r\n])/).map((part) => (/[\r\n]/.test(part) ? part : printable(part)));
  return escapeData(shown.join('')).replace(/:/g, '%3A').replace(/,/g, '%2C');
}

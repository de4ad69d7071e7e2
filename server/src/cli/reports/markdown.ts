import { notCounted } from '../../cost/money.ts';
import { totalAndRange, totalOf } from '../../features/cost/cost-totals.ts';
import { priceBasis } from '../../features/cost/price-basis.ts';
import { plainMarkdown } from '../../features/hover/render.ts';
import { printable } from '../terminal.ts';
import { type CheckedFile, type CheckedReport, failureOf } from './format.ts';
import type { ReportFinding } from './report-schema.ts';
import { countedCost, countedWorkloads } from './summary.ts';
import { clusterLine, counted, isAtLeast, severities } from './text.ts';

/** A comment for a pull request: the cost of the workloads, then the findings, most severe first. */
export function* renderMarkdown(report: CheckedReport): Generator<string> {
  let left = maxCharacters;
  for (const line of linesOf(report)) {
    left -= line.length;
    if (left < 0) {
      yield '\n… truncated to fit into a comment\n';
      return;
    }
    yield line;
  }
}

/** GitHub rejects comments of more than 65,536 characters, and nobody reads that much. */
const maxCharacters = 60_000;
const maxRows = 40;
const maxFindings = 80;

function* linesOf(report: CheckedReport): Generator<string> {
  const findings = report.files.flatMap((checked) =>
    checked.file.findings.filter(report.shows).map((finding) => ({ checked, finding })),
  );
  const found = severities.flatMap((severity) => {
    const count = findings.filter(({ finding }) => finding.severity === severity).length;
    return count === 0 ? [] : [counted(count, severity)];
  });
  // A bot finds its previous comment by this line, and edits it.
  yield '<!-- gpulint -->\n';
  yield `### gpulint: ${found.join(', ') || 'no findings'}\n`;
  yield* costSection(report);
  yield* findingsSection(findings);
  yield* failuresSection(report);
}

function* costSection({ files, cluster }: CheckedReport): Generator<string> {
  const rows = files.flatMap(({ source, workloads }) =>
    workloads.map((workload) => ({ ...workload, place: codeSpan(`${source}:${workload.line}`) })),
  );
  if (cluster !== undefined) yield `\n${plainMarkdown(clusterLine(cluster))}\n`;
  if (rows.length === 0) return;
  const head = ['Workload', 'Requests', 'Cost', ...(cluster === undefined ? [] : ['Would it run?']), 'Location'];
  yield `\n| ${head.join(' | ')} |\n|${' :--- |'.repeat(head.length)}\n`;
  for (const { name, accelerators, cost, fit, place } of rows.slice(0, maxRows)) {
    const cells = [name, accelerators, cost, ...(cluster === undefined ? [] : [fit])];
    yield `| ${cells.map(plainMarkdown).join(' | ')} | ${place.replaceAll('|', '\\|')} |\n`;
  }
  yield* more(rows.length - maxRows, 'workload');
  const counted = totalOf(countedWorkloads(files.map(({ file }) => file)).map(countedCost));
  if (counted.hourly.max === 0 && counted.ranged.workloads === 0) return;
  const total = totalAndRange(counted);
  const basis = priceBasis(files.flatMap(({ costs }) => costs));
  const prices = basis === undefined ? '' : ` Prices: ${plainMarkdown(basis)}.`;
  yield `\nTotal of known prices: **${plainMarkdown(total)}**.${prices} Not included: ${notCounted}.\n`;
}

interface Found {
  readonly checked: CheckedFile;
  readonly finding: ReportFinding;
}

function* findingsSection(findings: readonly Found[]): Generator<string> {
  if (findings.length === 0) return;
  const ordered = [...findings].sort(({ finding: a }, { finding: b }) => rank(a) - rank(b));
  yield '\n';
  for (const { checked, finding } of ordered.slice(0, maxFindings)) {
    const { rule, severity, message, range, docs, fixes } = finding;
    const place = codeSpan(`${checked.source}:${range.start.line}:${range.start.column}`);
    const fix =
      fixes[0] === undefined ? '' : `<br>Fix: ${plainMarkdown(fixes[0].title)}${fixes[0].safe ? '' : ' (unsafe)'}`;
    yield `- **${severity}** ${place} ${plainMarkdown(message)} ([${rule}](${docs}))${fix}\n`;
  }
  yield* more(ordered.length - maxFindings, 'finding');
}

function* failuresSection({ files }: CheckedReport): Generator<string> {
  const failures = files.flatMap((checked) => {
    const failure = failureOf(checked);
    return failure === null ? [] : [`- ${codeSpan(checked.source)} ${plainMarkdown(failure)}\n`];
  });
  if (failures.length === 0) return;
  yield '\nNot checked:\n\n';
  yield* failures.slice(0, maxRows);
  yield* more(failures.length - maxRows, 'file');
}

function* more(count: number, noun: string): Generator<string> {
  if (count > 0) yield `\n… and ${count} more ${count === 1 ? noun : `${noun}s`}\n`;
}

function rank({ severity }: ReportFinding): number {
  return severities.findIndex((limit) => isAtLeast(severity, limit));
}

/** A code span with a fence longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  const line = printable(text);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

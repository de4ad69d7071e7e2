import type { Analysis, FileAnalysis } from '../../server/src/analysis.ts';
import type { CheckedFile, CheckedReport } from '../../server/src/cli/reports/format.ts';
import { renderGithub } from '../../server/src/cli/reports/github.ts';
import { renderGitlab } from '../../server/src/cli/reports/gitlab.ts';
import { costsOf, renderJson, toReportFile } from '../../server/src/cli/reports/json.ts';
import { renderJunit } from '../../server/src/cli/reports/junit.ts';
import { renderMarkdown } from '../../server/src/cli/reports/markdown.ts';
import { placedRows } from '../../server/src/cli/reports/placed-rows.ts';
import { renderSarif } from '../../server/src/cli/reports/sarif.ts';
import { summarizeReport } from '../../server/src/cli/reports/summary.ts';
import { describeWorkloads, renderFile, renderSummary } from '../../server/src/cli/reports/text.ts';
import { plainStyle } from '../../server/src/cli/terminal.ts';
import { codeActions } from '../../server/src/features/actions/code-actions.ts';
import { adviceLenses, codeLenses } from '../../server/src/features/code-lens.ts';
import { complete } from '../../server/src/features/completion/completion.ts';
import { priceBasis } from '../../server/src/features/cost/price-basis.ts';
import { renderCsv } from '../../server/src/features/cost-report/csv.ts';
import { renderPage } from '../../server/src/features/cost-report/html.ts';
import { costReportJson } from '../../server/src/features/cost-report/json.ts';
import { renderMarkdown as renderCostMarkdown } from '../../server/src/features/cost-report/markdown.ts';
import { savingsIn } from '../../server/src/features/cost-report/savings.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { definitions } from '../../server/src/features/navigation/definitions.ts';
import { documentLinks } from '../../server/src/features/navigation/document-links.ts';
import { references } from '../../server/src/features/navigation/references.ts';
import { costLines, summarize } from '../../server/src/features/report.ts';
import type { Span } from '../../server/src/yaml/span.ts';

/**
 * Everything that gpulint prints or writes for a file: every report, every list of the editor, and its answers at each offset of a span.
 * Each line is JSON, in which a non-finite number appears by name.
 */
export function allOutputOf(analysis: Analysis, uri: string, within?: Span): readonly string[] {
  const file = analysis.file(uri);
  if (file === undefined) throw new Error('the analysis lost its file');
  const span = within ?? { start: 0, end: file.text.length };
  const offsets = Array.from({ length: span.end - span.start + 1 }, (_, index) => span.start + index);
  const lines: unknown[] = [
    ...codeLenses(file),
    ...adviceLenses(file),
    ...inlayHints(file, { start: 0, end: file.text.length }),
    ...costLines(file),
    ...documentLinks(file),
    summarize(file),
    ...offsets.flatMap((offset) => [
      hover(file, offset),
      complete(file, offset),
      definitions(analysis.workspace, file, offset),
      references(analysis.workspace, file, offset, true),
    ]),
    ...codeActions(file, { span, only: undefined, shown: [], picker: true }).map(
      ({ finding: _finding, ...shown }) => shown,
    ),
    ...file.documents.flatMap(({ findings }) =>
      findings.map(({ rule, message, severity, span: at, fixes }) => ({ rule, message, severity, at, fixes })),
    ),
    ...reportsOf(file),
  ];
  return lines.map((one) => JSON.stringify(one, nameNumbers) ?? '');
}

/** What the command line writes for a file, in every format. */
function reportsOf(file: FileAnalysis): readonly string[] {
  const reported = toReportFile('fixture.yaml', 'fixture.yaml', file);
  const workloads = describeWorkloads(file);
  const checked: CheckedFile = {
    file: reported,
    source: 'fixture.yaml',
    workloads,
    ...placedRows(file),
    costs: costsOf(file),
    outcome: 'checked',
  };
  const report: CheckedReport = {
    files: [checked],
    failOn: 'error',
    shows: () => true,
  };
  const renderers = [renderJson, renderSarif, renderGithub, renderGitlab, renderJunit, renderMarkdown];
  const text = { style: plainStyle, headings: true, quiet: false, shows: () => true };
  return [
    ...renderers.map((render) => [...render(report)].join('')),
    renderFile(checked, text),
    renderSummary(summarizeReport([reported]), [reported], text, priceBasis(checked.costs)),
    JSON.stringify(reported, nameNumbers),
    ...costReportsOf(file, checked),
  ];
}

/** The cost report in every format. Only the content of the page: its style and script are ours. */
function costReportsOf(file: FileAnalysis, { rows, costs }: CheckedFile): readonly string[] {
  const report = {
    title: 'fixture.yaml',
    rows: rows.map((row) => ({ ...row, path: 'fixture.yaml' })),
    savings: savingsIn(file).map((saving) => ({ ...saving, path: 'fixture.yaml', line: 1 })),
    basis: priceBasis(costs),
  };
  const { html } = renderPage(report, { nonce: 'none' });
  return [
    html.replace(/<(style|script) [\s\S]*?<\/\1>/g, ''),
    ...renderCsv(report),
    [...renderCostMarkdown(report)].join(''),
    JSON.stringify(costReportJson(report), nameNumbers),
  ];
}

function nameNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

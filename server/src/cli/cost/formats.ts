import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { renderCsv } from '../../features/cost-report/csv.ts';
import { renderPage } from '../../features/cost-report/html.ts';
import { costReportJson } from '../../features/cost-report/json.ts';
import { renderMarkdown } from '../../features/cost-report/markdown.ts';
import { sourceRoot } from '../source-path.ts';
import { jsonText, printable } from '../terminal.ts';
import { changeCsv } from './change-csv.ts';
import { changePage } from './change-html.ts';
import type { CostReport } from './cost.ts';
import type { CostJson } from './cost-schema.ts';
import { renderChangeJson } from './json.ts';
import { renderChangeMarkdown } from './markdown.ts';

// The formats of gpulint cost. Without a base they are those that the editor exports; with one, a table of the change.

export function* renderCostMarkdown(report: CostReport): Generator<string> {
  if (report.base !== null) return yield* renderChangeMarkdown(report);
  // A bot finds its previous comment by this line, and edits it.
  yield '<!-- gpulint cost -->\n';
  yield* renderMarkdown(report.current, maxRows);
}

/** GitHub rejects comments of more than 65,536 characters. */
const maxRows = 150;

export function* renderCostJson(report: CostReport): Generator<string> {
  if (report.base !== null) return yield* renderChangeJson(report);
  yield `${jsonText(costReportJson(report.current) satisfies CostJson, 2)}\n`;
}

/** One HTML page. Its links lead to the files from where it is written to. */
export function* renderCostHtml(report: CostReport): Generator<string> {
  const folder = path.dirname(path.resolve(report.output ?? 'page.html'));
  const base = path.relative(folder, sourceRoot());
  const steps = base === '' ? '' : `${base.split(path.sep).map(encodeURIComponent).join('/')}/`;
  const options = { nonce: randomUUID().replaceAll('-', ''), base: steps };
  yield report.before === null ? renderPage(report.current, options).html : changePage(report, report.before, options);
}

/** Comma-separated values for spreadsheets. Invisible characters are written as their code. */
export function* renderCostCsv(report: CostReport): Generator<string> {
  const lines = report.base === null ? renderCsv(report.current) : changeCsv(report);
  for (const line of lines) yield `${printable(line)}\r\n`;
}

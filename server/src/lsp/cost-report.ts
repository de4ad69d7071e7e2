import { fileName } from '../features/cost/cost-rows.ts';
import { renderCsv } from '../features/cost-report/csv.ts';
import { renderPage } from '../features/cost-report/html.ts';
import { costReportJson } from '../features/cost-report/json.ts';
import { renderMarkdown } from '../features/cost-report/markdown.ts';
import type { CostReportParams, CostReportResult } from './cost-protocol.ts';
import { failedWords, guard } from './guard.ts';
import type { Indexing } from './indexing.ts';
import { methods, type PlaceArgument } from './protocol.ts';
import type { Session } from './session.ts';
import type { Costs, WorkspaceCosts } from './workspace-costs.ts';

/** The request for the cost report of the workspace. */
export function registerCostReport(
  { connection, log }: Session,
  costs: Pick<WorkspaceCosts, 'withSavings'>,
  indexing: Pick<Indexing, 'folders'>,
): void {
  connection.onRequest<CostReportResult, void>(
    methods.costReport,
    guard<CostReportParams, CostReportResult>(log, methods.costReport, failed, async (params, token) =>
      reportOf(await costs.withSavings(params, token), indexing.folders(), params),
    ),
  );
}

const failed: CostReportResult = { problem: failedWords };

function reportOf(
  { rows, savings, priceBasis }: Costs,
  folders: readonly string[],
  { format, nonce }: CostReportParams,
): CostReportResult {
  const report = {
    title: folders.map(fileName).join(', ') || 'the open files',
    rows: rows.map(({ row, ...place }) => ({ ...row, ...place })),
    savings: savings.map((saving) => ({ ...saving, line: saving.range.start.line + 1 })),
    basis: priceBasis,
  };
  switch (format) {
    case 'csv':
      return ofText([...renderCsv(report)].map((line) => `${line}\r\n`).join(''));
    case 'json':
      return ofText(`${JSON.stringify(costReportJson(report), null, 2)}\n`);
    case 'markdown':
      return ofText([...renderMarkdown(report)].join(''));
    case 'html': {
      const { html, places, fixes } = renderPage(report, { nonce });
      return {
        text: html,
        places: places.map(placeOf),
        fixes: fixes.map((one) => ({ ...placeOf(one), title: one.fix ?? '', message: one.message })),
      };
    }
  }
}

function ofText(text: string): CostReportResult {
  return { text, places: [], fixes: [] };
}

function placeOf({ uri, range }: PlaceArgument): PlaceArgument {
  return { uri, range };
}

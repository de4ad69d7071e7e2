import * as vscode from 'vscode';
import { type BaseLanguageClient, State, WorkDoneProgress } from 'vscode-languageclient';
import {
  type CostReportFile,
  type CostReportFix,
  type CostReportFormat,
  type CostReportParams,
  type CostReportResult,
  costReportFormats,
} from '../../server/src/lsp/cost-protocol.ts';
import { commands, methods } from '../../server/src/lsp/protocol.ts';
import { select } from './selections.ts';
import { confirmInDialog, showError, showInformation, showWarning } from './show-notice.ts';

/**
 * The page with the cost of the workspace, and its exports.
 * @param started starts the server unless it is running, and resolves when it is ready
 * @param changed fires when the last answer may be outdated
 */
export function registerCostReport(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  changed: vscode.Event<void>,
): readonly vscode.Disposable[] {
  let panel: vscode.WebviewPanel | undefined;
  let shown: CostReportFile | undefined;
  let isStale = false;
  let isBusy = false;
  let requests = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** @returns undefined after a message that says why there is no report, or if the user canceled it */
  const request = async (format: CostReportFormat): Promise<CostReportFile | undefined> => {
    requests += 1;
    const workDoneToken = `${commands.costReport} ${requests}`;
    const params: CostReportParams = { format, nonce: crypto.randomUUID().replaceAll('-', ''), workDoneToken };
    // Only the first report has to read all files.
    const isFirst = shown === undefined && format === 'html';
    const { Notification, Window } = vscode.ProgressLocation;
    const how = { location: isFirst ? Notification : Window, title: 'GPU cost of the workspace', cancellable: isFirst };
    return vscode.window.withProgress(how, async (progress, token) => {
      let percent = 0;
      const reports = client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
        if (value.kind !== 'report' || value.percentage === undefined) return;
        progress.report({ increment: value.percentage - percent });
        percent = value.percentage;
      });
      try {
        const report = await client.sendRequest<CostReportResult>(methods.costReport, params, token);
        if (!('problem' in report)) return report;
        void showError(report.problem);
      } catch (error) {
        // The server may be restarting; it then asks for a new page itself.
        if (!token.isCancellationRequested && client.isRunning()) throw error;
      } finally {
        reports.dispose();
      }
      return undefined;
    });
  };

  /** Changes that come while the page is being made lead to one more page. */
  const refresh = async () => {
    isStale = true;
    if (isBusy) return;
    isBusy = true;
    try {
      while (isStale && panel?.visible === true) {
        isStale = false;
        const report = await request('html');
        if (report === undefined && shown === undefined) panel?.dispose();
        if (panel === undefined || report === undefined) break;
        shown = report;
        panel.webview.html = report.text;
      }
    } finally {
      isBusy = false;
    }
  };

  const open = async () => {
    await started();
    if (panel !== undefined) {
      panel.reveal();
      await refresh();
      return;
    }
    panel = vscode.window.createWebviewPanel(commands.costReport, 'GPU Cost Report', vscode.ViewColumn.Active, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [],
    });
    panel.onDidDispose(() => {
      panel = undefined;
      shown = undefined;
    });
    panel.onDidChangeViewState(() => isStale && void refresh());
    panel.webview.onDidReceiveMessage((message: unknown) => receive(message));
    await refresh();
  };

  /** The page names what it shows by number, so that no text of a file reaches a command. */
  const receive = async (message: unknown) => {
    if (typeof message !== 'object' || message === null) return;
    if ('action' in message) {
      const format = costReportFormats.find((one) => one === message.action);
      if (format !== undefined) await save(format);
      else if (message.action === 'refresh') await refresh();
    } else if ('place' in message) {
      const place = shown?.places[Number(message.place)];
      if (place !== undefined) await select(place);
    } else if ('fix' in message) {
      const fix = shown?.fixes[Number(message.fix)];
      if (fix !== undefined) await applyFix(fix);
    }
  };

  const save = async (format: CostReportFormat) => {
    await started();
    const [name, extension] = fileTypes[format];
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const file = await vscode.window.showSaveDialog({
      title: 'Export GPU Cost Report',
      filters: { [name]: [extension] },
      ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, `gpu-cost.${extension}`) }),
    });
    if (file === undefined) return;
    const report = await request(format);
    if (report === undefined) return;
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(report.text));
    const choice = await showInformation(`Saved the cost report as ${vscode.workspace.asRelativePath(file)}.`, 'Open');
    if (choice !== undefined) await vscode.commands.executeCommand('vscode.open', file);
  };

  const refreshLater = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), quietMs);
  };

  return [
    changed(refreshLater),
    // A new server does not know that the page is shown.
    client.onDidChangeState(({ newState }) => newState === State.Running && refreshLater()),
    vscode.commands.registerCommand(commands.costReport, open),
    vscode.commands.registerCommand(commands.exportCostReport, async () => {
      const items = costReportFormats.map((format) => ({ label: fileTypes[format][0], format }));
      const chosen = await vscode.window.showQuickPick(items, { title: 'Export GPU Cost Report' });
      if (chosen !== undefined) await save(chosen.format);
    }),
    {
      dispose() {
        clearTimeout(timer);
        panel?.dispose();
      },
    },
  ];
}

/** Pause in milliseconds after a change: a page that is replaced with each key would flicker. */
const quietMs = 700;

/** The name of a format and the extension of its files. */
const fileTypes: Readonly<Record<CostReportFormat, readonly [string, string]>> = {
  csv: ['CSV', 'csv'],
  json: ['JSON', 'json'],
  markdown: ['Markdown', 'md'],
  html: ['HTML', 'html'],
};

/** Shows the place of a fix, and applies the fix if the user confirms it and the file still has the finding. */
async function applyFix(fix: CostReportFix): Promise<void> {
  await select(fix);
  const uri = vscode.Uri.parse(fix.uri);
  const name = vscode.workspace.asRelativePath(uri);
  if (!(await confirmInDialog(`${fix.title} in ${name}?`, fix.message, 'Apply'))) return;
  const { start, end } = fix.range;
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    uri,
    new vscode.Range(start.line, start.character, end.line, end.character),
    vscode.CodeActionKind.QuickFix.value,
  );
  const edit = actions.find(({ title }) => title === fix.title)?.edit;
  if (edit !== undefined && (await vscode.workspace.applyEdit(edit))) return;
  void showWarning(`${name} has changed. Refresh the report and try again.`);
}

import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import type { CostChangesParams, CostChangesResult } from '../../server/src/lsp/cost-protocol.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { changedFiles } from './git-base.ts';
import { plainItems } from './plain-label.ts';
import { showInformation } from './show-notice.ts';

/** Lists the workloads whose cost differs from the last commit, with the total as the title. A selected one is opened. */
export async function compareCosts(client: BaseLanguageClient): Promise<void> {
  const found = await changedFiles();
  if (found === undefined) {
    void showInformation('The workspace is not in a Git repository, so there is no commit to compare with.');
    return;
  }
  const files = found.map(({ uri, base }) => ({
    uri: client.code2ProtocolConverter.asUri(uri),
    path: vscode.workspace.asRelativePath(uri),
    base,
  }));
  const params: CostChangesParams = { files };
  const { title, changes } = await client.sendRequest<CostChangesResult>(methods.costChanges, params);
  if (changes.length === 0) {
    void showInformation(`${title}.`);
    return;
  }
  const items = changes.map(({ label, description, uri, line }) => ({ label, description, uri, line }));
  const options = { title, placeHolder: 'Select a workload to open it', matchOnDescription: true };
  const chosen = await vscode.window.showQuickPick(plainItems(items), options);
  if (chosen === undefined || chosen.line === null) return;
  const start = new vscode.Position(chosen.line, 0);
  await vscode.window.showTextDocument(client.protocol2CodeConverter.asUri(chosen.uri), {
    selection: new vscode.Range(start, start),
  });
}

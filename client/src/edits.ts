import * as vscode from 'vscode';
import type { BaseLanguageClient, WorkspaceEdit } from 'vscode-languageclient';

/**
 * Makes the changes of the server, or none of them and says why: where a person went on typing since the server read the text they would land
 * in wrong places. VS Code itself takes an edit to be of the version that it finds.
 * @returns whether the changes were made
 */
export async function applyEdit(
  client: BaseLanguageClient,
  edit: WorkspaceEdit,
  metadata?: vscode.WorkspaceEditMetadata,
): Promise<boolean> {
  const converted = await client.protocol2CodeConverter.asWorkspaceEdit(edit);
  const changed = changedSince(client, edit);
  if (changed === undefined && (await vscode.workspace.applyEdit(converted, metadata))) return true;
  // In a preview a person may have said no, and knows.
  if (changed === undefined && metadata?.isRefactoring) return false;
  const name = changed === undefined ? 'The file' : vscode.workspace.asRelativePath(changed.uri);
  void vscode.window.showWarningMessage(`${name} changed in the meantime; try again.`);
  return false;
}

/** A document that reads otherwise than when the server read it. */
function changedSince(client: BaseLanguageClient, edit: WorkspaceEdit): vscode.TextDocument | undefined {
  const versions = new Map(
    edit.documentChanges?.flatMap((change) =>
      'edits' in change ? [[change.textDocument.uri, change.textDocument.version] as const] : [],
    ),
  );
  return vscode.workspace.textDocuments.find((document) => {
    const version = versions.get(client.code2ProtocolConverter.asUri(document.uri));
    // Without a version it was read from the disk.
    return version === null ? document.isDirty : version !== undefined && version !== document.version;
  });
}

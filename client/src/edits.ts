import * as vscode from 'vscode';
import type { BaseLanguageClient, WorkspaceEdit } from 'vscode-languageclient';
import { showWarning } from './show-notice.ts';

/**
 * Applies the server's changes, or none of them with a message: if the user typed after the server read the text, the changes would end up in
 * the wrong places. VS Code itself applies an edit to whatever version it finds.
 * @returns whether the changes were applied
 */
export async function applyEdit(
  client: BaseLanguageClient,
  edit: WorkspaceEdit,
  metadata?: vscode.WorkspaceEditMetadata,
): Promise<boolean> {
  const converted = await client.protocol2CodeConverter.asWorkspaceEdit(edit);
  const changed = changedSince(client, edit);
  if (changed === undefined && (await vscode.workspace.applyEdit(converted, metadata))) return true;
  // No message after a rejected preview.
  if (changed === undefined && metadata?.isRefactoring) return false;
  const name = changed === undefined ? 'The file' : vscode.workspace.asRelativePath(changed.uri);
  void showWarning(`${name} has changed. Try again.`);
  return false;
}

/** A document whose text changed after the server read it. */
function changedSince(client: BaseLanguageClient, edit: WorkspaceEdit): vscode.TextDocument | undefined {
  const versions = new Map(
    edit.documentChanges?.flatMap((change) =>
      'edits' in change ? [[change.textDocument.uri, change.textDocument.version] as const] : [],
    ),
  );
  return vscode.workspace.textDocuments.find((document) => {
    const version = versions.get(client.code2ProtocolConverter.asUri(document.uri));
    // An edit without a version is of a file that was read from disk.
    return version === null ? document.isDirty : version !== undefined && version !== document.version;
  });
}

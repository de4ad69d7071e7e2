import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type EditResult,
  type FixWorkspaceParams,
  methods,
  type WorkspaceFixesParams,
  type WorkspaceFixesResult,
} from '../../server/src/lsp/protocol.ts';
import { applyEdit } from './edits.ts';
import { excludedFolders } from './watched-files.ts';

/** Fixes the findings of one rule, or everything that has a safe fix, in all manifests of the workspace. VS Code previews each change. */
export async function fixAllInWorkspace(client: BaseLanguageClient, rule: unknown): Promise<void> {
  const uris = await manifests(client);
  const choice = typeof rule === 'string' ? { rule } : await pickRule(client, uris);
  if (choice === undefined) return;
  const params: FixWorkspaceParams = { uris, rule: choice.rule };
  const result = await withProgress(() => client.sendRequest<EditResult>(methods.fixWorkspace, params));
  if ('problem' in result) {
    void vscode.window.showInformationMessage(result.problem);
    return;
  }
  await applyEdit(client, result.edit, { isRefactoring: true });
}

/** The URIs of the YAML files in the workspace folders, as the server knows them. */
export async function manifests(client: BaseLanguageClient): Promise<readonly string[]> {
  const limit = vscode.workspace.getConfiguration('gpulint').get('index.maxFiles', 5000);
  const found = await vscode.workspace.findFiles('**/*.{yaml,yml}', excludedFolders);
  if (found.length > limit) {
    void vscode.window.showInformationMessage(
      `gpulint checks only the first ${limit} of ${found.length} YAML files. To raise the limit, change gpulint.index.maxFiles.`,
    );
  }
  return found
    .map((uri) => client.code2ProtocolConverter.asUri(uri))
    .sort()
    .slice(0, limit);
}

/** @returns the rule, or `rule: null` for all safe fixes */
async function pickRule(
  client: BaseLanguageClient,
  uris: readonly string[],
): Promise<{ readonly rule: string | null } | undefined> {
  const params: WorkspaceFixesParams = { uris };
  const found = await withProgress(() => client.sendRequest<WorkspaceFixesResult>(methods.workspaceFixes, params));
  if (found.length === 0) {
    void vscode.window.showInformationMessage(`Nothing to fix in ${pluralize(uris.length, 'file')}.`);
    return undefined;
  }
  const safe = found.filter(({ safe: isSafe }) => isSafe);
  const items = [
    ...(safe.length > 1 ? [{ label: 'All safe fixes', description: 'do not change what runs', rule: null }] : []),
    ...found.map(({ rule, fixes, files, safe: isSafe }) => ({
      label: rule,
      description: `${pluralize(fixes, 'fix', 'fixes')} in ${pluralize(files, 'file')}${isSafe ? '' : ', changes what runs'}`,
      rule,
    })),
  ];
  return vscode.window.showQuickPick(items, {
    title: 'Fix in the workspace',
    placeHolder: 'Select what to fix; a preview shows the changes first',
    matchOnDescription: true,
  });
}

function withProgress<T>(work: () => Promise<T>): Thenable<T> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'gpulint: searching the manifests' },
    work,
  );
}

function pluralize(count: number, noun: string, several = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : several}`;
}

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
import { listFiles } from './list-files.ts';
import { showInformation } from './show-notice.ts';

/** Fixes the findings of one rule, or everything that has a safe fix, in all manifests of the workspace. VS Code previews each change. */
export async function fixAllInWorkspace(client: BaseLanguageClient, rule: unknown): Promise<void> {
  const uris = await manifests();
  const choice = typeof rule === 'string' ? { rule } : await pickRule(client, uris);
  if (choice === undefined) return;
  const params: FixWorkspaceParams = { uris, rule: choice.rule };
  const result = await withProgress(() => client.sendRequest<EditResult>(methods.fixWorkspace, params));
  if ('problem' in result) {
    void showInformation(result.problem);
    return;
  }
  await applyEdit(client, result.edit, { isRefactoring: true });
}

/** The largest value of gpulint.index.maxFiles. */
const maxListed = 100_000;

/** The URIs of the YAML files in the workspace folders. */
export async function manifests(): Promise<readonly string[]> {
  const limit = vscode.workspace.getConfiguration('gpulint').get('index.maxFiles', 5000);
  const folders = vscode.workspace.workspaceFolders ?? [];
  const listed = await Promise.all(folders.map(({ uri }) => listFiles({ folder: uri.toString(), limit: maxListed })));
  const found = [...new Set(listed.flat())].filter((uri) => /\.ya?ml$/.test(uri));
  if (found.length > limit) {
    void showInformation(
      `gpulint checks only the first ${limit} of ${found.length} YAML files. To raise the limit, change gpulint.index.maxFiles.`,
    );
  }
  return found.sort().slice(0, limit);
}

/** @returns the rule, or `rule: null` for all safe fixes */
async function pickRule(
  client: BaseLanguageClient,
  uris: readonly string[],
): Promise<{ readonly rule: string | null } | undefined> {
  const params: WorkspaceFixesParams = { uris };
  const found = await withProgress(() => client.sendRequest<WorkspaceFixesResult>(methods.workspaceFixes, params));
  if (found.length === 0) {
    void showInformation(`Nothing to fix in ${pluralize(uris.length, 'file')}.`);
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
    placeHolder: 'Select what to fix; you can preview the changes first',
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

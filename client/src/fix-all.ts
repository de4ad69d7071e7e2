import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type EditResult,
  type FixWorkspaceParams,
  methods,
  type WorkspaceFixesParams,
  type WorkspaceFixesResult,
} from '../../server/src/lsp/requests.ts';
import { applyEdit } from './edits.ts';
import { otherPeoples } from './watched-files.ts';

/** Mends what one rule finds in all manifests of the workspace, or what can be mended safely. VS Code shows each change before it is made. */
export async function fixAllInWorkspace(client: BaseLanguageClient, given: unknown): Promise<void> {
  const uris = await manifests(client);
  const choice = typeof given === 'string' ? { rule: given } : await pickRule(client, uris);
  if (choice === undefined) return;
  const params: FixWorkspaceParams = { uris, rule: choice.rule };
  const result = await searching(() => client.sendRequest<EditResult>(methods.fixWorkspace, params));
  if ('problem' in result) {
    void vscode.window.showInformationMessage(result.problem);
    return;
  }
  await applyEdit(client, result.edit, { isRefactoring: true });
}

/** The YAML files of the window's folders, as the server knows them. */
export async function manifests(client: BaseLanguageClient): Promise<readonly string[]> {
  const most = vscode.workspace.getConfiguration('gpulint').get('index.maxFiles', 5000);
  const found = await vscode.workspace.findFiles('**/*.{yaml,yml}', otherPeoples);
  if (found.length > most) {
    void vscode.window.showInformationMessage(
      `gpulint looks at the first ${most} of ${found.length} YAML files. The setting gpulint.index.maxFiles raises the limit.`,
    );
  }
  return found
    .map((uri) => client.code2ProtocolConverter.asUri(uri))
    .sort()
    .slice(0, most);
}

/** `rule: null` stands for all that is safe. */
async function pickRule(
  client: BaseLanguageClient,
  uris: readonly string[],
): Promise<{ readonly rule: string | null } | undefined> {
  const params: WorkspaceFixesParams = { uris };
  const found = await searching(() => client.sendRequest<WorkspaceFixesResult>(methods.workspaceFixes, params));
  if (found.length === 0) {
    void vscode.window.showInformationMessage(`There is nothing to fix in ${counted(uris.length, 'file')}.`);
    return undefined;
  }
  const safe = found.filter((one) => one.safe);
  const items = [
    ...(safe.length > 1
      ? [{ label: 'All that is safe', description: 'what cannot change what runs', rule: null }]
      : []),
    ...found.map(({ rule, fixes, files, safe: isSafe }) => ({
      label: rule,
      description: `${counted(fixes, 'fix', 'fixes')} in ${counted(files, 'file')}${isSafe ? '' : ', changes what runs'}`,
      rule,
    })),
  ];
  return vscode.window.showQuickPick(items, {
    title: 'Fix in the workspace',
    placeHolder: 'What to fix; the changes are shown first',
    matchOnDescription: true,
  });
}

function searching<T>(work: () => Promise<T>): Thenable<T> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'gpulint: looking through the manifests' },
    work,
  );
}

function counted(count: number, noun: string, several = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : several}`;
}

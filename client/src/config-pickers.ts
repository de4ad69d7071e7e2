import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import type { EditResult, GpuItem, SetGpuResult, SettingValue } from '../../server/src/lsp/protocol.ts';
import { activeEditor } from './active-editor.ts';
import { applyEdit } from './edits.ts';
import { plainItems } from './plain-label.ts';
import { showWarning } from './show-notice.ts';

export async function pickGpu(
  gpus: readonly GpuItem[],
  placeHolder: string,
  title = 'GPU',
): Promise<GpuItem | undefined> {
  const items = gpus.map((gpu) => ({ label: gpu.name, description: gpu.description, gpu }));
  const chosen = await vscode.window.showQuickPick(plainItems(items), { title, placeHolder, matchOnDescription: true });
  return chosen?.gpu;
}

/** @returns the provider; `any` to write none; undefined if the picker was canceled */
export async function pickProvider({ name, providers }: GpuItem): Promise<string | undefined> {
  if (providers.length < 2) return 'any';
  const items = [
    ...providers.map(({ id, name: label, description }) => ({ label, description, id })),
    { label: 'Not set', description: 'show the price range of all providers', id: 'any' },
  ];
  const chosen = await vscode.window.showQuickPick(plainItems(items), {
    title: `Cloud for ${name}`,
    placeHolder: 'Cloud whose prices apply, with its price per GPU',
  });
  return chosen?.id;
}

/** @returns the document that was changed and saved; undefined if nothing was saved */
export async function apply(
  client: BaseLanguageClient,
  result: EditResult | SetGpuResult,
  save: boolean,
): Promise<vscode.TextDocument | undefined> {
  if ('settings' in result) {
    await writeSettings(result.settings);
    return undefined;
  }
  if ('problem' in result) {
    void showWarning(result.problem);
    return undefined;
  }
  if (!(await applyEdit(client, result.edit)) || !save || result.file === undefined) return undefined;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(result.file));
  await document.save();
  return document;
}

/** Without a folder there is no .gpulint.yaml: the user's settings apply to all files outside folders. */
async function writeSettings(values: readonly SettingValue[]): Promise<void> {
  const settings = vscode.workspace.getConfiguration('gpulint');
  for (const { key, value } of values) {
    await settings.update(key, value, vscode.ConfigurationTarget.Global);
  }
}

export function activeUri(client: BaseLanguageClient): string | undefined {
  const uri = activeEditor()?.document.uri;
  return uri && client.code2ProtocolConverter.asUri(uri);
}

/**
 * A file of the folder whose config to use: the active file if it is in a workspace folder (settings.json and the old side of a diff are not),
 * otherwise a file of the only folder, or of the folder that the user selects.
 */
export async function fileOfProject(client: BaseLanguageClient): Promise<string | undefined> {
  const active = activeEditor()?.document.uri;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const isOfProject = active !== undefined && (folders.length === 0 || isInFolder(active));
  if (isOfProject) return activeUri(client);
  const placeHolder = 'Which folder do you want to configure?';
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick({ placeHolder }) : folders[0];
  return folder && client.code2ProtocolConverter.asUri(vscode.Uri.joinPath(folder.uri, '.gpulint.yaml'));
}

function isInFolder(uri: vscode.Uri): boolean {
  return vscode.workspace.getWorkspaceFolder(uri) !== undefined;
}

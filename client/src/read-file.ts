import * as vscode from 'vscode';
import { mostBytes, type ReadFileParams, type ReadFileResult } from '../../server/src/lsp/requests.ts';

/**
 * Reads for the server what it cannot reach itself: virtual file systems, and everything in the browser. Links are not followed: where they
 * lead no file system says.
 */
export async function readFile({ uri }: ReadFileParams): Promise<ReadFileResult> {
  const file = vscode.Uri.parse(uri, true);
  const folder = vscode.workspace.getWorkspaceFolder(file)?.uri;
  if (folder === undefined) return null;
  try {
    const { type, size } = await vscode.workspace.fs.stat(file);
    if (type === vscode.FileType.Directory) return null;
    if (type !== vscode.FileType.File || size > mostBytes) throw new Error('it is a link, or too large');
    const above: Promise<void>[] = [];
    for (let at = up(file); at.path.length > folder.path.length; at = up(at)) above.push(checkFolder(at));
    await Promise.all(above);
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return null;
    throw error;
  }
}

/** Each question may be a round trip over a network. */
const folders = new Set<string>();

async function checkFolder(uri: vscode.Uri): Promise<void> {
  if (folders.has(uri.toString())) return;
  const { type } = await vscode.workspace.fs.stat(uri);
  if (type !== vscode.FileType.Directory) throw new Error('it lies below a link');
  folders.add(uri.toString());
}

function up(uri: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(uri, '..');
}

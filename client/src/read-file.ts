import * as vscode from 'vscode';
import { maxFileBytes, type ReadFileParams, type ReadFileResult } from '../../server/src/lsp/protocol.ts';

/**
 * Reads files that the server cannot reach itself: in virtual file systems, and all files in the browser. Does not follow links, because no
 * file system reports their targets.
 */
export async function readFile({ uri }: ReadFileParams): Promise<ReadFileResult> {
  const file = vscode.Uri.parse(uri, true);
  const folder = vscode.workspace.getWorkspaceFolder(file)?.uri;
  if (folder === undefined) return null;
  try {
    const { type, size } = await vscode.workspace.fs.stat(file);
    if (type === vscode.FileType.Directory) return null;
    if (type !== vscode.FileType.File || size > maxFileBytes) throw new Error('the file is a link or too large');
    const above: Promise<void>[] = [];
    for (let parent = parentOf(file); parent.path.length > folder.path.length; parent = parentOf(parent))
      above.push(checkFolder(parent));
    await Promise.all(above);
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return null;
    throw error;
  }
}

/** Folders that were checked: each check may be a network round trip. */
const folders = new Set<string>();

async function checkFolder(uri: vscode.Uri): Promise<void> {
  if (folders.has(uri.toString())) return;
  const { type } = await vscode.workspace.fs.stat(uri);
  if (type !== vscode.FileType.Directory) throw new Error('the file is in a linked folder');
  folders.add(uri.toString());
}

function parentOf(uri: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(uri, '..');
}

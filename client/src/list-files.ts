import * as vscode from 'vscode';
import type { ListFilesParams, ListFilesResult } from '../../server/src/lsp/protocol.ts';
import { indexedNames, isExcluded, isIndexedName } from '../../server/src/lsp/protocol.ts';
import { excludedFolders } from './watched-files.ts';

/** Each folder can be a round trip over a network. */
const maxFolders = 500;

/** Where no extension can search a file system, VS Code waits for one. In milliseconds, well below the limit of the server's requests. */
const maxSearch = 3000;

/** Lists files that the server cannot reach itself. Skips the folders that VS Code's search excludes. */
export async function listFiles({ folder, limit }: ListFilesParams): Promise<ListFilesResult> {
  const top = vscode.Uri.parse(folder, true);
  const found = await search(top, limit);
  // Many file systems cannot be searched.
  const files = found.length > 0 || top.scheme === 'file' ? found : await walk(top, limit);
  return files.map((uri) => uri.toString());
}

async function search(top: vscode.Uri, limit: number): Promise<readonly vscode.Uri[]> {
  const pattern = new vscode.RelativePattern(top, `**/{${indexedNames}}`);
  const canceling = new vscode.CancellationTokenSource();
  const found = vscode.workspace.findFiles(pattern, excludedFolders, limit, canceling.token);
  if (top.scheme === 'file') return found;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<readonly vscode.Uri[]>((resolve) => {
    timer = setTimeout(() => resolve([]), maxSearch);
  });
  try {
    return await Promise.race([found, late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
    canceling.cancel();
  }
}

/** The files below a folder that are indexed, breadth-first. Links are not followed. */
async function walk(top: vscode.Uri, limit: number): Promise<readonly vscode.Uri[]> {
  const files: vscode.Uri[] = [];
  const folders = [top];
  for (let next = 0; next < folders.length && files.length < limit; next += 1) {
    const here = folders[next] ?? top;
    for (const [name, type] of await entriesOf(here)) {
      const uri = vscode.Uri.joinPath(here, name);
      const isFolder = type === vscode.FileType.Directory && !isExcluded(name);
      if (isFolder && folders.length < maxFolders) folders.push(uri);
      else if (type === vscode.FileType.File && isIndexedName(name) && files.length < limit) files.push(uri);
    }
  }
  return files;
}

/** A folder that cannot be read is skipped. */
async function entriesOf(folder: vscode.Uri): Promise<readonly [string, vscode.FileType][]> {
  try {
    return (await vscode.workspace.fs.readDirectory(folder)).sort(([a], [b]) => (a < b ? -1 : 1));
  } catch {
    return [];
  }
}

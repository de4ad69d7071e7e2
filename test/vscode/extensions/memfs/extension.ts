// A file system that only VS Code can reach: the files of a folder on disk, copied into memory.
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';

export function activate(context: vscode.ExtensionContext): void {
  const files = new Map<string, Uint8Array>();
  const source = process.env.GPULINT_MEMFS_SOURCE ?? '';
  for (const file of fs.readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const from = path.join(source, file);
    if (fs.statSync(from).isFile()) files.set(`/${file}`, fs.readFileSync(from));
  }
  context.subscriptions.push(vscode.workspace.registerFileSystemProvider('memfs', provider(files)));
}

function provider(files: Map<string, Uint8Array>): vscode.FileSystemProvider {
  const changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  const below = (folder: string) => {
    const start = folder === '/' ? '/' : `${folder}/`;
    return [...files.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
  };
  const reject = (uri: vscode.Uri): never => {
    throw vscode.FileSystemError.NoPermissions(uri);
  };
  return {
    onDidChangeFile: changes.event,
    watch: () => new vscode.Disposable(() => undefined),
    stat(uri) {
      const bytes = files.get(uri.path);
      if (bytes !== undefined) return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: bytes.length };
      if (below(uri.path).length === 0) throw vscode.FileSystemError.FileNotFound(uri);
      return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    },
    readDirectory: (uri) =>
      [...new Set(below(uri.path).map((name) => name.split('/')[0] ?? ''))].map((name) => [
        name,
        files.has(`${uri.path === '/' ? '' : uri.path}/${name}`) ? vscode.FileType.File : vscode.FileType.Directory,
      ]),
    readFile(uri) {
      const bytes = files.get(uri.path);
      if (bytes === undefined) throw vscode.FileSystemError.FileNotFound(uri);
      return bytes;
    },
    writeFile(uri, bytes) {
      files.set(uri.path, bytes);
      changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    },
    createDirectory: reject,
    delete: reject,
    rename: reject,
  };
}

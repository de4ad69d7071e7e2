import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient';

/**
 * Whether a document is somebody's file, or about to be one. VS Code shows text of its own as YAML, too: a hover in its accessible view,
 * code in a chat, the old side of a difference; and what is found there stands in the Problems panel although nobody can mend it.
 * Where nothing can be written, files of the window's folders and objects of a cluster are judged; else it is some older state of a file.
 */
export function isFile({ uri, isUntitled }: vscode.TextDocument): boolean {
  if (isUntitled || uri.scheme === 'file') return true;
  const writable = uri.scheme === 'git' ? undefined : vscode.workspace.fs.isWritableFileSystem(uri.scheme);
  if (writable !== false) return writable === true;
  return /^(k8smsx|osmsx)/.test(uri.scheme) || vscode.workspace.getWorkspaceFolder(uri) !== undefined;
}

/** Keeps documents that are no files from the server, which has nothing to say of what it was not given. */
export const filesOnly: Middleware = {
  didOpen: async (document, next) => {
    if (isFile(document)) await next(document);
  },
  didChange: async (event, next) => {
    if (isFile(event.document)) await next(event);
  },
  didClose: async (document, next) => {
    if (isFile(document)) await next(document);
  },
};

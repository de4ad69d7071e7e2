import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient';

/**
 * Whether a document is a user's file or may become one. VS Code also opens its own text as YAML: hovers in the accessible view, code in a
 * chat, the old side of a diff. Findings there would fill the Problems panel although nothing can be fixed. In read-only file systems only
 * files of workspace folders and objects of a cluster qualify; anything else is an older version of a file.
 */
export function isFile({ uri, isUntitled }: vscode.TextDocument): boolean {
  if (isUntitled || uri.scheme === 'file') return true;
  const writable = uri.scheme === 'git' ? undefined : vscode.workspace.fs.isWritableFileSystem(uri.scheme);
  if (writable !== false) return writable === true;
  return /^(k8smsx|osmsx)/.test(uri.scheme) || vscode.workspace.getWorkspaceFolder(uri) !== undefined;
}

/** Hides documents that are not files from the server. */
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

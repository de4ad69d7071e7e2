import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient';

/**
 * Whether a document is somebody's file, or about to be one. VS Code shows text of its own as YAML, too: a hover in its accessible view,
 * code in a chat, the old side of a difference; and what is found there stands in the Problems panel although nobody can mend it.
 */
export function isFile({ uri: { scheme }, isUntitled }: vscode.TextDocument): boolean {
  if (isUntitled || scheme === 'file') return true;
  return scheme !== 'git' && vscode.workspace.fs.isWritableFileSystem(scheme) !== undefined;
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

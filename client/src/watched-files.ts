import * as vscode from 'vscode';
import type { FileEvent, Middleware } from 'vscode-languageclient';
import { FileChangeType } from 'vscode-languageclient';
import { isPassedBy, passedBy } from '../../server/src/lsp/requests.ts';

/** What a search for manifests leaves out. */
export const otherPeoples = `**/{${passedBy}}/**`;

/**
 * Keeps from the server what is neither a manifest nor a config nor a folder that may hold some. An installation of packages or a build would hold
 * back all else: the client waits until for a moment nothing more comes.
 */
export const watchedFiles: NonNullable<Middleware['workspace']> = {
  didChangeWatchedFile: async (event, next) => {
    if (matters(event)) await next(event);
  },
};

function matters({ uri, type }: FileEvent): boolean {
  if (isPassedBy(vscode.workspace.asRelativePath(vscode.Uri.parse(uri)))) return false;
  if (/\.ya?ml$|\/Kustomization$/.test(uri)) return true;
  // A name with an ending is a file's. Of what is gone nobody can tell, and it is less.
  return type === FileChangeType.Deleted || !/\.[a-z]\w*$/i.test(uri);
}

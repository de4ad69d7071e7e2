import * as vscode from 'vscode';
import type { FileEvent, Middleware } from 'vscode-languageclient';
import { FileChangeType } from 'vscode-languageclient';
import { excludedFolderNames, isExcluded, isIndexedName } from '../../server/src/lsp/protocol.ts';

/** Folders that a search for manifests skips. */
export const excludedFolders = `**/{${excludedFolderNames}}/**`;

/**
 * Forwards only events of manifests, configs, JSON patches, helpers of charts, Terraform's files and folders that may contain them. Otherwise, a
 * package installation or a build would delay all other events: the client waits for a pause before it sends any.
 */
export const watchedFiles: NonNullable<Middleware['workspace']> = {
  didChangeWatchedFile: async (event, next) => {
    if (matters(event)) await next(event);
  },
};

function matters({ uri, type }: FileEvent): boolean {
  if (isExcluded(vscode.workspace.asRelativePath(vscode.Uri.parse(uri)))) return false;
  if (isIndexedName(uri) || /\.json$|\/(?:Kustomization|_helpers\.tpl)$/.test(uri)) return true;
  // A name with an extension is a file. Deleted paths could be folders, so all of them pass; they are few.
  return type === FileChangeType.Deleted || !/\.[a-z]\w*$/i.test(uri);
}

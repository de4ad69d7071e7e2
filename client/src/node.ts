import { type ExtensionContext, Uri } from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';
import { activateWith } from './extension.ts';
import { refreshInProcess } from './node-prices.ts';

/** Starts the extension on the desktop and on remote machines, where the server is a separate Node process. */
export function activate(context: ExtensionContext): void {
  const module = context.asAbsolutePath('dist/server.js');
  // The server keeps its compiled code here for the next start. A read-only folder does no harm, and several windows can share it.
  const compiled = Uri.joinPath(context.globalStorageUri, 'compile-cache').fsPath;
  const server = { module, transport: TransportKind.ipc, options: { env: { NODE_COMPILE_CACHE: compiled } } };
  const refresh = refreshInProcess(context.asAbsolutePath('dist/cli.js'));
  activateWith(context, (id, name, options) => new LanguageClient(id, name, server, options), refresh);
}

import { type ExtensionContext, Uri } from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';
import { activateWith } from './extension.ts';

/** The extension on the desktop and on remote machines: the server is a Node process of its own. */
export function activate(context: ExtensionContext): void {
  const module = context.asAbsolutePath('dist/server.js');
  // There Node keeps the compiled code of the server, so that the next start need not compile it. A folder that cannot be written or a Node
  // that knows nothing of this starts all the same, and several windows may share it: each file is written under another name first.
  const compiled = Uri.joinPath(context.globalStorageUri, 'compile-cache').fsPath;
  const server = { module, transport: TransportKind.ipc, options: { env: { NODE_COMPILE_CACHE: compiled } } };
  activateWith(context, (id, name, options) => new LanguageClient(id, name, server, options));
}

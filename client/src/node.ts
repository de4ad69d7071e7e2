import type { ExtensionContext } from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';
import { activateWith } from './extension.ts';

/** The extension on the desktop and on remote machines: the server is a Node process of its own. */
export function activate(context: ExtensionContext): void {
  const module = context.asAbsolutePath('dist/server.js');
  activateWith(
    context,
    (id, name, options) => new LanguageClient(id, name, { module, transport: TransportKind.ipc }, options),
  );
}

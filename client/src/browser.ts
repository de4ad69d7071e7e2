import { type ExtensionContext, Uri } from 'vscode';
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient } from 'vscode-languageclient/browser';
import { activateWith } from './extension.ts';

/** The extension in the browser: the server is a web worker. */
export function activate(context: ExtensionContext): void {
  const script = Uri.joinPath(context.extensionUri, 'dist/server.browser.js').toString(true);
  let worker: Worker | undefined;
  const start = async () => {
    worker?.terminate();
    worker = new Worker(script);
    // Not the bare worker: VS Code's extension host puts a function in place of `Worker`, and what that makes is no `instanceof` it,
    // by which the client would tell a worker.
    return { reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) };
  };
  activateWith(context, (id, name, options) => new LanguageClient(id, name, start, options));
  context.subscriptions.push({ dispose: () => worker?.terminate() });
}

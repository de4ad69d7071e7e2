import { type ExtensionContext, Uri } from 'vscode';
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient } from 'vscode-languageclient/browser';
import { activateWith } from './extension.ts';

/** Starts the extension in the browser, where the server is a web worker. */
export function activate(context: ExtensionContext): void {
  const script = Uri.joinPath(context.extensionUri, 'dist/server.browser.js').toString(true);
  let worker: Worker | undefined;
  const start = async () => {
    worker?.terminate();
    worker = new Worker(script);
    // Not the worker itself: VS Code's extension host replaces `Worker` with a function whose results are not `instanceof Worker`, which is
    // how the client recognizes one.
    return { reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) };
  };
  activateWith(context, (id, name, options) => new LanguageClient(id, name, start, options));
  context.subscriptions.push({ dispose: () => worker?.terminate() });
}

import { BrowserMessageReader, BrowserMessageWriter, createConnection } from 'vscode-languageserver/browser';
import { catalogPrices } from '../catalog/index.ts';
import { readThroughClient } from './client-files.ts';
import { checkMessages } from './messages.ts';
import { startServer } from './server.ts';

// The entry point of the web worker, for VS Code in the browser.
const reader = new BrowserMessageReader(self as never);
const writer = new BrowserMessageWriter(self as never);
const connection = createConnection(reader, writer, checkMessages(reader, writer));
const today = new Date().toISOString().slice(0, 10);
startServer(connection, {
  ...readThroughClient(connection),
  prices: () => ({ sheet: catalogPrices, today, problem: null }),
});

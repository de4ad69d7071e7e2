import { BrowserMessageReader, BrowserMessageWriter, createConnection } from 'vscode-languageserver/browser';
import { readThroughClient } from './client-files.ts';
import { startServer } from './server.ts';

// The program that runs in a web worker, for VS Code in the browser.
const connection = createConnection(new BrowserMessageReader(self as never), new BrowserMessageWriter(self as never));
startServer(connection, readThroughClient(connection));

import * as vscode from 'vscode';
import { type BaseLanguageClient, type LanguageClientOptions, State } from 'vscode-languageclient';
import {
  type ClientOptions,
  type ListFilesParams,
  type ListFilesResult,
  methods,
} from '../../server/src/lsp/requests.ts';
import { registerCommands } from './commands.ts';
import { filesOnly, isFile } from './own-documents.ts';
import { readFile } from './read-file.ts';
import { registerRulePages, ruleLinks } from './rule-pages.ts';
import { selections } from './selections.ts';
import { withOrigins } from './setting-origins.ts';
import { StatusBar } from './status-bar.ts';
import { otherPeoples, watchedFiles } from './watched-files.ts';

/** Makes the client for this kind of extension host. */
export type MakeClient = (id: string, name: string, options: LanguageClientOptions) => BaseLanguageClient;

/**
 * Starts the extension. The language server itself is started with the first document that may hold a manifest: a window
 * with nothing but settings.json and package.json open never pays for one.
 */
export function activateWith(context: vscode.ExtensionContext, makeClient: MakeClient): void {
  const output = vscode.window.createOutputChannel('gpulint', { log: true });
  const statusBar = new StatusBar();
  // Another extension may come, go, or be told to stop judging while the window is open, and whenever a server starts it is told anew.
  let told = '';
  const tellSyntax = () => {
    const languages = syntaxElsewhere();
    if (!client.isRunning() || languages.join() === told) return;
    told = languages.join();
    void client.sendNotification(methods.syntaxElsewhere, { languages });
  };
  const initializationOptions = (): ClientOptions => {
    const languages = syntaxElsewhere();
    told = languages.join();
    return { picker: true, summary: true, readFile: true, listFiles: true, syntaxElsewhere: languages };
  };
  const client = makeClient('gpulint', 'gpulint', { ...clientOptions(output), initializationOptions });
  const started = once(() => startClient(client, statusBar, output));
  context.subscriptions.push(
    output,
    statusBar,
    ...registerCommands(client, started, output),
    ...registerRulePages(client, started, context.extensionUri),
    {
      dispose: () => void stop(client),
    },
  );

  const startFor = (document: vscode.TextDocument) => {
    if (mayHoldManifest(document)) void started();
  };
  context.subscriptions.push(
    client.onDidChangeState(tellSyntax),
    vscode.extensions.onDidChange(tellSyntax),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('yaml') || change.affectsConfiguration('json')) tellSyntax();
    }),
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidSaveTextDocument(startFor),
  );
  vscode.workspace.textDocuments.forEach(startFor);
}

function clientOptions(output: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: [
      { language: 'yaml' },
      { language: 'helm' },
      { language: 'json' },
      { language: 'jsonc' },
      { pattern: '**/.gpulint.yaml' },
    ],
    middleware: { ...filesOnly, ...ruleLinks, ...selections, workspace: { ...withOrigins, ...watchedFiles } },
    outputChannel: output,
    markdown: { isTrusted: false, supportHtml: false },
  };
}

/** Whose syntax errors the window shows already: VS Code's own JSON support does, and Red Hat's YAML extension where it is installed. */
function syntaxElsewhere(): readonly string[] {
  const validates = (id: string, section: string, key: string) =>
    vscode.extensions.getExtension(id) !== undefined &&
    vscode.workspace.getConfiguration(section).get<boolean>(key) !== false;
  return [
    ...(validates('redhat.vscode-yaml', 'yaml', 'validate') ? ['yaml'] : []),
    ...(validates('vscode.json-language-features', 'json', 'validate.enable') ? ['json', 'jsonc'] : []),
  ];
}

async function startClient(
  client: BaseLanguageClient,
  statusBar: StatusBar,
  output: vscode.LogOutputChannel,
): Promise<void> {
  client.onNotification(methods.summary, (params) => statusBar.update(params));
  client.onRequest(methods.readFile, readFile);
  client.onRequest(methods.listFiles, listFiles);
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped) statusBar.clear();
  });
  try {
    await client.start();
  } catch (error) {
    output.error(`The language server did not start: ${error instanceof Error ? error.message : String(error)}`);
    const choice = await vscode.window.showErrorMessage('The gpulint language server did not start.', 'Show Output');
    if (choice !== undefined) output.show();
  }
}

/** Lists for the server what it cannot reach itself. What the editor's search passes by is passed by here, too. */
async function listFiles({ folder, most }: ListFilesParams): Promise<ListFilesResult> {
  const pattern = new vscode.RelativePattern(vscode.Uri.parse(folder, true), '**/*.{yaml,yml}');
  const found = await vscode.workspace.findFiles(pattern, otherPeoples, most);
  return found.map((uri) => uri.toString());
}

/** JSON is mostly settings and package files; a Kubernetes object names its API version. */
function mayHoldManifest(document: vscode.TextDocument): boolean {
  if (!isFile(document)) return false;
  if (document.languageId === 'yaml' || document.languageId === 'helm') return true;
  const isJson = document.languageId === 'json' || document.languageId === 'jsonc';
  return isJson && document.getText().slice(0, 100_000).includes('"apiVersion"');
}

async function stop(client: BaseLanguageClient): Promise<void> {
  if (client.needsStop()) await client.stop();
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

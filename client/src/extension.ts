import * as vscode from 'vscode';
import { type BaseLanguageClient, type LanguageClientOptions, State } from 'vscode-languageclient';
import { type ClientOptions, commands, methods } from '../../server/src/lsp/protocol.ts';
import { registerClusters } from './clusters.ts';
import { registerCommands } from './commands.ts';
import { registerCostReport } from './cost-report.ts';
import { registerCostView } from './cost-view.ts';
import { readBase, watchCommits } from './git-base.ts';
import { gpuQuestion } from './gpu-question.ts';
import { listFiles } from './list-files.ts';
import { filesOnly, isFile } from './own-documents.ts';
import { plainLenses } from './plain-label.ts';
import type { PriceRefresh } from './prices.ts';
import { readFile } from './read-file.ts';
import { type RepeatedProblems, repeatedProblems } from './repeated-problems.ts';
import { registerRulePages, ruleLinks } from './rule-pages.ts';
import { selections } from './selections.ts';
import { withOrigins } from './setting-origins.ts';
import { showError } from './show-notice.ts';
import { StatusBar } from './status-bar.ts';
import { watchedFiles } from './watched-files.ts';

/** Creates the client for this kind of extension host. */
export type MakeClient = (id: string, name: string, options: LanguageClientOptions) => BaseLanguageClient;

/**
 * Starts the extension. The language server itself starts with the first document that may contain a manifest: a window
 * with only settings.json and package.json open never pays for one.
 * @param refreshPrices absent where no processes can be started
 */
export function activateWith(
  context: vscode.ExtensionContext,
  makeClient: MakeClient,
  refreshPrices?: PriceRefresh,
): void {
  const output = vscode.window.createOutputChannel('gpulint', { log: true });
  const statusBar = new StatusBar();
  // Another extension may be installed, removed or switched off while the window is open, and each server process needs the current state.
  let sent = '';
  const sendSyntaxElsewhere = () => {
    const languages = syntaxElsewhere();
    if (!client.isRunning() || languages.join() === sent) return;
    sent = languages.join();
    void client.sendNotification(methods.syntaxElsewhere, { languages });
  };
  const initializationOptions = (): ClientOptions => {
    const languages = syntaxElsewhere();
    sent = languages.join();
    return {
      picker: true,
      summary: true,
      readFile: true,
      listFiles: true,
      baseTexts: true,
      trusted: vscode.workspace.isTrusted,
      syntaxElsewhere: languages,
    };
  };
  const repeated = repeatedProblems();
  const client = makeClient('gpulint', 'gpulint', {
    ...clientOptions(output, repeated, gpuQuestion(context)),
    initializationOptions,
  });
  const started = once(() => startClient(client, statusBar, output));
  const costsChanged = new vscode.EventEmitter<void>();
  context.subscriptions.push(
    output,
    statusBar,
    repeated.watch(client),
    watchCommits(() => {
      if (client.isRunning()) void client.sendNotification(methods.basesChanged);
    }),
    ...registerCommands(client, started, output, refreshPrices),
    costsChanged,
    client.onNotification(methods.costsChanged, () => costsChanged.fire()),
    ...registerCostView(client, started, context.workspaceState, costsChanged.event),
    ...registerCostReport(client, started, costsChanged.event),
    registerClusters(client, started, context.workspaceState),
    ...registerRulePages(client, started, context.extensionUri),
    {
      dispose: () => void stop(client),
    },
  );

  const startFor = (document: vscode.TextDocument) => {
    if (mayHoldManifest(document)) void started();
  };
  context.subscriptions.push(
    client.onDidChangeState(sendSyntaxElsewhere),
    vscode.extensions.onDidChange(sendSyntaxElsewhere),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('yaml') || change.affectsConfiguration('json')) sendSyntaxElsewhere();
    }),
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidSaveTextDocument(startFor),
  );
  vscode.workspace.textDocuments.forEach(startFor);
}

function clientOptions(
  output: vscode.LogOutputChannel,
  repeated: RepeatedProblems,
  question: ReturnType<typeof gpuQuestion>,
): LanguageClientOptions {
  return {
    documentSelector: [
      { language: 'yaml' },
      { language: 'helm' },
      { language: 'json' },
      { language: 'jsonc' },
      { pattern: '**/.gpulint.yaml' },
    ],
    // Of a tab whose document is not open, only the name is known, which decides only about the config.
    diagnosticPullOptions: { onChange: true, match: (_, { path }) => path.endsWith('/.gpulint.yaml') },
    middleware: {
      ...filesOnly,
      ...ruleLinks,
      ...selections,
      ...question,
      provideCodeLenses: (document, token, next) =>
        question.provideCodeLenses(document, token, async (...request) => plainLenses(await next(...request))),
      provideDiagnostics: (document, previousResultId, token, next) =>
        repeated.provideDiagnostics(document, previousResultId, token, (...request) =>
          ruleLinks.provideDiagnostics(...request, next),
        ),
      handleDiagnostics: (uri, diagnostics, next) =>
        repeated.handleDiagnostics(uri, diagnostics, (...report) => ruleLinks.handleDiagnostics(...report, next)),
      workspace: { ...withOrigins, ...watchedFiles },
    },
    outputChannel: output,
    // Only the links of the hover's actions; their arguments are places, and the commands only open pickers and menus.
    markdown: {
      isTrusted: { enabledCommands: [commands.setGpu, commands.setUp, commands.showFixes] },
      supportHtml: false,
    },
  };
}

/** The languages whose syntax errors another extension reports: VS Code's JSON support, and Red Hat's YAML extension if it is installed. */
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
  client.onRequest(methods.baseText, readBase);
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped) statusBar.clear();
  });
  try {
    await client.start();
  } catch (error) {
    output.error(`The language server did not start: ${error instanceof Error ? error.message : String(error)}`);
    const choice = await showError('The gpulint language server did not start.', 'Show Output');
    if (choice !== undefined) output.show();
  }
}

/** Most JSON files are settings and packages; a Kubernetes object has an API version. */
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

import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import { commands } from '../../server/src/lsp/protocol.ts';
import { draw } from './cluster-drawing.ts';
import type { CurrentCluster } from './cluster-items.ts';

/** Pause in milliseconds between two pages: a page that is replaced several times per second cannot be read. */
const pauseMs = 5000;

/** The page with the state of the connected cluster. */
export function registerDashboard(
  client: BaseLanguageClient,
  { changed, status }: Pick<CurrentCluster, 'changed' | 'status'>,
): readonly vscode.Disposable[] {
  let panel: vscode.WebviewPanel | undefined;
  let isOutdated = false;
  let pause: ReturnType<typeof setTimeout> | undefined;

  async function show(): Promise<void> {
    clearTimeout(pause);
    pause = undefined;
    isOutdated = false;
    try {
      const drawn = await draw(client, { kind: 'page', nonce: crypto.randomUUID().replaceAll('-', '') });
      if (panel !== undefined && drawn !== null) panel.webview.html = drawn.text;
    } finally {
      clearTimeout(pause);
      pause = setTimeout(() => {
        pause = undefined;
        showSoon();
      }, pauseMs);
    }
  }

  function showSoon(): void {
    if (isOutdated && pause === undefined && panel?.visible === true) void show();
  }

  async function open(): Promise<void> {
    if (status().asOf === null) {
      await vscode.commands.executeCommand(commands.connectCluster);
      return;
    }
    if (panel === undefined) {
      panel = vscode.window.createWebviewPanel(commands.clusterDashboard, 'GPU Cluster', vscode.ViewColumn.Active, {
        enableScripts: true,
        enableFindWidget: true,
        localResourceRoots: [],
      });
      panel.onDidDispose(() => {
        panel = undefined;
      });
      panel.onDidChangeViewState(showSoon);
      panel.webview.onDidReceiveMessage(receive);
    } else {
      panel.reveal();
    }
    await show();
  }

  async function receive(message: unknown): Promise<void> {
    if (typeof message !== 'object' || message === null || !('action' in message)) return;
    const action = actions.get(message.action);
    if (action === 'show') await show();
    else if (action !== undefined) await vscode.commands.executeCommand(action);
  }

  return [
    changed(() => {
      isOutdated = true;
      showSoon();
    }),
    vscode.commands.registerCommand(commands.clusterDashboard, open),
    {
      dispose() {
        clearTimeout(pause);
        panel?.dispose();
      },
    },
  ];
}

/** The buttons of the page. */
const actions: ReadonlyMap<unknown, string> = new Map([
  ['refresh', 'show'],
  ['markdown', commands.copyClusterMarkdown],
  ['json', commands.copyClusterJson],
]);

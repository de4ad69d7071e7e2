import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import { clusterCommands } from '../../server/src/lsp/protocol.ts';

/**
 * The GPU Clusters view and its commands. Their code is a bundle of its own, which the first of these commands loads: without a connection, the
 * view has nothing but its welcome text.
 * @param started starts the server unless it is running, and resolves when it is ready
 */
export function registerClusters(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  memory: vscode.Memento,
): vscode.Disposable {
  const empty = { getChildren: () => [], getTreeItem: () => new vscode.TreeItem('') };
  let registered: readonly vscode.Disposable[] = [
    vscode.window.registerTreeDataProvider('gpulint.clusters', empty),
    ...Object.values(clusterCommands).map((name) =>
      vscode.commands.registerCommand(name, async (...parameters: unknown[]) => {
        const { registerClusterView } = await import('./cluster-view.ts');
        dispose();
        registered = registerClusterView(client, started, memory);
        return vscode.commands.executeCommand(name, ...parameters);
      }),
    ),
  ];

  function dispose(): void {
    for (const one of registered) one.dispose();
    registered = [];
  }

  return { dispose };
}

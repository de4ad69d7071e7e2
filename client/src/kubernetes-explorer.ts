import * as vscode from 'vscode';
import type { ClusterNode } from '../../server/src/lsp/cluster-protocol.ts';
import { commands } from '../../server/src/lsp/protocol.ts';
import { type CurrentCluster, itemOf } from './cluster-items.ts';

// The Kubernetes extension's tree of clusters, as far as it is used here:
// https://github.com/vscode-kubernetes-tools/vscode-kubernetes-tools-api/blob/main/ts/cluster-explorer/v1.ts

interface ExplorerNode {
  getChildren(): Promise<ExplorerNode[]>;
  getTreeItem(): vscode.TreeItem;
}

interface ClusterExplorer {
  registerNodeContributor(contributor: {
    contributesChildren(parent: ParentNode | undefined): boolean;
    getChildren(parent: ParentNode | undefined): Promise<ExplorerNode[]>;
  }): void;
  refresh(): void;
}

interface ParentNode {
  readonly nodeType: string;
  readonly name?: string;
}

interface KubernetesApi {
  get?(component: string, version: string): { readonly available: boolean; readonly api?: unknown };
}

/** Adds «GPU node pools» to the active cluster in the tree of the Kubernetes extension, once that extension runs. It is never started for this. */
export function addToKubernetesExplorer({ status, rows, changed }: CurrentCluster): vscode.Disposable {
  let explorer: ClusterExplorer | undefined;
  let isShown = false;

  function register(): void {
    const extension = vscode.extensions.getExtension<KubernetesApi>('ms-kubernetes-tools.vscode-kubernetes-tools');
    if (explorer !== undefined || extension?.isActive !== true) return;
    const found = extension.exports?.get?.('clusterexplorer', 'v1');
    if (found?.available !== true) return;
    explorer = found.api as ClusterExplorer;
    explorer.registerNodeContributor({
      contributesChildren: (parent) => parent?.nodeType === 'context' && isConnected(parent.name),
      getChildren: async (parent) => (isConnected(parent?.name) ? [poolsNode(rows)] : []),
    });
    explorer.refresh();
  }

  function isConnected(context: string | undefined): boolean {
    return status().asOf !== null && status().context === context;
  }

  return changed(({ asOf }) => {
    register();
    const isNow = asOf !== null;
    if (isNow !== isShown) explorer?.refresh();
    isShown = isNow;
  });
}

function poolsNode(rows: CurrentCluster['rows']): ExplorerNode {
  return {
    getChildren: async () => (await rows()).filter(({ kind }) => kind === 'pool').map((row) => nodeOf(row, rows)),
    getTreeItem() {
      const item = new vscode.TreeItem('GPU node pools', vscode.TreeItemCollapsibleState.Collapsed);
      item.iconPath = new vscode.ThemeIcon('server-environment');
      item.command = { command: commands.clusterDashboard, title: 'Show Dashboard' };
      return item;
    },
  };
}

function nodeOf(row: ClusterNode, rows: CurrentCluster['rows']): ExplorerNode {
  return {
    getChildren: async () => (await rows(row)).map((one) => nodeOf(one, rows)),
    getTreeItem() {
      const item = itemOf(row);
      // The menus of that tree are for its own rows.
      delete item.contextValue;
      return item;
    },
  };
}

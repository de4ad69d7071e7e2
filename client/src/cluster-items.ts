import * as vscode from 'vscode';
import type { ClusterChangedParams, ClusterNode } from '../../server/src/lsp/cluster-protocol.ts';

/** What the parts of the client know of the cluster. */
export interface CurrentCluster {
  readonly status: () => ClusterChangedParams;
  readonly changed: vscode.Event<ClusterChangedParams>;
  /** @param parent undefined for the first level */
  readonly rows: (parent?: ClusterNode) => Promise<ClusterNode[]>;
  readonly selected: () => readonly ClusterNode[];
}

/** A row without figures: what the user can do next. */
export function actionRow(label: string, icon: string, command: string): ClusterNode {
  const texts = { label, description: '', tooltip: label, spoken: label, name: label };
  return {
    ...texts,
    id: `action ${command}`,
    kind: 'action',
    icon,
    color: null,
    children: null,
    pool: null,
    owner: null,
    command,
  };
}

/** A row of the view. */
export function itemOf({
  id,
  label,
  description,
  tooltip,
  spoken,
  icon,
  color,
  ...node
}: ClusterNode): vscode.TreeItem {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  const { children } = node;
  const item = new vscode.TreeItem(label, children === null ? None : children === 'expanded' ? Expanded : Collapsed);
  item.id = id;
  item.description = description;
  item.tooltip = tooltip;
  item.iconPath = new vscode.ThemeIcon(icon, color === null ? undefined : new vscode.ThemeColor(color));
  item.accessibilityInformation = { label: spoken };
  if (node.command !== undefined) item.command = { command: node.command, title: label };
  item.contextValue = node.owner === null ? node.kind : `${node.kind} owned`;
  return item;
}

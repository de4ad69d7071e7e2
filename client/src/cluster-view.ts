import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type ClusterChangedParams,
  type ClusterNode,
  clusterMethods,
  type PodOwner,
  type PoolSort,
} from '../../server/src/lsp/cluster-protocol.ts';
import { commands } from '../../server/src/lsp/protocol.ts';
import { pickOwner, registerClusterActions } from './cluster-actions.ts';
import { registerClusterConnection } from './cluster-connection.ts';
import { registerDashboard } from './cluster-dashboard.ts';
import { draw } from './cluster-drawing.ts';
import { actionRow, type CurrentCluster, itemOf } from './cluster-items.ts';
import { addToKubernetesExplorer } from './kubernetes-explorer.ts';
import { showInformation } from './show-notice.ts';

const viewId = 'gpulint.clusters';

/** Pause in milliseconds between two pictures of the tree. */
const pauseMs = 1000;
/** How often the age of lost figures is written again, in milliseconds. */
const ageMs = 30_000;

const off: ClusterChangedParams = {
  state: 'off',
  message: null,
  context: null,
  listed: { nodes: 0, pods: 0 },
  asOf: null,
  pending: 0,
};

/**
 * The GPU Clusters view: pools, nodes and pods of the cluster to which the user has connected. The server follows the cluster and words the rows;
 * only those that are open are requested.
 * @param started starts the server unless it is running, and resolves when it is ready
 * @param memory remembers how pools are sorted
 */
export function registerClusterView(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  memory: vscode.Memento,
): readonly vscode.Disposable[] {
  const redraw = new vscode.EventEmitter<void>();
  const changed = new vscode.EventEmitter<ClusterChangedParams>();
  const parents = new Map<string, ClusterNode | undefined>();
  let status = off;
  let totals = '';
  let filter = '';
  let isOutdated = false;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let aging: ReturnType<typeof setTimeout> | undefined;
  let arrived: (() => void) | undefined;
  const view = vscode.window.createTreeView<ClusterNode>(viewId, {
    treeDataProvider: {
      onDidChangeTreeData: redraw.event,
      getChildren: childrenOf,
      getParent: ({ id }) => parents.get(id),
      getTreeItem: itemOf,
    },
    showCollapseAll: true,
    canSelectMany: true,
  });

  async function childrenOf(parent?: ClusterNode): Promise<ClusterNode[]> {
    if (status.asOf === null) return parent === undefined ? nextSteps(status) : [];
    const drawn = await draw(client, { kind: 'tree', parent: parent?.id ?? null, sort: sortOf(memory), filter });
    if (parent === undefined) {
      parents.clear();
      totals = drawn?.text ?? '';
      showStatus();
    }
    const nodes = [...(drawn?.nodes ?? [])];
    for (const { id } of nodes) parents.set(id, parent);
    if (nodes.length > 0 || parent !== undefined) return nodes;
    // Its thread has ended, or the connection is a new one.
    if (drawn === null) return nextSteps(status);
    return filter === ''
      ? [actionRow('No GPUs in this cluster: switch the context', 'arrow-swap', commands.switchCluster)]
      : [actionRow(`Nothing matches ${filter}: clear the filter`, 'filter-filled', commands.clearClusterFilter)];
  }

  function showStatus(): void {
    void vscode.commands.executeCommand('setContext', 'gpulint.clusterState', status.state);
    view.description = status.context ?? '';
    view.message = [...statusWords(status, Date.now()), ...totalsLine()].join(' · ');
    const tooltip = `${status.pending} pending GPU pod${status.pending === 1 ? '' : 's'}`;
    view.badge = status.pending === 0 ? undefined : { value: status.pending, tooltip };
    clearTimeout(aging);
    if (status.state === 'stale' && view.visible) aging = setTimeout(showStatus, ageMs);
  }

  function totalsLine(): readonly string[] {
    if (totals === '') return [];
    return [status.message === null ? `${status.context}: ${totals}` : totals];
  }

  function update(next: ClusterChangedParams): void {
    const isNew = status.state !== next.state || status.context !== next.context;
    status = next;
    if (status.asOf === null) totals = '';
    showStatus();
    if (isNew) showProgress();
    isOutdated = true;
    changed.fire(status);
    refreshSoon();
  }

  /** While a lost connection is tried again, the problem stays visible. */
  function received(next: ClusterChangedParams): void {
    const isRetry = next.state === 'connecting' && next.context === status.context && nextSteps(status).length > 0;
    if (!isRetry) update(next);
  }

  /** At once, and then after a pause: several changes a second would make the rows flicker under the mouse. */
  function refreshSoon(): void {
    if (!isOutdated || pause !== undefined || !view.visible) return;
    isOutdated = false;
    redraw.fire();
    pause = setTimeout(() => {
      pause = undefined;
      refreshSoon();
    }, pauseMs);
  }

  function showProgress(): void {
    arrived?.();
    arrived = undefined;
    if (status.state !== 'connecting' && status.state !== 'loading') return;
    const end = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    void vscode.window.withProgress({ location: { viewId } }, () => end);
  }

  async function sort(): Promise<void> {
    const now = sortOf(memory);
    const items = sorts.map((one) => ({ ...one, ...(one.id === now && { description: 'now' }) }));
    const chosen = await vscode.window.showQuickPick(items, { title: 'Sort pools by' });
    if (chosen === undefined) return;
    await memory.update(`${viewId}.sort`, chosen.id);
    redraw.fire();
  }

  async function search(): Promise<void> {
    const typed = await vscode.window.showInputBox({
      title: 'Filter GPU clusters',
      prompt: 'Shows pools, nodes and pods with all these words; leave empty to show everything',
      placeHolder: 'team-a h100',
      value: filter,
    });
    if (typed === undefined) return;
    filter = typed.trim();
    void vscode.commands.executeCommand('setContext', 'gpulint.clusterFilter', filter !== '');
    await vscode.commands.executeCommand(`${viewId}.focus`);
    redraw.fire();
  }

  /** Selects the pods of a workload in the tree. */
  async function showPods(named?: PodOwner & { readonly namespace: string | null }): Promise<void> {
    const owner = named ?? (await pickOwner(childrenOf, 'Workload whose pods to show'));
    if (owner == null) return;
    filter = '';
    await vscode.commands.executeCommand(`${viewId}.focus`);
    const isSame = (node: ClusterNode) =>
      node.owner?.kind === owner.kind &&
      node.owner.name === owner.name &&
      (owner.namespace === null || node.owner.namespace === owner.namespace);
    const roots = await childrenOf();
    const groups = roots.filter(({ kind }) => kind === 'group');
    for (const group of groups.reverse()) {
      const row = (await childrenOf(group)).find(isSame);
      if (row !== undefined) return view.reveal(row, { select: true, focus: true, expand: true });
    }
    void showInformation(`No pods of ${owner.kind}/${owner.name} hold or wait for GPUs.`);
  }

  const current: CurrentCluster = {
    status: () => status,
    changed: changed.event,
    rows: childrenOf,
    selected: () => view.selection,
  };
  return [
    view,
    redraw,
    changed,
    client.onNotification(clusterMethods.changed, received),
    client.onDidChangeState(() => {
      // A new server is not connected.
      if (!client.isRunning() && status.state !== 'off') update(off);
    }),
    view.onDidChangeVisibility(() => {
      refreshSoon();
      showStatus();
    }),
    {
      dispose() {
        clearTimeout(pause);
        clearTimeout(aging);
      },
    },
    vscode.commands.registerCommand(commands.sortPools, sort),
    vscode.commands.registerCommand(commands.filterCluster, search),
    vscode.commands.registerCommand(commands.clearClusterFilter, () => {
      filter = '';
      void vscode.commands.executeCommand('setContext', 'gpulint.clusterFilter', false);
      redraw.fire();
    }),
    vscode.commands.registerCommand(commands.showPods, showPods),
    ...registerClusterConnection(client, started, current.status, update),
    ...registerClusterActions(client, current),
    ...registerDashboard(client, current),
    addToKubernetesExplorer(current),
  ];
}

const sorts: readonly { readonly id: PoolSort; readonly label: string }[] = [
  { id: 'free', label: 'Free GPUs' },
  { id: 'idle', label: 'Idle cost' },
  { id: 'name', label: 'Name' },
];

/** An older version may have stored another word. */
function sortOf(memory: vscode.Memento): PoolSort {
  const stored = memory.get<unknown>(`${viewId}.sort`);
  return sorts.find(({ id }) => id === stored)?.id ?? 'free';
}

/** What the user can do without a connection. Before the first one, the welcome text has buttons. */
function nextSteps({ state }: ClusterChangedParams): ClusterNode[] {
  if (state === 'off' || state === 'connecting' || state === 'loading') return [];
  return [
    actionRow('Connect again', 'refresh', commands.refreshCluster),
    actionRow('Switch context', 'arrow-swap', commands.switchCluster),
    actionRow('Open settings', 'gear', commands.clusterSettings),
    ...(state === 'failed' ? [actionRow('Show output', 'output', 'gpulint.showOutput')] : []),
  ];
}

/** What the view says of its connection, above the totals. @param now milliseconds since the epoch */
function statusWords({ state, message, context, listed, asOf }: ClusterChangedParams, now: number): readonly string[] {
  const said = message === null ? [] : [message];
  switch (state) {
    case 'connecting':
      return [`Connecting${context === null ? '' : ` to ${context}`}…`];
    case 'loading':
      return [`Listing: ${listed.nodes.toLocaleString('en')} nodes, ${listed.pods.toLocaleString('en')} pods`];
    case 'stale': {
      const minutes = Math.floor((now - (asOf ?? now)) / 60_000);
      const time = new Date(asOf ?? now).toLocaleTimeString();
      return [...said, `As of ${time}${minutes === 0 ? '' : `, ${minutes} min ago`}`];
    }
    default:
      return said;
  }
}

import * as vscode from 'vscode';
import { type BaseLanguageClient, State, WorkDoneProgress } from 'vscode-languageclient';
import type {
  CostGroup,
  CostNode,
  CostSort,
  CostTreeParams,
  CostTreeResult,
} from '../../server/src/lsp/cost-protocol.ts';
import { commands, methods } from '../../server/src/lsp/protocol.ts';

const viewId = 'gpulint.cost';

/** Pause in milliseconds after a change: typing must not redraw the tree with each key. */
const quietMs = 500;

/** What the view shows instead of a tree; package.json has a text for each. */
type CostState = 'loading' | 'ready' | 'canceled' | 'failed';

/**
 * The GPU Cost view: the costs of all workloads of the workspace. The server reads, sorts, groups and words them.
 * @param started starts the server unless it is running, and resolves when it is ready
 * @param memory remembers how a workspace is sorted and grouped
 * @param changed fires when the last answer may be outdated
 */
export function registerCostView(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  memory: vscode.Memento,
  changed: vscode.Event<void>,
): readonly vscode.Disposable[] {
  const redraw = new vscode.EventEmitter<void>();
  let result: CostTreeResult | undefined;
  let loading: vscode.CancellationTokenSource | undefined;
  let isOutdated = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requests = 0;
  const view = vscode.window.createTreeView(viewId, {
    treeDataProvider: {
      onDidChangeTreeData: redraw.event,
      getChildren: (node?: CostNode) => [...(node === undefined ? (result?.nodes ?? []) : (node.children ?? []))],
      getTreeItem: (node) => itemOf(client, node),
    },
    showCollapseAll: true,
  });

  function show(state: CostState): void {
    void vscode.commands.executeCommand('setContext', 'gpulint.costState', state);
    view.description = result?.total ?? '';
    view.message = result?.message ?? '';
    redraw.fire();
  }

  /** One request at a time; the last one wins. */
  async function load(): Promise<void> {
    isOutdated = true;
    if (loading !== undefined || !view.visible) return;
    while (isOutdated) {
      isOutdated = false;
      loading = new vscode.CancellationTokenSource();
      const isFirst = result === undefined;
      const { token } = loading;
      try {
        if (isFirst) show('loading');
        const request = () => requestTree(token);
        result = isFirst ? await vscode.window.withProgress({ location: { viewId } }, request) : await request();
        show('ready');
      } catch {
        // The server logs the reason of a failure.
        show(token.isCancellationRequested ? 'canceled' : 'failed');
      }
      loading.dispose();
      loading = undefined;
    }
  }

  async function requestTree(token: vscode.CancellationToken): Promise<CostTreeResult> {
    await started();
    requests += 1;
    const params: CostTreeParams = { ...howOf(memory), workDoneToken: `gpulint.cost ${requests}` };
    const progress = client.onProgress(WorkDoneProgress.type, params.workDoneToken ?? '', (value) => {
      const isRead = result === undefined && value.kind === 'report';
      if (isRead) view.message = `Reading workspace files: ${value.percentage ?? 0}%`;
    });
    try {
      return await client.sendRequest<CostTreeResult>(methods.costTree, params, token);
    } finally {
      progress.dispose();
    }
  }

  async function reload(): Promise<void> {
    result = undefined;
    await vscode.commands.executeCommand(`${viewId}.focus`);
    await load();
  }

  async function choose<K extends 'sort' | 'group'>(
    key: K,
    choices: readonly Choice<CostTreeParams[K]>[],
    title: string,
  ) {
    const now = howOf(memory)[key];
    const items = choices.map((one) => ({ ...one, ...(one.id === now && { description: 'now' }) }));
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (chosen === undefined) return;
    await memory.update(`${viewId}.${key}`, chosen.id);
    await load();
  }

  return [
    view,
    redraw,
    { dispose: () => clearTimeout(timer) },
    view.onDidChangeVisibility(() => {
      if (view.visible && isOutdated) void load();
    }),
    changed(() => {
      isOutdated = true;
      clearTimeout(timer);
      timer = setTimeout(() => void load(), quietMs);
    }),
    client.onDidChangeState(({ newState }) => {
      // A new server knows nothing of the last answer.
      if (newState === State.Running && result !== undefined) void load();
    }),
    vscode.commands.registerCommand(commands.refreshCosts, reload),
    vscode.commands.registerCommand(commands.cancelCosts, () => loading?.cancel()),
    vscode.commands.registerCommand(commands.sortCosts, () => choose('sort', sorts, 'Sort GPU cost by')),
    vscode.commands.registerCommand(commands.groupCosts, () => choose('group', groups, 'Group GPU cost by')),
    vscode.commands.registerCommand(commands.copyCost, async (node?: CostNode) => {
      const nodes = node === undefined ? view.selection : [node];
      const lines =
        nodes.length > 0 ? nodes.flatMap(linesOf) : [result?.message ?? '', ...(result?.nodes ?? []).flatMap(linesOf)];
      await vscode.env.clipboard.writeText(lines.join('\n'));
    }),
  ];
}

interface Choice<T> {
  readonly id: T;
  readonly label: string;
}

const sorts: readonly Choice<CostSort>[] = [
  { id: 'cost', label: 'Cost' },
  { id: 'name', label: 'Name' },
  { id: 'idle', label: 'Idle cost' },
];
const groups: readonly Choice<CostGroup>[] = [
  { id: 'none', label: 'Nothing' },
  { id: 'namespace', label: 'Namespace' },
  { id: 'team', label: 'Team' },
  { id: 'gpu', label: 'GPU' },
  { id: 'file', label: 'File' },
];

/** How the workspace was last sorted and grouped. An older version may have stored other words. */
function howOf(memory: vscode.Memento): Pick<CostTreeParams, 'sort' | 'group'> {
  const stored = <T>(key: string, choices: readonly Choice<T>[], otherwise: T): T => {
    const value = memory.get<unknown>(`${viewId}.${key}`);
    return choices.find(({ id }) => id === value)?.id ?? otherwise;
  };
  return { sort: stored('sort', sorts, 'cost'), group: stored('group', groups, 'none') };
}

function itemOf(
  client: BaseLanguageClient,
  { id, label, description, tooltip, spoken, icon, ...node }: CostNode,
): vscode.TreeItem {
  const { place, children } = node;
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, children === undefined ? None : Expanded);
  item.id = id;
  item.description = description;
  item.tooltip = tooltip;
  item.iconPath = new vscode.ThemeIcon(icon);
  item.accessibilityInformation = { label: spoken };
  item.contextValue = children === undefined ? 'workload' : 'group';
  if (place !== undefined) {
    const { asUri, asRange } = client.protocol2CodeConverter;
    const options = { selection: asRange(place.range) };
    item.command = { command: 'vscode.open', title: 'Open', arguments: [asUri(place.uri), options] };
  }
  return item;
}

/** A node as text, with its workloads indented. */
function linesOf({ label, description, children = [] }: CostNode): readonly string[] {
  return [`${label}: ${description}`, ...children.flatMap(linesOf).map((line) => `  ${line}`)];
}

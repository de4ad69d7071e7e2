import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type ClusterChangedParams,
  type ClusterConnectParams,
  type ClusterConnectResult,
  type ClusterContext,
  type ClusterContextsParams,
  type ClusterContextsResult,
  clusterMethods,
} from '../../server/src/lsp/cluster-protocol.ts';
import { commands } from '../../server/src/lsp/protocol.ts';
import { plainItems } from './plain-label.ts';
import { showWarning } from './show-notice.ts';

/**
 * Connects and disconnects when the user says so. Before that, nothing of a kubeconfig is read.
 * @param started starts the server unless it is running, and resolves when it is ready
 */
export function registerClusterConnection(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  status: () => ClusterChangedParams,
  update: (status: ClusterChangedParams) => void,
): readonly vscode.Disposable[] {
  /** @param context null: the current one */
  async function connectTo(context: string | null): Promise<void> {
    update({ ...status(), state: 'connecting', message: null, context, asOf: null, pending: 0 });
    const params: ClusterConnectParams = { context, kubeconfig: kubeconfigElsewhere() };
    const { problem } = await client.sendRequest<ClusterConnectResult>(clusterMethods.connect, params);
    if (problem === null) return;
    update({ ...status(), state: 'failed', message: problem });
    await showProblem(problem);
  }

  async function connect(): Promise<void> {
    if (!(await isTrusted())) return;
    await started();
    // The workspace may be trusted only since the server has started.
    await client.sendNotification(clusterMethods.trusted);
    const params: ClusterContextsParams = { kubeconfig: kubeconfigElsewhere() };
    const { contexts, problem } = await client.sendRequest<ClusterContextsResult>(clusterMethods.contexts, params);
    if (problem !== null) return showProblem(problem);
    const chosen = await pickContext(contexts);
    if (chosen === undefined) return;
    // Not before: a view that takes the focus late would close the list.
    await vscode.commands.executeCommand('gpulint.clusters.focus');
    await connectTo(chosen.name);
  }

  async function pickContext(contexts: readonly ClusterContext[]): Promise<ClusterContext | undefined> {
    const { state, context: connected } = status();
    if (contexts.length === 1 && state === 'off') return contexts[0];
    const items = contexts
      .map((context) => ({
        label: context.name,
        description: [
          ...(context.name === context.cluster ? [] : [context.cluster]),
          ...(context.namespace === null ? [] : [`namespace ${context.namespace}`]),
          ...(state !== 'off' && context.name === connected ? ['connected'] : context.isCurrent ? ['current'] : []),
        ].join(' · '),
        context,
      }))
      // Enter selects the first one.
      .sort((a, b) => Number(b.context.isCurrent) - Number(a.context.isCurrent));
    const chosen = await vscode.window.showQuickPick(plainItems(items), {
      title: 'Connect to a cluster',
      placeHolder: 'Kubeconfig context; gpulint only reads',
      matchOnDescription: true,
    });
    return chosen?.context;
  }

  return [
    vscode.commands.registerCommand(commands.connectCluster, connect),
    vscode.commands.registerCommand(commands.switchCluster, connect),
    vscode.commands.registerCommand(commands.disconnectCluster, async () => {
      if (client.isRunning()) await client.sendRequest(clusterMethods.disconnect, {});
      update({ ...status(), state: 'off', message: null, context: null, asOf: null, pending: 0 });
    }),
    vscode.commands.registerCommand(commands.refreshCluster, async () => {
      if (status().state === 'off') await connect();
      else await connectTo(status().context);
    }),
    vscode.commands.registerCommand(commands.clusterSettings, openSettings),
  ];
}

async function isTrusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const choice = await showWarning(
    'gpulint does not connect to clusters in Restricted Mode: a kubeconfig can name programs to run.',
    'Manage Workspace Trust',
  );
  if (choice !== undefined) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}

async function showProblem(problem: string): Promise<void> {
  const choice = await showWarning(`${problem}.`, 'Open Settings');
  if (choice !== undefined) await openSettings();
}

async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', 'gpulint.cluster');
}

/** The kubeconfig that the user has chosen for the Kubernetes extension, unless there is one for gpulint. A workspace cannot choose it. */
function kubeconfigElsewhere(): string | null {
  const own = vscode.workspace.getConfiguration('gpulint').get<string>('cluster.kubeconfig');
  if (own) return null;
  const theirs = vscode.workspace.getConfiguration().inspect<unknown>('vs-kubernetes')?.globalValue;
  if (typeof theirs !== 'object' || theirs === null || !('vs-kubernetes.kubeconfig' in theirs)) return null;
  const file = theirs['vs-kubernetes.kubeconfig'];
  return typeof file === 'string' && file !== '' ? file : null;
}

import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import { type ClusterNode, type ClusterUsePoolParams, clusterMethods } from '../../server/src/lsp/cluster-protocol.ts';
import type { WorkspaceCostsResult } from '../../server/src/lsp/cost-protocol.ts';
import { commands, type EditResult, methods } from '../../server/src/lsp/protocol.ts';
import { activeEditor } from './active-editor.ts';
import { draw } from './cluster-drawing.ts';
import type { CurrentCluster } from './cluster-items.ts';
import { apply } from './config-pickers.ts';
import { plainItems } from './plain-label.ts';
import { select } from './selections.ts';
import { showInformation, showWarning } from './show-notice.ts';

/** What can be done with the rows of the GPU Clusters view. From the command palette, each asks for what it needs. */
export function registerClusterActions(
  client: BaseLanguageClient,
  { rows, selected }: Pick<CurrentCluster, 'rows' | 'selected'>,
): readonly vscode.Disposable[] {
  async function poolOf(node: ClusterNode | undefined, title: string): Promise<ClusterNode | undefined> {
    if (typeof node?.pool === 'string') return node;
    const pools = (await rows()).filter(({ pool }) => pool !== null);
    const items = pools.map((pool) => ({ label: pool.label, description: pool.description, pool }));
    const chosen = await vscode.window.showQuickPick(plainItems(items), { title, matchOnDescription: true });
    return chosen?.pool;
  }

  async function usePool(node?: ClusterNode): Promise<void> {
    const editor = activeEditor();
    const pool = await poolOf(node, 'Pool for the workload at the cursor');
    if (typeof pool?.pool !== 'string') return;
    if (editor === undefined) {
      void showWarning('Open a manifest and place the cursor in a workload that requests GPUs.');
      return;
    }
    const { line, character } = editor.selection.active;
    const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
    const params: ClusterUsePoolParams = { uri, position: { line, character }, pool: pool.pool };
    const result = await client.sendRequest<EditResult>(clusterMethods.usePool, params);
    await apply(client, result, false);
    await vscode.window.showTextDocument(editor.document, {
      ...(editor.viewColumn && { viewColumn: editor.viewColumn }),
    });
  }

  async function showTolerations(node?: ClusterNode): Promise<void> {
    const pool = await poolOf(node, 'Pool whose taints to show as tolerations');
    if (typeof pool?.pool !== 'string') return;
    const drawn = await draw(client, { kind: 'pool', pool: pool.pool });
    if (drawn === null) return;
    const document = await vscode.workspace.openTextDocument({ language: 'yaml', content: drawn.text });
    await vscode.window.showTextDocument(document);
  }

  async function openManifest(node: ClusterNode | undefined = selected()[0]): Promise<void> {
    const owner = node?.owner ?? (await pickOwner(rows, 'Workload whose manifest to open'));
    if (owner == null) return;
    const { rows: workloads } = await client.sendRequest<WorkspaceCostsResult>(methods.workspaceCosts, {});
    const named = workloads.filter(({ kind, name }) => kind === owner.kind && name === owner.name);
    const inNamespace = named.filter(({ namespace }) => namespace === owner.namespace);
    const found = inNamespace.length > 0 ? inNamespace : named.filter(({ namespace }) => namespace === null);
    if (found.length === 0) {
      void showInformation(`No manifest of ${owner.kind}/${owner.name} in this workspace.`);
      return;
    }
    const items = found.map((one) => ({ label: one.path, description: one.accelerators, place: one }));
    const title = `Manifest of ${owner.kind}/${owner.name}`;
    const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(plainItems(items), { title });
    if (chosen !== undefined) await select(chosen.place);
  }

  async function copy(text: string | undefined): Promise<void> {
    if (text !== undefined && text !== '') await vscode.env.clipboard.writeText(text);
  }

  async function copyRows(node: ClusterNode | undefined, all: readonly ClusterNode[] | undefined): Promise<void> {
    const nodes = Array.isArray(all) && all.length > 0 ? all : node === undefined ? selected() : [node];
    const shown = nodes.length > 0 ? nodes : await rows();
    await copy(
      shown.map(({ label, description }) => (description === '' ? label : `${label}: ${description}`)).join('\n'),
    );
  }

  const register = (name: string, run: (node?: ClusterNode, all?: readonly ClusterNode[]) => Promise<void>) =>
    vscode.commands.registerCommand(name, run);
  return [
    register(commands.usePool, usePool),
    register(commands.showTolerations, showTolerations),
    register(commands.openManifest, openManifest),
    register(commands.copyCluster, copyRows),
    register(commands.copyClusterName, (node = selected()[0]) => copy(node?.name)),
    register(commands.copyClusterMarkdown, async () => copy((await draw(client, { kind: 'markdown' }))?.text)),
    register(commands.copyClusterJson, async () => copy((await draw(client, { kind: 'json' }))?.text)),
  ];
}

/** Asks for a workload of the cluster. */
export async function pickOwner(
  rows: CurrentCluster['rows'],
  title: string,
): Promise<ClusterNode['owner'] | undefined> {
  const groups = (await rows()).filter(({ kind }) => kind === 'group');
  const owned = (await Promise.all(groups.map((group) => rows(group)))).flat().filter(({ kind }) => kind === 'owner');
  const items = owned.map(({ label, description, owner }) => ({ label, description, owner }));
  return (await vscode.window.showQuickPick(plainItems(items), { title, matchOnDescription: true }))?.owner;
}

import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type CostItem,
  type CostsResult,
  commands,
  type EditResult,
  type GpusParams,
  type GpusResult,
  type MigChoicesParams,
  type MigChoicesResult,
  methods,
  type PlaceArgument,
  type RewriteToMigParams,
  type SetGpuParams,
  type SetGpuResult,
} from '../../server/src/lsp/protocol.ts';
import { activeEditor } from './active-editor.ts';
import { compareCosts } from './compare-costs.ts';
import { activeUri, apply, fileOfProject, pickGpu, pickProvider } from './config-pickers.ts';
import { fixAllInWorkspace } from './fix-all.ts';
import { plainItems } from './plain-label.ts';
import { type PriceRefresh, refreshPrices } from './prices.ts';
import { resizeGpu } from './resize-gpu.ts';
import { registerSelections, select } from './selections.ts';
import { setUp } from './set-up.ts';
import { showInformation } from './show-notice.ts';

/** @param started starts the server unless it is running, and resolves when it is ready */
export function registerCommands(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  output: vscode.LogOutputChannel,
  refresh: PriceRefresh | undefined,
): readonly vscode.Disposable[] {
  const register = (name: string, run: (place?: PlaceArgument) => Promise<void> | void) =>
    vscode.commands.registerCommand(name, async (place?: PlaceArgument) => {
      await started();
      await run(isPlace(place) ? place : undefined);
    });
  return [
    register(commands.showCost, (place) => showCost(client, place)),
    register(commands.setGpu, (place) => setGpu(client, place)),
    register(commands.resizeGpu, (place) => resizeGpu(client, place)),
    register(commands.rewriteToMig, (place) => rewriteToMig(client, place)),
    register(commands.compareCosts, () => compareCosts(client)),
    register(commands.setUp, () => setUp(client)),
    vscode.commands.registerCommand(commands.refreshPrices, () => refreshPrices(client, refresh, output)),
    ...registerSelections(),
    register(commands.showFixes, (place) => showFixes(place)),
    vscode.commands.registerCommand(commands.fixAllInWorkspace, async (rule?: unknown) => {
      await started();
      await fixAllInWorkspace(client, rule);
    }),
    vscode.commands.registerCommand('gpulint.restartServer', async () => {
      await started();
      if (client.needsStop()) await client.stop();
      await client.start();
    }),
    vscode.commands.registerCommand('gpulint.showOutput', () => output.show()),
  ];
}

/** Opens the hover with the cost table of a workload, selected by the user if the file has several. */
async function showCost(client: BaseLanguageClient, place: PlaceArgument | undefined): Promise<void> {
  const editor = activeEditor();
  if (place !== undefined) {
    await hoverAt(vscode.Uri.parse(place.uri), place.range.start);
    return;
  }
  if (editor === undefined) return;
  const uri = editor.document.uri;
  const costs = await client.sendRequest<CostsResult>(methods.costs, { uri: client.code2ProtocolConverter.asUri(uri) });
  const chosen = costs.length > 1 ? await pickCost(costs) : costs[0];
  if (chosen !== undefined) await hoverAt(uri, chosen.position);
}

async function pickCost(costs: CostsResult): Promise<CostItem | undefined> {
  const items = costs.map((cost) => ({ label: cost.label, description: cost.description, cost }));
  const chosen = await vscode.window.showQuickPick(plainItems(items), {
    title: 'GPU cost of this file',
    placeHolder: 'Select a workload to see its cost breakdown',
    matchOnDescription: true,
  });
  return chosen?.cost;
}

async function hoverAt(uri: vscode.Uri, { line, character }: CostItem['position']): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const position = new vscode.Position(line, character);
  const selection = new vscode.Range(position, position);
  await vscode.window.showTextDocument(document, { selection, preserveFocus: false });
  await vscode.commands.executeCommand('editor.action.showHover', { focus: 'noAutoFocus' });
}

/** Writes the default GPU, and the provider whose prices apply, into the config of the workspace folder. */
async function setGpu(client: BaseLanguageClient, place: PlaceArgument | undefined): Promise<void> {
  const file = place?.uri ?? (await fileOfProject(client));
  // No question after a canceled folder picker.
  if (file === undefined && vscode.workspace.workspaceFolders?.length) return;
  const asked: GpusParams = file === undefined ? {} : { uri: file };
  const { gpus, provider: known } = await client.sendRequest<GpusResult>(methods.gpus, asked);
  const gpu = await pickGpu(gpus, 'GPU for manifests that name none');
  if (gpu === undefined) return;
  const provider = known === null ? await pickProvider(gpu) : 'any';
  if (provider === undefined) return;
  const params: SetGpuParams = {
    uri: file ?? null,
    [gpu.key]: gpu.id,
    provider: provider === 'any' ? null : provider,
  };
  await apply(client, await client.sendRequest<SetGpuResult>(methods.setGpu, params), true);
}

/** Replaces the whole GPU at a place, or at the caret, with a MIG slice that the user selects. */
async function rewriteToMig(client: BaseLanguageClient, place: PlaceArgument | undefined): Promise<void> {
  const uri = place?.uri ?? activeUri(client);
  const position = place?.range.start ?? activeEditor()?.selection.active;
  if (uri === undefined || position === undefined) return;
  const requestChoices = (gpu?: string) => {
    const at = { line: position.line, character: position.character };
    const params: MigChoicesParams = gpu === undefined ? { uri, position: at } : { uri, position: at, gpu };
    return client.sendRequest<MigChoicesResult | null>(methods.migChoices, params);
  };
  let choices = await requestChoices();
  if (choices?.gpu === null) {
    const gpu = await pickGpu(choices.gpus, 'GPU of this request (the file does not name it)');
    if (gpu === undefined) return;
    choices = await requestChoices(gpu.id);
  }
  if (choices === null || choices.gpu === null || choices.profiles.length === 0) {
    void showInformation('Place the cursor on a whole-GPU request (nvidia.com/gpu) for a model that supports MIG.');
    return;
  }
  const items = choices.profiles.map(({ profile, description }) => ({ label: profile, description }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: `MIG slice of ${choices.gpu.name}`,
    placeHolder: 'MIG slice for each pod instead of the whole GPU',
    matchOnDescription: true,
  });
  if (chosen === undefined) return;
  const params: RewriteToMigParams = {
    uri,
    position: { line: position.line, character: position.character },
    gpu: choices.gpu.id,
    profile: chosen.label,
  };
  await apply(client, await client.sendRequest<EditResult>(methods.rewriteToMig, params), false);
}

/**
 * Opens the light bulb's menu at a place, or at the caret. Requests the fixes first, so that the menu has them at once: shortly after each
 * new selection VS Code requests them itself, and then closes a menu that is still waiting.
 */
async function showFixes(place: PlaceArgument | undefined): Promise<void> {
  if (place !== undefined) {
    const { start, end } = place.range;
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    await select(place);
    await vscode.commands.executeCommand('vscode.executeCodeActionProvider', vscode.Uri.parse(place.uri), range);
  }
  await vscode.commands.executeCommand('editor.action.quickFix');
}

/** Other extensions and keybindings can call a command with any arguments. */
function isPlace(value: PlaceArgument | undefined): value is PlaceArgument {
  return typeof value?.uri === 'string' && typeof value.range?.start?.line === 'number';
}

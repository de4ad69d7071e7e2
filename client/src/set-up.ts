import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type EditResult,
  type GpusResult,
  methods,
  type PlatformItem,
  type PlatformsResult,
  type SetGpuParams,
} from '../../server/src/lsp/protocol.ts';
import { apply, fileOfProject, pickGpu, pickProvider } from './config-pickers.ts';

/** Asks for platform, region, GPU and capacity, writes them into the config, and opens it. Keys without an answer stay unchanged. */
export async function setUp(client: BaseLanguageClient): Promise<void> {
  if (!vscode.workspace.workspaceFolders?.length) {
    void vscode.window.showInformationMessage('Open a folder first: gpulint stores the answers in its .gpulint.yaml.');
    return;
  }
  const file = await fileOfProject(client);
  if (file === undefined) return;
  const platforms = await client.sendRequest<PlatformsResult>(methods.platforms, {});
  const platform = await pickPlatform(platforms);
  if (platform === undefined) return;
  const region = await pickRegion(platform);
  if (region === undefined) return;
  const gpu = await pickGpu(
    await client.sendRequest<GpusResult>(methods.gpus, {}),
    'Which GPU do requests get in manifests that name none?',
    'Set up gpulint (3/4)',
  );
  if (gpu === undefined) return;
  const provider = platform.provider === null ? await pickProvider(gpu) : 'any';
  if (provider === undefined) return;
  const capacity = await pickCapacity();
  if (capacity === undefined) return;
  const params: SetGpuParams = {
    uri: file,
    platform: platform.id,
    region: region === '' ? null : region,
    gpu: gpu.id,
    // The platform implies its provider.
    provider: provider === 'any' ? null : provider,
    capacity: capacity === '' ? null : capacity,
  };
  const result = await client.sendRequest<EditResult>(methods.setGpu, params);
  const written = await apply(client, result, true);
  if (written === undefined) return;
  try {
    await vscode.window.showTextDocument(written, { preview: false });
  } catch {
    // The user opened another file in the meantime.
  }
}

async function pickPlatform(platforms: PlatformsResult): Promise<PlatformItem | undefined> {
  const items = platforms.map((platform) => ({ label: platform.name, description: platform.id, platform }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Set up gpulint (1/4)',
    placeHolder: 'Where does the cluster run?',
    matchOnDescription: true,
  });
  return chosen?.platform;
}

/** @returns the region; an empty string to write none; undefined if the picker was canceled */
async function pickRegion({ regions }: PlatformItem): Promise<string | undefined> {
  if (regions.length === 0) return '';
  const items = [
    ...regions.map((label, index) => ({
      label,
      description: index === 0 ? 'default' : '',
      value: label,
    })),
    { label: 'Not set', description: '', value: '' },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Set up gpulint (2/4)',
    placeHolder: 'Which region do prices apply to?',
  });
  return chosen?.value;
}

/** @returns the capacity type; an empty string to write none; undefined if the picker was canceled */
async function pickCapacity(): Promise<string | undefined> {
  const items = [
    { label: 'On demand', description: 'nodes stay until you release them', value: 'on-demand' },
    { label: 'Spot', description: 'cheaper nodes that the cloud can reclaim', value: 'spot' },
    { label: 'Not set', description: 'use the capacity type of each manifest', value: '' },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Set up gpulint (4/4)',
    placeHolder: 'Which capacity type do GPU nodes have by default?',
  });
  return chosen?.value;
}

import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type EditResult,
  type GpusResult,
  methods,
  type PlatformItem,
  type PlatformsResult,
  type SetGpuParams,
} from '../../server/src/lsp/requests.ts';
import { apply, fileOfProject, pickGpu, pickProvider } from './commands.ts';

/** Asks where the cluster runs and what it is made of, writes the answers into the config, and shows it. What is left out stays as it is. */
export async function setUp(client: BaseLanguageClient): Promise<void> {
  if (!vscode.workspace.workspaceFolders?.length) {
    void vscode.window.showInformationMessage('Open a folder first: the answers are kept in its .gpulint.yaml.');
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
    'Which GPU does a request mean where the manifest names none?',
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
    // A platform names its provider.
    provider: provider === 'any' ? null : provider,
    capacity: capacity === '' ? null : capacity,
  };
  const result = await client.sendRequest<EditResult>(methods.setGpu, params);
  const written = await apply(client, result, true);
  if (written === undefined) return;
  try {
    await vscode.window.showTextDocument(written, { preview: false });
  } catch {
    // Somebody opened another file in the meantime, and goes on there.
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

/** The empty text: no region is written. */
async function pickRegion({ regions }: PlatformItem): Promise<string | undefined> {
  if (regions.length === 0) return '';
  const items = [
    ...regions.map((label, index) => ({
      label,
      description: index === 0 ? 'taken where nothing is told' : '',
      value: label,
    })),
    { label: 'Not set', description: '', value: '' },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Set up gpulint (2/4)',
    placeHolder: 'Which region are its prices read for?',
  });
  return chosen?.value;
}

/** The empty text: no capacity is written. */
async function pickCapacity(): Promise<string | undefined> {
  const items = [
    { label: 'On demand', description: 'nodes stay until they are given back', value: 'on-demand' },
    { label: 'Spot', description: 'cheaper nodes that can be taken back', value: 'spot' },
    { label: 'Not set', description: 'as each manifest says', value: '' },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Set up gpulint (4/4)',
    placeHolder: 'How are GPU nodes bought where a manifest does not say?',
  });
  return chosen?.value;
}

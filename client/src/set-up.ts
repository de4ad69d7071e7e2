import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type GpusParams,
  type GpusResult,
  type ModelKey,
  methods,
  type PlatformItem,
  type PlatformsResult,
  type SetGpuParams,
  type SetGpuResult,
} from '../../server/src/lsp/protocol.ts';
import { apply, fileOfProject, pickGpu, pickProvider } from './config-pickers.ts';

/**
 * Asks for platform, region, GPU and capacity, and for each other kind of accelerator that an open file requests. Writes the answers into the config,
 * and opens it; without a folder, writes them into the user's settings. Keys without an answer stay unchanged.
 */
export async function setUp(client: BaseLanguageClient): Promise<void> {
  const file = await fileOfProject(client);
  if (file === undefined && vscode.workspace.workspaceFolders?.length) return;
  const platforms = await client.sendRequest<PlatformsResult>(methods.platforms, {});
  const platform = await pickPlatform(platforms);
  if (platform === undefined) return;
  const region = await pickRegion(platform);
  if (region === undefined) return;
  const at = { provider: platform.provider, region: region === '' ? null : region };
  const { gpus, keys } = await client.sendRequest<GpusResult>(methods.gpus, { key: 'gpu', ...at });
  const gpu = await pickGpu(gpus, 'Which GPU do pods get if a manifest names none?', 'Set up gpulint (3/4)');
  if (gpu === undefined) return;
  const others = await pickOthers(client, keys, at);
  if (others === undefined) return;
  const provider = platform.provider === null ? await pickProvider(gpu) : 'any';
  if (provider === undefined) return;
  const capacity = await pickCapacity();
  if (capacity === undefined) return;
  const params: SetGpuParams = {
    uri: file ?? null,
    platform: platform.id,
    region: at.region,
    gpu: gpu.id,
    ...others,
    // The platform implies its provider.
    provider: provider === 'any' ? null : provider,
    capacity: capacity === '' ? null : capacity,
  };
  const result = await client.sendRequest<SetGpuResult>(methods.setGpu, params);
  const written = await apply(client, result, true);
  if (written === undefined) return;
  try {
    await vscode.window.showTextDocument(written, { preview: false });
  } catch {
    // The user opened another file in the meantime.
  }
}

const questions: Readonly<Record<Exclude<ModelKey, 'gpu'>, string>> = {
  neuron: 'Which Neuron device do pods get if a manifest names none?',
  tpu: 'Which TPU version do pods get if a manifest names none?',
  gaudi: 'Which Gaudi generation do pods get if a manifest names none?',
};

/** A cluster can have other accelerators next to its GPUs. @returns undefined if a picker was canceled */
async function pickOthers(
  client: BaseLanguageClient,
  keys: readonly ModelKey[],
  at: Pick<GpusParams, 'provider' | 'region'>,
): Promise<Partial<Record<ModelKey, string>> | undefined> {
  const chosen: Partial<Record<ModelKey, string>> = {};
  for (const key of keys) {
    if (key === 'gpu') continue;
    const { gpus } = await client.sendRequest<GpusResult>(methods.gpus, { key, ...at });
    const model = await pickGpu(gpus, questions[key], 'Set up gpulint (3/4)');
    if (model === undefined) return undefined;
    chosen[key] = model.id;
  }
  return chosen;
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
    { label: 'Not set', description: "use each manifest's capacity type", value: '' },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Set up gpulint (4/4)',
    placeHolder: 'Which capacity type do GPU nodes have by default?',
  });
  return chosen?.value;
}

// The extension as vscode.dev runs it: client and server in the browser, in VS Code's web worker extension host. The manifests still
// come from the workbench's server, through the file system of the client.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchWorkbench, openFile, testSettings, triedAgain, until } from '../../scripts/vscode/launch.mjs';
import { workbenchUrl } from '../../scripts/vscode/server.mjs';
import { serveExtension } from './extension-server.ts';
import { openReport } from './tour/cost-report.ts';
import { caretBehind, completion, fix, hoverAtCaret, lens, open, type Stage, sees, showsText } from './tour/stage.ts';

export const browserTitle = 'the extension runs in a web worker extension host';

export interface BrowserOptions {
  /** The project, with dist/ built. */
  readonly root: string;
  /** A folder to write to, with a copy of examples/. */
  readonly workspace: string;
  /** Where a screenshot of a failure goes. */
  readonly images: string;
  readonly say: (line: string) => void;
}

export async function runBrowserScenario({ root, workspace, images, say }: BrowserOptions): Promise<void> {
  fs.mkdirSync(images, { recursive: true });
  fs.writeFileSync(path.join(workspace, 'unopened.yaml'), service);
  fs.writeFileSync(path.join(workspace, 'runtimes.yml'), runtime);
  const workbench = await launchWorkbench({
    settings: {
      ...testSettings,
      // Without a file of the extension on the server, nothing but the web worker can run it.
      'remote.extensionKind': { 'gpulint.gpulint': ['web'] },
      // Not told: where this setting arrives late, VS Code disables its chat extension and starts the extension hosts again, without
      // extensions that are not in its list yet. One that comes with the page is sometimes late for it, and then never runs.
      'chat.disableAIFeatures': undefined,
    },
    args: ['--disable-workspace-trust'],
  });
  const { page } = workbench;
  const complaints: string[] = [];
  page.on(
    'console',
    (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`),
  );
  const extension = await serveExtension(workbench.server.port, folder, root);
  const { served } = extension;
  const requested = () => [...served].filter((file) => file.startsWith('dist/')).join(', ') || 'nothing';
  let step = 'serve the extension to the workbench';
  const next = (name: string) => {
    say(`  ✓ ${step}${triedAgain()}`);
    step = name;
  };
  try {
    await bringExtension(page);
    await page.goto(workbenchUrl({ ...workbench.server, authority: extension.authority }, { folder: workspace }));
    await page.locator('.explorer-viewlet .monaco-list-row').first().waitFor({ timeout: 90_000 });

    next('open the manifest and see the squiggle');
    await openFile(page, 'llama-isvc.yaml');
    await page.locator('.squiggly-error').first().waitFor({ timeout: 90_000 });
    assert.deepEqual(
      [...served].filter((file) => file.startsWith('dist/')),
      ['dist/client.browser.js', 'dist/server.browser.js'],
    );

    next('see the cost above the workload');
    await sees(page, lens, /H100 80GB SXM · \$\d.*\/h/);

    next('hover over the GPU and read the cost table');
    const stage: Stage = { page, workspace, shot: async () => undefined };
    await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 4);
    await hoverAtCaret(page, /us-east-1/);
    await page.keyboard.press('Escape');

    next('apply a fix from the light bulb');
    await fix(page, 'Set the limit of nvidia.com/gpu to 1');
    await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);

    next('complete the slices of the selected card');
    await open(stage, 'typing.yaml');
    await caretBehind(stage, 'typing.yaml', 'cpu: 4');
    await page.keyboard.press('Enter');
    await page.keyboard.type('nvidia.com/mig-1g');
    await completion(page, /nvidia\.com\/mig-1g\.5gb/);
    await page.keyboard.press('Escape');

    next('see the price that the nearest .gpulint.yaml tells, read through the client');
    await open(stage, 'halves.yaml');
    await sees(page, lens, /1 × L4 · \$/);
    await caretBehind(stage, 'halves.yaml', 'nvidia.com/gpu', 2);
    await hoverAtCaret(page, /Google Cloud.*us-central1/);

    next('open the page of a rule, which comes with the extension');
    const hover = await hoverAtCaret(page, /but no limit/);
    await hover.locator('a', { hasText: 'gpu-limits-required' }).first().click();
    await sees(page, '.tab.active', 'gpu-limits-required');
    await until('the page', () => served.has('docs/rules/gpu-limits-required.md'));

    next('see the GPUs of a service whose runtime is in a closed file, found through the client');
    await open(stage, 'unopened.yaml');
    await sees(page, lens, /2 × L4 · \$/);
    next('open the cost report of the folder');
    const report = await openReport(page);
    await report.locator('tbody tr', { hasText: 'InferenceService/unopened' }).waitFor();
    say(`  ✓ ${step}${triedAgain()}`);
  } catch (error) {
    const picture = path.join(images, 'browser-failure.png');
    await page.screenshot({ path: picture }).catch(() => undefined);
    const seen = `screenshot: ${picture}; requested: ${requested()}; the page says: ${complaints.slice(-5).join(' | ')}`;
    throw new Error(`could not ${step} (${seen})`, { cause: error });
  } finally {
    await extension.stop();
    await workbench.stop();
  }
}

const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: unopened}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 1
    model: {modelFormat: {name: huggingface}, runtime: in-another-file}
`;

const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: in-another-file}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - {name: kserve-container, image: "registry.example/vllm:1.2", resources: {limits: {nvidia.com/gpu: 2}}}
`;

const folder = '/gpulint-extension';

/** Makes the extension one that comes with the page, as on vscode.dev. */
async function bringExtension(page: Page): Promise<void> {
  await page.addInitScript((extension: string) => {
    new MutationObserver(() => {
      const meta = document.getElementById('vscode-workbench-web-configuration');
      const settings = meta?.getAttribute('data-settings');
      if (!meta || !settings || meta.dataset.extended !== undefined) return;
      meta.dataset.extended = '';
      const place = { scheme: location.protocol.slice(0, -1), authority: location.host, path: extension };
      meta.setAttribute(
        'data-settings',
        JSON.stringify({ ...JSON.parse(settings), additionalBuiltinExtensions: [place] }),
      );
    }).observe(document, { childList: true, subtree: true });
  }, folder);
}

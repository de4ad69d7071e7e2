// Set-up, walkthrough and what the command palette has.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { runCommand, until } from '../../../scripts/vscode/launch.mjs';
import { caretBehind, hoverAtCaret, hoverBox, lens, open, pickerRow, type Step, sees, showsText } from './stage.ts';

export const commanding: readonly Step[] = [
  {
    feature: 'Installation',
    shows: 'the packaged extension works offline in a fresh VS Code',
    picture: 'installed',
    async run({ page }) {
      await runCommand(page, 'Extensions: Show Installed Extensions');
      await sees(page, '.extensions-viewlet .extension-list-item', /gpulint.*Finds GPU mistakes/);
      await page.keyboard.press('Control+Shift+E');
      await page.locator('.explorer-viewlet').waitFor();
    },
  },
  {
    feature: 'Set up',
    shows: 'four questions write the config, which opens and applies at once',
    picture: 'set-up',
    async run(stage) {
      const { page, workspace, shot } = stage;
      const config = path.join(workspace, 'near', '.gpulint.yaml');
      const before = fs.readFileSync(config, 'utf8');
      await open(stage, 'halves.yaml');
      await runCommand(page, 'gpulint: Set Up gpulint…');
      const answer = async (title: RegExp, row: RegExp) => {
        await sees(page, '.quick-input-title', title);
        await (await sees(page, pickerRow, row)).click();
      };
      await answer(/1\/4/, /EKS with Karpenter/);
      await answer(/2\/4/, /us-east-1/);
      await sees(page, pickerRow, /H100 80GB SXM/);
      await shot();
      await answer(/3\/4/, /^H100 80GB SXM/);
      await answer(/4\/4/, /^Spot/);
      await page.locator('.tab.active[data-resource-name=".gpulint.yaml"]').waitFor();
      await showsText(page, /platform: eks-karpenter/);
      const written = await until('the config', () => {
        const text = fs.readFileSync(config, 'utf8');
        return text === before ? undefined : text;
      });
      for (const line of ['platform: eks-karpenter', 'region: us-east-1', 'gpu: h100-80gb-sxm', 'capacity: spot'])
        assert.ok(written.includes(line), `no "${line}" in\n${written}`);
      assert.match(written, /^# The nearest config/, 'a comment was lost');
      assert.match(written, /stepSeconds: 2\.4/);
      await open(stage, 'halves.yaml');
      await sees(page, lens, /1 × H100 80GB SXM · \$[\d.]+\/h spot/);
      fs.writeFileSync(config, before);
      await sees(page, lens, /1 × L4 · \$/);
    },
  },
  {
    feature: 'GPU in the config',
    shows: 'the command offers GPUs and clouds, each with its price',
    picture: 'set-gpu',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await sees(page, lens, /H100/);
      await runCommand(page, 'gpulint: Set GPU and Cloud…');
      await sees(page, pickerRow, /H100 80GB SXM.*80 GB.*\$\d/);
      await shot();
    },
  },
  {
    feature: 'GPU range',
    shows: 'if the GPU is unknown, lens and hover show the range of those that fit',
    picture: 'gpu-range',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'unknown/which.yaml');
      await sees(page, lens, /4 GPUs · \$3\.91\/h on T4 … \$71\.21\/h on B300 · Set…/);
      await caretBehind(stage, 'unknown/which.yaml', 'kind: Deploy');
      await hoverAtCaret(page, /Cheapest: T4, \$3\.91\/h, AWS us-east-1 g4dn\.12xlarge[\s\S]*Most expensive: B300/);
    },
  },
  {
    feature: 'GPU range',
    shows: 'Set… asks for the GPU with its price at the provider of the config, and writes the answer there',
    picture: 'gpu-range-set',
    async run(stage) {
      const { page, workspace, shot } = stage;
      const config = path.join(workspace, 'unknown', '.gpulint.yaml');
      const before = fs.readFileSync(config, 'utf8');
      await open(stage, 'unknown/which.yaml');
      await (await sees(page, lens, /Set…/)).locator('a').first().click();
      const row = await sees(page, pickerRow, /^L40S.*48 GB.*\$1\.86\/h at AWS/);
      await shot();
      await row.click();
      await sees(page, lens, /4 × L40S · \$[\d.]+\/h on demand/);
      assert.equal(fs.readFileSync(config, 'utf8'), `${before}gpu: l40s\n`);
      fs.writeFileSync(config, before);
      await sees(page, lens, /4 GPUs · \$3\.91\/h on T4/);
    },
  },
  {
    feature: 'Cost of the file',
    shows: 'the command lists the workloads and opens the hover of the selected one',
    picture: 'show-cost',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'cards.yaml');
      await sees(page, lens, /1 × L4/);
      await runCommand(page, 'gpulint: Show GPU Cost');
      const row = await sees(page, pickerRow, /Job\/?.*train.*\$\d/);
      await shot();
      await row.click();
      await sees(page, hoverBox, /L4[\s\S]*\$\d/);
    },
  },
  {
    feature: 'Walkthrough',
    shows: 'four steps, each with a page and a button',
    picture: 'walkthrough',
    async run({ page, shot }) {
      await runCommand(page, 'Welcome: Open Walkthrough...');
      await (await sees(page, pickerRow, 'Get Started with gpulint')).click();
      for (const step of ['Set where your GPUs run', 'Open a manifest', 'See what it costs', 'Fix it'])
        await sees(page, '.getting-started-step .step-title', step);
      await sees(page, '.gettingStartedContainer .monaco-button', 'Set Up gpulint');
      const media = page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');
      await media.locator('h1', { hasText: 'Where do your GPUs run?' }).waitFor();
      await shot();
    },
  },
  {
    feature: 'Refresh prices',
    shows: 'the command lists the hosts of the sources, and connects to none of them before the user agrees',
    picture: 'refresh-prices',
    async run({ page, shot }) {
      await runCommand(page, 'gpulint: Refresh Prices…');
      await sees(page, '.quick-input-title', /Refresh prices from public sources/);
      await sees(page, pickerRow, /Azure Retail Prices.*prices\.azure\.com/);
      await shot();
      await page.keyboard.press('Escape');
    },
  },
  {
    feature: 'Settings',
    shows: 'the settings editor lists each setting',
    picture: 'settings',
    async run({ page, shot }) {
      await runCommand(page, 'Preferences: Open Settings (UI)');
      await page.locator('.settings-editor .suggest-input-container').first().click();
      await page.keyboard.type('@ext:gpulint.gpulint');
      await sees(page, '.settings-editor .setting-item-label', 'Advice');
      await shot();
    },
  },
];

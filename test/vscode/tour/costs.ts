// What a workspace costs, and the mistakes in files that nobody has opened.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { runCommand, until } from '../../../scripts/vscode/launch.mjs';
import { closePanel, open, pickerRow, plain, problemRow, problems, type Step, sees } from './stage.ts';

const view = '.pane:has([aria-label*="GPU Cost"])';
const row = `${view} .monaco-list-row`;

/** Opens the view and waits for its total. */
export async function showCosts(page: Page): Promise<void> {
  // A click on the icon of a view that is open would close it.
  if (!(await page.locator(view).isVisible()))
    await page.locator('.activitybar [aria-label="gpulint"]').first().click();
  await sees(page, `${view} .message`, /^\d+ workloads, .*GPUs: (≥ )?\$[\d.,–$]+\/h \((from )?\$.*\/month.*\)/);
}

async function choose(page: Page, command: string, choice: string): Promise<void> {
  await runCommand(page, `gpulint: ${command}`);
  await (await sees(page, pickerRow, choice)).click();
}

async function rows(page: Page): Promise<readonly string[]> {
  return (await page.locator(row).allInnerTexts()).map((text) => plain(text).replace(/\s+/g, ' '));
}

export const costing: readonly Step[] = [
  {
    feature: 'GPU Cost',
    shows: 'the view lists the workloads of all files with their cost, and the total',
    picture: 'cost-tree',
    async run({ page }) {
      await showCosts(page);
      await sees(page, row, /InferenceService\/llama.*\$[\d.]+\/h.*serving\/llama-isvc\.yaml/);
      // The overlay counts the base, and the template the values.
      await sees(page, row, /deploy\/prod\/kustomization\.yaml/);
      assert.deepEqual(
        (await rows(page)).filter((text) => /deploy\/(base|chart\/values)/.test(text)),
        [],
      );
      const spoken = await page.locator(row).first().getAttribute('aria-label');
      assert.match(spoken ?? '', /\$[\d.,]+ (to \$[\d.,]+ )?an hour/);
    },
  },
  {
    feature: 'GPU Cost',
    shows: 'the workloads are grouped by GPU and sorted by idle cost',
    picture: 'cost-tree-grouped',
    async run({ page }) {
      await showCosts(page);
      await choose(page, 'Group GPU Cost By…', 'GPU');
      await sees(page, row, /^H100 80GB SXM.*\$[\d.–$]+\/h.*workloads?/);
      await choose(page, 'Sort GPU Cost By…', 'Idle cost');
      await sees(page, row, /InferenceService\/llama/);
    },
  },
  {
    feature: 'GPU Cost',
    shows: 'a click on a workload opens its file at the workload',
    picture: 'cost-tree-revealed',
    async run({ page, shot }) {
      await showCosts(page);
      await choose(page, 'Group GPU Cost By…', 'Nothing');
      await (await sees(page, row, /serving\/llama-isvc\.yaml/)).click();
      await page.locator('.tab.active[data-resource-name="llama-isvc.yaml"]').waitFor();
      await sees(page, '.statusbar-item', /Ln \d+, Col \d+ \(\d+ selected\)/);
      await shot();
    },
  },
  {
    feature: 'GPU Cost',
    shows: 'the total follows a file that changes on disk',
    picture: 'cost-tree-changed',
    async run({ page, workspace }) {
      await showCosts(page);
      const total = () => page.locator(`${view} .message`).innerText();
      const before = await total();
      const file = path.join(workspace, 'serving', 'embedder.yaml');
      const text = fs.readFileSync(file, 'utf8');
      fs.writeFileSync(file, `${text}---\n${text.replace(/(\n {2}name: )(\S+)/, '$1second-$2')}`);
      await until('another total', async () => (await total()) !== before);
      fs.writeFileSync(file, text);
      await until('the first total', async () => (await total()) === before);
    },
  },
  {
    feature: 'Files that are not open',
    shows: 'the Problems panel lists their findings, each once, also when they are opened',
    picture: 'closed-files',
    async run(stage) {
      const { page, workspace, shot } = stage;
      await page.keyboard.press('Control+Shift+E');
      await problems(page);
      const finding = /nvidia\.com\/gpu has a request \(1\) but no limit/;
      await sees(page, problemRow, finding);
      assert.equal(await page.locator('.tab').count(), 0);
      await shot();
      const count = () => page.locator('[id="status.problems"]').getAttribute('aria-label');
      const before = await count();
      await open(stage, 'llama-isvc.yaml');
      await page.locator('.squiggly-error').first().waitFor();
      await until('each finding once', async () => (await count()) === before);
      const file = path.join(workspace, 'serving', 'another.yaml');
      fs.copyFileSync(path.join(workspace, 'serving', 'llama-isvc.yaml'), file);
      await until('the findings of a new file', async () => (await count()) !== before);
      fs.rmSync(file);
      await until('the findings of a deleted file to go', async () => (await count()) === before);
      await closePanel(page);
    },
  },
];

/** The view in a folder with limits. @param where as the end of a sentence */
export function costIn(feature: string, where: string, workload: RegExp): Step {
  return {
    feature,
    shows: `the GPU Cost view works ${where}`,
    picture: `cost-${feature.toLowerCase().replaceAll(' ', '-')}`,
    async run({ page, shot }) {
      await showCosts(page);
      await sees(page, row, workload);
      await shot();
      await page.keyboard.press('Control+Shift+E');
    },
  };
}

/** The view in one theme. */
export function costInTheme(name: string): Step {
  return {
    feature: 'Themes',
    shows: `the GPU Cost view in the ${name} theme`,
    picture: `theme-${name.replaceAll(' ', '-')}-cost`,
    async run({ page, shot }) {
      await showCosts(page);
      await choose(page, 'Group GPU Cost By…', 'GPU');
      await sees(page, row, /^H100 80GB SXM/);
      await (await sees(page, row, /InferenceService\/llama/)).click();
      await shot();
      await page.keyboard.press('Control+Shift+E');
    },
  };
}

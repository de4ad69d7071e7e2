// The page with the cost of the workspace: what it shows, and what it does to files.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import type { Frame, FrameLocator, Page } from 'playwright-core';
import { runCommand, until } from '../../../scripts/vscode/launch.mjs';
import { caretBehind, open, type Step, sees, showsText } from './stage.ts';

/** Opens the report, and gives its page when it has the total. */
export async function openReport(page: Page): Promise<FrameLocator> {
  await runCommand(page, 'gpulint: Cost Report');
  const report = page.frameLocator('iframe.webview >> visible=true').frameLocator('iframe#active-frame');
  await report.locator('tfoot', { hasText: /\$\d/ }).waitFor({ timeout: 90_000 });
  return report;
}

/** What a check of accessibility finds in the report, in the colors of the theme. The page may be replaced meanwhile: files are still being read. */
export async function violations(page: Page): Promise<readonly string[]> {
  const results = await until('the check of accessibility', async () => {
    try {
      const frame = await frameOf(page);
      await frame.evaluate(axe.source);
      return (await frame.evaluate('axe.run()')) as AxeResults;
    } catch {
      return undefined;
    }
  });
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

async function frameOf(page: Page): Promise<Frame> {
  const outer = await (await page.waitForSelector('iframe.webview >> visible=true')).contentFrame();
  const inner = await (await outer?.waitForSelector('iframe#active-frame'))?.contentFrame();
  assert.ok(inner, 'the report has no frame');
  return inner;
}

const editedTab = '.tab.active.dirty';

export const costReport: readonly Step[] = [
  {
    feature: 'Cost report',
    shows: 'a page has totals, charts, savings and a table of all workloads, without accessibility problems',
    picture: 'cost-report',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      const report = await openReport(page);
      await report.locator('h1', { hasText: 'GPU cost of examples' }).waitFor();
      assert.equal(await report.locator('figure').count(), 4);
      await report.locator('tbody tr', { hasText: 'InferenceService/llama' }).waitFor();
      await shot();
      assert.deepEqual(await violations(page), []);
    },
  },
  {
    feature: 'Cost report',
    shows: 'the table is sorted and filtered by keyboard',
    picture: 'cost-report-filtered',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      const report = await openReport(page);
      const names = report.locator('tbody tr:visible th > bdi:first-child');
      await report.getByRole('button', { name: 'Workload', exact: true }).press('Enter');
      const sorted = await names.allInnerTexts();
      assert.deepEqual(sorted, [...sorted].sort(new Intl.Collator('en', { numeric: true }).compare));
      await report.getByLabel('Filter').fill('llama-isvc');
      await names.nth(1).waitFor({ state: 'detached' });
      await sees(page, '.tab.active', 'GPU Cost Report');
    },
  },
  {
    feature: 'Cost report',
    shows: 'a link opens the file, and a fix is applied after a confirmation',
    picture: 'cost-report-fix',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'embedder.yaml');
      const report = await openReport(page);
      const link = report.locator('.savings a', { hasText: 'llama-isvc.yaml' }).first();
      await link.click();
      await page.locator('.tab.active[data-resource-name="llama-isvc.yaml"]').waitFor();
      await openReport(page);
      await report.getByRole('button', { name: 'Set minReplicas to 0' }).first().click();
      const dialog = page.locator('.monaco-dialog-box');
      await dialog.waitFor();
      await shot();
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await page.locator(editedTab).waitFor();
      await showsText(page, /minReplicas: 0/);
    },
  },
  {
    feature: 'Cost report',
    shows: 'the page follows an edit in another group',
    picture: 'cost-report-beside',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      await runCommand(page, 'View: Split Editor Right');
      const report = await openReport(page);
      const amount = report.locator('tbody tr', { hasText: 'InferenceService/llama' }).locator('td.number').first();
      assert.equal(await amount.innerText(), '1–3');
      await page
        .locator('.editor-group-container')
        .first()
        .locator('.view-line')
        .first()
        .click({ position: { x: 4, y: 4 } });
      await caretBehind(stage, 'llama-isvc.yaml', 'maxReplicas: 3');
      await page.keyboard.press('Backspace');
      await page.keyboard.type('5');
      await until('the new ceiling', async () => (await amount.innerText()) === '1–5');
    },
  },
  {
    feature: 'Cost report',
    shows: 'the report is saved as CSV',
    picture: 'cost-report-saved',
    async run(stage) {
      const { page, workspace } = stage;
      await open(stage, 'llama-isvc.yaml');
      const report = await openReport(page);
      await report.getByRole('button', { name: 'Export as CSV' }).click();
      const input = page.locator('.quick-input-widget input').first();
      await input.waitFor();
      // The dialog has the folder before it has the name.
      await until('the name', async () => (await input.inputValue()).endsWith('gpu-cost.csv'));
      await page.keyboard.press('Enter');
      const file = path.join(workspace, 'gpu-cost.csv');
      await until('the file', () => fs.existsSync(file) && fs.statSync(file).size > 0);
      const text = fs.readFileSync(file, 'utf8');
      assert.match(text, /^workload,kind,.*\r\n/);
      assert.match(text, /InferenceService\/llama,/);
    },
  },
];

// The whole way as a user goes it, by mouse and keyboard in a real VS Code: see the squiggle and the cost, hover,
// fix from the light bulb, save, and the file on disk is right.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import {
  askAgain,
  comes,
  fixedPrices,
  launchWorkbench,
  openFile,
  testSettings,
  triedAgain,
} from '../../scripts/vscode/launch.mjs';

export const scenarioTitle = 'a user finds, understands and fixes a mistake';

export interface ScenarioOptions {
  readonly vsix: string;
  /** A folder to write to, with a copy of examples/. */
  readonly workspace: string;
  /** Where screenshots go. */
  readonly images: string;
  /** Device pixels a CSS pixel. */
  readonly scale?: number;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly say: (line: string) => void;
}

/** Runs the scenario; throws with the step that failed. A screenshot of the failure is left in `images`. */
export async function runScenario({
  vsix,
  workspace,
  images,
  scale = 1,
  viewport,
  say,
}: ScenarioOptions): Promise<void> {
  const file = path.join(workspace, 'serving', 'llama-isvc.yaml');
  const before = fs.readFileSync(file, 'utf8');
  fs.mkdirSync(images, { recursive: true });
  const workbench = await launchWorkbench({
    vsix,
    scale,
    env: fixedPrices,
    ...(viewport && { viewport }),
    settings: {
      ...testSettings,
      'workbench.colorTheme': 'Default Dark Modern',
      'editor.fontSize': 14,
      'editor.minimap.enabled': false,
      'editor.occurrencesHighlight': 'off',
      'workbench.layoutControl.enabled': false,
    },
    args: ['--disable-workspace-trust'],
  });
  const { page } = workbench;
  const shot = (name: string) => page.screenshot({ path: path.join(images, `${name}.png`) });
  let step = 'open the folder';
  const next = (name: string) => {
    say(`  ✓ ${step}${triedAgain()}`);
    step = name;
  };
  try {
    await workbench.open(workspace);
    await page.locator('.explorer-viewlet .monaco-list-row').first().waitFor({ timeout: 90_000 });

    next('open the manifest and see the squiggle');
    await openFile(page, 'llama-isvc.yaml');
    await page.locator('.squiggly-error').first().waitFor();

    next('see the cost above the workload');
    const lens = page.locator('.codelens-decoration', { hasText: /\$\d.*\/h/ }).first();
    await lens.waitFor();
    await shot('editor');

    next('hover over the GPU and read the cost table');
    const gpu = word(page, 'nvidia.com/gpu', 'nvidia.com/gpu: 1');
    const hover = await hoverOver(page, gpu, 'table');
    assert.match((await hover.textContent()) ?? '', /\$\d/);
    await shot('hover');

    next('open the light bulb');
    await page.keyboard.press('Escape');
    const fix = await lightBulb(page, gpu, 'Set the limit of nvidia.com/gpu to 1');
    await fix.hover();
    await shot('quick-fix');

    next('apply the fix');
    await fix.click();
    await page
      .locator('.view-line', { hasText: /^\s*limits:/ })
      .first()
      .waitFor();
    await page.locator('.tab.active.dirty', { hasText: 'llama-isvc.yaml' }).waitFor();
    assert.equal(fs.readFileSync(file, 'utf8'), before, 'the file was written before it was saved');

    next('save, and the file on disk is right');
    await page.keyboard.press('Control+S');
    // The mark of unsaved changes goes when the file has been written whole.
    await page.locator('.tab.active:not(.dirty)', { hasText: 'llama-isvc.yaml' }).waitFor();
    const after = fs.readFileSync(file, 'utf8');
    for (const line of before.split('\n')) assert.ok(after.includes(line), `the fix changed "${line}"`);
    assert.match(after, /\n {10}limits:\n {12}nvidia\.com\/gpu: 1\n/);
    await page.locator('.squiggly-error').nth(1).waitFor({ state: 'detached' });

    next('choose a MIG slice by its memory and price');
    const limit = word(page, 'nvidia.com/gpu', 'nvidia.com/gpu: 1', 'last');
    await (await lightBulb(page, limit, 'Rewrite to a MIG slice')).click();
    const slice = page.locator('.quick-input-list .monaco-list-row', { hasText: /3g\.40gb.*\$\d.*fits Llama/ }).first();
    await slice.waitFor();
    await shot('mig-slice');
    await slice.click();
    await page.locator('.view-line', { hasText: 'nvidia.com/mig-3g.40gb: 1' }).first().waitFor();
    say(`  ✓ ${step}${triedAgain()}`);
  } catch (error) {
    const picture = path.join(images, 'failure.png');
    await page.screenshot({ path: picture }).catch(() => undefined);
    throw new Error(`could not ${step} (screenshot: ${picture})`, { cause: error });
  } finally {
    await workbench.stop();
  }
}

/** A word of the editor, found by the line that it stands in. */
function word(page: Page, text: string, line: string, which: 'first' | 'last' = 'first'): Locator {
  return page.locator('.view-line', { hasText: line })[which]().locator('span span', { hasText: text }).first();
}

/** Clicks a place, then the light bulb that appears; gives the menu's row with the title. A bulb that moves, or has no such row yet, is clicked again. */
async function lightBulb(page: Page, place: Locator, title: string): Promise<Locator> {
  const bulb = page.locator('[class*="lightBulbWidget"]:visible, [class*="gutter-lightbulb"]:visible').first();
  const row = page.locator('.action-widget .monaco-list-row.action', { hasText: title }).first();
  await askAgain('the light bulb', async (wait) => {
    await place.click();
    const clicked = await bulb.click({ timeout: wait }).then(
      () => true,
      () => false,
    );
    if (clicked && (await comes(row, wait))) return true;
    await page.keyboard.press('Escape');
    return clicked ? 'its menu has other rows' : 'it does not appear';
  });
  return row;
}

/** Rests the mouse on a place until a hover is there, and waits until it has the wanted element: nobody rests there twice. */
async function hoverOver(page: Page, place: Locator, wanted: string): Promise<Locator> {
  const hovers = page.locator('.monaco-hover:visible');
  await askAgain('the hover', async (wait) => {
    await page.mouse.move(700, 880);
    await place.hover();
    return comes(hovers.filter({ hasText: /\S/ }).first(), wait);
  });
  const hover = hovers.filter({ has: page.locator(wanted) }).first();
  await hover.waitFor();
  return hover;
}

// From a mistake to its fix without a mouse, and what a screen reader announces.
import assert from 'node:assert/strict';
import { askAgain, gone, runCommand } from '../../../scripts/vscode/launch.mjs';
import {
  caretBehind,
  closePanel,
  goTo,
  hoverAtCaret,
  lens,
  lightBulb,
  menuRow,
  open,
  plain,
  presses,
  problems,
  type Step,
  sees,
  showsText,
} from './stage.ts';

/** What F8 opens below a mistake. */
const mistake = '.marker-widget .message';

export const keyboard: readonly Step[] = [
  {
    feature: 'Keyboard',
    shows: 'F8 goes to the mistake and links to its page; Ctrl+. and Enter fix it',
    picture: 'keyboard-fix',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'halves.yaml');
      await page.locator('.squiggly-error').nth(1).waitFor();
      await goTo(page, 1, 1);
      await presses(page, 'F8', page.locator(mistake));
      const peek = await sees(page, '.marker-widget .message', /request \(1\) but no limit/);
      assert.match((await peek.getAttribute('aria-label')) ?? plain((await peek.textContent()) ?? ''), /but no limit/);
      await shot();
      // The link that stands there works, too.
      await page.locator('.marker-widget a.code-link').click();
      const rulePage = await sees(page, '.tab.active', 'gpu-limits-required');
      // The page takes the keyboard when it has been drawn, and a key that is pressed meanwhile is lost.
      await askAgain('the page to close', async (wait) => {
        if (await rulePage.isVisible()) await page.keyboard.press('Control+W');
        return gone(rulePage, wait);
      });
      await goTo(page, 1, 1);
      await page.keyboard.press('Escape');
      await page.locator(mistake).waitFor({ state: 'detached' });
      await presses(page, 'F8', page.locator(mistake));
      await page.keyboard.press('Escape');
      await page.locator(mistake).waitFor({ state: 'detached' });
      await lightBulb(page, 'Set the limit of nvidia.com/gpu to 1');
      await sees(page, `${menuRow}.focused`, 'Set the limit of nvidia.com/gpu to 1');
      await page.keyboard.press('Enter');
      await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);
      await page.keyboard.press('Control+Z');
      await page.locator('.tab.active:not(.dirty)').waitFor();
      // The palette has the same menu, for the place of the caret.
      await goTo(page, 1, 1);
      await presses(page, 'F8', page.locator(mistake));
      await page.keyboard.press('Escape');
      await page.locator(mistake).waitFor({ state: 'detached' });
      const command = 'gpulint: Show Fixes and Rewrites at the Cursor';
      await lightBulb(page, 'Set the limit of nvidia.com/gpu to 1', () => runCommand(page, command));
      await page.keyboard.press('Escape');
    },
  },
  {
    feature: 'Keyboard',
    shows: 'the hover takes focus, and its accessible view is plain text with the numbers',
    picture: 'keyboard-hover',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await sees(page, lens, /H100/);
      await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 4);
      const hover = await hoverAtCaret(page, /H100 80GB SXM/);
      // Asked for a second time, the hover is focused, for its text to be scrolled and its links followed.
      await presses(page, 'Control+K Control+I', hover.and(page.locator(':focus-within')));
      await presses(page, 'Alt+F2', page.locator('.accessible-view'));
      await sees(page, '.accessible-view .view-line', /H100\s80GB\sSXM.*\$\d/);
      await shot();
    },
  },
  {
    feature: 'Screen reader',
    shows: 'the Problems panel announces the severity and message of each finding',
    picture: 'keyboard-problems',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await problems(page);
      const row = page.locator('.markers-panel-container .monaco-list-row', { hasText: /but no limit/ }).first();
      await row.waitFor();
      assert.match((await row.getAttribute('aria-label')) ?? '', /Error.*but no limit/i);
      await shot();
      await closePanel(page);
    },
  },
  {
    feature: 'Screen reader',
    shows: 'lens, light bulb and status bar have roles and names',
    picture: 'screen-reader',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      const link = await sees(page, `${lens} a`, /H100 80GB SXM/);
      assert.equal(await link.getAttribute('role'), 'button');
      const item = await sees(page, '.statusbar-item', /\$[\d.]+.*\/h/);
      const button = item.locator('[role="button"]').first();
      assert.match((await button.getAttribute('aria-label')) ?? '', /^This file requests .* an hour/);
      await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 4);
      const row = await lightBulb(page, 'Set the limit of nvidia.com/gpu to 1');
      assert.match((await row.getAttribute('aria-label')) ?? '', /Set the limit of nvidia\.com\/gpu to 1/);
    },
  },
];

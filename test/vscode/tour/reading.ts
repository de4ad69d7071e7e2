// What a person sees without changing anything.
import assert from 'node:assert/strict';
import { askAgain, comes, runCommand } from '../../../scripts/vscode/launch.mjs';
import {
  caretBehind,
  closePanel,
  hoverAtCaret,
  inputOf,
  lens,
  lightBulb,
  open,
  plain,
  problemRow,
  problems,
  type Step,
  sees,
  showsText,
} from './stage.ts';

export const reading: readonly Step[] = [
  {
    feature: 'Cost lens',
    shows: 'a line above each workload shows its GPUs and their cost',
    picture: 'cost-lens',
    async run(stage) {
      await open(stage, 'llama-isvc.yaml');
      await sees(
        stage.page,
        lens,
        /1–3 × H100 80GB SXM · \$[\d.]+–\$[\d.]+\/h on demand · .*\/h spot · \$[\d,]+\/month idle/,
      );
    },
  },
  {
    feature: 'Cost lens',
    shows: 'a click opens the cost table',
    picture: 'cost-lens-clicked',
    async run(stage) {
      await open(stage, 'llama-isvc.yaml');
      const cost = await sees(stage.page, `${lens} a`, /H100 80GB SXM/);
      const table = stage.page.locator('.monaco-hover:visible table', { hasText: /\$\d/ }).first();
      // VS Code closes a hover under which the lenses are written again.
      await askAgain('the table', async (wait) => {
        await cost.click();
        return comes(table, wait);
      });
    },
  },
  {
    feature: 'Advice lens',
    shows: 'advice is a line above the code, and a click opens the light bulb',
    picture: 'advice-lens',
    async run(stage) {
      await open(stage, 'llama-isvc.yaml');
      await stage.page.locator('.squiggly-error').nth(1).waitFor();
      const advice = await sees(stage.page, `${lens} a`, /One replica keeps running without traffic and costs \$/);
      await lightBulb(stage.page, 'Set minReplicas to 0 (now 1)', () => advice.click());
    },
  },
  {
    feature: 'Squiggles',
    shows: 'mistakes are underlined; advice is not',
    picture: 'squiggles',
    async run(stage) {
      await open(stage, 'llama-isvc.yaml');
      await stage.page.locator('.squiggly-error').nth(1).waitFor();
      assert.equal(await stage.page.locator('.squiggly-info').count(), 0);
      await open(stage, 'finetune-spot.yaml');
      await stage.page.locator('.squiggly-warning').first().waitFor();
    },
  },
  {
    feature: 'Problems panel',
    shows: 'the panel lists each finding with its rule',
    picture: 'problems',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      await problems(page);
      const row = await sees(page, problemRow, /nvidia\.com\/gpu has a request \(1\) but no limit/);
      assert.match(plain((await row.textContent()) ?? ''), /gpulint\s*\(?gpu-limits-required/);
      await stage.shot();
      await closePanel(page);
    },
  },
  {
    feature: 'Inlay hints',
    shows: 'a hint after each count shows its hourly cost',
    picture: 'inlay-hints',
    async run(stage) {
      await open(stage, 'cards.yaml');
      await showsText(stage.page, /nvidia\.com\/mig-1g\.5gb: 1 *\$\d/);
    },
  },
  {
    feature: 'Status bar',
    shows: 'the item summarizes the file, in words for screen readers',
    picture: 'status-bar',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      const item = await sees(page, '.statusbar-item', /\$[\d.]+.*\/h/);
      const label = (await item.locator('[aria-label]').first().getAttribute('aria-label')) ?? '';
      assert.match(label, /GPU.*(an hour|per hour)/);
      const hover = page.locator('.monaco-hover:visible, .workbench-hover:visible', { hasText: /llama/ }).first();
      // An item that is written again under the mouse has no hover until the mouse moves.
      await askAgain('the hover', async (wait) => {
        await page.mouse.move(700, 450);
        await item.hover();
        return comes(hover, wait);
      });
    },
  },
  {
    feature: 'Nearest config',
    shows: 'two files in one window use the prices of their own .gpulint.yaml',
    picture: 'nearest-config',
    async run(stage) {
      await open(stage, 'halves.yaml');
      await sees(stage.page, lens, /1 × L4 · \$/);
      await caretBehind(stage, 'halves.yaml', 'nvidia.com/gpu');
      await hoverAtCaret(stage.page, /Google Cloud.*us-central1/);
    },
  },
  {
    feature: 'Grammar',
    shows: 'MIG profiles and suppression comments have their own scopes and colors',
    picture: 'grammar',
    async run(stage) {
      await open(stage, 'linked.yaml');
      await caretBehind(stage, 'linked.yaml', 'gpulint-disable-next-line scale', 3);
      await runCommand(stage.page, 'Developer: Inspect Editor Tokens and Scopes');
      await sees(stage.page, '.token-inspect-widget', /gpulint/);
      const colour = (text: string) =>
        stage.page
          .locator('.view-line span span', { hasText: text })
          .first()
          .evaluate((word) => getComputedStyle(word).color);
      assert.notEqual(await colour('scale-to-zero-candidate'), await colour('answers must come at once'));
    },
  },
  {
    feature: 'Document links',
    shows: 'a suppressed rule links to its page, a model to Hugging Face',
    picture: 'document-links',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'linked.yaml');
      await sees(page, '.detected-link', /hf:\/\/|meta-llama/);
      await sees(page, '.detected-link', 'scale-to-zero-candidate');
      const rule = page.locator('.view-line span span', { hasText: 'scale-to-zero-candidate' }).first();
      const opened = page.locator('.tab.active', { hasText: 'scale-to-zero-candidate' });
      await askAgain('the page of the rule', async (wait) => {
        // With the raw mouse: VS Code redraws the word when the key goes down, so a click on the element would fail.
        const box = await rule.boundingBox();
        if (box === null) return false;
        await page.keyboard.down('Control');
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await page.keyboard.up('Control');
        return comes(opened, wait);
      });
    },
  },
  {
    feature: 'Rule pages',
    shows: 'the link in the hover opens the rule page in the editor',
    picture: 'rule-page',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 6);
      // VS Code adds the problem to a hover only if it has the problem when the hover opens.
      await page.locator('.squiggly-error').nth(1).waitFor();
      const hover = await hoverAtCaret(page, /but no limit/);
      await hover.locator('a', { hasText: 'gpu-limits-required' }).first().click();
      await sees(page, '.tab.active', 'gpu-limits-required');
      const frame = page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');
      await frame.locator('h1', { hasText: 'gpu-limits-required' }).waitFor();
      await frame.locator('h2, h3, p', { hasText: /why/i }).first().waitFor();
    },
  },
  {
    feature: 'Explain a rule',
    shows: 'the command lists the rules and opens the page of the selected one',
    picture: 'explain-rule',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await runCommand(page, 'gpulint: Explain a Rule…');
      await (await inputOf(page, 'gpulint rules')).fill('mig-profile-unknown');
      await shot();
      await (await sees(page, '.quick-input-list .monaco-list-row', 'mig-profile-unknown')).click();
      await sees(page, '.tab.active', 'mig-profile-unknown');
    },
  },
];

// Nothing flickers while a line is half typed.
import assert from 'node:assert/strict';
import { caretBehind, closePanel, goTo, lens, open, problemRow, problems, type Step, sees } from './stage.ts';

export const quiet: readonly Step[] = [
  {
    feature: 'Quiet typing',
    shows: 'squiggles and lenses stay while an incomplete line breaks the file, until the caret leaves it',
    picture: 'quiet-typing',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'halves.yaml');
      await page.locator('.squiggly-error').nth(1).waitFor();
      const titles = () => page.locator(lens).allInnerTexts();
      await sees(page, lens, /1 × L4 · \$/);
      const before = await titles();
      const squiggles = page.locator('.squiggly-error');
      const marks = await squiggles.count();
      await caretBehind(stage, 'halves.yaml', 'name: first');
      await page.keyboard.press('Enter');
      for (const key of 'labels: team: a') {
        await page.keyboard.type(key);
        assert.deepEqual(await titles(), before);
        assert.ok((await squiggles.count()) >= 2);
      }
      // The broken line has no finding. The Problems panel selects another line as it opens, and may show that one a moment later.
      assert.equal(await squiggles.count(), marks);
      await shot();
      await goTo(page, 2, 1);
      await problems(page);
      await sees(page, problemRow, 'yaml-syntax');
      await closePanel(page);
    },
  },
  {
    feature: 'Quiet typing',
    shows: 'an incomplete key in .gpulint.yaml is not reported as unknown yet',
    picture: 'quiet-config',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'near/.gpulint.yaml');
      await goTo(page, 4, 8);
      await page.keyboard.press('Enter');
      for (const key of 'capacty') {
        await page.keyboard.type(key);
        assert.equal(await page.locator('.squiggly-warning').count(), 0);
      }
      await page.keyboard.press('Escape');
      await page.keyboard.type(': spot');
      await page.keyboard.press('Escape');
      await goTo(page, 1, 1);
      await page.locator('.squiggly-warning').first().waitFor();
      await problems(page);
      await sees(page, problemRow, /unknown key 'capacty'.*capacity/);
      await shot();
      await closePanel(page);
    },
  },
];

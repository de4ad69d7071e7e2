// The question that is asked once per workspace.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { lens, open, pickerRow, type Step, sees, seesNo } from './stage.ts';

const toast = '.notification-list-item';

export const asking: readonly Step[] = [
  {
    feature: 'GPU question',
    shows: 'if the GPU is unknown, a notification asks for it once per workspace, and the lens still does afterwards',
    picture: 'gpu-question',
    async run(stage) {
      const { page, workspace, shot } = stage;
      await open(stage, 'unknown/which.yaml');
      const question = await sees(page, toast, /The GPU model in unknown\/which\.yaml is unknown/);
      await sees(page, lens, /Set…/);
      await shot();
      await question.locator('.monaco-button', { hasText: 'Set…' }).click();
      await sees(page, pickerRow, /^L40S.*48 GB/);
      await page.keyboard.press('Escape');
      await seesNo(page, toast, /GPU model/);
      fs.copyFileSync(path.join(workspace, 'unknown/which.yaml'), path.join(workspace, 'unknown/again.yaml'));
      await open(stage, 'unknown/again.yaml');
      await sees(page, lens, /Set…/);
      assert.equal(await page.locator(toast).count(), 0);
    },
  },
];

// With Red Hat's YAML extension (its id and its language server): nothing appears twice, and each adds what the other does not know.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { quickInput, until } from '../../../scripts/vscode/launch.mjs';
import {
  caretBehind,
  closePanel,
  completion,
  fix,
  hoverAtCaret,
  open,
  pickerRow,
  plain,
  problemRow,
  problems,
  type Step,
  sees,
  seesNo,
  showsText,
  suggestRow,
} from './stage.ts';

export const withRedHatYaml: readonly Step[] = [
  {
    feature: 'With Red Hat YAML',
    shows: 'only that extension reports a syntax error; our findings stay',
    picture: 'red-hat-yaml-syntax',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'broken.yaml');
      await problems(page);
      await sees(page, problemRow, /must be a whole number, not 0\.5.*gpulint/);
      const syntax = await sees(page, problemRow, /\bYAML\b/);
      assert.match(plain((await syntax.textContent()) ?? ''), /Ln \d+/);
      assert.equal(await page.locator(problemRow, { hasText: 'yaml-syntax' }).count(), 0);
      await shot();
      await closePanel(page);
    },
  },
  {
    feature: 'With Red Hat YAML',
    shows: 'an unknown field is reported once, by its schema; our fix is in the light bulb',
    picture: 'red-hat-yaml-field',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'beside-a-schema.yaml');
      await problems(page);
      await sees(page, problemRow, /Property resource is not allowed/);
      await seesNo(page, problemRow, 'api-field');
      await shot();
      await closePanel(page);
      await caretBehind(stage, 'beside-a-schema.yaml', 'resource:', 3);
      await fix(page, /resources/);
      await showsText(page, /^ {6}resources:\n {8}limits:/m);
    },
  },
  {
    feature: 'With Red Hat YAML',
    shows: 'only that extension provides the outline',
    picture: 'red-hat-yaml-outline',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'beside-another.yaml');
      await quickInput(page, 'Control+Shift+O', '@');
      await sees(page, pickerRow, /^\s*apiVersion/);
      assert.equal(await page.locator(pickerRow, { hasText: /^\s*apiVersion/ }).count(), 1);
      assert.equal(await page.locator(pickerRow, { hasText: /^\s*kind/ }).count(), 1);
    },
  },
  {
    feature: 'With Red Hat YAML',
    shows: 'the hover shows the cost and the schema description',
    picture: 'red-hat-yaml-hover',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'beside-another.yaml');
      await caretBehind(stage, 'beside-another.yaml', 'nvidia.com/gpu: 1', 4);
      await until('both hovers', async () => {
        const hover = await hoverAtCaret(page, /L4 · \$\d/);
        const text = (await hover.textContent()) ?? '';
        if (/GPUs, says the schema/.test(text)) return true;
        await page.keyboard.press('Escape');
        return false;
      });
    },
  },
  {
    feature: 'With Red Hat YAML',
    shows: 'completion offers the schema’s fields and our resources, each once',
    picture: 'red-hat-yaml-completion',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'beside-another.yaml');
      await caretBehind(stage, 'beside-another.yaml', 'nvidia.com/gpu: 1');
      await page.keyboard.press('Enter');
      await page.keyboard.type('m');
      await completion(page, /^memory/);
      await sees(page, suggestRow, /^volcano\.sh\/gpu-memory/);
      const labels = await labelsOf(page);
      assert.deepEqual(
        labels.filter((label, index) => labels.indexOf(label) < index),
        [],
      );
    },
  },
  {
    feature: 'With Red Hat YAML',
    shows: 'a problem in .gpulint.yaml is reported once',
    picture: 'red-hat-yaml-config',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'wrong/.gpulint.yaml');
      await problems(page);
      await sees(page, problemRow, /h1000/);
      assert.equal(await page.locator(problemRow, { hasText: 'h1000' }).count(), 1);
      assert.equal(await page.locator(problemRow, { hasText: 'capacty' }).count(), 1);
      await shot();
      await closePanel(page);
    },
  },
];

async function labelsOf(page: Page): Promise<readonly string[]> {
  return page.locator(`${suggestRow} .label-name`).allTextContents();
}

// The same things in the other themes: a person looks at the pictures, the steps prove that each theme is on and all is there.
import assert from 'node:assert/strict';
import { openReport, violations } from './cost-report.ts';
import { costInTheme } from './costs.ts';
import { caretBehind, completion, hoverAtCaret, lens, open, type Step, sees } from './stage.ts';

/** Each theme has a window of its own, for a theme is a setting. */
export function themeSteps(name: string, mark: string): readonly Step[] {
  return [
    {
      feature: 'Themes',
      shows: `lens, hint, squiggle and hover in the ${name} theme`,
      picture: `theme-${name.replaceAll(' ', '-')}`,
      async run(stage) {
        const { page } = stage;
        await page.locator(`.monaco-workbench.${mark}`).waitFor();
        await open(stage, 'llama-isvc.yaml');
        await sees(page, lens, /H100 80GB SXM/);
        await page.locator('.squiggly-error').nth(1).waitFor();
        await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 4);
        await hoverAtCaret(page, /H100 80GB SXM/);
      },
    },
    {
      feature: 'Themes',
      shows: `grammar, links and the list of slices in the ${name} theme`,
      picture: `theme-${name.replaceAll(' ', '-')}-list`,
      async run(stage) {
        const { page } = stage;
        await open(stage, 'cards.yaml');
        await sees(page, lens, /1 × L4/);
        await caretBehind(stage, 'cards.yaml', 'nvidia.com/mig-1g');
        await completion(page, /mig-1g/);
      },
    },
    {
      feature: 'Themes',
      shows: `the cost report in the ${name} theme`,
      picture: `theme-${name.replaceAll(' ', '-')}-report`,
      async run(stage) {
        const { page, shot } = stage;
        await open(stage, 'cards.yaml');
        await sees(page, lens, /1 × L4/);
        await openReport(page);
        await shot();
        assert.deepEqual(await violations(page), []);
      },
    },
    costInTheme(name),
  ];
}

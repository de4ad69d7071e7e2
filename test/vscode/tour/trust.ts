// Restricted Mode: an untrusted folder. Everything works, because nothing in the folder is run.
import fs from 'node:fs';
import path from 'node:path';
import { costIn } from './costs.ts';
import { caretBehind, completion, fix, hoverAtCaret, lens, open, type Step, sees, showsText } from './stage.ts';

/** The settings of the folder, which a stranger wrote: those of ours that are restricted must not be read. */
export function writeStrangersSettings(workspace: string): string {
  fs.mkdirSync(path.join(workspace, '.vscode'), { recursive: true });
  fs.writeFileSync(path.join(workspace, '.vscode/settings.json'), JSON.stringify({ 'gpulint.capacity': 'spot' }));
  return workspace;
}

export const restricted: readonly Step[] = [
  {
    feature: 'Restricted Mode',
    shows: 'findings, cost, hover and fixes work in an untrusted folder',
    picture: 'restricted',
    async run(stage) {
      const { page, shot } = stage;
      await sees(page, '.statusbar-item', 'Restricted Mode');
      await open(stage, 'llama-isvc.yaml');
      await page.locator('.squiggly-error').nth(1).waitFor();
      // The capacity is no restricted setting: it changes no more than a price, and the folder may tell it.
      await sees(page, lens, /H100 80GB SXM · \$[\d.–$]+\/h spot/);
      await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 4);
      await hoverAtCaret(page, /H100 80GB SXM/);
      await shot();
      await page.keyboard.press('Escape');
      await fix(page, 'Set the limit of nvidia.com/gpu to 1');
      await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);
    },
  },
  {
    feature: 'Restricted Mode',
    shows: 'completion works in an untrusted folder',
    picture: 'restricted-completion',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'typing.yaml');
      await caretBehind(stage, 'typing.yaml', 'cpu: 4');
      await page.keyboard.press('Enter');
      await page.keyboard.type('nvidia.com/mig-1g');
      await completion(page, /nvidia\.com\/mig-1g\.5gb/);
    },
  },
  {
    feature: 'Where a value comes from',
    shows: 'the hover distinguishes values from the file, the workspace settings and the defaults',
    picture: 'origins',
    async run(stage) {
      await open(stage, 'near/halves.yaml');
      await caretBehind(stage, 'near/halves.yaml', 'nvidia.com/gpu', 2);
      await hoverAtCaret(
        stage.page,
        /L4 from \.gpulint\.yaml[\s\S]*Region us-central1 from \.gpulint\.yaml[\s\S]*Capacity type spot from workspace settings/,
      );
    },
  },
  costIn('Restricted Mode', 'in an untrusted folder', /InferenceService\/llama.*\$[\d.]+/),
];

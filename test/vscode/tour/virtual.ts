// A folder that only VS Code can read: no path on disk, no server-side file access. The config next to a file still applies.
import fs from 'node:fs';
import path from 'node:path';
import { costIn } from './costs.ts';
import { caretBehind, fix, hoverAtCaret, lens, type Step, sees, showsText } from './stage.ts';

/** Writes the workspace file that names the virtual folder. */
export function makeVirtual(workspace: string): string {
  const file = path.join(path.dirname(workspace), 'virtual.code-workspace');
  fs.writeFileSync(file, JSON.stringify({ folders: [{ uri: 'memfs:/near', name: 'near' }] }));
  return file;
}

export const virtual: readonly Step[] = [
  // Before any file is opened: the files come from the list alone.
  costIn('Virtual workspace', 'in a folder that only VS Code can read', /Pod\/first.*\$[\d.]+.*halves\.yaml/),
  {
    feature: 'Virtual workspace',
    shows:
      'findings, prices from the nearest .gpulint.yaml, hover and fixes work in a folder that only VS Code can read',
    picture: 'virtual',
    async run(stage) {
      const { page, shot } = stage;
      await page.locator('.explorer-viewlet .monaco-list-row', { hasText: 'halves.yaml' }).first().dblclick();
      await page.locator('.tab.active[data-resource-name="halves.yaml"]').waitFor();
      await page.locator('.squiggly-error').nth(1).waitFor();
      // Without the config the GPU is unknown.
      await sees(page, lens, /1 × L4 · \$/);
      await caretBehind(stage, 'halves.yaml', 'nvidia.com/gpu', 2);
      await hoverAtCaret(page, /Google Cloud.*us-central1/);
      await shot();
      await page.keyboard.press('Escape');
      await fix(page, 'Set the limit of nvidia.com/gpu to 1');
      await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);
    },
  },
];

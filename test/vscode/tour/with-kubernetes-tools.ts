// With the Kubernetes extension (its id, its Helm language, its documents of cluster objects): its language loses nothing of ours, and what it
// opens from a cluster is judged and priced as a file is.
import assert from 'node:assert/strict';
import { runCommand, until } from '../../../scripts/vscode/launch.mjs';
import { connected } from './clusters.ts';
import {
  caretBehind,
  closePanel,
  hoverAtCaret,
  lens,
  open,
  problemRow,
  problems,
  type Stage,
  type Step,
  sees,
} from './stage.ts';

export const withKubernetesTools: readonly Step[] = [
  {
    feature: 'With the Kubernetes extension',
    shows: 'a template in its Helm language shows our price and both hovers',
    picture: 'kubernetes-helm',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'templates/deployment.yaml');
      await sees(page, '.statusbar-item', /^\s*Helm\s*$/);
      await sees(page, lens, /with values\.yaml: 6 × H100 80GB SXM · \$41\.28\/h/);
      await caretBehind(stage, 'templates/deployment.yaml', 'kind: Deploy');
      await bothHovers(stage, /6 × H100 80GB SXM/);
    },
  },
  {
    feature: 'With the Kubernetes extension',
    shows: 'a manifest shows the problems and hovers of both, each once',
    picture: 'kubernetes-manifest',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'halves.yaml');
      await problems(page);
      await sees(page, problemRow, /but no limit/);
      await sees(page, problemRow, /Memory has no limit/);
      assert.equal(await page.locator(problemRow, { hasText: 'Memory has no limit' }).count(), 1);
      // One for each of its two objects.
      assert.equal(await page.locator(problemRow, { hasText: 'but no limit' }).count(), 2);
      await closePanel(page);
      await caretBehind(stage, 'halves.yaml', 'nvidia.com/gpu', 2);
      await bothHovers(stage, /1 × L4/);
    },
  },
  {
    feature: 'With the Kubernetes extension',
    shows:
      'an object from the cluster is checked and priced with the folder’s config, without further requests to the cluster',
    picture: 'kubernetes-object',
    async run({ page, shot }) {
      await runCommand(page, 'Kubernetes: Load');
      await page.locator('.tab.active[data-resource-name="deployment-chat.yaml"]').waitFor();
      // Without the folder's provider the price would be a range.
      await sees(page, lens, /2 × L4 · \$[\d.]+\/h/);
      await problems(page);
      await sees(page, problemRow, /--tensor-parallel-size=2 needs 2 GPUs/);
      await shot();
      await closePanel(page);
      assert.equal(await page.locator('.notification-list-item').count(), 0);
    },
  },
  {
    feature: 'With the Kubernetes extension',
    shows: 'the connected cluster has a node «GPU node pools» in its tree',
    picture: 'kubernetes-clusters',
    async run(stage) {
      const { page, shot } = stage;
      // That extension starts with the first manifest.
      await open(stage, 'halves.yaml');
      await connected(page);
      await page.keyboard.press('Control+Shift+E');
      const header = page.locator('.pane-header[aria-label^="Clusters"]');
      if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
      await (await sees(page, '.pane .monaco-list-row', 'GPU node pools')).locator('.monaco-tl-twistie').click();
      await sees(page, '.pane .monaco-list-row', /a100.*14\/16 free/);
      await shot();
    },
  },
];

const theirs = 'Explained by the Kubernetes extension';

/** The hovers come one after the other; asked for again until one window has both, each once. */
async function bothHovers({ page, shot }: Stage, ours: RegExp): Promise<void> {
  await until('both hovers', async () => {
    const hover = await hoverAtCaret(page, ours);
    const text = (await hover.textContent()) ?? '';
    if (text.includes(theirs)) {
      assert.equal(text.split(theirs).length, 2, text);
      assert.equal(text.split('Pods × GPUs').length, 2, text);
      return true;
    }
    await page.keyboard.press('Escape');
    return false;
  });
  await shot();
}

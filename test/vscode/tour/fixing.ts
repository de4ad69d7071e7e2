// The light bulb: what it offers, what it changes, and that one key takes it back.
import assert from 'node:assert/strict';
import { askAgain, gone, runCommand } from '../../../scripts/vscode/launch.mjs';
import {
  caretBehind,
  fix,
  lens,
  lightBulb,
  open,
  pickerRow,
  type Step,
  sees,
  seesNo,
  shownText,
  showsText,
} from './stage.ts';

const preview = '.bulk-edit-panel';
const previewRow = `${preview} .monaco-list-row`;

export const fixing: readonly Step[] = [
  {
    feature: 'Quick fix',
    shows: 'the fix writes the limit, and one Undo reverts it',
    picture: 'fix-limits',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'halves.yaml');
      const before = await shownText(page);
      await caretBehind(stage, 'halves.yaml', 'nvidia.com/gpu: 1 # the first', 20);
      const row = await lightBulb(page, 'Set the limit of nvidia.com/gpu to 1');
      await shot();
      await row.click();
      await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);
      await page.keyboard.press('Control+Z');
      await seesNo(page, '.view-line', /limits:/);
      await page.locator('.tab.active:not(.dirty)').waitFor();
      assert.equal(withoutHints(await shownText(page)), withoutHints(before));
    },
  },
  {
    feature: 'Fix all of a rule',
    shows: 'one action fixes both objects in one step',
    picture: 'fix-all-of-a-kind',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'halves.yaml');
      await caretBehind(stage, 'halves.yaml', 'nvidia.com/gpu: 1 # the first', 20);
      const row = await lightBulb(page, /Fix all 2 .*gpu-limits-required/);
      await shot();
      await row.click();
      await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
      await page.keyboard.press('Control+Z');
      await page.locator('.squiggly-error').nth(1).waitFor();
      await page.locator('.tab.active:not(.dirty)').waitFor();
    },
  },
  {
    feature: 'Confirmation',
    shows: 'a fix that changes what runs in several objects opens a preview to confirm',
    picture: 'confirmation',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'always-on.yaml');
      await sees(page, '.codelens-decoration', /One replica keeps running without traffic/);
      await caretBehind(stage, 'always-on.yaml', 'minReplicas: 1', 14);
      await fix(page, /Fix all 2 scale-to-zero-candidate findings in this file/);
      const row = await sees(page, previewRow, 'always-on.yaml');
      await shot();
      await row.locator('.monaco-checkbox, input[type="checkbox"]').first().click();
      await page.locator(`${preview} .monaco-button`, { hasText: 'Apply' }).click();
      await showsText(page, /minReplicas: 0[\s\S]*minReplicas: 0/);
    },
  },
  {
    feature: 'Fix all in the workspace',
    shows: 'the command lists the available fixes, previews each change, and applies the selected ones',
    picture: 'fix-workspace',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'halves.yaml');
      await runCommand(page, 'gpulint: Fix All in the Workspace…');
      await sees(page, '.quick-input-title', 'Fix in the workspace');
      await (await sees(page, pickerRow, /^gpu-limits-required.*fixes in \d files/)).click();
      await sees(page, previewRow, 'halves.yaml');
      await sees(page, previewRow, 'llama-isvc.yaml');
      await shot();
      await page.locator(`${preview} .monaco-button`, { hasText: 'Discard' }).click();
      await page.locator(preview).waitFor({ state: 'hidden' });
    },
  },
  {
    feature: 'Fix all',
    shows: 'the command applies all safe fixes',
    picture: 'fix-all',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'llama-isvc.yaml');
      const squiggle = page.locator('.squiggly-error').first();
      await squiggle.waitFor();
      // VS Code looks for the light bulb's fixes by itself when the palette closes, and drops what still waits for an answer by then.
      await askAgain('all fixes', async (wait) => {
        await runCommand(page, 'Fix All');
        return gone(squiggle, wait);
      });
      await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);
    },
  },
  {
    feature: 'MIG rewrite',
    shows:
      'the picker shows the memory and the price of each slice on which the model fits, and writes the selected one',
    picture: 'mig-rewrite',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await caretBehind(stage, 'llama-isvc.yaml', 'nvidia.com/gpu: 1', 4);
      await page.locator('.squiggly-error').nth(1).waitFor();
      await fix(page, 'Set the limit of nvidia.com/gpu to 1');
      await showsText(page, /limits:\n *nvidia\.com\/gpu: 1/);
      await fix(page, 'Rewrite to a MIG slice…');
      await sees(page, '.quick-input-title', 'MIG slice of H100 80GB SXM');
      const slice = await sees(page, pickerRow, /3g\.40gb.*40 GB.*\$\d.*fits Llama-3\.1-8B-Instruct/);
      await shot();
      await slice.click();
      await showsText(page, /nvidia\.com\/mig-3g\.40gb: 1/);
    },
  },
  {
    feature: 'Less of a GPU',
    shows:
      'the list has each part of a GPU that fits the model, with its price and what the nodes need, and writes the selected one',
    picture: 'less-of-a-gpu',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'small/assistant.yaml');
      await caretBehind(stage, 'small/assistant.yaml', 'nvidia.com/gpu: 1', 4);
      await fix(page, 'Use less of a GPU…');
      await sees(page, '.quick-input-title', /Less than 1 × A100.* for gemma-2-2b-it/);
      await sees(page, pickerRow, /HAMi: [\d,]+ MiB.*needs .* GiB/);
      const slice = await sees(page, pickerRow, /MIG slice 1g\.20gb.*needs .* GiB/);
      await shot();
      await slice.click();
      await showsText(page, /limits:\n *nvidia\.com\/mig-1g\.20gb: 1/);
    },
  },
  {
    feature: 'Less of a GPU',
    shows:
      'on a GPU without slices, the list has time slicing, HAMi, Volcano and KAI, and writes the annotation of KAI',
    picture: 'less-of-an-l4',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'small/tagger.yaml');
      await caretBehind(stage, 'small/tagger.yaml', 'nvidia.com/gpu: 1', 4);
      await fix(page, 'Use less of a GPU…');
      await sees(page, pickerRow, /1\/\d of the GPU \(time slicing\).*if the other shares are used/);
      await sees(page, pickerRow, /Volcano: [\d,]+ MiB/);
      const part = await sees(page, pickerRow, /KAI: gpu-fraction 0\.\d+/);
      await shot();
      await part.click();
      await showsText(page, /annotations:\n *gpu-fraction: "0\.\d+"/);
    },
  },
  {
    feature: 'Less of a GPU',
    shows: 'a claim that pods share gets its configuration, and the server its part of the memory',
    picture: 'shared-claim',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'small/ranker.yaml');
      await caretBehind(stage, 'small/ranker.yaml', 'resourceClaimName: ranker-gpu', 4);
      await fix(page, 'Use less of a GPU…');
      await sees(page, pickerRow, /[\d,]+ MiB of the GPU \(time slicing\)/);
      const part = await sees(page, pickerRow, /1\/\d of the claimed GPU \(time slicing\)/);
      await shot();
      await part.click();
      await showsText(page, /kind: GpuConfig\n *sharing:\n *strategy: TimeSlicing/);
    },
  },
  {
    feature: 'Less of a GPU',
    shows: 'an AMD GPU becomes a partition under its own resource name',
    picture: 'amd-partition',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'small/translator.yaml');
      await caretBehind(stage, 'small/translator.yaml', 'amd.com/gpu: 1', 4);
      await fix(page, 'Use less of a GPU…');
      const part = await sees(page, pickerRow, /Partition amd\.com\/cpx_nps4/);
      await shot();
      await part.click();
      await showsText(page, /limits:\n *amd\.com\/cpx_nps4: 1/);
    },
  },
  {
    feature: 'More of a GPU',
    shows: 'for a slice that is too small, the list has the next one that is large enough and the whole GPU',
    picture: 'more-of-a-gpu',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'small/writer.yaml');
      await page.locator('.squiggly-error, .squiggly-warning').first().waitFor();
      await caretBehind(stage, 'small/writer.yaml', 'nvidia.com/mig-1g', 4);
      await fix(page, 'Use more of a GPU…');
      await sees(page, pickerRow, /1 × A100 80GB SXM/);
      const slice = await sees(page, pickerRow, /MIG slice 3g\.40gb.*needs .* GiB/);
      await shot();
      await slice.click();
      await showsText(page, /limits:\n *nvidia\.com\/mig-3g\.40gb: 1/);
    },
  },
  {
    feature: 'Fraction of a GPU',
    shows: 'a small model on a whole GPU gets a fix to the MIG slice that fits it',
    picture: 'fraction',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'small/assistant.yaml');
      await sees(page, lens, /gemma-2-2b-it needs about [\d.]+ of 79\.2 GiB .*: MIG slice 1g\.20gb is enough .*, \$/);
      await caretBehind(stage, 'small/assistant.yaml', 'nvidia.com/gpu: 1', 4);
      const row = await lightBulb(page, 'Rewrite to MIG slice 1g.20gb (20 GB) in main');
      await shot();
      await row.click();
      await showsText(page, /limits:\n *nvidia\.com\/mig-1g\.20gb: 1/);
      await seesNo(page, lens, /needs about/);
    },
  },
  {
    feature: 'Scale to zero',
    shows: 'the advice has a fix that sets minReplicas to 0',
    picture: 'scale-to-zero',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await caretBehind(stage, 'llama-isvc.yaml', 'minReplicas', 2);
      const row = await lightBulb(page, 'Set minReplicas to 0 (now 1)');
      await shot();
      await row.click();
      await showsText(page, /minReplicas: 0/);
      await seesNo(page, '.codelens-decoration', /One replica keeps running without traffic/);
    },
  },
  {
    feature: 'Toleration fix',
    shows: 'the fix removes the value that operator Exists does not allow',
    picture: 'fix-toleration',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'llama-isvc.yaml');
      await caretBehind(stage, 'llama-isvc.yaml', 'value: "true"', 2);
      const row = await lightBulb(page, 'Remove the value');
      await shot();
      await row.click();
      await seesNo(page, '.view-line', /value: "true"/);
    },
  },
  {
    feature: 'Spot fix',
    shows: 'a Job on spot nodes gets the missing toleration',
    picture: 'fix-spot',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'spot.yaml');
      await caretBehind(stage, 'spot.yaml', 'kubernetes.azure.com/scalesetpriority', 4);
      const row = await lightBulb(page, 'Add a toleration for AKS spot nodes');
      await shot();
      await row.click();
      await showsText(page, /tolerations:\n *- key: "?kubernetes\.azure\.com\/scalesetpriority/);
    },
  },
  {
    feature: 'Silence',
    shows: 'the action writes a suppression comment and selects the reason',
    picture: 'silence',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'debug-pod.yaml');
      await caretBehind(stage, 'debug-pod.yaml', 'command: ["sleep', 2);
      await fix(page, 'Silence idle-gpu-container on this line');
      await showsText(page, /# gpulint-disable-next-line idle-gpu-container -- reason/);
      await seesNo(page, '.squiggly-warning', '');
      // The word is chosen by a command that follows the edit: what is typed before stands elsewhere.
      await sees(page, '.statusbar-item', /\(6 selected\)/);
      await page.keyboard.type('debugging this week');
      await showsText(page, /# gpulint-disable-next-line idle-gpu-container -- debugging this week\n/);
    },
  },
];

/** Inlay hints are part of the editor's lines, and come and go after the text. */
function withoutHints(text: string): string {
  return text.replaceAll(/ *\$[\d.]+\/h/g, '');
}

// The hover of each thing that has one, opened by its keys.
import { caretBehind, hoverAtCaret, menuRow, open, type Step, showsText } from './stage.ts';

interface Hover {
  readonly on: string;
  readonly file: string;
  /** The caret stands within the end of this text. */
  readonly at: string;
  readonly says: RegExp;
}

const hovers: readonly Hover[] = [
  {
    on: 'a GPU count',
    file: 'llama-isvc.yaml',
    at: 'nvidia.com/gpu: 1',
    says: /H100 80GB SXM[\s\S]*\$[\d.]+\/h|\$[\d.]+\/h[\s\S]*H100/,
  },
  {
    on: 'the GPU count of a known model',
    file: 'small/assistant.yaml',
    at: 'nvidia.com/gpu: 1',
    says: /A100 80GB SXM[\s\S]*\$[\d.]+\/h[\s\S]*gemma-2-2b-it needs about [\d.]+ of 79\.2 GiB \(1\d%\)/,
  },
  { on: 'a MIG key', file: 'cards.yaml', at: 'nvidia.com/mig-1g', says: /1g\.5gb[\s\S]*\$\d[\s\S]*5 GB/ },
  { on: 'a GPU selector', file: 'cards.yaml', at: 'NVIDIA-A100-SXM4', says: /A100 40GB SXM[\s\S]*40 GB/ },
  { on: 'a spot selector', file: 'cards.yaml', at: 'cloud.google.com/gke-spot', says: /\$\d[\s\S]*spot[\s\S]*notice/ },
  { on: 'a GPU toleration', file: 'cards.yaml', at: '- key: nvidia.com/gp', says: /\$\d/ },
  { on: 'the checkpoint flag', file: 'cards.yaml', at: '--save_steps=50', says: /\$[\d.]+/ },
  { on: 'the replica floor', file: 'llama-isvc.yaml', at: 'minReplicas: 1', says: /\$[\d,.]+\/month[\s\S]*zero/ },
  {
    on: 'an instance type',
    file: 'cards.yaml',
    at: 'g2-standard',
    says: /g2-standard-4[\s\S]*L4|L4[\s\S]*g2-standard-4/,
  },
  {
    on: 'the kind',
    file: 'llama-isvc.yaml',
    at: 'kind: InferenceServ',
    says: /Runs 1–3 predictor pods × 1 H100[\s\S]*\$\d/,
  },
];

const numbers: readonly Step[] = hovers.map(({ on, file, at, says }) => ({
  feature: 'Hover',
  shows: `the hover of ${on} starts with the numbers`,
  picture: `hover-${on.toLowerCase().replace(/^\w+ /, '').replaceAll(' ', '-')}`,
  async run(stage) {
    await open(stage, file);
    await caretBehind(stage, file, at);
    await hoverAtCaret(stage.page, says);
  },
}));

export const hovering: readonly Step[] = [
  ...numbers,
  {
    feature: 'Hover',
    shows: 'the second line has a link to the fix that selects a cheaper machine',
    picture: 'hover-action',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'machine.yaml');
      await caretBehind(stage, 'machine.yaml', 'g2-standard-48');
      const hover = await hoverAtCaret(
        page,
        /Select g2-standard-4: \$0\.71\/h per pod, 29% less[\s\S]*Committed use, 3 years/,
      );
      await shot();
      await hover.locator('a', { hasText: 'Change…' }).first().click();
      await page.locator(menuRow, { hasText: 'Select g2-standard-4 instead' }).first().click();
      await showsText(page, /instance-type: g2-standard-4\n/);
    },
  },
];

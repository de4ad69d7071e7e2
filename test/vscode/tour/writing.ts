// What helps while a manifest or the config is typed.
import assert from 'node:assert/strict';
import {
  caretBehind,
  choose,
  closePanel,
  completion,
  goTo,
  hoverAtCaret,
  open,
  problems,
  type Step,
  sees,
  showsText,
  suggestRow,
} from './stage.ts';

interface Offer {
  readonly feature: string;
  readonly shows: string;
  readonly picture: string;
  readonly file?: string;
  /** The caret goes behind this, and the keys are typed. */
  readonly behind: string;
  readonly keys: readonly string[];
  /** A row of the list. */
  readonly row: RegExp;
  /** What stands there when the row was chosen. */
  readonly written: RegExp;
}

const offers: readonly Offer[] = [
  {
    feature: 'Completion: resources',
    shows: 'MIG profiles of the selected GPU, with memory and price',
    picture: 'complete-mig',
    behind: 'cpu: 4',
    keys: ['\n', 'nvidia.com/mig-1g'],
    row: /nvidia\.com\/mig-1g\.5gb.*5 GB.*\$\d/,
    written: /cpu: 4\n *nvidia\.com\/mig-1g\.5gb: /,
  },
  {
    feature: 'Completion: selectors',
    shows: 'values of a GPU label',
    picture: 'complete-selector',
    behind: 'NVIDIA-A100-SXM4-40GB',
    keys: ['\n', 'cloud.google.com/gke-accelerator: nvidia-l'],
    row: /nvidia-l4/,
    written: /cloud\.google\.com\/gke-accelerator: nvidia-l4\n/,
  },
  {
    feature: 'Completion: tolerations',
    shows: 'a complete toleration for the platform',
    picture: 'complete-toleration',
    behind: 'tolerations:',
    keys: ['\n', '  - '],
    row: /nvidia\.com\/gpu/,
    written: /- key: nvidia\.com\/gpu\n *operator: Exists\n *effect: NoSchedule/,
  },
  {
    feature: 'Completion: annotations',
    shows: 'annotations of gpulint and of the workload’s operator',
    picture: 'complete-annotation',
    behind: 'example.com/team: search',
    keys: ['\n', 'gpulint.dev/'],
    row: /gpulint\.dev\/disable/,
    written: /gpulint\.dev\/disable: /,
  },
  {
    feature: 'Completion: Kueue',
    shows: 'the queue label of a Job',
    picture: 'complete-kueue',
    file: 'queued.yaml',
    behind: 'example.com/team: search',
    keys: ['\n', 'kue'],
    row: /kueue\.x-k8s\.io\/queue-name/,
    written: /kueue\.x-k8s\.io\/queue-name: /,
  },
  {
    feature: 'Completion: KEDA',
    shows: 'triggers of a ScaledObject, and which ones cannot scale from zero',
    picture: 'complete-keda',
    file: 'queued.yaml',
    behind: 'triggers:',
    keys: ['\n', '- type: '],
    row: /^prometheus/,
    written: /- type: prometheus/,
  },
  {
    feature: 'Completion: claims',
    shows: 'device classes of a resource claim',
    picture: 'complete-claim',
    file: 'queued.yaml',
    behind: 'exactly:',
    keys: ['\n', 'deviceClassName: '],
    row: /^mig\.nvidia\.com/,
    written: /deviceClassName: mig\.nvidia\.com/,
  },
];

export const writing: readonly Step[] = [
  ...offers.map(
    ({ feature, shows, picture, file = 'typing.yaml', behind, keys, row, written }): Step => ({
      feature,
      shows,
      picture,
      async run(stage) {
        const { page, shot } = stage;
        await open(stage, file);
        await caretBehind(stage, file, behind);
        for (const key of keys) await (key === '\n' ? page.keyboard.press('Enter') : page.keyboard.type(key));
        await completion(page, row);
        await shot();
        await choose(page, row);
        await showsText(page, written);
      },
    }),
  ),
  {
    feature: 'Completion: config',
    shows: 'keys and GPUs of .gpulint.yaml',
    picture: 'complete-config',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'near/.gpulint.yaml');
      await goTo(page, 4, 8);
      await page.keyboard.press('Enter');
      await page.keyboard.type('cap');
      await choose(page, /capacity/);
      await showsText(page, /\ncapacity: /);
      await completion(page, /spot/);
      await shot();
      await choose(page, /spot/);
      await showsText(page, /\ncapacity: spot/);
    },
  },
  {
    feature: 'Hover: config',
    shows: 'what a key of .gpulint.yaml means',
    picture: 'hover-config',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'near/.gpulint.yaml');
      await goTo(page, 2, 3);
      await hoverAtCaret(page, /Platform of the cluster/);
    },
  },
  {
    feature: 'Config diagnostics',
    shows:
      'unknown GPUs, keys and severities are marked, a machine setting is an error, and manifests are still analyzed',
    picture: 'config-diagnostics',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'wrong/.gpulint.yaml');
      await problems(page);
      await sees(page, '.markers-panel-container .monaco-list-row', /h1000/);
      await sees(page, '.markers-panel-container .monaco-list-row', /capacty/);
      await sees(page, '.markers-panel-container .monaco-list-row', /loud/);
      await sees(page, '.markers-panel-container .monaco-list-row', /'kubeconfig' belongs in your user settings/);
      await stage.shot();
      await closePanel(page);
      await open(stage, 'beside.yaml');
      await page.locator('.squiggly-error').first().waitFor();
    },
  },
  {
    feature: 'Snippets',
    shows: 'a MIG request with a choice of profiles',
    picture: 'snippet',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'snippets.yaml');
      await goTo(page, 2, 1);
      await page.keyboard.type('gpu-mig');
      await completion(page, /gpu-mig.*MIG slice/);
      await shot();
      await choose(page, /gpu-mig.*MIG slice/);
      await showsText(page, /resources:\n {2}limits:\n {4}nvidia\.com\/mig-1g\.10gb: 1/);
      await sees(page, '.suggest-widget.visible .monaco-list-row', '3g.40gb');
    },
  },
  {
    feature: 'Snippets',
    shows: 'queues, scalers, claims, shared GPUs, multi-node training and serving',
    picture: 'snippets',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'snippets.yaml');
      await goTo(page, 2, 1);
      await page.keyboard.type('gpu-');
      for (const name of ['claim', 'jobset', 'keda', 'kueue', 'leaderworkerset', 'time-slicing'])
        await completion(page, new RegExp(`^gpu-${name}`));
      await shot();
      await choose(page, /^gpu-keda/);
      await showsText(page, /kind: ScaledObject[\s\S]*minReplicaCount: 0/);
    },
  },
  {
    feature: 'Snippets',
    shows: 'none in the config, which is not a manifest',
    picture: 'snippets-config',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'near/.gpulint.yaml');
      await goTo(page, 4, 8);
      await page.keyboard.press('Enter');
      await completion(page, /^capacity/);
      const labels = await page.locator(`${suggestRow} .label-name`).allTextContents();
      assert.deepEqual(
        labels.filter((label) => label.startsWith('gpu-')),
        [],
      );
    },
  },
];

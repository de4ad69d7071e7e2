// What the project tells: its nodes, how it cuts and shares cards, what its charts and kustomizations say elsewhere.
import assert from 'node:assert/strict';
import { caretBehind, fix, hoverAtCaret, lens, open, type Step, sees, showsText } from './stage.ts';

interface Referenced {
  readonly feature: string;
  readonly shows: string;
  readonly picture: string;
  readonly file: string;
  readonly lens: RegExp;
  /** The caret is after this text when the hover is requested. */
  readonly at: string;
  readonly hover: RegExp;
}

const seen: readonly Referenced[] = [
  {
    feature: 'Node pools',
    shows: 'a node pool in the config resolves a custom selector',
    picture: 'node-pool',
    file: 'pools/server.yaml',
    lens: /1–2 × H100 80GB SXM · \$5\.50–\$11\.01\/h/,
    at: 'nvidia.com/gpu: 1',
    hover: /1\/8 of p5\.48xlarge[\s\S]*20% off on-demand list prices, from \.gpulint\.yaml/,
  },
  {
    feature: 'Idle hours',
    shows: 'the cost of minReplicas reflects the hours without traffic, and the hover shows the cold start',
    picture: 'idle-hours',
    file: 'pools/server.yaml',
    lens: /\$2,344\/month in 14 idle hours per day/,
    at: 'minReplicas: 1',
    hover:
      /Scaling to zero saves \$2,344\/month at 14 idle hours per day \(\.gpulint\.yaml\)[\s\S]*after 60 s without requests/,
  },
  {
    feature: 'Checkpoints',
    shows: 'the hover computes the write time and the interval that loses the least from the config',
    picture: 'best-interval',
    file: 'pools/train.yaml',
    lens: /4 × L4 · \$[\d.–]+\/h spot/,
    at: '--save_steps=10',
    hover: /An interruption loses[\s\S]*Writing checkpoints takes [\d.]+% of the time: 90 s[\s\S]*The best interval is/,
  },
  {
    feature: 'Helm values',
    shows: 'the lens shows the price of all replicas, and the hover its assumptions',
    picture: 'helm-values',
    file: 'chart/values.yaml',
    lens: /\d × H100 80GB SXM · (?:from )?\$[\d.]+\/h/,
    at: 'nvidia.com/gpu: 2',
    hover: /1\/4 of p5\.48xlarge/,
  },
  {
    feature: 'Helm templates',
    shows: 'a template is priced with the values of its chart',
    picture: 'helm-template',
    file: 'templates/deployment.yaml',
    lens: /with values\.yaml: 6 × H100 80GB SXM · \$41\.28\/h/,
    at: 'kind: Deploy',
    hover: /Missing values from values\.yaml/,
  },
  {
    feature: 'Kustomize',
    shows: 'a patch is priced together with its base',
    picture: 'kustomize-patch',
    file: 'prod/more.yaml',
    lens: /8 × H100 80GB SXM/,
    at: 'nvidia.com/gpu: 2',
    hover: /1\/4 of p5\.48xlarge/,
  },
];

export const projects: readonly Step[] = [
  ...seen.map(
    ({ feature, shows, picture, file, lens: title, at, hover }): Step => ({
      feature,
      shows,
      picture,
      async run(stage) {
        await open(stage, file);
        await sees(stage.page, lens, title);
        await caretBehind(stage, file, at);
        await hoverAtCaret(stage.page, hover);
      },
    }),
  ),
  {
    feature: 'MIG rewrite',
    shows: 'with the single strategy, the rewrite sets the node label',
    picture: 'mig-single',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'pools/slice.yaml');
      await sees(page, lens, /1 × A100 80GB SXM/);
      await caretBehind(stage, 'pools/slice.yaml', 'nvidia.com/gpu: 1', 4);
      await fix(page, 'Rewrite to a MIG slice…');
      await (await sees(page, '.quick-input-list .monaco-list-row', /2g\.20gb.*20 GB, 1\/3 of the GPU/)).click();
      await showsText(
        page,
        /nvidia\.com\/gpu\.product: NVIDIA-A100-SXM4-80GB-MIG-2g\.20gb\n[\s\S]*nvidia\.com\/gpu: 1/,
      );
      await sees(page, lens, /1 × MIG 2g\.20gb of A100 80GB SXM/);
      await shot();
    },
  },
  {
    feature: 'Shared GPUs',
    shows: 'a config override offers a quarter of a GPU at a quarter of the price',
    picture: 'shared-gpu',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, 'pools/notebook.yaml');
      const whole = priceIn(await (await sees(page, lens, /1 × A100 80GB SXM/)).textContent());
      await caretBehind(stage, 'pools/notebook.yaml', 'nvidia.com/gpu: 1', 4);
      await fix(page, /Share the GPU with 3 other pods/);
      await showsText(page, /nvidia\.com\/gpu\.shared: 1/);
      const part = await sees(page, lens, /shared A100 80GB SXM/);
      await shot();
      assert.ok(Math.abs(priceIn(await part.textContent()) * 4 - whole) < 0.03);
    },
  },
];

/** The first amount of a lens, in dollars an hour. */
function priceIn(title: string | null): number {
  const [, amount] = /\$([\d.]+)\/h/.exec(title ?? '') ?? [];
  assert.ok(amount, title ?? 'no lens');
  return Number(amount);
}

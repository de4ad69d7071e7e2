import { describe, expect, test } from 'vitest';
import { defaultConfig, nearest, parseConfig, readSettings } from '../server/src/config.ts';

/** The problems as `text under the squiggle: message`. */
function problemsOf(text: string): readonly string[] {
  return parseConfig(text).problems.map(({ message, span }) => `${text.slice(span.start, span.end)}: ${message}`);
}

describe('a good config', () => {
  test.each(['', '# nothing\n', '---\n', '{}', 'gpu:\nkserve:\nrules:\nignore:\n'])('%j is the defaults', (text) => {
    expect(parseConfig(text)).toMatchObject({ config: defaultConfig, problems: [] });
  });

  test('is read', () => {
    const text = [
      'provider: aws',
      'region: us-east-1',
      'gpu: h100-80gb-sxm',
      'capacity: spot',
      'kserve: {deploymentMode: Standard}',
      'rules:',
      '  gpu-limits-required: warning',
      '  gpu-quantity-whole: off',
      'taints: [{key: sku, value: gpu, effect: NoSchedule}, {key: team/gpu, effect: NoExecute}]',
      'ignore: [generated, "charts/**"]',
    ].join('\r\n');
    expect(parseConfig(text)).toMatchObject({
      config: {
        platform: null,
        provider: 'aws',
        region: 'us-east-1',
        gpu: 'h100-80gb-sxm',
        capacity: 'spot',
        kserve: { deploymentMode: 'Standard' },
        rules: { 'gpu-limits-required': 'warning', 'gpu-quantity-whole': 'off' },
        taints: [
          { key: 'sku', value: 'gpu', effect: 'NoSchedule' },
          { key: 'team/gpu', value: null, effect: 'NoExecute' },
        ],
        ignore: ['generated', 'charts/**'],
      },
      problems: [],
    });
  });
});

describe('a good config of a whole cluster', () => {
  test('is read', () => {
    const { config, problems } = parseConfig(
      [
        'kubernetesVersion: 1.30',
        'kserve: {version: v0.15.2}',
        'migStrategy: single',
        'sharing: {strategy: mps, replicas: 4}',
        'serving: {idleHoursPerDay: 14}',
        'prices: {discountPercent: 20, gpus: {l4: 0.4}, instanceTypes: {g6.xlarge: 0.6}}',
        'nodePools: [{name: big, labels: {pool: big}, gpu: l4, taints: [{key: a, effect: NoSchedule}]}, {name: b, labels: {pool: b}}]',
      ].join('\n'),
    );
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      // As it is written, and not the number that YAML makes of it.
      kubernetesVersion: '1.30',
      kserve: { version: 'v0.15.2', deploymentMode: null },
      migStrategy: 'single',
      sharing: { strategy: 'mps', replicas: 4 },
      serving: { idleHoursPerDay: 14 },
      prices: { discountPercent: 20, gpus: { l4: 0.4 }, instanceTypes: { 'g6.xlarge': 0.6 } },
      nodePools: [
        { name: 'big', gpu: 'l4', instanceType: null, taints: [{ key: 'a', value: null, effect: 'NoSchedule' }] },
        { name: 'b', gpu: null, taints: null },
      ],
    });
  });
});

describe('a bad config', () => {
  test.each([
    ['gpus: x', "gpus: unknown key 'gpus'; did you mean 'gpu'?"],
    ['Provider: aws', "Provider: unknown key 'Provider'; did you mean 'provider'?"],
    ['kserve: {mode: Standard}', "mode: unknown key 'mode' in 'kserve'; known: version, deploymentMode"],
    [
      'fleet: x',
      "fleet: unknown key 'fleet'; known: extends, platform, provider, region, gpu, neuron, tpu, gaudi, capacity, kserve, training, serving, kubernetesVersion, migStrategy, sharing, headroom, modelParams, prices, budgets, taints, nodePools, rules, ruleOptions, ignore, priceFile, overrides",
    ],
    ['capacity: spots', "spots: 'capacity' cannot be 'spots'; did you mean 'spot'?"],
    [
      'provider: on-prem',
      "on-prem: 'provider' cannot be 'on-prem': leave it out for your own machines, and set prices.onPrem",
    ],
    ['capacity: cheap', "cheap: 'capacity' cannot be 'cheap'; allowed: spot, on-demand"],
    [
      'platform: eks',
      "eks: 'platform' cannot be 'eks'; did you mean 'eks-auto-mode', 'eks-karpenter' or 'eks-managed-node-group'?",
    ],
    ['platform: gke-standart', "gke-standart: 'platform' cannot be 'gke-standart'; did you mean 'gke-standard'?"],
    [
      'kserve: {deploymentMode: Serverless}',
      "Serverless: 'kserve.deploymentMode' cannot be 'Serverless'; allowed: Knative, Standard",
    ],
    ['training: {stepSeconds: 0}', "0: 'training.stepSeconds' must be more than 0"],
    ['training: {steps: 1}', "steps: unknown key 'steps' in 'training'; did you mean 'stepSeconds'?"],
    ['taints: [{key: a, effect: NoExec}]', "NoExec: 'taints.0.effect' cannot be 'NoExec'; did you mean 'NoExecute'?"],
    ['taints: [{key: a}]', "{key: a}: 'taints.0' needs the key 'effect'"],
    ['taints: [{kee: a, key: a, effect: NoExecute}]', "kee: unknown key 'kee' in 'taints.0'; did you mean 'key'?"],
    ['taints: [{key: "", effect: NoExecute}]', '"": \'taints.0.key\' must not be empty'],
    [
      'taints: [{key: "=", effect: NoExecute}]',
      '"=": \'taints.0.key\' contains "="; use only letters, digits and "-_."',
    ],
    [
      'taints: [{key: a, value: x y, effect: NoExecute}]',
      'x y: \'taints.0.value\' contains whitespace; use only letters, digits and "-_."',
    ],
    [
      'nodePools: [{name: a, labels: {key: -b}}]',
      "-b: 'nodePools.0.labels.key' must start and end with a letter or a digit",
    ],
    ['nodePools: [{name: a, labels: {"/b": c}}]', '"/b": \'/b\' in \'nodePools.0.labels\' has no domain before "/"'],
    ['taints: [{key: a, value: true, effect: NoExecute}]', "true: 'taints.0.value' must be a string, not true"],
    ['region: 7', "7: 'region' must be a string, not 7"],
    ['ignore: generated', "generated: 'ignore' must be a list, not 'generated'"],
    ['ignore: [a, [b], c]', "[b]: 'ignore.1' must be a string, not a list"],
    ['rules: [a]', "[a]: 'rules' must be a mapping, not a list"],
    [
      'rules: {gpu-limit-required: off}',
      "gpu-limit-required: unknown rule 'gpu-limit-required'; did you mean 'gpu-limits-required'?",
    ],
    ['rules: {my-own: off}', "my-own: unknown rule 'my-own'; 'gpulint rules' lists them"],
    [
      'rules: {gpu-limits-required: fatal}',
      "fatal: 'rules.gpu-limits-required' cannot be 'fatal'; allowed: error, warning, info, hint, off",
    ],
    ['- provider', '- provider: the config must be a mapping, not a list'],
    ['just words', "just words: the config must be a mapping, not 'just words'"],
    [
      'cluster: { kubeconfig: ./config }',
      "cluster: 'cluster' belongs in your user settings: a file in the repository must not contain addresses, contexts or credentials",
    ],
    [
      'kubeconfig: ~/.kube/config',
      "kubeconfig: 'kubeconfig' belongs in your user settings: a file in the repository must not contain addresses, contexts or credentials",
    ],
    [
      'prices: {gpus: {h100: 2}}',
      "h100: The catalog has no GPU 'h100', so only your own price in prices.gpus applies; did you mean 'h100-80gb-pcie'",
    ],
    [
      'prices: {onPrem: {h1oo-80gb-sxm: {gpus: 8, purchasePrice: 9, years: 4, watts: 9, pue: 1, electricityPerKwh: 1, staffPerYear: 0, utilizationPercent: 60}}}',
      "h1oo-80gb-sxm: The catalog has no GPU 'h1oo-80gb-sxm', so only your own price in prices.onPrem applies; did you mean 'h100-80gb-sxm'",
    ],
    ['gpu: T4', "T4: The catalog has no GPU 'T4'; using 't4'"],
    ['gpu: our-gpu', "our-gpu: The catalog has no GPU 'our-gpu', so only your own price in prices.gpus applies"],
    ['prices: {discountPercent: 100}', "100: 'prices.discountPercent' must be less than 100"],
    ['prices: {gpus: {l4: cheap}}', "cheap: 'prices.gpus.l4' must be a number, not 'cheap'"],
    [
      'prices: {instanceTypes: {p9.huge: 3}}',
      "p9.huge: The catalog has no instance type 'p9.huge', so only your own price in prices.instanceTypes applies",
    ],
    [
      'nodePools: [{name: a, labels: {}, instanceType: p5.48xlrge}]',
      "p5.48xlrge: The catalog has no instance type 'p5.48xlrge', so only your own price in prices.instanceTypes applies; did you mean 'p5.48xlarge'?",
    ],
    ['serving: {idleHoursPerDay: 25}', "25: 'serving.idleHoursPerDay' must be at most 24"],
    ['ruleOptions: {idle-gpu-container: {hours: 0}}', "0: 'ruleOptions.idle-gpu-container.hours' must be at least 1"],
    [
      'ruleOptions: {idle-gpu-container: {hour: 2}}',
      "hour: unknown key 'hour' in 'ruleOptions.idle-gpu-container'; did you mean 'hours'?",
    ],
    [
      'ruleOptions: {idle-gpu-contaner: {hours: 2}}',
      "idle-gpu-contaner: unknown key 'idle-gpu-contaner' in 'ruleOptions'; did you mean 'idle-gpu-container'?",
    ],
    ['headroom: 1', "1: 'headroom' must be less than 1"],
    ['modelParams: {chat: many}', "many: 'modelParams.chat' must be a number of parameters such as 13B, not 'many'"],
    ['sharing: {replicas: 1}', "1: 'sharing.replicas' must be at least 2"],
    ['kubernetesVersion: latest', "latest: 'kubernetesVersion' must be a version such as 1.34, not 'latest'"],
    ['nodePools: [{name: a}]', "{name: a}: 'nodePools.0' needs the key 'labels'"],
    [
      'nodePools: [{name: a, labels: {}, label: x}]',
      "label: unknown key 'label' in 'nodePools.0'; did you mean 'labels'?",
    ],
    [
      'platform: eks-karpenter\nregion: us-est-1',
      "us-est-1: No AWS prices for the region 'us-est-1': prices of us-east-1 are used instead; did you mean 'us-east-1'",
    ],
    ['region: nowhere', "nowhere: No provider has prices for the region 'nowhere', so it has no effect"],
    ['gpu: ""', '"": \'gpu\' must not be empty'],
    [
      '__proto__: {gpu: x}',
      "__proto__: unknown key '__proto__'; known: extends, platform, provider, region, gpu, neuron, tpu, gaudi, capacity, kserve, training, serving, kubernetesVersion, migStrategy, sharing, headroom, modelParams, prices, budgets, taints, nodePools, rules, ruleOptions, ignore, priceFile, overrides",
    ],
  ])('%s', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  test('of a key that would make a machine connect somewhere is an error; a region without prices is only told', () => {
    const levels = (text: string) => parseConfig(text).problems.map(({ level }) => level);
    expect(levels('url: http://x\nserverToken: a\ncontext: prod\nprometheus: b')).toEqual(Array(4).fill('error'));
    expect(levels('gpus: x')).toEqual(['warning']);
    expect(levels('provider: aws\nregion: mars-1')).toEqual(['info']);
    expect(parseConfig('provider: aws\nregion: mars-1').config.region).toBe('mars-1');
    // One price holds everywhere there, and any region will do.
    expect(levels('provider: coreweave\nregion: mars-1')).toEqual([]);
    expect(levels('provider: aws\noverrides: [{files: [a], region: mars-1}]')).toEqual(['info']);
    // What is near nothing may be a machine of one's own.
    expect(levels('prices: {instanceTypes: {p5.48xlrge: 1, own.metal: 1}}')).toEqual(['info', 'hint']);
  });

  test.each([
    ['H100', 'h100-80gb-sxm'],
    ['NVIDIA H100', 'h100-80gb-sxm'],
    ['A100 80GB', 'a100-80gb-sxm'],
    ['nvidia-l40s', 'l40s'],
    ['h100-80gb-smx', 'h100-80gb-sxm'],
    ['MI300X', 'mi300x'],
    ['Tesla T4', 't4'],
  ])('the GPU %s leads to %s', (seen, meant) => {
    expect(problemsOf(`gpu: ${seen}`)[0]).toMatch(new RegExp(`'${meant}'`));
  });

  test('keeps what is right beside what is wrong', () => {
    const { config, problems } = parseConfig(
      'provider: aws\ngpu: [l4]\nignore: [a, {}, b]\nrules: {nope: off, gpu-limits-required: off}\n',
    );
    expect(problems).toHaveLength(3);
    expect(config).toEqual({
      ...defaultConfig,
      origins: { provider: '.gpulint.yaml' },
      provider: 'aws',
      ignore: ['a', 'b'],
      rules: { 'gpu-limits-required': 'off' },
    });
  });

  test('loses no more than the item that misses a key', () => {
    const { config, problems } = parseConfig(
      'taints: [{key, effect}, {key: gpu, effect: NoSchedule}]\nprovider: aws\n',
    );
    expect(problems).toHaveLength(2);
    expect(config).toMatchObject({ provider: 'aws', taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  });

  test('an error of syntax is reported without what follows from it', () => {
    const text = 'region: us-east-1\nprices:\n\tdiscountPercent: 20\nregion2: 1\n';
    expect(problemsOf(text)).toEqual([
      '\t: Tab in the indentation; use spaces',
      "region2: unknown key 'region2'; did you mean 'region'?",
    ]);
    expect(problemsOf('provider: awss\nprices:\n  discountPercent: "2\nrules: {}\n')).toEqual([
      expect.stringContaining('Unclosed quote'),
      expect.stringContaining("'provider' cannot be"),
    ]);
  });

  test('may be no YAML', () => {
    const { config, problems } = parseConfig('provider: aws\nregion: [us-east-1\n');
    expect(problems.length).toBeGreaterThan(0);
    expect(config.provider).toBe('aws');
  });

  test('may have a second document, or be far too deep', () => {
    expect(problemsOf('provider: aws\n---\nprovider: gcp\n')).toEqual([
      ': a config must be a single YAML document; the others are ignored',
    ]);
    expect(parseConfig('['.repeat(10_000)).problems.length).toBeGreaterThan(0);
  });
});

test('settings of an editor are read as the file is, and keys that are not of it are left to others', () => {
  expect(readSettings({ gpu: 'a100-80gb-sxm', region: null, trace: { server: 'off' } })).toEqual({
    values: { gpu: 'a100-80gb-sxm' },
    problems: [],
  });
  expect(readSettings({ kserve: { deploymentMode: 'Raw' } }).problems).toEqual([
    {
      near: [],
      message: "'kserve.deploymentMode' cannot be 'Raw'; allowed: Knative, Standard",
      path: ['kserve', 'deploymentMode'],
      atKey: false,
      level: 'warning',
    },
  ]);
  expect(readSettings(undefined)).toEqual({ values: {}, problems: [] });
  expect(readSettings({ provider: 'aws', region: 'mars-1' })).toMatchObject({
    values: { region: 'mars-1' },
    problems: [{ path: ['region'], level: 'info' }],
  });
});

test('the nearest words come first, and far ones not at all', () => {
  expect(nearest('regoin', ['provider', 'region', 'rules'])).toEqual(['region']);
  expect(nearest('deployment', ['deploymentMode', 'kserve'])).toEqual(['deploymentMode']);
  expect(nearest('x', ['provider', 'region'])).toEqual([]);
});

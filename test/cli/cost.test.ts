import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CostJson } from '../../server/src/cli/cost/cost-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const region = 'topology.kubernetes.io/region: us-east-1';

/** A Deployment on p5.4xlarge: one H100 at $6.88/h. */
function server(name: string, replicas: number, instance = 'p5.4xlarge'): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: ${instance}, ${region}}
      containers:
        - name: server
          image: vllm/vllm-openai:v0.11.0
          resources: {limits: {nvidia.com/gpu: 1}}
`;
}

function repository(files: Record<string, string>): { folder: string; git: (...args: string[]) => string } {
  const folder = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  git('init', '-q');
  write(folder, files);
  git('add', '-A');
  git('commit', '-qm', 'first');
  return { folder, git };
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

describe('the costs of the workloads', () => {
  test('one line each, and the total', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 2) });
    const { stdout, status } = await runCli(['cost', '--no-color'], { cwd: folder });
    expect(status).toBe(0);
    expect(stdout).toContain('chat.yaml:1  Deployment/chat  2 GPUs  $13.76/h  $13.76/h idle');
    expect(stdout).toContain('1 workload, 2 GPUs: $13.76/h ($10,045/month), $13.76/h of it idle');
  });

  test('an amount for a part of a machine shows the price of the machine', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 2, 'g5.12xlarge') });
    const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
    // 2 pods with a quarter of $5.672 each.
    expect(stdout).toContain('2 GPUs  $2.84/h (node g5.12xlarge $5.67/h)  $2.84/h idle');
  });

  test('a suspended schedule is not in the totals', async () => {
    const { folder } = repository({
      'chat.yaml': server('chat', 1),
      'nightly.yaml': `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "30 1 * * *"
  suspend: true
  jobTemplate:
    spec:
      activeDeadlineSeconds: 1800
      template:
        spec:
          restartPolicy: Never
          nodeSelector: {node.kubernetes.io/instance-type: p5.4xlarge, ${region}}
          containers:
            - {name: main, image: registry.example.com/app:1, resources: {limits: {nvidia.com/gpu: 1}}}
`,
    });
    const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
    expect(stdout).toMatch(
      /CronJob\/nightly +1 GPU +\$0\/h +suspended: \$6.88\/h while running, at most \$3.44 per run/,
    );
    expect(stdout).toContain('2 workloads, 2 GPUs: $6.88/h ($5,022/month)');
  });

  test('without a price the total is unknown, and not $0', async () => {
    const one = server('chat', 1).replace('Deployment', 'DaemonSet').replace('  replicas: 1\n', '');
    const { folder } = repository({ 'chat.yaml': one });
    const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
    expect(stdout).toContain('$6.88/h per node');
    expect(stdout).toMatch(/^1 workload: price per node$/m);
  });

  test('node pools are listed and not counted', async () => {
    const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ada}
spec:
  limits: {nvidia.com/gpu: 12}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g6e.12xlarge]}
        - {key: topology.kubernetes.io/region, operator: In, values: [eu-north-1]}
`;
    const { folder } = repository({ 'pool.yaml': pool });
    const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
    // 12 GPUs are 3 machines of $11.12975.
    expect(stdout).toBe(
      'Node pools, not in the totals:\n' +
        '  pool.yaml:1  ada · g6e.12xlarge · $11.13/h on demand per node · at most $33.39/h for 3 nodes\n\n' +
        'Prices: on demand at AWS eu-north-1, as of 2026-07-09; 730 h per month\n' +
        '0 workloads, 1 node pool\n',
    );
    const { nodePools } = JSON.parse((await runCli(['cost', '--format', 'json'], { cwd: folder })).stdout) as CostJson;
    expect(nodePools).toMatchObject([{ name: 'ada', nodeHourly: { max: 11.12975 }, nodes: { max: 3 } }]);
    const markdown = await runCli(['cost', '--format', 'md'], { cwd: folder });
    expect(markdown.stdout).toContain('Node pools, not in the totals:');
  });

  test('a limit sets the exit status', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 2) });
    const within = await runCli(['cost', '--max-hourly', '13.76'], { cwd: folder });
    const above = await runCli(['cost', '--max-hourly', '13.75'], { cwd: folder });
    expect([within.status, above.status]).toEqual([0, 1]);
    expect(above.stderr).toBe('gpulint: the workloads cost up to $13.76/h, more than --max-hourly 13.75\n');
  });
});

test('a path that cannot be checked is named, with status 2: its cost is missing from the total', async () => {
  const folder = temporaryFolder();
  write(folder, { 'a.yaml': server('chat', 1), 'binary.yaml': 'nvidia.com/gpu: \0' });
  for (const other of ['binary.yaml', 'missing.yaml']) {
    const { status, stdout, stderr } = await runCli(['cost', 'a.yaml', other], { cwd: folder });
    expect(status, other).toBe(2);
    expect(stdout).toContain('$6.88/h');
    expect(stderr).toContain(`gpulint: ${other}: `);
  }
});

test('a total of unknown prices is unknown, not $0', async () => {
  const folder = temporaryFolder();
  write(folder, { 'a.yaml': server('chat', 1).replace(/nodeSelector: \{.*\}/, 'nodeSelector: {}') });
  const [text, markdown, html] = await Promise.all(
    ['text', 'markdown', 'html'].map((format) => runCli(['cost', '--format', format, 'a.yaml'], { cwd: folder })),
  );
  expect(text?.stdout).toMatch(/^1 workload, 1 GPU: \$\d.*for 1 workload whose GPU model is unknown$/m);
  expect(markdown?.stdout).toMatch(/^### GPU cost of .*: unknown$/m);
  expect(markdown?.stdout).not.toMatch(/\$0(?!\.)/);
  expect(html?.stdout).toMatch(/Per hour<\/dt>\s*<dd[^>]*>unknown/);
});

test('a document with a syntax error is named: its cost is missing from the total', async () => {
  const folder = temporaryFolder();
  write(folder, { 'a.yaml': server('chat', 1).replace('      nodeSelector', '\tnodeSelector') });
  const { status, stderr } = await runCli(['cost', 'a.yaml'], { cwd: folder });
  expect(stderr).toContain('gpulint: a.yaml:10:1: Tab in the indentation; use spaces');
  expect(status).toBe(0);
});

describe('an overlay', () => {
  const files = (count: number) => ({
    'base/api.yaml': server('api', 1),
    'base/kustomization.yaml': 'resources: [api.yaml]\n',
    'prod/kustomization.yaml': `resources: [../base]\nnamespace: shop\nnamePrefix: eu-\nreplicas: [{name: api, count: ${count}}]\n`,
    '.gpulint.yaml': 'budgets: [{name: shop, namespace: shop, maxHourly: 14}]\n',
  });

  test('has the namespace and the name that it sets, also for budgets', async () => {
    const { folder } = repository(files(2));
    write(folder, files(3));
    const { stdout, stderr, status } = await runCli(['cost', '--no-color', '--base', 'HEAD'], { cwd: folder });
    expect(stdout).toContain('shop/Deployment/eu-api  changed  2 → 3 GPUs  $13.76/h → $20.64/h  +$6.88/h');
    expect(stderr).toContain('budget shop: one workload costs up to $20.64/h, more than $14/h');
    expect(status).toBe(1);
  });
});

describe('budgets', () => {
  const labelled = server('train', 4).replace('metadata: {', 'metadata: {labels: {team: research}, ');
  const config = (budget: string) => `budgets:\n  - {name: one, ${budget}}\n`;
  // 4 of 8 GPUs of a p5.48xlarge: 4 × $6.88 = $27.52; 2 of them: $13.76.
  test.each([
    ['all workloads', 'maxHourly: 41.28', ''],
    ['all workloads', 'maxHourly: 41.27', '2 workloads cost up to $41.28/h, more than $41.27/h'],
    ['a label', 'labels: {team: research}, maxHourly: 27', 'one workload costs up to $27.52/h, more than $27/h'],
    ['a label', 'labels: {team: research}, maxHourly: 1.5', 'one workload costs up to $27.52/h, more than $1.50/h'],
    ['another label', 'labels: {team: search}, maxHourly: 1', ''],
    ['a namespace', 'namespace: research, maxHourly: 1', ''],
  ])('of %s: %s', async (_, budget, problem) => {
    const { folder } = repository({
      'chat.yaml': server('chat', 2),
      'train.yaml': labelled,
      '.gpulint.yaml': config(budget),
    });
    const { status, stderr } = await runCli(['cost', '.'], { cwd: folder });
    expect(stderr).toBe(problem === '' ? '' : `gpulint: budget one: ${problem}\n`);
    expect(status).toBe(problem === '' ? 0 : 1);
  });
});

describe('--base', () => {
  test('says that an increase contains whole prices', async () => {
    const pod = (machine: string) => `apiVersion: v1
kind: Pod
metadata: {name: eval}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: ${machine}}
  containers: [{name: main, image: registry.example.com/app:1, resources: {limits: {nvidia.com/gpu: 8}}}]
`;
    const { folder } = repository({ 'a.yaml': pod('a4-highgpu-8g'), 'b.yaml': server('chat', 1) });
    write(folder, { 'a.yaml': pod('a3-highgpu-8g'), 'b.yaml': server('chat', 2) });
    const { stdout } = await runCli(['cost', '--base', 'HEAD', '--no-color'], { cwd: folder });
    expect(stdout).toContain('The increase includes the full price of 1 workload that had none before\n');
    write(folder, { 'a.yaml': pod('a4-highgpu-8g') });
    const other = await runCli(['cost', '--base', 'HEAD', '--no-color'], { cwd: folder });
    expect(other.stdout).not.toContain('The increase includes');
  });

  test('new, removed, changed, moved and unchanged workloads', async () => {
    const { folder } = repository({
      'chat.yaml': server('chat', 1),
      'embed.yaml': server('embed', 1),
      'old/gone.yaml': server('gone', 1),
      'rank.yaml': server('rank', 1),
    });
    write(folder, {
      'chat.yaml': server('chat', 3),
      'new.yaml': server('new', 1),
      'moved/rank.yaml': server('rank', 1),
    });
    rmSync(path.join(folder, 'old'), { recursive: true });
    rmSync(path.join(folder, 'rank.yaml'));
    const { stdout } = await runCli(['cost', '--base', 'HEAD', '--format', 'json'], { cwd: folder });
    const report = JSON.parse(stdout) as CostJson;
    const states = report.workloads.map(({ name, before, after, increase }) => [
      name,
      before?.gpus.max ?? null,
      after?.gpus.max ?? null,
      increase?.max,
    ]);
    expect(states).toEqual([
      ['chat', 1, 3, 13.76],
      ['embed', 1, 1, 0],
      ['rank', 1, 1, 0],
      ['new', null, 1, 6.88],
      ['gone', 1, null, -6.88],
    ]);
    expect(report.increase).toEqual({ min: 13.76, max: 13.76 });
  });

  test('shows the changes only, with their sum', async () => {
    const { folder } = repository({ 'a/chat.yaml': server('chat', 1), 'a/embed.yaml': server('embed', 1) });
    write(folder, { 'a/chat.yaml': server('chat', 2) });
    const { stdout } = await runCli(['cost', 'a', '--base', 'HEAD'], { cwd: folder });
    expect(stdout).toContain('a/chat.yaml:1  Deployment/chat  changed  1 → 2 GPUs  $6.88/h → $13.76/h  +$6.88/h\n');
    expect(stdout).not.toContain('a/embed.yaml');
    expect(stdout).toContain(
      'Against HEAD: 2 → 3 GPUs, $13.76/h → $20.64/h: +$6.88/h (+$5,022/month)\n1 workload unchanged\n',
    );
  });

  test('is unknown, not $0, if no changed workload has a price', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 2) });
    write(folder, { 'new.yaml': server('new', 1, 'x9.unknown') });
    const run = async (format: string) =>
      (await runCli(['cost', '--base', 'HEAD', '--no-color', '--format', format], { cwd: folder })).stdout;
    expect(await run('text')).toContain('$13.76/h → $13.76/h: unknown, and 1 workload without a price');
    expect(await run('markdown')).toContain('### GPU cost: unknown\n');
    expect((JSON.parse(await run('json')) as CostJson).increase).toBeNull();
  });

  test('of values counts in the release that they change', async () => {
    const template = server('chat', 2).replace('replicas: 2', 'replicas: {{ .Values.replicas }}');
    const { folder } = repository({
      'chart/Chart.yaml': 'apiVersion: v2\nname: chat\nversion: 1.0.0\n',
      'chart/values.yaml': 'replicas: 1\n',
      'chart/values-prod.yaml': 'replicas: 3\n',
      'chart/templates/chat.yaml': template,
    });
    write(folder, { 'chart/values-prod.yaml': 'replicas: 5\n' });
    const { stdout } = await runCli(['cost', '--base', 'HEAD', '--no-color'], { cwd: folder });
    expect(stdout).toContain('$20.64/h → $34.40/h: +$13.76/h');
  });

  test('reads charts, configs and kustomizations of the revision, wherever they are', async () => {
    const chart = 'apiVersion: v2\nname: chat\nversion: 1.0.0\n';
    const template = server('chat', 1).replace('replicas: 1', 'replicas: {{ .Values.replicas }}');
    const { folder } = repository({
      'chart/Chart.yaml': chart,
      'chart/values.yaml': 'replicas: 1\n',
      'chart/templates/chat.yaml': template,
      '.gpulint.yaml': 'prices:\n  instanceTypes: {p5.4xlarge: 5}\n',
    });
    write(folder, {
      'chart/values.yaml': 'replicas: 4\n',
      '.gpulint.yaml': 'prices:\n  instanceTypes: {p5.4xlarge: 6}\n',
    });
    const { stdout } = await runCli(['cost', '--base', 'HEAD', 'chart/templates'], { cwd: folder });
    expect(stdout).toContain('1 → 4 GPUs  $5.00/h → $24.00/h  +$19.00/h');
  });

  test('a broken config of the revision is replaced by the present one, also if that is removed', async () => {
    const price = 'prices: {instanceTypes: {p5.4xlarge: 5}}\n';
    const broken = 'prices: {instanceTypes: {p5.4xlarge: [}}\n';
    for (const [present, change] of [
      [price, '$5.00/h → $15.00/h'],
      [undefined, '$6.88/h → $20.64/h'],
    ] as const) {
      const { folder } = repository({ 'chat.yaml': server('chat', 1), '.gpulint.yaml': broken });
      rmSync(path.join(folder, '.gpulint.yaml'));
      write(folder, { 'chat.yaml': server('chat', 3), ...(present && { '.gpulint.yaml': present }) });
      const { stdout, stderr, status } = await runCli(['cost', '--base', 'HEAD'], { cwd: folder });
      expect(stderr).toMatch(/HEAD:\.gpulint\.yaml:1:\d+: .*; its present state applies instead/);
      expect([stdout.includes(change), status]).toEqual([true, 0]);
    }
  });

  test('a comment for a pull request, which no name can break', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 1) });
    write(folder, { 'a|b.yaml': server('"@team `x`"', 1) });
    const { stdout } = await runCli(['cost', '--base', 'HEAD', '--format', 'md'], { cwd: folder });
    expect(stdout).toContain('### GPU cost: +$6.88/h (+$5,022/month)');
    expect(stdout).not.toMatch(/@team/);
    expect(stdout).toContain('| `a\\|b.yaml:1` |');
  });

  test('says what is wrong with a revision, a folder or a combination', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 1) });
    const outside = temporaryFolder();
    const errors = await Promise.all(
      [
        ['--base', 'nope'],
        ['--base', '--output=x'],
        ['--base', 'HEAD', outside],
        ['--base', 'HEAD', '--compare', 'x.json'],
        ['-', '--base', 'HEAD'],
      ].map(async (args) => (await runCli(['cost', ...args], { cwd: folder })).stderr),
    );
    expect(errors[0]).toBe(
      'gpulint: --base nope: no such revision in this clone; fetch it first, for example with git fetch\n',
    );
    expect(errors[1]).toContain('no such revision');
    expect(errors[2]).toContain('needs a git repository');
    expect(errors[3]).toBe('gpulint: --base cannot be combined with --compare\n');
    expect(errors[4]).toContain('--base cannot compare standard input');
  });

  test('runs nothing that the repository configures', async () => {
    const { folder, git } = repository({ 'chat.yaml': server('chat', 1), '.gitattributes': '*.yaml filter=evil\n' });
    const mark = path.join(folder, 'ran');
    git('config', 'filter.evil.smudge', `touch ${mark}; cat`);
    git('config', 'core.fsmonitor', `touch ${mark}`);
    const { status } = await runCli(['cost', '--base', 'HEAD'], { cwd: folder });
    expect(status).toBe(0);
    expect(() => execFileSync('ls', [mark], { stdio: 'pipe' })).toThrow();
  });
});

describe('--compare', () => {
  test('reads a report of check', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 1) });
    await runCli(['check', '--format', 'json', '--output', 'before.json'], { cwd: folder });
    write(folder, { 'chat.yaml': server('chat', 2) });
    const { stdout, status } = await runCli(['cost', 'chat.yaml', '--compare', 'before.json', '--max-increase', '5'], {
      cwd: folder,
    });
    expect(stdout).toContain('$6.88/h → $13.76/h');
    expect(status).toBe(1);
  });

  test('rejects anything else', async () => {
    const { folder } = repository({ 'chat.yaml': server('chat', 1), 'other.json': '{"version": 2}', 'no.json': '{' });
    const [other, no, missing] = await Promise.all(
      ['other.json', 'no.json', 'missing.json'].map((name) =>
        runCli(['cost', 'chat.yaml', '--compare', name], { cwd: folder }),
      ),
    );
    expect(other?.stderr).toContain('other.json is not a gpulint report');
    expect(no?.stderr).toBe('gpulint: no.json is not JSON; write a report with gpulint check --format json\n');
    expect(missing?.stderr).toBe('gpulint: cannot read the report missing.json: no such file or folder\n');
  });
});

test('files of Terraform describe pools, also at the revision that is compared, and are not checked', async () => {
  const pod = server('chat', 1).replace(/node.kubernetes.io\/instance-type: [\w.]+, .*(?=\})/, 'pool: l4');
  const pool = (machine: string) =>
    `resource "aws_eks_node_group" "l4" {\n  instance_types = ["${machine}"]\n  labels = { pool = "l4" }\n}\n`;
  const { folder } = repository({ 'infra/nodes.tf': pool('g6.xlarge'), 'apps/chat.yaml': pod });
  write(folder, { 'infra/nodes.tf': pool('g6.2xlarge') });
  const { stdout } = await runCli(['cost', folder, '--base', 'HEAD']);
  // g6.xlarge $0.8048, g6.2xlarge $0.9776.
  expect(stdout).toContain('$0.80/h');
  expect(stdout).toContain('$0.98/h');
  const checked = await runCli(['check', folder]);
  expect(checked.stdout).toContain('1 file');
});

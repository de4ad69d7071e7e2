import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { type CostJson, costSchema } from '../../server/src/cli/cost/cost-schema.ts';
import { root, runCli, temporaryFolder } from './run-cli.ts';

const fixtures = path.join(root, 'test/fixtures/cost-report');

/** The report of the fixture in a format. The project has no repository here, so paths are relative to its parent. */
async function report(format: string, ...more: readonly string[]): Promise<string> {
  const cwd = temporaryFolder();
  cpSync(path.join(fixtures, 'shop'), path.join(cwd, 'shop'), { recursive: true });
  mkdirSync(path.join(cwd, 'out'));
  const { stdout, stderr, status } = await runCli(['cost', 'shop', '--format', format, ...more], { cwd });
  expect([stderr, status]).toEqual(['', 0]);
  const output = more[more.indexOf('--output') + 1];
  return more.includes('--output') && output !== undefined ? readFileSync(path.join(cwd, output), 'utf8') : stdout;
}

const withoutNonce = (html: string) => html.replaceAll(/(?<=nonce-|nonce=")[0-9a-f]{32}/g, '…');

describe('a report of a small project', () => {
  test('as HTML', async () => {
    await expect(withoutNonce(await report('html'))).toMatchFileSnapshot(path.join(fixtures, 'shop.html'));
  });

  test('as CSV, in lines that end in CRLF', async () => {
    const csv = await report('csv');
    expect(csv.match(/(?<!\r)\n/g)).toBeNull();
    await expect(csv).toMatchFileSnapshot(path.join(fixtures, 'shop.csv'));
  });

  test('as Markdown', async () => {
    await expect(await report('markdown')).toMatchFileSnapshot(path.join(fixtures, 'shop.md'));
  });

  test('as JSON that its schema describes', async () => {
    const json = JSON.parse(await report('json'));
    expect(costSchema.parse(json)).toEqual(json);
    expect(json.savings).toEqual([
      expect.objectContaining({ workload: 'InferenceService/chat', hourly: 6.88, fix: 'Set minReplicas to 0 (now 1)' }),
    ]);
  });
});

describe('the amounts of all formats', () => {
  const rows = async (): Promise<readonly Record<string, string>[]> => parse(await report('csv'), { columns: true });

  test('add up to the totals', async () => {
    const csv = await rows();
    const json: CostJson = JSON.parse(await report('json'));
    const sum = (column: string) => Number(csv.reduce((all, row) => all + Number(row[column]), 0).toFixed(6));
    expect({ min: sum('hourly_usd_min'), max: sum('hourly_usd_max') }).toEqual(json.after.hourly);
    expect({ min: sum('gpus_min'), max: sum('gpus_max') }).toEqual(json.after.gpus);
    expect(sum('idle_hourly_usd')).toBe(json.after.idleHourly);
    expect({ min: sum('monthly_usd_min'), max: sum('monthly_usd_max') }).toEqual(json.after.monthly);
    const html = await report('html');
    const sums = html.slice(html.indexOf('<tfoot>'), html.indexOf('</tfoot>'));
    expect([...sums.matchAll(/<td class="number">([^<]*)/g)].map(([, text]) => text)).toEqual([
      '6–8',
      '$16.16–$29.92',
      '$9.28',
      '$6,774–$16,819',
    ]);
    // The parts of the idle share are the ceiling: 9.28 + 13.76 + 6.88.
    expect(html).toMatch(/Idle<[^\n]*\$9\.28\/h[^\n]*\n[^\n]*\$13\.76\/h[^\n]*\n[^\n]*\$6\.88\/h/);
  });

  test('stay ranges', async () => {
    const chat = (await rows()).find(({ name }) => name === 'chat');
    expect([chat?.hourly_usd_min, chat?.hourly_usd_max, chat?.idle_hourly_usd]).toEqual(['6.88', '20.64', '6.88']);
    expect(await report('html')).toContain('$6.88–$20.64');
  });

  test('are empty and not zero without a price', async () => {
    const embed = (await rows()).find(({ name }) => name === 'embed');
    expect([embed?.hourly_usd_min, embed?.monthly_usd_max]).toEqual(['', '']);
    expect(embed?.no_price_because).toBe('GPU model unknown (nvidia.com/gpu)');
    expect(await report('html')).toContain('No price: <bdi>GPU model unknown (nvidia.com/<wbr>gpu)</bdi>');
  });
});

test('names are neither markup nor formulas, and their writing direction is visible', async () => {
  const html = await report('html');
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html).toContain('&#60;script&#62;alert(1)');
  const csv = await report('csv');
  expect(csv).toContain(`,"'=cmd|' /C calc'!A0","a""b,\\u202ec'd\\u000ax",`);
  for (const text of [html, csv, await report('markdown'), await report('json')]) expect(text).not.toMatch(/\u202e/);
});

test('links of a page lead to the files from its folder', async () => {
  const html = await report('html', '--output', 'out/page.html');
  expect(html).toContain('href="../shop/serving/chat.yaml"');
  expect(await report('html')).toContain('href="./shop/serving/chat.yaml"');
});

test('a page and a table of values show a change', async () => {
  const cwd = temporaryFolder();
  cpSync(path.join(fixtures, 'shop'), path.join(cwd, 'shop'), { recursive: true });
  await runCli(['check', 'shop', '--format', 'json', '--output', 'before.json'], { cwd });
  const chat = path.join(cwd, 'shop/serving/chat.yaml');
  writeFileSync(chat, readFileSync(chat, 'utf8').replace('name: chat', 'name: "=<script>"'));
  const run = async (format: string) =>
    (await runCli(['cost', 'shop', '--compare', 'before.json', '--format', format], { cwd })).stdout;
  const rows: Record<string, string>[] = parse(await run('csv'), { columns: true });
  const changed = rows.filter(({ change }) => change !== 'unchanged');
  expect(changed.map(({ workload, change, increase_usd_max }) => [workload, change, increase_usd_max])).toEqual([
    ['InferenceService/chat', 'removed', '-20.64'],
    ['InferenceService/=<script>', 'new', '20.64'],
  ]);
  const html = await run('html');
  expect(html).toContain('<dt>Change per hour</dt><dd>±$0/h</dd>');
  expect(html).toContain('=&#60;script&#62;</bdi> <small>new</small>');
  expect(html).not.toContain('<script');
});

describe('an amount that is not quite what it seems', () => {
  // A g6.xlarge is not sold in eu-west-1; a service of Knative has no upper bound: 1.006 each.
  const manifests = `apiVersion: v1
kind: Pod
metadata: {name: elsewhere}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge, topology.kubernetes.io/region: eu-west-1}
  containers: [{name: main, image: "registry.example.com/app:1", resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: open}
spec:
  template:
    metadata: {annotations: {autoscaling.knative.dev/min-scale: "2"}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}
      containers: [{image: "registry.example.com/app:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const run = async (...args: readonly string[]): Promise<string> =>
    (await runCli([...args, '--no-color', '-'], { input: manifests })).stdout;

  test('says so in all formats', async () => {
    const words = 'in us-east-1, eu-west-1 unknown';
    expect(await run('cost')).toContain(`$0.80/h ${words}\n`);
    expect(await run('cost', '--format', 'markdown')).toContain(` | $0.80 (${words}) | `);
    expect(await run('cost', '--format', 'html')).toContain(`Price: <bdi>${words}</bdi>`);
    const [pod] = parse<Record<string, string>>(await run('cost', '--format', 'csv'), { columns: true });
    expect([pod?.hourly_usd_max, pod?.caveat]).toEqual(['0.8048', words]);
    const json: CostJson = JSON.parse(await run('cost', '--format', 'json'));
    expect(json.workloads.map(({ after }) => after?.caveat)).toEqual([words, null]);
  });

  test('has no upper end without a bound of pods', async () => {
    const [, service] = parse<Record<string, string>>(await run('cost', '--format', 'csv'), { columns: true });
    expect([service?.hourly_usd_min, service?.hourly_usd_max, service?.monthly_usd_max]).toEqual(['2.012', '', '']);
    expect(await run('check')).toContain('3 GPUs or more, from $2.82/h: ');
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { folder } from '../lsp/editor.ts';
import { openFolder, titles } from '../lsp/served-model.ts';
import { root, runCli } from './run-cli.ts';

// A chart, a base with two overlays, an unused base, claims and scalers: the editor and the command line agree on all of them.
const cwd = path.join(root, 'test/fixtures/project');
const names = readdirSync(cwd, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(cwd, path.join(entry.parentPath, entry.name)))
  .sort();

async function reportOf(args: readonly string[]): Promise<Report> {
  const { stdout } = await runCli(['check', '--no-config', '--format', 'json', ...args], { cwd });
  return JSON.parse(stdout) as Report;
}

/** The workloads of the text report by file, formatted like the editor's lens. */
async function cliPrices(): Promise<Readonly<Record<string, readonly string[]>>> {
  const { stdout } = await runCli(['check', '--no-config', '.'], { cwd });
  const found: Record<string, string[]> = {};
  for (const line of stdout.split('\n')) {
    const [, name, accelerators = '', cost = ''] = /^(\S+?):\d+:\d+ {2}.*? {2,}(\d.*?) {2,}(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const [devices, readWith] = accelerators.split(' with ');
    const title = `${devices} · ${cost.replace(/ · counted in .*/, '')}`;
    found[name] = [...(found[name] ?? []), readWith === undefined ? title : `with ${readWith}: ${title}`];
  }
  return found;
}

test('the editor shows the same workloads and amounts as the command line', async () => {
  const files = Object.fromEntries(
    names.map((name) => [`${folder}/${name}`, readFileSync(path.join(cwd, name), 'utf8')]),
  );
  const editor = await openFolder(files);
  for (const [uri, text] of Object.entries(files)) await editor.open(uri, text);
  const shown = async () => {
    const found: Record<string, readonly string[]> = {};
    for (const name of names) {
      const lenses = await titles(editor, `${folder}/${name}`);
      if (lenses.length > 0) found[name] = lenses.map((title) => title.replace(/ · \d+ replicas .*/, ''));
    }
    return found;
  };
  const prices = await cliPrices();
  expect(Object.values(prices).flat()).toHaveLength(12);
  await expect.poll(shown, { timeout: 5000 }).toEqual(prices);
});

test('a base counts once for each overlay that uses it, and an unused base counts once', async () => {
  const { files, summary } = await reportOf(['.']);
  const counted = files.flatMap(({ path: name, workloads }) =>
    workloads.map(({ countedIn, gpus }) => [name, gpus, ...(countedIn ?? [])]),
  );
  const overlays = ['kustomize/dev/kustomization.yaml', 'kustomize/prod/kustomization.yaml'];
  const unused = 'kustomize/unused/kustomization.yaml';
  expect(counted.filter(([name]) => String(name).startsWith('kustomize/'))).toEqual([
    ['kustomize/base/chat.yaml', { min: 2, max: 6 }, ...overlays],
    ['kustomize/base/kustomization.yaml', { min: 2, max: 6 }, ...overlays],
    ['kustomize/dev/kustomization.yaml', { min: 2, max: 6 }],
    ['kustomize/prod/kustomization.yaml', { min: 8, max: 24 }],
    ['kustomize/prod/larger.yaml', { min: 8, max: 24 }, 'kustomize/prod/kustomization.yaml'],
    ['kustomize/unused/batch.yaml', { min: 24, max: 24 }, unused],
    [unused, { min: 24, max: 24 }],
  ]);
  // 6 from the chart; 2–6, 8–24 and 24 from kustomize; 2 from a claim; 0–4 scaled.
  expect(summary).toMatchObject({ workloads: 8, gpus: { min: 42, max: 66 } });
});

test('a base that is checked without its overlays counts on its own', async () => {
  const { files, summary } = await reportOf(['kustomize/base']);
  expect(summary).toMatchObject({ workloads: 1, gpus: { min: 2, max: 6 } });
  expect(files.map(({ workloads }) => workloads.map(({ countedIn }) => countedIn))).toEqual([
    [['kustomization.yaml']],
    [undefined],
    [],
  ]);
  expect((await reportOf(['kustomize/base/chat.yaml'])).summary).toMatchObject({ workloads: 1 });
});

test('the text report shows where a base is counted', async () => {
  const { stdout } = await runCli(['check', '--no-config', 'kustomize'], { cwd });
  expect(stdout).toContain(
    '2–6 × L4  $2.30–$6.90/h on demand (node g6.12xlarge $4.60/h) · $0.99–$2.96/h spot · counted in kustomize/dev/kustomization.yaml and kustomize/prod/kustomization.yaml\n',
  );
});

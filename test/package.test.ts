// One package.json serves npm and the VS Code marketplace: both must carry what runs, and nothing else.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../scripts/vscode/lab.mjs';

const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const needed = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'THIRD_PARTY_NOTICES', 'dist/catalog.br'];
const bundles = [
  'client',
  'server',
  'language-server',
  'catalog',
  'protocol',
  'cli',
  'commands',
  'client.browser',
  'server.browser',
].map((name) => `dist/${name}.js`);
const allowed =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|THIRD_PARTY_NOTICES|(dist|schemas|snippets|syntaxes|images|walkthrough)\/[^/]+|docs\/rules\/[\w-]+\.md)$/;
const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-package-'));

beforeAll(() => {
  if (!fs.existsSync(path.join(root, 'dist/cli.js')))
    throw new Error('dist/cli.js is missing: run "npm run build" first');
});
afterAll(() => fs.rmSync(temp, { recursive: true, force: true }));

describe('the package', () => {
  it('carries for npm what runs, and nothing else', () => {
    const [packed] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']));
    const files: string[] = packed.files.map((file: { path: string }) => file.path);
    expect(files).toEqual(expect.arrayContaining([...needed, ...bundles]));
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
  });

  it('carries for VS Code the same', () => {
    const vsce = path.join(root, 'node_modules/@vscode/vsce/vsce');
    const files = run(process.execPath, [vsce, 'ls', '--no-dependencies']).trim().split('\n');
    expect(files).toEqual(expect.arrayContaining([...needed, ...bundles]));
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
  });

  it('holds every file that the manifest names', () => {
    // The client reads the page of each rule there.
    expect(manifest.files).toContain('docs/rules/*.md');
    const { snippets, grammars, walkthroughs } = manifest.contributes;
    const steps = walkthroughs.flatMap((one: { steps: unknown[] }) => one.steps);
    const media = steps.map((step: { media: { markdown: string } }) => step.media.markdown);
    const paths = [...snippets, ...grammars].map((one: { path: string }) => one.path);
    const main = [manifest.main, manifest.browser, manifest.icon, ...Object.values<string>(manifest.bin)];
    const named: string[] = [...main, ...paths, ...media];
    for (const file of named) expect(fs.existsSync(path.join(root, file)), file).toBe(true);
  });

  it('is small as a VSIX', () => {
    const vsce = path.join(root, 'node_modules/@vscode/vsce/vsce');
    const vsix = path.join(temp, 'gpulint.vsix');
    run(process.execPath, [vsce, 'package', '--no-dependencies', '--out', vsix]);
    expect(fs.statSync(vsix).size).toBeLessThan(3_450_000);
  });

  it('has nothing that asks the network', () => {
    for (const bundle of bundles) {
      const code = fs.readFileSync(path.join(root, bundle), 'utf8');
      const asks = code.match(
        /require\("(?:node:)?(?:https?|http2|tls|dns|dgram)"\)|\bfetch\(|\bXMLHttpRequest\b|\bnew WebSocket\b/g,
      );
      expect(asks, bundle).toBeNull();
    }
  });

  it('is an npm package whose command works after an installation', () => {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', temp]));
    const home = path.join(temp, 'home');
    fs.mkdirSync(home);
    fs.writeFileSync(path.join(home, 'package.json'), '{"private":true}');
    // Offline: the package has no dependencies, so there is nothing to fetch.
    run('npm', ['install', '--offline', '--no-audit', '--no-fund', path.join(temp, packed.filename)], home);
    const version = run(process.execPath, [path.join(home, 'node_modules/.bin/gpulint'), '--version'], home);
    expect(version.trim()).toBe(manifest.version);
  });
});

function run(command: string, args: readonly string[], cwd = root): string {
  const shell = process.platform === 'win32' && command === 'npm';
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', shell });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

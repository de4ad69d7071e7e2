import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, expect, test } from 'vitest';

// The configuration that docs/editors.md gives for Neovim, in a real Neovim.

const version = spawnSync('nvim', ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0];
const missing = version === undefined;
if (missing && process.env.GPULINT_REQUIRE_EDITORS) throw new Error('nvim is not installed, and this run requires it');
const skipped = missing ? ' (skipped: nvim is not installed)' : '';

const temp = mkdtempSync(path.join(tmpdir(), 'gpulint-neovim-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  nodeSelector:
    cloud.google.com/gke-accelerator: nvidia-l4
  containers:
    - name: trainer
      image: ghcr.io/example/trainer:1.0
      command: [python, train.py]
      resources:
        requests:
          nvidia.com/gpu: 1
`;

test.skipIf(missing)(`Neovim shows findings, applies a fix and shows a hover${skipped}`, { timeout: 90_000 }, () => {
  const doc = readFileSync(new URL('../../docs/editors.md', import.meta.url), 'utf8');
  const config = /^```lua tested\n([\s\S]*?)^```/m.exec(doc)?.[1];
  expect(config).toBeDefined();
  writeFileSync(path.join(temp, 'config.lua'), config ?? '');
  writeFileSync(path.join(temp, 'pod.yaml'), pod);
  installGpulint(temp);

  const seenFile = path.join(temp, 'seen.json');
  const drive = path.join(import.meta.dirname, 'neovim.lua');
  execFileSync(
    'nvim',
    ['--headless', '--clean', '-n', '-c', 'luafile config.lua', '-c', 'edit pod.yaml', '-c', `luafile ${drive}`],
    {
      cwd: temp,
      timeout: 80_000,
      stdio: 'pipe',
      env: {
        ...process.env,
        PATH: `${temp}${path.delimiter}${process.env.PATH}`,
        // Its log and state belong to the test.
        HOME: temp,
        XDG_CACHE_HOME: temp,
        XDG_STATE_HOME: temp,
        XDG_DATA_HOME: temp,
        GPULINT_SEEN: seenFile,
      },
    },
  );

  const seen = JSON.parse(readFileSync(seenFile, 'utf8')) as Seen;
  expect(seen.failed).toBeUndefined();
  expect(seen.diagnostics).toContainEqual(
    expect.objectContaining({ source: 'gpulint', code: 'gpu-limits-required', line: 13 }),
  );
  expect(seen.offered).toEqual(expect.arrayContaining([expect.stringMatching(/limit of nvidia/)]));
  expect(seen.text).toContain('        limits:');
  expect(seen.text).toContain('          nvidia.com/gpu: 1');
  expect((seen.hover ?? []).join('\n')).toMatch(/L4 · \$\d/);
});

interface Seen {
  readonly failed?: string;
  readonly diagnostics?: readonly { readonly line: number; readonly source: string; readonly code: string }[];
  readonly offered?: readonly string[];
  readonly text?: readonly string[];
  readonly hover?: readonly string[];
}

/** The program under the name that the configuration starts, bundled from the sources, so that a stale dist/ cannot pass for them. */
function installGpulint(folder: string): void {
  buildSync({
    entryPoints: ['server/src/lsp/main.ts'],
    outfile: path.join(folder, 'server.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node18',
  });
  const program = path.join(folder, 'gpulint');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${folder}/server.js" "$@"\n`);
  chmodSync(program, 0o755);
}

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { editorEnvironment, installGpulint, pod, testedConfig } from './install-gpulint.ts';

// The configuration that docs/editors.md gives for Neovim, in a real Neovim.

const version = spawnSync('nvim', ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0];
const missing = version === undefined;
if (missing && process.env.GPULINT_REQUIRE_EDITORS) throw new Error('nvim is not installed, and this run requires it');
const skipped = missing ? ' (skipped: nvim is not installed)' : '';

const temp = mkdtempSync(path.join(tmpdir(), 'gpulint-neovim-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

test.skipIf(missing)(
  `Neovim shows findings and costs, applies a fix, shows a hover and completes${skipped}`,
  { timeout: 90_000 },
  () => {
    writeFileSync(path.join(temp, 'config.lua'), testedConfig('lua'));
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
        env: editorEnvironment(temp, seenFile),
      },
    );

    const seen = JSON.parse(readFileSync(seenFile, 'utf8')) as Referenced;
    expect(seen.failed).toBeUndefined();
    expect(seen.diagnostics).toContainEqual(
      expect.objectContaining({ source: 'gpulint', code: 'gpu-limits-required', line: 14 }),
    );
    expect(seen.offered).toEqual(expect.arrayContaining([expect.stringMatching(/limit of nvidia/)]));
    expect(seen.text).toContain('        limits:');
    expect(seen.text).toContain('          nvidia.com/gpu: 1');
    expect((seen.hover ?? []).join('\n')).toMatch(/A100 40GB SXM · \$\d/);
    expect((seen.lenses ?? []).join('\n')).toMatch(/1 × A100 40GB SXM · \$\d/);
    expect(seen.completions).toContain('nvidia.com/mig-1g.5gb');
  },
);

interface Referenced {
  readonly failed?: string;
  readonly diagnostics?: readonly { readonly line: number; readonly source: string; readonly code: string }[];
  readonly offered?: readonly string[];
  readonly text?: readonly string[];
  readonly hover?: readonly string[];
  readonly lenses?: readonly string[];
  readonly completions?: readonly string[];
}

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { editorEnvironment, installGpulint, pod, testedConfig } from './install-gpulint.ts';

// The configuration that docs/editors.md gives for Emacs, in a real Emacs with eglot.

const asked = spawnSync(
  'emacs',
  ['--batch', '--eval', "(progn (package-initialize) (require 'eglot) (require 'yaml-mode))"],
  {
    encoding: 'utf8',
  },
);
const missing = asked.status !== 0;
const why = asked.error ? 'emacs is not installed' : 'this Emacs has no eglot or no yaml-mode';
if (missing && process.env.GPULINT_REQUIRE_EDITORS) throw new Error(`${why}, and this run requires it`);

const temp = mkdtempSync(path.join(tmpdir(), 'gpulint-emacs-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

test.skipIf(missing)(
  `Emacs shows findings, applies a fix, shows a hover and completes${missing ? ` (skipped: ${why})` : ''}`,
  { timeout: 90_000 },
  () => {
    const config = `(package-initialize)\n(require 'yaml-mode)\n${testedConfig('elisp')}`;
    writeFileSync(path.join(temp, 'config.el'), config);
    writeFileSync(path.join(temp, 'pod.yaml'), pod);
    installGpulint(temp);
    const seenFile = path.join(temp, 'seen.json');
    execFileSync('emacs', ['--batch', '-l', 'config.el', '-l', path.join(import.meta.dirname, 'emacs.el')], {
      cwd: temp,
      timeout: 80_000,
      stdio: 'pipe',
      env: editorEnvironment(temp, seenFile),
    });

    const seen = JSON.parse(readFileSync(seenFile, 'utf8')) as Referenced;
    expect(seen.failed).toBeUndefined();
    expect(seen.diagnostics).toContainEqual({
      line: 15,
      text: expect.stringMatching(/nvidia\.com\/gpu has a request \(1\) but no limit/),
    });
    expect(seen.offered).toEqual(expect.arrayContaining([expect.stringMatching(/limit of nvidia/)]));
    expect(seen.text).toContain('        limits:\n          nvidia.com/gpu: 1\n');
    expect(seen.hover).toMatch(/A100 40GB SXM · \$\d/);
    expect(seen.completions).toContain('nvidia.com/mig-1g.5gb');
  },
);

interface Referenced {
  readonly failed?: string;
  readonly diagnostics?: readonly { readonly line: number; readonly text: string }[];
  readonly offered?: readonly string[];
  readonly text?: string;
  readonly hover?: string;
  readonly completions?: readonly string[];
}

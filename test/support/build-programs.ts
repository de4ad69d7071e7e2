// Vitest's global setup: bundles the command line and the server once per run, from the sources, so that a stale dist/ cannot pass for them.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import * as esbuild from 'esbuild';
import type { TestProject } from 'vitest/node';
import { bundlesOf } from '../../scripts/bundles.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of cli.js and server.js. */
    programs: string;
    /** Whether permissions can be tested: not where only root may run Node. */
    canDropRights: boolean;
  }
}

const root = path.join(import.meta.dirname, '../..');

export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-programs-'));
  chmodSync(folder, 0o755);
  // The pages of the rules are files of the package.
  symlinkSync(path.join(root, 'docs'), path.join(folder, 'docs'));
  const build = async () => {
    const wanted = bundlesOf({ dev: false }).filter(({ outfile }) =>
      /\/(protocol|catalog|language-server|server|commands|cli|prices|reader|cluster)\.js$/.test(outfile),
    );
    await Promise.all(
      wanted.map(({ plugins, outfile, ...bundle }) =>
        esbuild.build({
          ...bundle,
          absWorkingDir: root,
          outfile: path.join(folder, path.basename(outfile)),
          // The last step of the CLI's works on the file in dist/.
          plugins: plugins.filter(({ name }) => name !== 'executable'),
        }),
      ),
    );
  };
  await build();
  project.onTestsRerun(build);
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  project.provide('programs', folder);
  project.provide('canDropRights', spawnSync(process.execPath, ['--version'], { ...nobody, cwd: '/' }).status === 0);
  return () => rmSync(folder, { recursive: true, force: true });
}

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, onTestFinished } from 'vitest';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = path.join(root, 'test/fixtures/cli');

// Bundled from the sources for each test file, so that a stale dist/ cannot pass for them.
export const cli = path.join(mkdtempSync(path.join(tmpdir(), 'gpulint-cli-')), 'cli.js');
buildSync({
  entryPoints: [path.join(root, 'server/src/cli/main.ts')],
  outfile: cli,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node18',
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'importMetaUrl' },
});
afterAll(() => rmSync(path.dirname(cli), { recursive: true, force: true }));

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as its own process. Colour and the like are as in a bare CI job unless `env` says otherwise. */
export function runCli(
  args: readonly string[],
  {
    cwd = fixtures,
    env = {},
    input = '',
  }: { cwd?: string; env?: Record<string, string>; input?: string | Buffer } = {},
): Promise<CliResult> {
  const { NO_COLOR, FORCE_COLOR, ...inherited } = process.env;
  const child = spawn(process.execPath, [cli, ...args], { cwd, env: { ...inherited, ...env } });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that does not read its input closes the pipe: that is its right.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      resolve({ status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

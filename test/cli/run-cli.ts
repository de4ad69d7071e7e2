import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = path.join(root, 'test/fixtures/cli');

export const cli = path.join(inject('programs'), 'cli.js');

// Root can read and write everything, so tests of permissions run as another user.
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export const canDropRights = inject('canDropRights');

/** Makes the user of `unprivileged` the owner of a folder and its content. */
export function giveAway(folder: string): void {
  if (nobody.uid === undefined) return;
  for (const name of ['.', ...readdirSync(folder)]) chownSync(path.join(folder, name), nobody.uid, nobody.gid);
}

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in its own process. The environment is that of a plain CI job, plus `env`. */
export function runCli(
  args: readonly string[],
  {
    cwd = fixtures,
    env = {},
    input = '',
    unprivileged = false,
  }: { cwd?: string; env?: Record<string, string>; input?: string | Buffer; unprivileged?: boolean } = {},
): Promise<CliResult> {
  const { NO_COLOR, FORCE_COLOR, ...inherited } = process.env;
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...inherited, ...env },
    ...(unprivileged ? nobody : {}),
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that does not read its input may close the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      resolve({ status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** A temporary folder that is deleted after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = path.join(root, 'test/fixtures/cli');

export const cli = path.join(inject('programs'), 'cli.js');

// Root may read and write everything, so what is about permissions runs as somebody who may not.
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export const canDropRights = inject('canDropRights');

/** Gives a folder and what is in it to the user as whom `unprivileged` runs. */
export function giveAway(folder: string): void {
  if (nobody.uid === undefined) return;
  for (const name of ['.', ...readdirSync(folder)]) chownSync(path.join(folder, name), nobody.uid, nobody.gid);
}

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

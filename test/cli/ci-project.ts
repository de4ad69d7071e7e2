import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli, fixtures, temporaryFolder } from './run-cli.ts';

/** A repository with the fixtures' project at its root, so that paths below the root are the same wherever the tests run. */
export function repository(): string {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, '.git'));
  cpSync(path.join(fixtures, 'project'), path.join(folder, 'deploy'), { recursive: true });
  return folder;
}

/** Standard error without what `gpulint cost` reports there of the repository: its file with a syntax error, which has no cost. */
export function otherWarnings(stderr: string): string {
  return stderr.replace(/^gpulint: deploy\/training\/broken\.yaml:.*\n/gm, '');
}

/** A folder for PATH whose `npx --yes gpulint@VERSION` is the command line under test, and which records the requested versions. */
export function npxFolder(): { readonly folder: string; readonly log: string } {
  const folder = temporaryFolder();
  const log = path.join(folder, 'versions');
  const script = `#!/bin/sh\nshift\necho "$1" >> '${log}'\nshift\nexec '${process.execPath}' '${cli}' "$@"\n`;
  writeFileSync(path.join(folder, 'npx'), script);
  chmodSync(path.join(folder, 'npx'), 0o755);
  return { folder, log };
}

export function podText({ name = 'pod', resources = 'requests: {nvidia.com/gpu: 1}', newline = '\n' } = {}): string {
  return [
    'apiVersion: v1',
    'kind: Pod',
    `metadata: {name: ${name}}`,
    'spec:',
    '  containers:',
    '    - name: main',
    '      image: registry.example.com/a:1',
    '      resources:',
    `        ${resources}`,
    '',
  ].join(newline);
}

/** Makes a folder a repository of one commit. */
export function commit(cwd: string): void {
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'first'],
  ])
    spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd });
}

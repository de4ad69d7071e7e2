import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { matchesAny } from '../../server/src/config/globs.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// The editor and the command line ignore the same files.

const files = [
  ...['.hidden.yaml', 'a.json', 'a.yaml', 'a.yml', 'gpu-1.yaml', 'gpu-12.yaml', `${'a'.repeat(60)}.yaml`],
  ...['old/a.yaml', 'old/deep/b.yaml', 'team/gpu-2.yaml', 'team/old/c.yaml', 'team/old/deep/d.yaml', 'team/{x}.yaml'],
];

test.each([
  'old',
  '/old',
  './old/',
  'old/**',
  '**/old/*.yaml',
  'team/**/*.yaml',
  '*.{yml,json}',
  'gpu-?.yaml',
  'gpu-[0-9].yaml',
  'gpu-[!0-9]*.yaml',
  '{old,team}/*.yaml',
  '{x}.yaml',
  '!old',
  '..',
  '../**',
  '+(a|b).yaml',
  '',
  '*',
  '**',
  // This one once did not end on the file of 60 letters.
  `${'*a'.repeat(20)}*b`,
])('%s', async (glob) => {
  const folder = temporaryFolder();
  for (const name of files) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), '');
  }
  writeFileSync(path.join(folder, '.gpulint.yaml'), `ignore: [${JSON.stringify(glob)}]\n`);
  const { stdout } = await runCli(['check', '--format', 'json', '.'], { cwd: folder });
  const checked = (JSON.parse(stdout) as Report).files.map((file) => file.path);
  expect(checked.sort()).toEqual(files.filter((name) => !matchesAny(name, [glob])).sort());
});

// The commands and configs that README.md and docs/configuration.md show work from a clone, before anything is published.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { scripts, version } from '../../package.json';
import { ruleIds } from '../../server/src/rules/index.ts';
import { commit, otherWarnings, repository } from './ci-project.ts';
import { root, runCli, temporaryFolder } from './run-cli.ts';

const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const configuration = readFileSync(path.join(root, 'docs/configuration.md'), 'utf8');

const lines = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)]
  .flatMap(([, body = '']) => body.trim().split('\n'))
  .map((line) => line.replace(/\s+#.*$/, ''));

test('README shows commands that run', async () => {
  expect(readme).not.toContain('npx gpulint');
  const commands = lines.filter((line) => /^(gpulint|node dist\/cli\.js) /.test(line));
  expect(commands.length).toBeGreaterThan(6);
  for (const line of commands) {
    const cwd = line.startsWith('node') ? root : repository();
    if (line.includes('--base')) commit(cwd);
    const args = line.replace(/^(gpulint|node dist\/cli\.js) /, '').split(' ');
    const { status, stderr } = await runCli(args, { cwd });
    expect({ line, stderr: otherWarnings(stderr), works: status === 0 || status === 1 }).toEqual({
      line,
      stderr: '',
      works: true,
    });
  }
}, 60_000);

test('README names scripts, rules and files that exist', () => {
  for (const [, script = ''] of readme.matchAll(/`?npm (?:run )?(start|test|build)\b/g))
    expect(scripts).toHaveProperty(script);
  for (const [, used] of readme.matchAll(/gpulint-(\d[\d.]*\d)/g)) expect(used).toBe(version);
  for (const [, link = ''] of [...readme.matchAll(/\]\(([\w./-]+)/g)])
    expect(existsSync(path.join(root, link)), link).toBe(true);
  const atLeast = Number(/More than (\d+) rules/.exec(readme)?.[1]);
  expect(ruleIds.length).toBeGreaterThan(atLeast);
});

test.each([
  ['README.md', readme],
  ['docs/configuration.md', configuration],
])('%s shows a valid config', async (_, text) => {
  const config = [...text.matchAll(/^```yaml\n(platform:.*?)^```$/gms)].map(([, body = '']) => body);
  expect(config).toHaveLength(1);
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, '.git'));
  writeFileSync(path.join(cwd, '.gpulint.yaml'), config.join(''));
  expect(await runCli(['check', '.'], { cwd })).toMatchObject({ status: 0, stderr: '' });
});

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { rules } from '../../server/src/rules/index.ts';
import { rulesOfSet } from '../../server/src/rules/rule-sets.ts';
import { podText, repository } from './ci-project.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const chat = 'deploy/serving/chat.yaml';

async function found(args: readonly string[], config = '') {
  const cwd = repository();
  if (config !== '') writeFileSync(path.join(cwd, 'deploy/.gpulint.yaml'), config);
  const { stdout } = await runCli(['check', '--format', 'json', ...args, chat], { cwd });
  const [{ findings }] = JSON.parse(stdout).files;
  return findings.map(({ rule, severity }: Record<string, string>) => `${severity} ${rule}`);
}

const recommended = ['info scale-to-zero-candidate', 'error gpu-limits-required'];
const strict = ['warning scale-to-zero-candidate', 'error gpu-limits-required'];
const costOnly = ['info scale-to-zero-candidate'];

describe('the rule set', () => {
  test.each([
    ['nothing is set', [], '', recommended],
    ['--rules recommended', ['--rules', 'recommended'], '', recommended],
    ['--rules strict', ['--rules', 'strict'], '', strict],
    ['--rules cost-only', ['--rules', 'cost-only'], '', costOnly],
    ['--rules cost-only without a config', ['--no-config', '--rules', 'cost-only'], '', costOnly],
    ['extends: strict', [], 'extends: strict\n', strict],
    ['--rules in place of extends', ['--rules', 'cost-only'], 'extends: strict\n', costOnly],
    [
      'a rule that is named counts before the set',
      [],
      'extends: cost-only\nrules: {gpu-limits-required: warning}\n',
      ['info scale-to-zero-candidate', 'warning gpu-limits-required'],
    ],
  ])('%s', async (_, args, config, expected) => {
    expect(await found(args, config)).toEqual(expected);
  });

  test('strict has no advice below a warning', () => {
    const changed = rulesOfSet('strict');
    for (const [id, { severity }] of rules) {
      expect(changed[id], id).toBe(severity === 'info' ? 'warning' : severity === 'hint' ? 'info' : undefined);
    }
  });

  test('is listed by gpulint rules', async () => {
    const ids = async (...args: string[]) =>
      (await runCli(['rules', ...args])).stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0]);
    expect(await ids()).toEqual([...rules.keys()]);
    expect(await ids('--rules', 'cost-only')).toContain('scale-to-zero-candidate');
    expect(await ids('--rules', 'cost-only')).not.toContain('gpu-limits-required');
  });

  test('that does not exist fails with one sentence', async () => {
    expect((await runCli(['check', '--rules', 'all', '.'])).stderr).toBe(
      "gpulint: option '--rules <set>' argument 'all' is invalid; allowed: recommended, strict, cost-only\n",
    );
  });
});

describe('unused suppressions', () => {
  const hints = async (text: string, ...args: string[]) => {
    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, 'pod.yaml'), text);
    const { stdout } = await runCli(['check', '--report-unused', ...args, 'pod.yaml'], { cwd });
    return [...stdout.matchAll(/:(\d+:\d+) +hint +(.*?) {2}unused-suppression$/gm)].map(
      ([, place, message]) => `${place} ${message}`,
    );
  };
  const limits = 'limits: {nvidia.com/gpu: 1}';

  test.each([
    [
      podText({ resources: `${limits} # gpulint-disable-line gpu-limits-required` }),
      '9:37 Unused suppression: gpu-limits-required finds nothing on this line',
    ],
    [`# gpulint-disable\n${podText({ resources: limits })}`, '1:1 Unused suppression: no rule finds anything below'],
    [
      podText({ resources: `${limits} # gpulint-disable-line gpu-limit-required` }),
      "9:37 No rule is named 'gpu-limit-required': this suppression has no effect; did you mean 'gpu-limits-required'?",
    ],
    [
      podText({ resources: limits, name: 'a, annotations: {gpulint.dev/disable: gpu-limits-required}' }),
      '3:56 Unused suppression: gpu-limits-required finds nothing in this object',
    ],
  ])('are reported', async (text, expected) => {
    expect(await hints(text)).toEqual([expected]);
  });

  test('are not reported if they are used, if a rule is off, or if the text cannot be read', async () => {
    const needed = podText({ resources: 'requests: {nvidia.com/gpu: 1} # gpulint-disable-line gpu-limits-required' });
    expect(await hints(needed)).toEqual([]);
    const other = podText({ resources: `${limits} # gpulint-disable-line gpu-limits-required` });
    expect(await hints(other, '--rules', 'cost-only')).toEqual([]);
    expect(await hints(`${other}broken: [\n`)).toEqual([]);
  });
});

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';
import { commit, npxFolder, otherWarnings, repository } from './ci-project.ts';
import { root, runCli, temporaryFolder } from './run-cli.ts';

const read = (name: string) => readFileSync(path.join(root, name), 'utf8');

describe('action.yml', () => {
  const action = parse(read('action.yml'));
  const [check, cost, upload] = action.runs.steps;

  const run = (inputs: Record<string, string>, step = check, cwd = repository()) => {
    const npx = npxFolder();
    const temp = temporaryFolder();
    const output = path.join(temp, 'output');
    const summary = path.join(temp, 'summary');
    const given: Record<string, string> = {};
    for (const [name, expression] of Object.entries<string>(step.env)) {
      const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression)?.[1] ?? '';
      given[name] = inputs[input] ?? String(action.inputs[input].default);
    }
    const { PATH = '', ...env } = process.env;
    // Like `shell: bash` on GitHub.
    const result = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
      cwd,
      encoding: 'utf8',
      env: {
        ...env,
        ...given,
        PATH: `${npx.folder}:${PATH}`,
        RUNNER_TEMP: temp,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
      },
    });
    return {
      ...result,
      versions: existsSync(npx.log) ? readFileSync(npx.log, 'utf8').trim().split('\n') : [],
      output: existsSync(output) ? readFileSync(output, 'utf8') : '',
      sarif: path.join(temp, 'gpulint.sarif'),
      summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '',
      cost: path.join(temp, 'gpulint-cost.md'),
    };
  };

  test('runs this version, annotates, and fails on errors', () => {
    const { stdout, stderr, status, versions, output } = run({});
    expect({ stderr, status, output, versions }).toEqual({
      stderr: '',
      status: 1,
      output: '',
      versions: [`gpulint@${version}`],
    });
    expect(stdout).toMatch(/^::error file=deploy\/serving\/chat\.yaml,line=16,/m);
  });

  test('passes its inputs on without executing them', () => {
    const paths = 'deploy/plain\n$(touch hacked)\n-x; exit 0\n';
    const { stdout, status } = run({ paths, 'fail-on': 'never', format: 'text', rules: 'cost-only' });
    // Two of the three are not paths.
    expect(status).toBe(2);
    expect(stdout).toContain('$(touch hacked)  skipped  cannot be read: no such file or folder');
    expect(stdout).toContain('-x; exit 0');
    expect(run({ paths: 'deploy', config: 'none.yaml' })).toMatchObject({
      status: 2,
      stderr: 'gpulint: cannot read the config none.yaml: no such file or folder\n',
    });
    expect(run({ paths: 'deploy', baseline: 'none.json' }).status).toBe(2);
  });

  test('writes SARIF on request, and still fails', () => {
    const { status, output, sarif } = run({ paths: 'deploy', 'upload-sarif': 'true' });
    expect(status).toBe(1);
    expect(output).toBe(`sarif=${sarif}\n`);
    expect(JSON.parse(readFileSync(sarif, 'utf8')).runs[0].results).toHaveLength(5);
    expect(upload.with.sarif_file).toBe(action.outputs.sarif.value);
  });

  test('compares the cost with another revision, in the job summary', () => {
    const cwd = repository();
    commit(cwd);
    const file = path.join(cwd, 'deploy/serving/chat.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/maxReplicas: \d+/, 'maxReplicas: 9'));
    const { status, summary, output, cost: table } = run({ 'cost-base': 'HEAD', paths: 'deploy' }, cost, cwd);
    expect({ status, output }).toEqual({ status: 0, output: `cost=${table}\n` });
    expect(summary).toMatch(/^### GPU cost: .*\+\$[1-9]/m);
    expect(summary).toContain('deploy/serving/chat.yaml');
    const limited = run({ 'cost-base': 'HEAD', paths: 'deploy', 'max-increase': '0.5' }, cost, cwd);
    expect(limited.status).toBe(1);
    expect(limited.summary).toBe(summary);
    expect(run({ 'cost-base': '$(touch x)' }, cost, cwd)).toMatchObject({ status: 2, summary: '' });
    expect(existsSync(path.join(cwd, 'x'))).toBe(false);
  });

  test('rejects a limit on the increase without a revision to compare with', () => {
    expect(cost.if).toContain("inputs.max-increase != ''");
    expect(run({ paths: 'deploy', 'max-increase': '5' }, cost)).toMatchObject({
      status: 2,
      stderr: 'gpulint: --max-increase requires --base <revision> or --compare <report>\n',
    });
  });

  test('interpolates no input into the scripts', () => {
    for (const { run: script = '' } of [check, cost]) expect(script).not.toContain('${{');
  });
});

test('the pre-commit hooks run this version on the given files', () => {
  const hooks: readonly { readonly id: string; readonly entry: string }[] = parse(read('.pre-commit-hooks.yaml'));
  expect(hooks.map(({ id }) => id)).toEqual(['gpulint', 'gpulint-fix']);
  for (const { id, entry } of hooks) {
    const npx = npxFolder();
    const cwd = repository();
    const [command = '', ...args] = entry.split(' ');
    // A name that starts with a dash is not an option.
    const files = ['deploy/serving/chat.yaml', 'deploy/plain/values.yaml', '-q.yaml', '--fix'];
    for (const name of files.slice(2)) writeFileSync(path.join(cwd, name), '');
    const env = { ...process.env, PATH: `${npx.folder}:${process.env.PATH}` };
    const { status, stderr } = spawnSync(command, [...args, ...files], { cwd, encoding: 'utf8', env });
    expect({ id, stderr, status }).toEqual({ id, stderr: '', status: id === 'gpulint' ? 1 : 0 });
    expect(readFileSync(npx.log, 'utf8')).toBe(`gpulint@${version}\n`);
  }
});

describe('docs/ci.md', () => {
  const text = read('docs/ci.md');
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, body = '']) => ({ language, body }));

  test('shows commands that run', async () => {
    const scripts = blocks.filter(({ language }) => language === 'sh').map(({ body }) => body);
    const steps = blocks
      .filter(({ language }) => language === 'yaml')
      .flatMap(({ body }) => body.match(/npx --yes gpulint .*/g) ?? []);
    expect(scripts.length).toBeGreaterThan(3);
    expect(steps.length).toBeGreaterThan(0);
    const cwd = repository();
    commit(cwd);
    for (const line of [...scripts.flatMap((script) => script.trim().split('\n')), ...steps]) {
      const [npx, ...words] = line.split(' ').filter((word) => word !== '--yes');
      expect([npx, words[0]]).toEqual(['npx', 'gpulint']);
      const { status, stderr } = await runCli(words.slice(1), { cwd });
      expect({ line, stderr: otherWarnings(stderr), works: status === 0 || status === 1 }).toEqual({
        line,
        stderr: '',
        works: true,
      });
      const output = /--output (\S+)/.exec(line)?.[1];
      if (output !== undefined) expect(existsSync(path.join(cwd, output)), output).toBe(true);
    }
  }, 60_000);

  test('shows valid YAML and a valid config', async () => {
    const config = blocks.find(({ body }) => body.startsWith('extends:'));
    expect(config).toBeDefined();
    for (const { language, body } of blocks) if (language === 'yaml') expect(() => parse(body)).not.toThrow();
    const cwd = temporaryFolder();
    mkdirSync(path.join(cwd, '.git'));
    writeFileSync(path.join(cwd, '.gpulint.yaml'), config?.body ?? '');
    const { status, stderr } = await runCli(['check', '.'], { cwd });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('documents every format, rule set and input', () => {
    for (const word of ['text', 'full', 'json', 'sarif', 'github', 'gitlab', 'junit', 'markdown'])
      expect(text).toContain(`| \`${word}\` |`);
    for (const set of ['recommended', 'strict', 'cost-only']) expect(text).toContain(`| \`${set}\` |`);
    for (const input of Object.keys(parse(read('action.yml')).inputs)) expect(text).toContain(`\`${input}\``);
    expect(text.match(/v\d+\.\d+\.\d+/g)).toEqual([`v${version}`, `v${version}`, `v${version}`]);
    for (const [, used] of text.matchAll(/gpulint@(\d[\d.]*)/g)) expect(used).toBe(version);
  });
});

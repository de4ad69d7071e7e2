import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { podText, repository } from './ci-project.ts';
import { fixtures, runCli, temporaryFolder } from './run-cli.ts';

const formats = ['sarif', 'github', 'gitlab', 'junit', 'markdown'] as const;
const endings = { sarif: 'sarif', github: 'github.txt', gitlab: 'gitlab.json', junit: 'junit.xml', markdown: 'md' };

describe('the reports of a project match the fixtures', () => {
  test.each(formats)('%s', async (format) => {
    const { stdout, stderr, status } = await runCli(['check', '--format', format, 'deploy'], { cwd: repository() });
    expect({ stderr, status }).toEqual({ stderr: '', status: 1 });
    await expect(steady(stdout)).toMatchFileSnapshot(path.join(fixtures, `reports/project.${endings[format]}`));
  });

  // Values that change with every release, or belong to another fixture.
  function steady(text: string): string {
    return text
      .replace(`"semanticVersion": "${version}"`, '"semanticVersion": "VERSION"')
      .replace(/"(text|markdown)": "# ([\w-]+)\\n.*"/g, '"$1": "the page of $2"');
  }
});

test('the page of a rule is the help of its SARIF rule', async () => {
  const { stdout } = await runCli(['check', '--format', 'sarif', 'deploy/serving'], { cwd: repository() });
  const { rules } = JSON.parse(stdout).runs[0].tool.driver;
  for (const { id, help } of rules) {
    expect(help.markdown).toBe((await runCli(['explain', id])).stdout);
    expect(help.text).toBe(help.markdown);
  }
  expect(rules.length).toBeGreaterThan(0);
});

test('--output receives the report, byte for byte, and leaves standard output empty', async () => {
  const cwd = repository();
  for (const format of ['text', 'json', 'sarif']) {
    const { stdout } = await runCli(['check', '--format', format, 'deploy'], { cwd });
    // The report is in the checked folder: gpulint skips it.
    const silent = await runCli(['check', '--format', format, '--output', 'deploy/report.json', 'deploy'], { cwd });
    expect(silent).toEqual({ stdout: '', stderr: '', status: 1 });
    const written = path.join(cwd, 'deploy/report.json');
    expect(readFileSync(written, 'utf8')).toBe(stdout);
    expect(await runCli(['check', '--format', format, '--output', 'deploy/report.json', 'deploy'], { cwd })).toEqual(
      silent,
    );
    expect(readFileSync(written, 'utf8')).toBe(stdout);
    rmSync(written);
  }
});

test('an unwritable --output fails with one sentence and status 2', async () => {
  const cwd = repository();
  expect(await runCli(['check', '--output', 'no/report.txt', 'deploy'], { cwd })).toEqual({
    stdout: '',
    stderr: 'gpulint: cannot write no/report.txt: no such file or folder\n',
    status: 2,
  });
});

test('--output and --write-baseline never replace an input', async () => {
  const cwd = repository();
  const pod = podText({ name: 'a' });
  const json = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}';
  const files = {
    'pod.yaml': pod,
    '.gpulint.yaml': 'gpu: l4\n',
    'values.yml': 'gpu: 1\n',
    'ns.json': json,
    'a.txt': pod,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
  for (const [name, ...more] of [
    ['pod.yaml'],
    ['.gpulint.yaml'],
    ['values.yml'],
    ['ns.json'],
    ['a.txt', 'a.txt'],
  ] as const) {
    for (const command of [
      ['check', '--fix', '--output', name, ...more],
      ['check', '--baseline', name, '--write-baseline', ...more],
      ['cost', '--output', name, ...more],
    ]) {
      const { status, stdout, stderr } = await runCli(command, { cwd });
      expect({ status, stdout, stderr }).toEqual({
        status: 2,
        stdout: '',
        stderr: `gpulint: cannot write ${name}: it is an input, which a report must not replace; name another file\n`,
      });
    }
  }
  for (const command of [
    ['check', '--baseline', 'b.json', '--output', 'b.json'],
    ['cost', '--compare', 'b.json', '--output', 'b.json'],
  ]) {
    writeFileSync(path.join(cwd, 'b.json'), '{}');
    expect((await runCli(command, { cwd })).stderr).toContain('cannot write b.json: it is an input');
  }
  for (const [name, text] of Object.entries(files)) expect(readFileSync(path.join(cwd, name), 'utf8')).toBe(text);
});

test('hints are shown only on request, but always in JSON', async () => {
  const input = podText({ resources: 'limits: {nvidia.com/gpu: 1} # gpulint-disable-line gpu-limits-required' });
  const run = async (...flags: string[]) => (await runCli(['check', ...flags, '-'], { input })).stdout;
  for (const format of ['text', 'github']) {
    expect(await run('--format', format)).not.toContain('Unused suppression');
    expect(await run('--format', format, '--report-unused')).toContain('Unused suppression');
    expect(await run('--format', format, '--fail-on', 'hint')).toContain('Unused suppression');
  }
  expect(await run('--format', 'json')).toContain('Unused suppression');
});

test('a Markdown report fits into a comment, whatever the findings', async () => {
  const many = (length: number) =>
    Array.from({ length }, (_, index) => podText({ name: `"${index}${'@'.repeat(180)}"` })).join('---\n');
  const run = async (input: string) => (await runCli(['check', '--format', 'markdown', '-'], { input })).stdout;
  const cut = await run(many(120));
  expect(cut).toMatch(/^<!-- gpulint -->\n### gpulint: 120 errors\n/);
  expect(cut).toMatch(/truncated to fit into a comment\n$/);
  expect(cut.length).toBeLessThan(65_536);
  const counted = await run(many(90).replaceAll('@', 'a'));
  expect(counted).toContain('… and 50 more workloads\n');
  expect(counted).toContain('… and 10 more findings\n');
});

describe('text of a file stays text', () => {
  // A hostile file name, and a hostile value that a message quotes.
  const name = 'a,b%0A[c](d) `e` @f <g> & "h".yaml';
  const hostile = '"1\\n::error::x\\u0007 ]]> </failure> <!-- @team #1 | **b** \\ud800 %0A `code`"';
  const reported = async (format: string) => {
    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, name), podText({ name: hostile, resources: `limits: {nvidia.com/gpu: ${hostile}}` }));
    const { stdout } = await runCli(['check', '--format', format, '.'], { cwd });
    // Control characters other than the report's own line endings.
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    return stdout;
  };

  test('github: each line is one command, with only the properties from gpulint', async () => {
    const lines = (await reported('github')).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).toMatch(
        /^::(error|warning|notice) file=[^:,]*,line=\d+,endLine=\d+,col=\d+,endColumn=\d+,title=gpulint [\w-]+::/,
      );
      expect(line).toContain('file=a%2Cb%250A[c](d) `e` @f <g> & "h".yaml,');
    }
  });

  test('junit: well-formed', async () => {
    const text = await reported('junit');
    expect(tagsOf(text)).toEqual({ open: [], loose: '' });
    expect(text).toContain('classname="a,b%0A[c](d) `e` @f &lt;g&gt; &amp; &quot;h&quot;.yaml"');
  });

  test('sarif and gitlab: JSON with a valid path', async () => {
    const [result] = JSON.parse(await reported('sarif')).runs[0].results;
    expect(result.locations[0].physicalLocation.artifactLocation.uri).toBe(encodeURIComponent(name));
    const [issue] = JSON.parse(await reported('gitlab'));
    expect(issue.location.path).toBe(name);
  });

  test('markdown: no injected mention, issue, cell or HTML', async () => {
    const text = await reported('markdown');
    expect(text).toContain(`\`\` ${name}:`);
    const outside = text.replace(/`` .*? ``/g, '').replace('<!-- gpulint -->', '');
    expect(outside).not.toMatch(/[@#](?!<!-- -->|## gpulint|# gpulint| gpulint)/);
    expect(outside).not.toMatch(/(?<!\\)<(?!br>|!-- -->)/);
    for (const row of outside.split('\n').filter((line) => line.startsWith('|'))) {
      expect(row.match(/(?<!\\)\|/g)).toHaveLength(5);
    }
  });

  // Names with terminal or log commands; Linux allows them all.
  const names = [
    '::error::at the start.yaml',
    ' ::error::behind a blank.yaml',
    'line\n::error::x.yaml',
    'return\r::warning::x.yaml',
    'escape\u001b[31m.yaml',
    'c1\u009b31m\u0085.yaml',
    'turned\u202e.yaml',
    '##vso[task.setvariable variable=a]b.yaml',
    '##[error]c.yaml',
    'tab\t,comma:colon%0A.yaml',
  ];

  test.runIf(process.platform === 'linux').each(['text', 'full', 'json', ...formats])(
    'names of files hold no commands: %s',
    async (format) => {
      const cwd = temporaryFolder();
      for (const [index, name] of names.entries()) {
        // One half has a finding, the other is skipped.
        writeFileSync(path.join(cwd, name), index % 2 === 0 ? podText() : 'a\0b');
        writeFileSync(path.join(cwd, `0${name}`), index % 2 === 1 ? podText() : 'a\0b');
      }
      const all = [...names, ...names.map((name) => `0${name}`)];
      const { stdout, stderr } = await runCli(['check', '--format', format, '--', ...all], { cwd });
      const fixed = await runCli(['check', '--fix', '--format', format, '.'], { cwd });
      for (const output of [stdout, stderr, fixed.stdout, fixed.stderr]) {
        expect(output).not.toMatch(/[^\P{Cc}\n]|[\u2028\u2029\u202e]/u);
        // In Markdown, each such character is escaped with a backslash, and code has none.
        expect(output).not.toMatch(/##\w*\[/);
        for (const line of output.split('\n').filter((text) => /^\s*::/.test(text))) {
          expect(line).toMatch(/^::(error|warning|notice) file=[^:,]+,(line=[^:]+,)?title=gpulint( [\w-]+)?::/);
        }
      }
      if (format === 'json') {
        const paths = (JSON.parse(stdout) as { files: { path: string }[] }).files.map((file) => file.path);
        expect(paths).toEqual(all);
      }
      if (format === 'gitlab') {
        const paths = (JSON.parse(stdout) as { location: { path: string } }[]).map(({ location }) => location.path);
        expect(new Set(paths)).toEqual(new Set(all));
      }
    },
  );
});

/** Unclosed elements, and text with unescaped markup. Enough XML for a report without comments and CDATA. */
function tagsOf(text: string): { readonly open: readonly string[]; readonly loose: string } {
  const open: string[] = [];
  const tag = /<\?xml [^?]*\?>|<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g;
  for (const [, closing, name, , empty] of text.matchAll(tag)) {
    if (name === undefined || empty === '/') continue;
    if (closing === '') open.push(name);
    else if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
  }
  const rest = text.replace(tag, '').replace(/&(lt|gt|amp|quot|apos|#10);/g, '');
  return { open, loose: (rest.match(/[<&].*/g) ?? []).join('') };
}

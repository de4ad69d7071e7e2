import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedLines, lineAfter } from '../../server/src/cli/line-diff.ts';
import { unifiedDiff } from '../../server/src/cli/unified-diff.ts';
import { podText } from './ci-project.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'a '), { maxLength: 200 });

test('the line changes turn one text into the other', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const made: string[] = [];
      let at = 0;
      for (const { oldStart, oldEnd, newStart, newEnd } of changedLines(before, after)) {
        expect(oldStart).toBeGreaterThanOrEqual(at);
        expect(oldEnd - oldStart + newEnd - newStart).toBeGreaterThan(0);
        made.push(...before.slice(at, oldStart));
        expect(made).toHaveLength(newStart);
        made.push(...after.slice(newStart, newEnd));
        at = oldEnd;
      }
      expect([...made, ...before.slice(at)]).toEqual(after);
    }),
  );
});

test('any number of insertions is shown as insertions', () => {
  const before = Array.from({ length: 5000 }, (_, index) => (index % 7 === 0 ? '- name: a' : '  cpu: 1'));
  const after = before.flatMap((line) => (line.startsWith('-') ? [line, '  gpu: 1'] : [line]));
  const changes = changedLines(before, after);
  expect(changes).toHaveLength(Math.ceil(5000 / 7));
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    expect({ removed: oldEnd - oldStart, added: newEnd - newStart }).toEqual({ removed: 0, added: 1 });
  }
});

test('the new number of a line is found', () => {
  const changes = changedLines(['a', 'b', 'c', 'd'], ['new', 'a', 'B', 'c', 'd']);
  expect([0, 1, 2, 3].map((line) => lineAfter(changes, line))).toEqual([1, 2, 3, 4]);
});

const hasGit = spawnSync('git', ['--version']).status === 0;
const hasPatch = spawnSync('patch', ['--version']).status === 0;

/** Checks that a diff, applied to a folder with some files, gives the other files. */
function apply(files: Readonly<Record<string, string>>, diff: string, command: string, ...args: readonly string[]) {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(cwd, name), text);
  const { status, stderr, stdout } = spawnSync(command, args, { cwd, input: diff, encoding: 'utf8' });
  const made = Object.keys(files).map((name) => [name, fs.readFileSync(path.join(cwd, name), 'utf8')]);
  return { output: `${stdout}${stderr}`, status, made: Object.fromEntries(made) as Record<string, string> };
}

describe('git and patch apply diffs', () => {
  const text = fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', ' c', '', '+', '-- x', '\ufeffü'), fc.constantFrom('\n', '\r\n')), {
        minLength: 1,
        maxLength: 30,
      }),
      fc.constantFrom('', 'end', '\r'),
    )
    .map(([parts, last]) => `${parts.map(([line, end]) => line + end).join('')}${last}`);
  const pairs = fc.sample(
    fc.tuple(text, text).filter(([before, after]) => before !== after),
    { numRuns: 200, seed: 1 },
  );
  const before = Object.fromEntries(pairs.map(([old], index) => [`${index}.yaml`, old]));
  const after = Object.fromEntries(pairs.map(([, now], index) => [`${index}.yaml`, now]));
  const diff = pairs.map(([old, now], index) => unifiedDiff(`${index}.yaml`, old, now)).join('');

  test.runIf(hasGit)('git apply', () => {
    expect(apply(before, diff, 'git', 'apply', '--whitespace=nowarn')).toEqual({ output: '', status: 0, made: after });
  });

  test.runIf(hasPatch)('patch -p1', () => {
    expect(apply(before, diff, 'patch', '-p1', '--binary', '--silent')).toEqual({ output: '', status: 0, made: after });
  });

  test('names that need quotes', () => {
    const names = ['a b.yaml', 'quo"te.yaml', 'back\\slash.yaml', 'tab\tand\nline.yaml', 'ü.yaml', '\u001b[31m.yaml'];
    const files = Object.fromEntries(names.map((name) => [name, 'a\n']));
    const all = names.map((name) => unifiedDiff(name, 'a\n', 'b\n')).join('');
    expect(all).not.toContain('\u001b');
    const wanted = Object.fromEntries(names.map((name) => [name, 'b\n']));
    if (hasGit) expect(apply(files, all, 'git', 'apply')).toEqual({ output: '', status: 0, made: wanted });
  });
});

describe('check --diff', () => {
  const windows = `\ufeff${podText({ name: 'w' }).replaceAll('\n', '\r\n')}`;
  const open = podText({ name: 'open' }).trimEnd();

  function project(): string {
    const cwd = temporaryFolder();
    fs.mkdirSync(path.join(cwd, 'deploy'));
    fs.writeFileSync(path.join(cwd, 'deploy/pod.yaml'), podText());
    fs.writeFileSync(path.join(cwd, 'deploy/windows.yaml'), windows);
    fs.writeFileSync(path.join(cwd, 'deploy/open.yaml'), open);
    fs.writeFileSync(path.join(cwd, 'deploy/fine.yaml'), 'a: 1\n');
    return cwd;
  }

  function contentsOf(cwd: string): Readonly<Record<string, string>> {
    const folder = path.join(cwd, 'deploy');
    return Object.fromEntries(
      fs.readdirSync(folder).map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]),
    );
  }

  test('shows the changes of --fix without making them', async () => {
    const cwd = project();
    const before = contentsOf(cwd);
    const shown = await runCli(['check', '--diff', 'deploy'], { cwd });
    expect(shown).toMatchObject({ status: 1, stderr: '' });
    expect(shown.stdout).toMatch(
      /^--- a\/deploy\/open\.yaml\n\+\+\+ b\/deploy\/open\.yaml\n@@ -\d+,\d+ \+\d+,\d+ @@\n/,
    );
    expect(shown.stdout).not.toContain('fine.yaml');
    expect(await runCli(['check', '--fix', '--diff', 'deploy'], { cwd })).toEqual(shown);
    expect(contentsOf(cwd)).toEqual(before);
    await runCli(['check', '--fix', 'deploy'], { cwd });
    const fixed = contentsOf(cwd);
    expect(fixed).not.toEqual(before);
    if (hasGit) {
      const other = project();
      expect(spawnSync('git', ['apply'], { cwd: other, input: shown.stdout }).status).toBe(0);
      expect(contentsOf(other)).toEqual(fixed);
    }
    expect(await runCli(['check', '--diff', 'deploy'], { cwd })).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('names files relative to the current folder, through any link', async () => {
    const cwd = project();
    fs.symlinkSync('pod.yaml', path.join(cwd, 'deploy/link.yaml'));
    const wanted = (await runCli(['check', '--diff', 'deploy/pod.yaml'], { cwd })).stdout;
    for (const paths of [
      [path.join(cwd, 'deploy/pod.yaml')],
      ['./deploy/pod.yaml'],
      ['deploy/link.yaml', 'deploy/pod.yaml'],
    ]) {
      expect((await runCli(['check', '--diff', ...paths], { cwd })).stdout).toBe(wanted);
    }
    expect((await runCli(['check', '--diff', '.'], { cwd: path.join(cwd, 'deploy') })).stdout).toContain(
      '--- a/pod.yaml\n',
    );
  });

  test('of standard input', async () => {
    const wanted = (await runCli(['check', '--diff', 'deploy/open.yaml'], { cwd: project() })).stdout;
    expect(wanted).toContain('\\ No newline at end of file\n');
    const args = ['check', '--diff', '--stdin-filename', 'deploy/open.yaml', '-'];
    expect(await runCli(args, { input: open })).toEqual({ status: 1, stdout: wanted, stderr: '' });
  });

  test('reports files that could not be checked on standard error', async () => {
    const cwd = project();
    fs.writeFileSync(path.join(cwd, 'deploy/latin1.yaml'), Buffer.from('# caf\u00e9\n', 'latin1'));
    const { stdout, stderr, status } = await runCli(['check', '--diff', 'deploy', 'missing.yaml'], { cwd });
    expect(stdout).toMatch(/^--- a/);
    expect(stderr).toBe(
      'gpulint: deploy/latin1.yaml: line 1 is not valid UTF-8; save the file as UTF-8\n' +
        'gpulint: missing.yaml: cannot be read: no such file or folder\n',
    );
    expect(status).toBe(2);
  });

  test('has only a diff, and supports --output and --fail-on never', async () => {
    const cwd = project();
    for (const other of [
      ['--format', 'json'],
      ['--baseline', 'b.json', '--write-baseline'],
    ]) {
      expect(await runCli(['check', '--diff', ...other, 'deploy'], { cwd })).toEqual({
        status: 2,
        stdout: '',
        stderr: `gpulint: --diff cannot be combined with ${other.at(other[0] === '--format' ? 0 : 2)}\n`,
      });
    }
    const { stdout } = await runCli(['check', '--diff', 'deploy'], { cwd });
    const silent = await runCli(['check', '--diff', '--fail-on', 'never', '--output', 'fixes.patch', 'deploy'], {
      cwd,
    });
    expect(silent).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(fs.readFileSync(path.join(cwd, 'fixes.patch'), 'utf8')).toBe(stdout);
  });
});

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { replaceContent } from '../../server/src/cli/write-file.ts';
import { podText } from './ci-project.ts';
import { canDropRights, runCli, temporaryFolder } from './run-cli.ts';

const isRoot = process.getuid?.() === 0;
const bytes = (text: string) => Buffer.from(text);

function file(text: string, name = 'pod.yaml'): string {
  const whole = path.join(temporaryFolder(), name);
  fs.writeFileSync(whole, text);
  return whole;
}

function around(name: string): readonly string[] {
  return fs.readdirSync(path.dirname(name)).sort();
}

describe('replaceContent', () => {
  test('overwrites only the expected content', () => {
    const pod = file('mine');
    expect(replaceContent(pod, bytes('yours'), bytes('fixed'))).toBe('changed');
    expect(fs.readFileSync(pod, 'utf8')).toBe('mine');
    expect(replaceContent(pod, bytes('mine'), bytes('fixed'))).toBe('written');
    expect(fs.readFileSync(pod, 'utf8')).toBe('fixed');
    expect(around(pod)).toEqual(['pod.yaml']);
  });

  test('keeps the mode with its special bits', () => {
    const pod = file('a');
    for (const mode of [0o600, 0o644, 0o4755, 0o2770, 0o1644]) {
      fs.chmodSync(pod, mode);
      const given = fs.statSync(pod).mode;
      expect(replaceContent(pod, undefined, bytes('b'))).toBe('written');
      expect(fs.statSync(pod).mode).toBe(given);
    }
  });

  test.each([
    ['longer', 'a longer text than before'],
    ['shorter', 'b'],
  ])('keeps the other hard links of a file: %s', (_, text) => {
    const pod = file('before');
    const other = path.join(path.dirname(pod), 'other.yaml');
    fs.linkSync(pod, other);
    const { ino } = fs.statSync(other);
    expect(replaceContent(pod, bytes('else'), bytes(text))).toBe('changed');
    expect(replaceContent(pod, bytes('before'), bytes(text))).toBe('written');
    expect(fs.readFileSync(other, 'utf8')).toBe(text);
    expect(fs.statSync(pod)).toMatchObject({ ino, nlink: 2 });
    expect(around(pod)).toEqual(['other.yaml', 'pod.yaml']);
  });

  test('writes through symbolic links and keeps them', () => {
    const pod = file('before');
    const link = path.join(temporaryFolder(), 'link.yaml');
    fs.symlinkSync(pod, link);
    expect(replaceContent(link, bytes('before'), bytes('after'))).toBe('written');
    expect(fs.readlinkSync(link)).toBe(pod);
    expect(fs.readFileSync(pod, 'utf8')).toBe('after');
  });

  test('does not change what is not a regular file', () => {
    expect(() => replaceContent(temporaryFolder(), undefined, bytes(''))).toThrow('not a regular file');
    expect(() => replaceContent('/dev/null', undefined, bytes(''))).toThrow('not a regular file');
  });

  test.runIf(isRoot)('keeps owner and group', () => {
    const pod = file('before');
    fs.chownSync(pod, 65_534, 65_533);
    fs.chmodSync(pod, 0o6640);
    expect(replaceContent(pod, bytes('before'), bytes('after'))).toBe('written');
    expect(fs.statSync(pod)).toMatchObject({ uid: 65_534, gid: 65_533 });
    expect(fs.statSync(pod).mode & 0o7777).toBe(0o6640);
  });
});

// A file of root with group write permission, and a user of that group.
test.runIf(isRoot && canDropRights)('a user who can write but not keep the owner writes in place', async () => {
  const pod = file(podText());
  fs.chmodSync(path.dirname(pod), 0o777);
  fs.chownSync(pod, 0, 65_534);
  fs.chmodSync(pod, 0o664);
  const { ino } = fs.statSync(pod);
  const { status, stderr } = await runCli(['check', '--fix', pod], { unprivileged: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(fs.readFileSync(pod, 'utf8')).toContain('limits');
  expect(fs.statSync(pod)).toMatchObject({ ino, uid: 0, gid: 65_534 });
  expect(around(pod)).toEqual(['pod.yaml']);
});

describe('a file that changes during the check', () => {
  /** Runs --fix; the file changes before each write. */
  async function fixWhile(change: string, name = 'pod.yaml') {
    const pod = file(podText(), name);
    const hook = path.join(temporaryFolder(), 'hook.cjs');
    fs.writeFileSync(
      hook,
      `const fs = require('node:fs');
       const { openSync, appendFileSync } = fs;
       let drafts = 0;
       fs.openSync = (name, flags, ...more) => {
         const fd = openSync(name, flags, ...more);
         if (flags === 'wx') { drafts += 1; ${change} }
         return fd;
       };`,
    );
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(hook)}`, POD: pod };
    const result = await runCli(['check', '--fix', '--format', 'json', name], { cwd: path.dirname(pod), env });
    const [report] = (JSON.parse(result.stdout) as Report).files;
    return { ...result, report, text: fs.readFileSync(pod, 'utf8'), names: around(pod) };
  }

  test('keeps the change and gets the fix', async () => {
    const result = await fixWhile("if (drafts === 1) appendFileSync(process.env.POD, '# mine\\n');");
    expect(result.status).toBe(0);
    expect(result.stderr).toContain('gpulint: pod.yaml changed during the check: checking it again\n');
    expect(result.text).toMatch(/limits:[\s\S]*# mine\n$/);
    expect(result.report?.fixed).toHaveLength(1);
    expect(result.names).toEqual(['pod.yaml']);
  });

  test('is no news if another name of the file got the same fix', async () => {
    const pod = file(podText());
    fs.linkSync(pod, path.join(path.dirname(pod), 'same.yaml'));
    const { stderr, stdout } = await runCli(['check', '--fix', '.'], { cwd: path.dirname(pod) });
    expect(stderr).toBe('');
    expect(stdout.match(/fixed {4}line/g)).toHaveLength(1);
    expect(fs.statSync(pod).nlink).toBe(2);
  });

  test('is not written if it keeps changing', async () => {
    const result = await fixWhile("appendFileSync(process.env.POD, '# mine\\n');");
    expect(result.status).toBe(2);
    expect(result.stderr).toContain('gpulint: pod.yaml keeps changing: its fixes were not written\n');
    expect(result.text).toBe(`${podText()}# mine\n# mine\n# mine\n`);
    expect(result.report).toMatchObject({ findings: [{ rule: 'gpu-limits-required' }] });
    expect(result.report).not.toHaveProperty('fixed');
    expect(result.names).toEqual(['pod.yaml']);
  });

  test('is reported as it is now: not text, or missing', async () => {
    const binary = await fixWhile("fs.writeFileSync(process.env.POD, 'a\\0b\\0\\0');");
    expect(binary).toMatchObject({ status: 2, text: 'a\0b\0\0', report: { parse: 'skipped' } });
    const replaced = await fixWhile(
      "if (drafts === 1) { fs.rmSync(process.env.POD); fs.writeFileSync(process.env.POD, 'a: 1\\n'); }",
    );
    expect(replaced).toMatchObject({ status: 0, text: 'a: 1\n', report: { parse: 'ok', findings: [] } });
  });
});

test('a full disk leaves the old content', async () => {
  const folder = temporaryFolder();
  const text = `${podText()}# ${'x'.repeat(4000)}\n`;
  for (const name of ['one.yaml', 'two.yaml']) fs.writeFileSync(path.join(folder, name), text);
  fs.linkSync(path.join(folder, 'two.yaml'), path.join(folder, 'three.yaml'));
  const hook = path.join(temporaryFolder(), 'hook.cjs');
  fs.writeFileSync(
    hook,
    `const fs = require('node:fs');
     const { writeSync } = fs;
     const full = () => { throw Object.assign(new Error('full'), { code: 'ENOSPC' }); };
     if (process.env.DRAFTS) { const { writeFileSync } = fs; fs.writeFileSync = (...all) => (typeof all[0] === 'number' ? full() : writeFileSync(...all)); }
     else { let wrote = 0; fs.writeSync = (...all) => ((wrote += 1) === 2 ? full() : writeSync(...all)); }`,
  );
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(hook)}` };
  const inDraft = await runCli(['check', '--fix', 'one.yaml'], { cwd: folder, env: { ...env, DRAFTS: '1' } });
  const inPlace = await runCli(['check', '--fix', 'two.yaml'], { cwd: folder, env });
  for (const [name, { status, stderr }] of Object.entries({ one: inDraft, two: inPlace })) {
    expect(status).toBe(2);
    expect(stderr).toBe(`gpulint: cannot write ${name}.yaml: the disk is full; the file is unchanged\n`);
    expect(fs.readFileSync(path.join(folder, `${name}.yaml`), 'utf8')).toBe(text);
  }
  expect(fs.readdirSync(folder).sort()).toEqual(['one.yaml', 'three.yaml', 'two.yaml']);
});

const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;

test.runIf(hasMkfifo)('--fix does not write to a pipe', async () => {
  const pipe = path.join(temporaryFolder(), 'pipe.yaml');
  spawnSync('mkfifo', [pipe]);
  const running = runCli(['check', '--fix', pipe]);
  fs.writeFileSync(pipe, podText());
  const { status, stderr } = await running;
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `gpulint: cannot write ${pipe}: it is not a regular file; the file is unchanged\n`,
  });
});

import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { podText } from './ci-project.ts';
import { canDropRights, fixtures, giveAway, runCli, temporaryFolder } from './run-cli.ts';

const source = path.join(fixtures, 'fix/limits.yaml');
const before = readFileSync(source, 'utf8');
const after = before.replace('          memory: 8Gi\n', '          memory: 8Gi\n          nvidia.com/gpu: 2\n');

describe('--fix', () => {
  test('applies and reports safe fixes, and changes nothing the second time', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'pod.yaml');
    copyFileSync(source, file);
    const first = await runCli(['check', '--fix', 'pod.yaml'], { cwd: folder });
    expect(first.stderr).toBe('');
    expect(first.status).toBe(0);
    expect(first.stdout).toMatch(/^pod\.yaml {5,}fixed {4}line 12: \S.* {2}gpu-limits-required$/m);
    expect(readFileSync(file, 'utf8')).toBe(after);
    const { mtimeMs } = statSync(file);
    const second = await runCli(['check', '--fix', 'pod.yaml'], { cwd: folder });
    expect(second.stdout).not.toContain('fixed');
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    expect(readdirSync(folder)).toEqual(['pod.yaml']);
  });

  test('keeps CRLF, the byte order mark, comments and permissions', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'pod.yaml');
    const windows = (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`;
    writeFileSync(file, windows(before));
    chmodSync(file, 0o640);
    await runCli(['check', '--fix', file]);
    expect(readFileSync(file, 'utf8')).toBe(windows(after));
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test('reports its changes in JSON', async () => {
    const folder = temporaryFolder();
    copyFileSync(source, path.join(folder, 'pod.yaml'));
    const { stdout } = await runCli(['check', '--fix', '--format', 'json', folder]);
    const [file] = (JSON.parse(stdout) as Report).files;
    expect(file!.fixed).toEqual([{ rule: 'gpu-limits-required', title: expect.any(String) }]);
    expect(file!.findings).toEqual([]);
  });

  test('reports the line of each fixed finding in the fixed text, in every format', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'pod.yaml');
    const text = [podText({ name: 'a' }), podText({ name: 'b', resources: 'limits: {nvidia.com/gpu: 1}' })].join(
      '---\n',
    );
    const both = `${text}---\n${podText({ name: 'c' })}`.replaceAll(
      'requests: {nvidia.com/gpu: 1}',
      'requests:\n          nvidia.com/gpu: 1',
    );
    for (const format of ['text', 'json', 'github', 'gitlab', 'junit', 'markdown', 'sarif']) {
      writeFileSync(file, both);
      const { stdout, stderr } = await runCli(['check', '--fix', '--format', format, 'pod.yaml'], { cwd: folder });
      const lines = readFileSync(file, 'utf8').split('\n');
      const reported = [...(format === 'text' ? stdout : stderr).matchAll(/fixed(?: {4}|: )line (\d+): /g)];
      expect(reported.map(([, line]) => lines[Number(line) - 1]?.trim())).toEqual(Array(2).fill('nvidia.com/gpu: 1'));
      expect(new Set(reported.map(([, line]) => line)).size).toBe(2);
    }
  });

  test('reports the line of a fix next to another finding of its rule that stays', async () => {
    const folder = temporaryFolder();
    const toleration = '{key: nvidia.com/gpu, operator: exists, value: "1", effect: noSchedule}';
    const text = podText({ name: 'a', resources: 'limits: {nvidia.com/gpu: 1}' });
    writeFileSync(path.join(folder, 'pod.yaml'), text.replace('spec:\n', `spec:\n  tolerations: [${toleration}]\n`));
    const { stdout } = await runCli(['check', '--fix', 'pod.yaml'], { cwd: folder });
    expect(stdout).toMatch(/fixed {4}line \d+: Change to NoSchedule {2}toleration-invalid/);
    expect(stdout).toContain('Operator "exists" does not exist');
  });

  test('does not change a file that is not UTF-8', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'pod.yaml');
    const bytes = Buffer.from(before.replace('above', 'd\u00e9j\u00e0'), 'latin1');
    writeFileSync(file, bytes);
    const { status } = await runCli(['check', '--fix', file]);
    expect(status).toBe(2);
    expect(readFileSync(file)).toEqual(bytes);
  });

  test.runIf(canDropRights)('reports a file without write permission, and leaves it unchanged', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'pod.yaml');
    copyFileSync(source, file);
    chmodSync(file, 0o444);
    giveAway(folder);
    const { status, stderr } = await runCli(['check', '--fix', 'pod.yaml'], { cwd: folder, unprivileged: true });
    expect(status).toBe(2);
    expect(stderr).toBe('gpulint: cannot write pod.yaml: permission denied; the file is unchanged\n');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { decode } from '../../server/src/cli/file-content.ts';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { podText } from './ci-project.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

function bigEndian(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

const text = podText();
const files: Readonly<Record<string, { readonly bytes: Buffer; readonly reason: string }>> = {
  'latin1.yaml': {
    bytes: Buffer.from(`# caf\u00e9\n${text}`, 'latin1'),
    reason: 'line 1 is not valid UTF-8; save the file as UTF-8',
  },
  'utf16le.yaml': { bytes: Buffer.from(text, 'utf16le'), reason: 'UTF-16 text; save it as UTF-8' },
  'utf16be.yaml': { bytes: bigEndian(text), reason: 'UTF-16 text; save it as UTF-8' },
  'utf16le-marked.yaml': { bytes: Buffer.from(`\ufeff${text}`, 'utf16le'), reason: 'UTF-16 text; save it as UTF-8' },
  'utf16be-marked.yaml': { bytes: bigEndian(`\ufeff${text}`), reason: 'UTF-16 text; save it as UTF-8' },
  'utf32.yaml': { bytes: Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), reason: 'UTF-32 text; save it as UTF-8' },
  'nul.yaml': { bytes: Buffer.from(`# \0\n${text}`), reason: 'line 1 has a NUL character; remove it' },
  'late-nul.yaml': {
    bytes: Buffer.from(`${'# x\n'.repeat(30_000)}\0`),
    reason: 'line 30001 has a NUL character; remove it',
  },
  'nuls.yaml': { bytes: Buffer.from(`# \0\x01\n${text}`), reason: 'a binary file' },
};

test.each(Object.entries(files))('%s is skipped', (_, { bytes, reason }) => {
  expect(decode(bytes)).toEqual({ kind: 'skipped', reason });
});

test('UTF-8 is read, with or without a byte order mark, whatever its content', () => {
  expect(decode(Buffer.from('\ufeff# \u00e9\ud83d\ude00\u4e2d\ufeff\n'))).toEqual({
    kind: 'text',
    text: '# \u00e9\ud83d\ude00\u4e2d\ufeff\n',
    bom: true,
  });
  expect(decode(Buffer.from('# \ufffd\n'))).toEqual({ kind: 'text', text: '# \ufffd\n', bom: false });
});

describe('a file that is not UTF-8', () => {
  function project(): string {
    const cwd = temporaryFolder();
    for (const [name, { bytes }] of Object.entries(files)) writeFileSync(path.join(cwd, name), bytes);
    writeFileSync(path.join(cwd, 'good.yaml'), 'a: 1\n');
    return cwd;
  }

  test.each(['text', 'full', 'json', 'sarif', 'github', 'gitlab', 'junit', 'markdown'])(
    'is named in %s with the reason, and changes the status only where it was named',
    async (format) => {
      const cwd = project();
      const { stdout, status, stderr } = await runCli(['check', '--format', format, '.'], { cwd });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      for (const [index, [name, { reason }]] of Object.entries(files).entries()) {
        expect(stdout).toContain(name);
        expect(stdout).toContain(reason);
        // All formats tell of all reasons in the same way.
        if (format !== 'text' && index > 0) continue;
        const named = await runCli(['check', '--format', format, name], { cwd });
        expect(named.status).toBe(2);
        expect(named.stdout).toContain(name);
        expect(named.stderr).toBe(format === 'text' || format === 'full' ? '' : `gpulint: ${name}: ${reason}\n`);
      }
    },
  );

  test('is counted as skipped', async () => {
    const cwd = project();
    const count = Object.keys(files).length;
    expect((await runCli(['check', '.'], { cwd })).stdout).toContain(`${count + 1} files, ${count} skipped, `);
    const { stdout } = await runCli(['check', '--format', 'json', '.'], { cwd });
    const report: Report = JSON.parse(stdout);
    expect(report.summary).toMatchObject({ files: count + 1, skipped: count });
    expect(report.files.filter(({ parse }) => parse === 'skipped').map((file) => file.path)).toEqual(
      Object.keys(files).sort(),
    );
  });

  test('is never changed', async () => {
    const cwd = project();
    const { stdout } = await runCli(['check', '--fix', '.', ...Object.keys(files)], { cwd });
    expect(stdout).not.toContain('fixed');
    for (const [name, { bytes }] of Object.entries(files)) {
      expect(readFileSync(path.join(cwd, name)).equals(bytes), name).toBe(true);
    }
  });

  test('is also skipped on standard input', async () => {
    for (const { bytes, reason } of Object.values(files)) {
      const { stdout, status } = await runCli(['check', '-'], { input: bytes });
      expect(status).toBe(2);
      expect(stdout).toContain(`<stdin>  skipped  ${reason}\n`);
    }
  });
});

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { excerptOf } from '../../server/src/cli/reports/excerpt.ts';
import { podText } from './ci-project.ts';
import { fixtures, runCli, temporaryFolder } from './run-cli.ts';

describe('--format full', () => {
  test('shows each finding with its line, carets, and the fixes as help', async () => {
    const { stdout, stderr, status } = await runCli(['check', '--format', 'full', 'project']);
    expect({ stderr, status }).toEqual({ stderr: '', status: 1 });
    await expect(stdout).toMatchFileSnapshot(path.join(fixtures, 'project.full.txt'));
  });

  test('reports fixed findings and skipped files, and no summary with --quiet', async () => {
    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, 'a.yaml'), podText());
    writeFileSync(path.join(cwd, 'b.yaml'), 'a\0b');
    const { stdout } = await runCli(['check', '--format', 'full', '--fix', '--quiet', '.'], { cwd });
    expect(stdout).toBe(
      'fixed: line 9: Set the limit of nvidia.com/gpu to 1 [gpu-limits-required]\n --> a.yaml\n\nskipped: a binary file\n --> b.yaml\n\n',
    );
  });

  test('is colored like the text report', async () => {
    const input = podText();
    const run = async (env: Record<string, string>) =>
      (await runCli(['check', '--format', 'full', '-'], { input, env })).stdout;
    const coloured = await run({ FORCE_COLOR: '1' });
    expect(coloured).toContain('\u001b[31m^^^^^^^^^^^^^^\u001b[39m');
    const plain = await run({ FORCE_COLOR: '1', NO_COLOR: '1' });
    expect(plain).not.toContain('\u001b');
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });

  test('cannot be combined with --diff', async () => {
    const { stderr, status } = await runCli(['check', '--diff', '--format', 'full', 'project']);
    expect({ stderr, status }).toEqual({
      stderr: 'gpulint: --diff cannot be combined with --format\n',
      status: 2,
    });
  });
});

describe('the excerpt of a line', () => {
  /** The span is between « and ». */
  const show = (marked: string) => {
    const start = marked.indexOf('«');
    const end = marked.indexOf('»') - 1;
    const range = { start: { line: 1, column: start + 1 }, end: { line: 1, column: end + 1 } };
    const { line, carets } = excerptOf(marked.replace(/[«»]/g, ''), range);
    return `${line}\n${carets}`;
  };

  test.each([
    ['the span', '  a: «1» # one', '  a: 1 # one\n     ^'],
    ['an empty span', 'a: «»', 'a:\n   ^'],
    ['tabs as four blanks', '\ta:\t«1»', '    a:    1\n          ^'],
    ['wide signs between them', '・ー㈱㍿︰: «サーバー»', '・ー㈱㍿︰: サーバー\n            ^^^^^^^^'],
    ['narrow forms', 'ｱｲｳ: «ｴｵ»', 'ｱｲｳ: ｴｵ\n     ^^'],
    ['wide characters', '名: «中文»', '名: 中文\n    ^^^^'],
    ['emoji', '👩‍🚀🇫🇷❤️: «1»', '👩‍🚀🇫🇷❤️: 1\n        ^'],
    ['marks that take no room', 'e\u0301\u200b: «1»', 'e\u0301\u200b: 1\n   ^'],
    [
      'what a terminal would obey',
      'a\u001b[1m\u202e: «\u0007»',
      'a\\u001b[1m\\u202e: \\u0007\n                  ^^^^^^',
    ],
    ['what a log would obey', '##[error] «1»', '\\u0023#[error] 1\n               ^'],
  ])('shows %s', (_, marked, expected) => {
    expect(show(marked)).toBe(expected);
  });

  test('is cut around the span of a long line, and shows the start of a long span', () => {
    const [line, carets] = show(`${'a'.repeat(500)} «BAD» ${'b'.repeat(500)}`).split('\n');
    expect(line).toMatch(/^…a{39} BAD b+…$/);
    expect(line).toHaveLength(142);
    expect(carets).toBe(`${' '.repeat(41)}^^^`);
    const [long, below] = show(`${'a'.repeat(500)} «${'B'.repeat(500)}»`).split('\n');
    expect(long).toMatch(/^…a{39} B{100}…$/);
    expect(below).toBe(`${' '.repeat(41)}${'^'.repeat(100)}`);
  });

  test('does not cut surrogate pairs', () => {
    for (let shift = 0; shift < 3; shift++) {
      const shown = show(`${'x'.repeat(shift)}${'\u{1f600}'.repeat(400)} «1» ${'\u{1f600}'.repeat(400)}`);
      expect(shown).not.toMatch(/\p{Surrogate}/u);
    }
  });

  test('has carets to the end of the first line of a span over several lines', () => {
    const range = { start: { line: 3, column: 3 }, end: { line: 5, column: 2 } };
    expect(excerptOf('a: [1,  ', range)).toEqual({ line: 'a: [1,', carets: '  ^^^^' });
  });
});

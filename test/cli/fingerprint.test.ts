import { expect, test } from 'vitest';
import { fingerprintsOf } from '../../server/src/cli/reports/fingerprint.ts';

const finding = (line: number, rule = 'shm-missing') => ({
  rule,
  workload: 'Pod a',
  range: { start: { line, column: 1 }, end: { line, column: 2 } },
});

const idsOf = (lines: readonly string[], findings: readonly ReturnType<typeof finding>[]) =>
  fingerprintsOf('a.yaml', (line) => lines[line - 1] ?? '', findings);

test.each([1, 3000])('fingerprints depend on the text of the line, %i times as long, not on its number', (times) => {
  const text = 'kind: Pod '.repeat(times);
  const [one, same] = idsOf([text], [finding(1), finding(1)]);
  expect(same).not.toBe(one);
  expect(idsOf(['', `  ${text.replaceAll(' ', '  ')}\r\n`], [finding(2)])).toEqual([one]);
  expect(idsOf([`${text}x`], [finding(1)])).not.toEqual([one]);
  expect(idsOf([text], [finding(1, 'env-invalid')])).not.toEqual([one]);
});

test('a long line is read once, however many findings it has', () => {
  let reads = 0;
  const line = () => {
    reads++;
    return 'x'.repeat(5000);
  };
  expect(new Set(fingerprintsOf('a.yaml', line, Array(100).fill(finding(1)))).size).toBe(100);
  expect(reads).toBe(1);
});

import { expect, test } from 'vitest';
import type { Finding } from '../../server/src/rules/rule.ts';
import { applySuppressions } from '../../server/src/rules/suppressions.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';

const text = `kind: Pod # gpulint-disable-line one
# gpulint-disable-next-line two
# a comment in between
# gpulint-disable-next-line one, three

metadata: {} # gpulint-disable-line
# gpulint-disable two -- from here on
spec: {}
# gpulint-disable-next-line three
status: {}
# gpulint-disable-next-line one`;

/** One finding of each rule at the start of each line. */
const findings = text.split('\n').flatMap((_, line, lines) => {
  const start = lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0);
  return ['one', 'two', 'three', 'four'].map(
    (rule) => ({ rule, span: { start, end: start + 1 } }) as unknown as Finding,
  );
});

const { kept, uses } = applySuppressions(parseDocument(text, 0), [], findings);

test('a suppression applies to the findings that start in its range, and to no others', () => {
  const isSuppressed = ({ rule, span: { start } }: Finding) =>
    uses.some(
      ({ suppression: { rules, range } }) =>
        range.start <= start && start <= range.end && (rules.length === 0 || rules.includes(rule)),
    );
  expect(kept).toEqual(findings.filter((finding) => !isSuppressed(finding)));
  expect(kept.length).toBeGreaterThan(10);
});

test('each suppression that matches a finding is used, even if another one matches it as well', () => {
  expect(uses.map(({ used }) => used)).toEqual([true, true, true, true, true, true, true]);
});

test('stacked suppressions all apply to the next line with content', () => {
  const lines = uses.map(({ suppression: { range } }) => text.slice(range.start, range.end).split('\n')[0]);
  expect(lines.slice(1, 3)).toEqual(['metadata: {} # gpulint-disable-line', 'metadata: {} # gpulint-disable-line']);
});

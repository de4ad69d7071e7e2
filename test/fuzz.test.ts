import { describe, expect, test } from 'vitest';
import { Analysis } from '../server/src/analysis.ts';
import { oddity } from './fuzz/answers.ts';
import { sequenceProblems } from './fuzz/edits.ts';
import { savedFailures } from './fuzz/failures.ts';
import { fixProblems, type Offer } from './fuzz/fix-checks.ts';
import { createMeasure } from './fuzz/measure.ts';
import { linesOf, mutate, mutatorNames, scale } from './fuzz/mutate.ts';
import { shrinkText } from './fuzz/shrink.ts';
import { targets } from './fuzz/targets.ts';

for (const target of targets.values()) {
  for (const { name, text, extension } of savedFailures(target.name)) {
    test(`what the fuzzer found once stays fixed: ${target.name}/${name}`, async () => {
      const problems = await target.check(target.load(text, extension), { measure: createMeasure(), everywhere: true });
      expect(problems.map(({ message }) => message)).toEqual([]);
    });
  }
}

describe('the mutators', () => {
  const text =
    '# a comment\nspec:\n  containers:\n    - name: "a"\n      resources: {limits: {nvidia.com/gpu: 1}}\n---\nkind: Pod\n';

  test('each changes a text, and gives the same each time', () => {
    const points = [0, scale / 4, scale / 2, scale - 1];
    for (const kind of mutatorNames.filter((name) => name !== 'cutTemplate')) {
      const mutants = points.flatMap((at) =>
        points.map((choice) => mutate(text, 'kind: Job\n', [{ kind, at, choice }])),
      );
      expect(
        mutants.some((mutant) => mutant !== text),
        kind,
      ).toBe(true);
      expect(
        points.flatMap((at) => points.map((choice) => mutate(text, 'kind: Job\n', [{ kind, at, choice }]))),
      ).toEqual(mutants);
    }
  });

  test('none throws on a text of nothing', () => {
    for (const kind of mutatorNames) expect(mutate('', '', [{ kind, at: scale - 1, choice: 1 }])).toBeTypeOf('string');
  });

  test('a lone carriage return ends a line', () => {
    expect(linesOf('a\rb\r\nc\n\nd')).toEqual(['a\r', 'b\r\n', 'c\n', '\n', 'd']);
  });
});

describe('shrinking', () => {
  test('leaves only what fails', async () => {
    const text = `${'filler: 1\n'.repeat(50)}a: [x, BAD, y]\n${'more: 2\n'.repeat(50)}`;
    expect(await shrinkText(text, async (some) => some.includes('BAD'))).toBe('BAD');
  });

  test('keeps two parts that fail only together', async () => {
    const text = `first\n${'filler\n'.repeat(20)}last\n`;
    const shrunk = await shrinkText(text, async (some) => some.includes('first\n') && some.includes('last'));
    expect(shrunk).toBe('first\nlast');
  });
});

describe('the checks of a fix', () => {
  const signsOf = (text: string, edits: Offer['edits'], clears: Offer['clears'] = undefined) => {
    const file = new Analysis().setFile('file:///w/a.yaml', text);
    return fixProblems(file, { title: 'Fix', edits, clears, severity: 'error', silences: false }).map(
      ({ sign }) => sign,
    );
  };
  const insertion = (at: number, newText: string) => [{ span: { start: at, end: at }, newText }];

  test.each([
    ['a text that does not parse', 'a: [1\nb: 2\n', insertion(0, 'c: 3\n'), 'fix-on-broken-text'],
    ['an edit outside the text', 'a: 1\n', insertion(99, 'x'), 'fix-out-of-bounds'],
    [
      'edits that overlap',
      'a: 1\n',
      [
        { span: { start: 0, end: 3 }, newText: '' },
        { span: { start: 2, end: 4 }, newText: '' },
      ],
      'fix-overlapping',
    ],
    ['a document more', 'a: 1\n', insertion(5, '---\nb: 2\n'), 'fix-changes-documents'],
    ['a text that parses no more', 'a: 1\n', insertion(5, 'b: [\n'), 'fix-changes-parse'],
    ['a comment that is lost', 'a: 1 # why\n', [{ span: { start: 4, end: 10 }, newText: '' }], 'fix-comment'],
    [
      'a lone carriage return that is lost',
      '# a\r# b\nc: 1\n',
      [{ span: { start: 3, end: 4 }, newText: ' ' }],
      'fix-lone-cr',
    ],
    ['a line that ends otherwise than the rest', 'a: 1\r\nb: 2\r\n', insertion(6, 'c: 3\n'), 'fix-line-ends'],
    ['nothing that changes', 'a: 1\n', insertion(0, ''), 'fix-without-effect'],
  ])('%s', (_, text, edits, sign) => {
    expect(signsOf(text, edits)).toContain(sign);
  });

  test('a finding that stays', () => {
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    - {name: a, image: a/b:1, resources: {requests: {nvidia.com/gpu: 1}}}\n';
    const finding = {
      rule: 'gpu-limits-required',
      message: new Analysis().setFile('file:///w/a.yaml', pod).documents[0]!.findings[0]!.message,
    };
    expect(signsOf(pod, insertion(pod.length, 'x: 1\n'), finding)).toContain('fix-keeps-finding-gpu-limits-required');
  });

  test('an honest edit', () => {
    expect(signsOf('a: 1 # why\n', [{ span: { start: 3, end: 4 }, newText: '2' }])).toEqual([]);
  });
});

test.each([
  [{ cost: Number.NaN }, 'nan'],
  ['asks for Infinity GPUs', 'nan'],
  [[{ span: { start: 2, end: 9 } }], 'span'],
  ['asks for 2 GPUs', undefined],
])('an answer of %j', (answer, what) => {
  expect(oddity(answer, 'a: 1')?.what).toBe(what);
});

test('a sequence of edits that differs nowhere has no problem', () => {
  const look = { measure: createMeasure(), everywhere: true };
  const uri = 'file:///w/a.yaml';
  const steps = [
    { op: 'set', uri, text: 'kind: Pod\n', config: null, relatedFiles: 0 },
    { op: 'config', config: 1 },
    { op: 'close', uri },
  ] as const;
  expect(sequenceProblems(steps, 1, look)).toEqual([]);
});

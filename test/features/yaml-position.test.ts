import { expect, test } from 'vitest';
import { yamlPosition } from '../../server/src/features/completion/yaml-position.ts';

test.each([
  ['spec:\n  containers:\n    - name: a\n      re', ['spec', 'containers', '-'], 'key'],
  ['spec:\r\n  nodeSelector:\r\n    a: 1\r\n    k', ['spec', 'nodeSelector'], 'key'],
  ['"spec":\n  \'a b\':\n    key: v', ['spec', 'a b'], 'value'],
  ['a:\n  - - - b', ['a', '-', '-', '-'], 'key'],
  ['a: b: c\n  d', ['a'], 'key'],
])('%j', (text, path, part) => {
  const position = yamlPosition(text, text.length);
  expect([position?.path, position?.part]).toEqual([path, part]);
});

test('has no position below the nesting limit', () => {
  expect(yamlPosition('- '.repeat(450_000), 900_000)).toBeUndefined();
  const nested = Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('');
  expect(yamlPosition(`${nested}${' '.repeat(300)}b`, nested.length + 301)).toBeUndefined();
});

test('reads a line with a carriage return or a line separator once', () => {
  for (const mark of ['\r', '\u2028']) {
    const text = `a:\n  ${'- '.repeat(100_000)}${mark}\n  b`;
    expect(yamlPosition(text, text.length)?.word).toBe('b');
  }
});

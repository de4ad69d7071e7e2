import { expect, test } from 'vitest';
import { kindsIn, namesIn } from '../../server/src/workspace/kinds.ts';

test.each([
  ['name: vllm', ['vllm']],
  ['"name": "vllm"', ['vllm']],
  ['name: &app vllm', ['vllm']],
  ["name: !!str &app 'vllm'", ['vllm']],
  ['name:\n  description: a name\n', []],
  ['name: {{ .Values.name }}', []],
  ['name: *app', undefined],
  ['name: &a *app', undefined],
  ['name: |\n  vllm\n', undefined],
  ['name: >-\n  vllm\n', undefined],
  ['name: "v\\x6clm"', undefined],
  ['name:\n  vllm\n', undefined],
  ['name: &app\n  vllm\n', undefined],
])('the names in %j', (text, names) => {
  expect(namesIn(text)).toEqual(names && new Set(names));
});

test('an anchor can precede a kind', () => {
  expect(kindsIn('kind: &kind ServingRuntime\n')).toEqual(new Set(['ServingRuntime']));
});

import { expect, test } from 'vitest';
import { matchesAny, matchesGlob } from '../../server/src/config/globs.ts';

test.each([
  ['train/a.yaml', 'train/**', true],
  ['train/deep/a.yaml', 'train/**', true],
  ['train', 'train/**', false],
  ['train/a.yaml', 'train', true],
  ['x/train/a.yaml', 'train', true],
  ['x/train/a.yaml', '/train', false],
  ['x/train/a.yaml', './train/', false],
  ['train/a.yaml', '*.yaml', true],
  ['train/a.yml', '*.{yaml,yml}', true],
  ['train/a.json', '*.{yaml,yml}', false],
  ['a/b/c.yaml', 'a/*/c.yaml', true],
  ['a/b/x/c.yaml', 'a/*/c.yaml', false],
  ['a/c.yaml', 'a/**/c.yaml', true],
  ['a/b/x/c.yaml', 'a/**/c.yaml', true],
  ['gpu-1.yaml', 'gpu-?.yaml', true],
  ['gpu-12.yaml', 'gpu-?.yaml', false],
  ['a{b.yaml', 'a{b.yaml', true],
  ['gpu-1.yaml', 'gpu-[0-9].yaml', true],
  ['gpu-x.yaml', 'gpu-[!0-9].yaml', true],
  ['gpu-1.yaml', 'gpu-[!0-9].yaml', false],
  ['a[b.yaml', 'a[b.yaml', true],
  ['a/b/c/d.yaml', '**/b/**/d.yaml', true],
  ['a/b/c/d.yaml', '**/c/b/d.yaml', false],
  ['a.yaml', '', false],
  ['a.yaml', '/', false],
])('%s, %s: %s', (path, glob, matches) => {
  expect(matchesGlob(path, glob)).toBe(matches);
});

test('a hostile pattern is matched in time', () => {
  expect(matchesGlob(`${'a'.repeat(5000)}b`, `${'*a'.repeat(500)}c`)).toBe(false);
  expect(matchesGlob('a/'.repeat(500), `${'**/a/'.repeat(200)}b`)).toBe(false);
  expect(matchesGlob('a', '{a,b}'.repeat(100))).toBe(false);
  expect(matchesGlob('a', `${'a'.repeat(100_000)}`)).toBe(false);
  expect(matchesGlob('a', `${'[a'.repeat(200)}`)).toBe(false);
});

test('only a realistic number of globs is used', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `${index}.yaml`);
  expect(matchesAny('7.yaml', many)).toBe(true);
  expect(matchesAny('99999.yaml', many)).toBe(false);
});

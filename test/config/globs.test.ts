import { expect, test } from 'vitest';
import { matchesGlob } from '../../server/src/config/globs.ts';

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
  ['a.yaml', '', false],
  ['a.yaml', '/', false],
])('%s, %s: %s', (path, glob, matches) => {
  expect(matchesGlob(path, glob)).toBe(matches);
});

test('a pattern that is made to take long is answered all the same', () => {
  expect(matchesGlob(`${'a'.repeat(5000)}b`, `${'*a'.repeat(500)}c`)).toBe(false);
  expect(matchesGlob('a/'.repeat(500), `${'**/a/'.repeat(200)}b`)).toBe(false);
  expect(matchesGlob('a', '{a,b}'.repeat(100))).toBe(false);
});

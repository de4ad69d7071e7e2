import { describe, expect, test } from 'vitest';
import { conditionsIn, meets } from '../../server/src/model/kustomize/selector.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';

const { root } = parseDocument(
  'metadata: {labels: {tier: gpu, env: prod, team.example/a: x}, annotations: {note: "1"}}\n',
  0,
);

describe('the selector of a patch', () => {
  test.each([
    ['tier=gpu', true],
    ['tier == gpu', true],
    ['tier=cpu', false],
    ['tier!=cpu', true],
    ['missing!=x', true],
    ['tier=gpu,env=prod', true],
    ['tier=gpu, env=dev', false],
    ['env in (dev, prod),tier', true],
    ['env notin (dev,prod)', false],
    ['missing notin (a)', true],
    ['team.example/a', true],
    ['!team.example/a', false],
    ['!missing', true],
  ])('%s', (text, expected) => {
    expect(root && meets(root, 'labels', conditionsIn(text) ?? [])).toBe(expected);
  });

  test('of annotations', () => {
    expect(root && meets(root, 'annotations', conditionsIn('note=1') ?? [])).toBe(true);
    expect(root && meets(root, 'annotations', conditionsIn('tier=gpu') ?? [])).toBe(false);
  });

  test.each(['', 'tier>1', 'tier=a=b', 'env in prod', 'a b', `${'a'.repeat(2000)}`])('is not read: %s', (text) => {
    expect(conditionsIn(text)).toBeUndefined();
  });
});

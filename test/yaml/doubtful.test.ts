import { describe, expect, test } from 'vitest';
import type { YamlNode } from '../../server/src/yaml/node.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

/** The tree of a text; `?` marks values that are unknown, `…` mappings and lists that may have more. */
function treeOf(text: string): string {
  const [document] = parseYaml(text).documents;
  return document?.root ? shown(document.root) : '';
}

function shown(node: YamlNode): string {
  if (node.kind === 'scalar') return `${node.source}${node.templated ? '?' : ''}`;
  const more = node.incomplete ? ' …' : '';
  return node.kind === 'map'
    ? `{${node.entries.map(({ key, value }) => `${key}: ${shown(value)}`).join(', ')}${more}}`
    : `[${node.items.map(({ value }) => shown(value)).join(', ')}${more}]`;
}

describe('after an error of syntax', () => {
  test.each([
    // What ends above the error is certain; what may go on there is not.
    ['a: {x: 1}\nb:\n  c: 1\n  word\nd: 2\n', '{a: {x: 1}, b: {c: 1 …}, d: 2 …}'],
    ['a:\n  - x: 1\n    y: 2\n  # note\n  word\nb: 1\n', '{a: [{x: 1, y: 2 …} …], b: 1 …}'],
    ['a:\nword\nb: 1\n', '{a: ?, b: 1 …}'],
    // Without the value, the rest is valid.
    ['a: "b\nc: 1\n', '{a: b?, c: 1}'],
    ['a:\n  - b: "c" d\n    e: 1\nf: {g: 1}\n', '{a: [{b: ?, e: 1 …} …], f: {g: 1} …}'],
    ['a:\n  b: [c]]\n  d: 1\ne: {f: 1\ng: 1\n', '{a: {b: ?, d: 1}, e: ?, g: 1}'],
    ['- "a\n- b\n', '[a?, b]'],
    ['a: b: c\nd: 1\n', '{a: ?, d: 1 …}'],
    // So it is without the line of one key, or of an unfinished word.
    ['a:\n  b:c\n  d: {e: 1}\nf: {g: 1}\n', '{a: {d: {e: 1} …}, f: {g: 1} …}'],
    ['a:\n  b: x\n    c: 1\n    d: 2\n  e: {f: 1}\n', '{a: {b: ?, e: {f: 1} …}}'],
    ['a:\n  - b: 1\n     c: 2\n    d: {e: 1}\n', '{a: [{b: ?, d: {e: 1} …}]}'],
    ['a:\n  siz\n  b:\n    c: 1\n', '{a: {b: {c: 1} …} …}'],
    ['a:\n  b: 1\n\tc: 2\n  d: {e: 1}\n', '{a: {b: 1, d: {e: 1} …}}'],
    ['a:\n   b: 1\n  c: {d: 1}\n', '{a: {b: 1 …}}'],
    ['a:\n   b: 1\n  c:\n    d: 1\ne:\n  f: 1\n', '{a: {c: {d: 1} …}, e: {f: 1}}'],
    // A line that agrees with others is not the one that is too deep.
    ['a:\n  b: 1\n  c: 2\n d:\n  e: 1\nf: 1\n', '{a: {b: 1, c: 2 …}, d: {e: 1}, f: 1 …}'],
    ['a:\n  b: 1\n d:\n  e: 1\nf: 1\n', '{a: {b: 1 …}, d: {e: 1}, f: 1 …}'],
    // Lines below would belong to another key.
    ['a:\n  b\n    c: 1\nd: 1\n', '{a: {b c: 1 …}, d: 1 …}'],
    ['a:\n  b\n  - c: 1\nd: 1\n', '{a: {b - c: 1 …}, d: 1 …}'],
    ['a:\n  - b: 1\n  -c: 2\n    d: {e: 1}\n', '{a: [{b: 1 …} …], -c: {2 d: {e: 1} …} …}'],
    ['a: |\n  b\n c: 1\nd: 1\n', '{a: b\n   \n?, d: 1 …}'],
    ['kind Pod\na: 1\n', '{kind Pod a: 1 …}'],
    // The whole is read, but the key is not where it seems to be.
    ['a:\n  b: 1\n\u00a0 c: 2\nd:\n  e: 3\n', '{a: {b: 1 …}, \u00a0 c: 2?, d: {e: 3} …}'],
    ['\nword\na: 1\n', '{word a: 1 …}'],
    // These errors say nothing about other places.
    ['%YAML 1.2\n---\napiVersion: v1\nb: {c: 1}\n', '{apiVersion: v1, b: {c: 1}}'],
    ['a: *none\nb: {c: 1}\n', '{a: ?, b: {c: 1}}'],
    ['a: 1\na: 2\n', '{a: 1, a: 2}'],
    ['a: {b: 1}\n', '{a: {b: 1}}'],
  ])('%j', (text, tree) => {
    expect(treeOf(text)).toBe(tree);
  });

  test('takes time in proportion to the text', () => {
    const text = `${'# note\n'.repeat(20_000)}a:\n${'  - {b: 1}\n'.repeat(5000)}${'  # note\n'.repeat(20_000)}  word\n`;
    expect(parseYaml(text).documents[0]?.problems).toHaveLength(1);
  });
});

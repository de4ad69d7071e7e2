import { describe, expect, test } from 'vitest';
import { fix, joinEdits } from '../../server/src/rewrite/fix.ts';
import { getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import { appendItem, insertKey } from '../../server/src/yaml/edit.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import { applyEdits, type TextEdit } from '../../server/src/yaml/span.ts';

const edit = (start: number, end: number, newText: string): TextEdit => ({ span: { start, end }, newText });

describe('fix', () => {
  test('joins its edits in order', () => {
    const [first, second] = [edit(4, 5, 'x'), edit(1, 2, '')];
    expect(fix('Do it', 'safe', [first], [], [second])).toEqual({ title: 'Do it', safe: true, edits: [first, second] });
    expect(fix('Do it', 'unsafe', [first])?.safe).toBe(false);
  });

  test('is undefined if a part cannot be made, and if nothing changes', () => {
    expect(fix('Do it', 'safe', [edit(1, 2, '')], undefined)).toBeUndefined();
    expect(fix('Do it', 'safe', [], [])).toBeUndefined();
    expect(fix('Do it', 'safe')).toBeUndefined();
  });

  test('is undefined if two edits change the same text', () => {
    expect(fix('Do it', 'safe', [edit(1, 5, '')], [edit(4, 6, '')])).toBeUndefined();
    expect(fix('Do it', 'safe', [edit(1, 5, '')], [edit(3, 3, 'x')])).toBeUndefined();
    expect(fix('Do it', 'safe', [edit(1, 5, 'a')], [edit(1, 5, 'b')])).toBeUndefined();
    expect(fix('Do it', 'safe', [edit(1, 5, '')], [edit(5, 5, 'x')])?.edits.length).toBe(2);
  });
});

describe('insertions at one position become one edit', () => {
  const twice = (text: string) => {
    const document = parseDocument(text, 0);
    const map = document.root === null ? undefined : getIn(rootCursor(document.root), 'a');
    const edits = joinEdits(insertKey(document, map, 'c', 1), insertKey(document, map, 'd', 2));
    return edits && applyEdits(text, edits);
  };

  test.each([
    ['a:\n  b: 0\n', 'a:\n  b: 0\n  c: 1\n  d: 2\n'],
    ['a: {b: 0}\n', 'a: {b: 0, c: 1, d: 2}\n'],
    ['a: {\n  b: 0,\n}\n', 'a: {\n  b: 0,\n  c: 1,\n  d: 2,\n}\n'],
    ['a: {}\n', 'a:\n  c: 1\n  d: 2\n'],
    ['a: {} # none\n', 'a: # none\n  c: 1\n  d: 2\n'],
    ['a:\n', 'a:\n  c: 1\n  d: 2\n'],
  ])('%j', (text, expected) => {
    expect(twice(text)).toBe(expected);
  });

  test.each(['{"a": {}}', 'a: {\n  b: 0 # none\n}\n'])('%j cannot take both', (text) => {
    expect(twice(text)).toBeUndefined();
  });

  test('several items of a list', () => {
    const text = 'a: [x]\n';
    const document = parseDocument(text, 0);
    const list = document.root === null ? undefined : getIn(rootCursor(document.root), 'a');
    const edits = joinEdits(...['c', 'd'].map((item) => appendItem(document, list, item)));
    expect(edits).toEqual([edit(5, 5, ', c, d')]);
  });
});

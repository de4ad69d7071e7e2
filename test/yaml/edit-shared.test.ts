import { describe, expect, test } from 'vitest';
import { type Cursor, getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import {
  appendItem,
  insertKey,
  removeItem,
  removeKey,
  renameKey,
  replacePart,
  replaceScalar,
} from '../../server/src/yaml/edit.ts';
import type { YamlDocument } from '../../server/src/yaml/node.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import type { TextEdit } from '../../server/src/yaml/span.ts';

// Rules have no guard of their own against places that aliases share: every maker of edits rejects them.

type Maker = (doc: YamlDocument, owner: Cursor | undefined) => readonly TextEdit[] | undefined;

const makers: readonly (readonly [string, Maker])[] = [
  ['insertKey', (doc, owner) => insertKey(doc, owner, 'new', 1)],
  ['removeKey', (doc, owner) => removeKey(doc, getIn(owner, 'key'))],
  ['renameKey', (doc, owner) => renameKey(doc, getIn(owner, 'key'), 'new')],
  ['replaceScalar', (doc, owner) => replaceScalar(doc, getIn(owner, 'key'), 'new')],
  ['appendItem', (doc, owner) => appendItem(doc, getIn(owner, 'list'), 'new')],
  ['removeItem', (doc, owner) => removeItem(doc, getIn(owner, 'list', 0))],
  [
    'replacePart',
    (doc, owner) => {
      const key = getIn(owner, 'key');
      return key && replacePart(doc, key, key.node.span, 'word', 'new');
    },
  ],
];

const own = 'place:\n  key: word\n  list: [word]\n';

describe.each(makers)('%s', (_name, make) => {
  const madeAt = (text: string, path: readonly string[]) => {
    const doc = parseDocument(text, 0);
    return make(doc, doc.root === null ? undefined : getIn(rootCursor(doc.root), ...path));
  };

  test('edits a place of its own', () => {
    expect(madeAt(own, ['place'])?.length).toBeGreaterThan(0);
  });

  test.each([
    ['behind an alias', `${own.replace('place:', 'place: &a')}other: *a\n`, ['other']],
    ['that an alias repeats', `${own.replace('place:', 'place: &a')}other: *a\n`, ['place']],
    ['below an alias', `outer: &a\n${own.replace(/^/gm, '  ').trimEnd()}\nother: *a\n`, ['other', 'place']],
    [
      'below one that an alias repeats',
      `outer: &a\n${own.replace(/^/gm, '  ').trimEnd()}\nother: *a\n`,
      ['outer', 'place'],
    ],
    ['that is missing', own, ['missing']],
  ])('rejects a place %s', (_case, text, path) => {
    expect(madeAt(text, path)).toBeUndefined();
  });
});

test('what a merge key brings is changed where it is written, or overridden', () => {
  const doc = parseDocument('base: &a {key: word, list: [word]}\nplace:\n  <<: *a\n  own: 1\n', 0);
  const place = doc.root === null ? undefined : getIn(rootCursor(doc.root), 'place');
  const rejected = makers.filter(([, make]) => make(doc, place) === undefined).map(([name]) => name);
  expect(rejected).toEqual(['removeKey', 'renameKey', 'replaceScalar', 'appendItem', 'removeItem', 'replacePart']);
});

test('a key is its own text, also where its value is an alias', () => {
  const doc = parseDocument('a: &a 1\nb: *a\n', 0);
  const b = doc.root === null ? undefined : getIn(rootCursor(doc.root), 'b');
  expect(renameKey(doc, b, 'c')).toEqual([{ span: { start: 8, end: 9 }, newText: 'c' }]);
});

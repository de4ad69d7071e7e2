import { expect, test } from 'vitest';
import { getIn, rootCursor, spanOf } from '../../server/src/yaml/cursor.ts';
import { replacePart } from '../../server/src/yaml/edit.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';

/** Replaces a word of `run`; undefined where the edit is refused. */
function edited(text: string, expected: string, newText: string): string | undefined {
  const document = parseDocument(text, 0);
  const run = document.root === null ? undefined : getIn(rootCursor(document.root), 'run');
  const start = text.indexOf(expected);
  const edits = run && replacePart(document, run, { start, end: start + expected.length }, expected, newText);
  return edits && applyEdits(text, edits);
}

test('a part of a scalar is written over in every style', () => {
  for (const text of ['run: go --n=2 x # two\n', 'run: "go --n=2 x"\n', 'run: |\n  go --n=2 x\n  # two\n']) {
    expect(edited(text, '--n=2', '--n=16')).toBe(text.replace('--n=2', '--n=16'));
  }
});

test('a part of a scalar can be removed', () => {
  expect(edited('run: go && rest\n', ' && rest', '')).toBe('run: go\n');
});

test('what would mean something in YAML or a shell, or stands elsewhere, is refused', () => {
  for (const newText of ['a b', 'a: b', '"a"', '$(a)', 'a;b', 'a:']) {
    expect(edited('run: go --n=2\n', '--n=2', newText)).toBeUndefined();
  }
  expect(edited('other: go --n=2\nrun: go\n', '--n=2', '--n=3')).toBeUndefined();
  expect(edited('run: &anchor go --n=2\nagain: *anchor\n', '--n=2', '--n=3')).toBeUndefined();
  expect(edited('run: go {{ .Values.n }} --n=2\n', '--n=2', '--n=3')).toBeUndefined();
});

test('nothing is written where other characters stand than are expected', () => {
  const document = parseDocument('run: go --n=2\n', 0);
  const run = document.root === null ? undefined : getIn(rootCursor(document.root), 'run');
  if (run === undefined) throw new Error('no run');
  expect(replacePart(document, run, spanOf(run), 'go --n=3', 'go')).toBeUndefined();
});

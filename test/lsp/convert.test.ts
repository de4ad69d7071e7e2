import { describe, expect, test } from 'vitest';
import { lineIndex } from '../../server/src/lsp/line-index.ts';
import { fromDiagnosticData } from '../../server/src/lsp/to-lsp.ts';

describe('a line index', () => {
  test.each([
    ['\n', 'a\nbb\nccc'],
    ['\r\n', 'a\r\nbb\r\nccc'],
    ['\r', 'a\rbb\rccc'],
  ])('recognizes the line ending %j', (_, text) => {
    const lines = lineIndex(text);
    expect(lines.toPosition(text.indexOf('ccc') + 1)).toEqual({ line: 2, character: 1 });
    expect(lines.fromPosition({ line: 2, character: 1 })).toBe(text.indexOf('ccc') + 1);
  });

  test('counts columns in UTF-16 code units', () => {
    const lines = lineIndex('# 🚀 é\nname: 🚀x');
    expect(lines.toPosition('# 🚀 é\nname: 🚀'.length)).toEqual({ line: 1, character: 8 });
  });

  test('maps every offset to a position and back', () => {
    const text = 'a\r\n\n🚀b\rc\n';
    const lines = lineIndex(text);
    for (let offset = 0; offset <= text.length; offset += 1) {
      // There is no position between \r and \n.
      const expected = text.slice(offset - 1, offset + 1) === '\r\n' ? offset - 1 : offset;
      expect(lines.fromPosition(lines.toPosition(offset))).toBe(expected);
    }
  });

  test('moves positions outside the text to the nearest one inside', () => {
    const lines = lineIndex('ab\ncd');
    expect(lines.fromPosition({ line: 0, character: 99 })).toBe(2);
    expect(lines.fromPosition({ line: 99, character: 0 })).toBe(5);
    expect(lines.fromPosition({ line: -1, character: 3 })).toBe(0);
    expect(lines.fromPosition({ line: Number.NaN, character: 0 })).toBe(0);
    expect(lines.fromPosition({ line: 1, character: Number.NaN })).toBe(3);
    expect(lines.toPosition(-5)).toEqual({ line: 0, character: 0 });
    expect(lines.toPosition(99)).toEqual({ line: 1, character: 2 });
    expect(lines.fromRange({ start: { line: 1, character: 1 }, end: { line: 0, character: 1 } })).toEqual({
      start: 1,
      end: 4,
    });
  });
});

test('the data of a diagnostic from another extension is ignored', () => {
  expect(fromDiagnosticData(undefined)).toBeUndefined();
  expect(fromDiagnosticData('text')).toBeUndefined();
  expect(fromDiagnosticData({ rule: 'a', span: null })).toBeUndefined();
  expect(fromDiagnosticData({ rule: 'a', span: { start: 1, end: 2 }, more: 1 })).toEqual({
    rule: 'a',
    span: { start: 1, end: 2 },
  });
});

import { describe, expect, test } from 'vitest';
import { joinedLines } from '../../server/src/yaml/joined-lines.ts';

const joined = (text: string) => joinedLines(text).map(({ word, after }) => `${word} ${after}`);

describe('lines that trim markers join', () => {
  test.each([
    ['a: 1\n{{- if .x -}}\nb: 2\n{{- end }}\n', ['b: line']],
    ['a: 1\r\n{{- if .x -}}\r\nb: 2\r\n{{- end }}\r\n', ['b: line']],
    ['a:\n  {{- if .x -}}\n  b: 2\n  {{- end }}\n', ['b: line']],
    ['a: 1\n{{- with .x }}\nb: 2\n{{- end -}}\nc: 3\n', ['c: line']],
    ['a: {{ .Values.b -}}\nc: 3\n', ['c: line']],
    ['a:\n  {{- toYaml .b | nindent 2 -}}\nc: 3\n', ['c: line']],
    ['a: 1\n{{- end -}}\n{{- if .y -}}\n- b\n', ['- line']],
    ['# note\n{{- if .x -}}\napiVersion: v1\n', ['apiVersion: comment']],
    ['- a: b\n  {{- if .x -}}\n  c: 1\n  {{- end }}\n', ['c: line']],
    ['a: b{{- if .x -}}:{{ .Values.x }}{{- end -}}\nc: 3\n', ['c: line']],
    ['a:\n{{- toYaml .Values.b | indent 4 }}\n', ['undefined line']],
  ])('%j', (text, expected) => {
    expect(joined(text)).toEqual(expected);
  });

  test.each([
    // Nothing is above.
    '{{- $x := 1 -}}\n{{- if .x -}}\napiVersion: v1\n',
    '{{- /* License */ -}}\napiVersion: v1\n',
    '{{- define "a" -}}\nb\n{{- end -}}\nc: 1\n',
    // One side keeps its line break.
    'a: 1\n{{- if .x }}\nb: 2\n{{- end }}\n',
    'a: 1\n{{ if .x -}}\nb: 2\n{{- end }}\nc: 1\n',
    'a: 1\n{{- if .x -}}\n{{ $y := 1 }}\nb: 2\n',
    // The lines are in different branches, or the output is unknown.
    'a:\n{{ if .x -}}\nb: 1\n{{- else -}}\nb: 2\n{{- end }}\n',
    'a:\n  {{- include "b" . -}}\nc: 1\n',
    // Texts and brackets.
    'a: |\n  b\n  {{- if .x -}}\n  c: 1\n  {{- end }}\n',
    'a: {\n  {{- if .x -}}\n  c: 1,\n  {{- end -}}\n  d: 1}\n',
    'a: 1\n{{- if .x -}}\nplain text\n',
    'a: |\n{{- toYaml .Values.b | indent 4 }}\n',
    'a: |\n  b:\n{{- toYaml .Values.b | indent 4 }}\n',
    'a: | # note\n  b\n  {{- if .x -}}\n  c: 1\n  {{- end }}\n',
    'a: "b\n  {{- if .x -}}\n  c: 1\n  {{- end }}"\n',
    '- a: b\n    {{- if .x -}}\n    c: 1\n    {{- end }}\n',
    'a:\n{{ toYaml .Values.b | indent 4 }}\n',
    'a:\n{{- toYaml .Values.b | nindent 4 }}\n',
  ])('none: %j', (text) => {
    expect(joined(text)).toEqual([]);
  });

  test('a long template takes linear time', () => {
    const text = `a: |\n${'  {{- if .x -}}\n  c: 1\n  {{- end -}}\n'.repeat(3000)}`;
    expect(joined(text)).toEqual([]);
  });
});

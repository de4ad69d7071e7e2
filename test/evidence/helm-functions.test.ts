import { expect, test } from 'vitest';
import { misspelledFunctions } from '../../server/src/evidence/helm-functions.ts';

const found = (text: string) =>
  misspelledFunctions(`${text}v: {{ .Values.v }}\n`).map(
    ({ span, message }) => `${text.slice(span.start, span.end)}: ${message}`,
  );

test.each([
  ['a: {{ .Values.a | defualt "x" }}\n', 'defualt: Helm has no function defualt; did you mean default? Helm fails'],
  ['a: {{- toYmal .Values.a | nindent 4 }}\n', 'toYmal: Helm has no function toYmal; did you mean toYaml?'],
  ['a: {{- toYaml .Values.a | nident 4 }}\n', 'nident: Helm has no function nident; did you mean'],
  ['a: {{ (inlcude "b" .) | quote }}\n', 'inlcude: Helm has no function inlcude; did you mean include?'],
  ['{{- $b := qoute .c }}\n', 'qoute: Helm has no function qoute; did you mean quote?'],
  ['{{- if hasKye .Values "b" }}{{ end }}\n', 'hasKye: Helm has no function hasKye; did you mean hasKey?'],
  ['a: {{ ToYaml .Values.b }}\n', 'ToYaml: Helm has no function ToYaml; did you mean toYaml?'],
  ['a: {{ Values.b }}\n', 'Values: Values needs a dot before it, as in .Values: Helm fails'],
  ['{{ if Release.Name }}{{ end }}\n', 'Release: Release needs a dot before it'],
])('%j', (text, expected) => {
  const [first, ...others] = found(text);
  expect(first).toContain(expected);
  expect(others).toEqual([]);
});

test.each([
  'a: {{ default "defualt" .Values.a | quote }} # {{ qoute .b }}\n',
  'a: {{ .Values.defualt }}-{{ $qoute }}-{{ $.Values.toYmal }}\n',
  'a: {{ myFunction .Values.a | toColor }}\n',
  '{{- range $k, $v := .Values.a }}\n{{ $k }}: {{ $v | toString | trunc 63 | trimSuffix "-" }}\n{{- end }}\n',
  '{{/* defualt Values.a */}}\na: {{ include "b.values" (dict "Values" .Values "ctx" $) }}\n',
  '{% set a = Values.b %}\na: {{ Values.b }}\n',
  'a: {{ template "b" . }}-{{ values .a }}-{{ index .Values "b" 0 }}-{{ print `qoute` }}\n',
])('silent: %j', (text) => {
  expect(found(text)).toEqual([]);
});

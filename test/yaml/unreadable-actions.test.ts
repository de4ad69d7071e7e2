import { describe, expect, test } from 'vitest';
import { unreadableActions } from '../../server/src/yaml/unreadable-actions.ts';

const found = (text: string) =>
  unreadableActions(text).map(({ span, message }) => `${text.slice(span.start, span.end)}: ${message}`);

describe('actions that Helm cannot read', () => {
  test.each([
    [
      'a: {{ .Values.limits.nvidia.com/gpu }}',
      '.Values.limits.nvidia.com/gpu: .Values.limits.nvidia.com/gpu is not a path',
    ],
    ['a: {{ .Values.gpu-pool.count | quote }}', '.Values.gpu-pool.count: .Values.gpu-pool.count is not a path'],
    ['a: {{ $.Values.gpu-pool }}\nb: {{ .Values.c }}', '$.Values.gpu-pool: $.Values.gpu-pool is not a path'],
    ['a: {{ .Values.count-}}\n', '-: -}} needs a space before it'],
    ['{{-if .Values.a }}\nb: {{ .Values.b }}\n{{ end }}', '{{-: {{- needs a space after it'],
    ['{{- if .Values.a }}\nb: 1\n{{- endif }}', 'endif: Helm has no endif; write end'],
    ['{{ if .Values.a }}\nb: 1\n{{ elif .Values.c }}\nb: 2\n{{ end }}', 'elif: Helm has no elif; write else if'],
    ['{{ range .Values.a }}\nb: 1\n{{ elseif .b }}{{ end }}', 'elseif: Helm has no elseif; write else if'],
    ['{{ range .Values.a as $b }}\n{{ end }}', 'as $b: range has no as; write range $b := before the list'],
    ['a: {{ .Values.a }}\nb: x:{ .Values.b }}\n', '{ .Values.b }}: A template action has two braces on each side'],
    ['a: {{ .Values.a }}\nb: { .Release.Name }\n', '{ .Release.Name }: A template action has two braces on each side'],
    ['{{ /* note */ }}\nb: {{ .Values.b }}', '{{ /* note */ }}: A comment must touch its braces'],
  ])('%j', (text, expected) => {
    const [first, ...others] = found(text);
    expect(first).toContain(expected);
    expect(others).toEqual([]);
  });

  test.each([
    'a: {{ .Values.a.b -}}\nb: {{- .Values.c }}\n',
    'a: {{ index .Values.limits "nvidia.com/gpu" }}\nb: {{ .Values.c }}\n',
    'a: {{ default "x-y" .Values.a }}-{{ .Values.b }}/{{ .Values.c }}\n',
    'a: {{ .Values.a }}\n{{/* .Values.a-b */}}\n{{- /* c */ -}}\n',
    'a: {{ printf "%s/%s-%d" .Values.a .Values.b (sub 1 .Values.c) }}\n',
    'a: {{ .Values.a }}\n# {{ .Values.a-b }}\n',
    'a: {{ .Values.a }}\n# { .Values.b }\nc: "{ .Values.d }"\ne: {f: .Values.g}\nh: {{{ .Values.i }}}\nj: {{ dict "as" .Values.k }}\n',
    '{{ range $as := .Values.as }}\n{{ $as }}\n{{ end }}',
    '{{ if .Values.a }}\nb: {{ endifs }}-{{ elif-x }}\n{{ end }}',
    '{%- if a %}\n{% elif b %}\n{% endif %}\na: {{ .Values.c }}\n',
    '{%- if a %}\na: {{-b}} {{ c.Values-d }}\n{%- endif %}\n',
  ])('none: %j', (text) => {
    expect(found(text)).toEqual([]);
  });
});

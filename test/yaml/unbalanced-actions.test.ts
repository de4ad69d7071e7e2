import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { unbalancedAction } from '../../server/src/yaml/unbalanced-actions.ts';

const values = 'v: {{ .Values.v }}\n';

function found(text: string): string | undefined {
  const problem = unbalancedAction(text);
  return problem && `${problem.span.start} ${problem.message.replace(': Helm fails to read the chart', '')}`;
}

describe('blocks of a Helm template', () => {
  test.each([
    ['{{- if .Values.a }}\nb: 1\n', '0 {{ if }} has no {{ end }}'],
    ['{{- range .Values.a }}\n{{- with .b }}\nc: 1\n{{- end }}\n', '0 {{ range }} has no {{ end }}'],
    // The `end` of the outer block closes the inner one.
    ['{{- if .Values.a }}\n  {{- if .b }}\n  c: 1\n{{- end }}\n', '22 {{ if }} has no {{ end }}'],
    [`${values}{{- end }}\n`, '19 {{ end }} is outside of any block'],
    [`{{ if .Values.a }}b: 1\n{{ end }}{{ else }}\n`, '32 {{ else }} is outside of any block'],
    ['{% for a in b %}\nc: 1\n', '0 {% for %} has no {% endfor %}: the template cannot be rendered'],
    [
      '{%- if a -%}\n{% for b in c %}\nd: {{ b }}\n{% endfor %}\n',
      '0 {% if %} has no {% endif %}: the template cannot be rendered',
    ],
    // Helm does not know comments of YAML.
    ['{{- if .Values.a }}\nb: 1\n# {{- if .c }}\n{{- end }}\n', '0 {{ if }} has no {{ end }}'],
  ])('%j', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  test.each([
    '{{- if .Values.a }}\nb: 1\n{{- else if .c }}\nb: 2\n{{- else }}\n{{- range $i, $e := .d }}\ne: 1\n{{- end }}\n{{- end }}\n',
    '{% for a in b if a %}\nc: {{ a if a else 1 }}\n{% endfor %}\n{% set d = 1 if e else 2 %}\n{% include "f" %}\n',
    '{# {% if a %} #}\nb: 1\n',
    '{% raw %}{% if a %}{% endraw %}\nb: 1\n',
    '{%- if .Values.a %}\nb: {{ .Values.b }}\n{% unless c %}{% endunless %}{% endif %}\n',
    '{{- if .Values.a }}\nb: 1\n# {{- end }}\n',
    '{{- if.Values.a }}\nb: {{ .Values.b }}\n{{- end}}\n',
    `${values}{{- define "x" -}}\ny\n{{- end -}}\n{{ block "z" . }}{{ end }}\n`,
    `${values}{{/* {{ if }} */}}\nt: {{ "{{ if }}" }}\nu: {{ \`{{ end }}\` }}\n`,
    `${values}e: {{ .Values.end }}\nf: {{ include "if" . }}\ng: {{ ternary "end" "x" .b }}\n`,
    // A field and a parenthesis end a word.
    `${values}{{- if.Values.a }}\nb: 1\n{{- end}}\n{{ if(eq .Values.b 1) }}{{ end }}\n`,
    // A comment on how a manifest is templated, and a template of a template.
    '# In the chart: {{- if .Values.a }}\na: 1\n  # {{ .Values.b }}\n',
    `{% if a %}{{ if .Values.b }}{% else %}{{ if .Values.c }}{% endif %}\nb: 1\n{{ end }}\n`,
    // Not Helm, or not certain.
    '{{ if a }}\nb: 1\n',
    `${values}{{ if .Values.a \nb: 1\n`,
    'a: 1\n',
  ])('%j', (text) => {
    expect(found(text)).toBeUndefined();
  });

  test('are not read in values, nor slowly', () => {
    const text = 'a: 1 # {{- range .Values.a }}\nb: |\n  {{ if .Values.b }}\n';
    const problems = (uri: string) =>
      new Analysis().setFile(uri, text).documents.flatMap(({ document }) => document.problems);
    expect(problems('file:///c/values-prod.yaml')).toEqual([]);
    expect(problems('file:///c/templates/a.yaml')).toHaveLength(1);
    expect(found('{{ (('.repeat(400_000))).toBeUndefined();
  });

  test('may begin in one document and end in another', () => {
    const analysis = new Analysis();
    const text = '{{- if .Values.a }}\napiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\n{{- end }}\n';
    const of = (changed: string) =>
      analysis
        .setFile('file:///c/templates/a.yaml', changed)
        .documents.map(({ document }) => document.problems.map(({ span }) => document.base + span.start));
    expect(of(text)).toEqual([[], []]);
    expect(of(text.replace('{{- end }}\n', ''))).toEqual([[0], []]);
    expect(of(text)).toEqual([[], []]);
    expect(of(`${text}{{ end }}\n`)).toEqual([[], [text.length]]);
  });
});

describe('an action without its end', () => {
  test.each([
    [`${values}{{- /* later\nb: 1\n`, '19 This comment of the template has no */}}'],
    [`${values}b: {{ .Values.b | default "x }}\nc: 1\n`, '45 This quote in the action is not closed'],
    [`${values}b: {{ printf "%s-%s" "a .Values.b }}`, '40 This quote in the action is not closed'],
  ])('%j', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  test.each([
    `${values}b: "{{ .Values.b | default "x" }}"\n`,
    `${values}b: "{{ .Values.b | default \\"x\\" }}"\n`,
    `${values}b: {{ printf \`%s"\` .Values.b }}\n`,
    `${values}b: {{ .Values.b | trimAll "'" }} # it's "\n`,
    `${values}b: {{ ternary\n  "a"\n  "b" .Values.b }}\n`,
    `${values}{{- /* a "\n*/}}\nb: 1\n`,
  ])('%j', (text) => {
    expect(found(text)).toBeUndefined();
  });
});

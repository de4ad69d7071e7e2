import { expect, test } from 'vitest';
import { problemsOf } from './shown-problems.ts';

test.each([
  // Whatever the values are, these lines are not YAML.
  ['a: {{ .b }}\nc: 1\nd:\n\te: 1\n', '4 Tab in the indentation; use spaces [\t]'],
  [
    'a: {{ .b }}\nc:\n  d: 1\n e: 1\n',
    '4 The indentation matches no line above; align the line with the lines around it [e:]',
  ],
  ['- x-{{ .b }}\n- c\n- "e" f\n', '3 Unexpected text after the value; quote the whole value or move it [f]'],
  // The quotes of an action in a text are escaped, so it has its end.
  ['a: "{{ .b }}-{{ date \\"2006\\" .c }}"\nd: 1\ne: 1\n\tf: 1\n', '4 Tab in the indentation; use spaces [\t]'],
  ['a: {{ "b }}\nc: {{ .d }}\n\te: 1\n', '1 Unclosed quote; add the closing quote ["b }}]'],
  // An action without its end is the cause of any other error.
  ['a: {{ .b }\nc: {{ .d }}\n\te: 1\n', '1 Unclosed template action; add the closing }} [{{ .b }]'],
])('an error of syntax in a template: %j', (text, problem) => {
  expect(problemsOf(text)).toEqual([problem]);
});

test.each([
  // What the actions decide: whether the line is there, what is above it, and what the value is.
  'a: {{ .b }}\n{{ if .c }}\nd:\n\te: 1\n{{ end }}\n',
  'a: {{ .b }}\n{{ .c }}\nd:\n\te: 1\n',
  'a: {{ toYaml .b | nindent 2 }}\n  c: 1\nd: {{ .e }}\n',
  'a: 1\nb: {{ .c }}\n    d: 1\n',
  'a: {{ .b }}\n# note\n  c: 1\n',
  'a:\n  b: {{ include "c" . }}\n d: 1\n',
  // Another renderer also changes the text.
  'a: {{ .b }}\nc: 1\nd: @TAG@\n',
  'a: {{ .b }}\nc: 1\nd: [[ tag ]]:[[ build ]]\n',
  `a: {{ .b }}\nc: 1\n\${MORE}\nd: [x, \${Y}: 1]]\n`,
  'a: {{ .b }}\nc: 1\nd:\n  e: <%= e %>\n f: <%= f %>\n',
  'a: {{ .b }}\nc: 1\n  ...\nd: 1\n',
])('what a template decides is unknown: %j', (text) => {
  expect(problemsOf(text)).toEqual([]);
});

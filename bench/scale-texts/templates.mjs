// Actions of templates.
import { many, pod, containers, container } from './parts.mjs';

/** @type {readonly import('./parts.mjs').Growing[]} */
export const templates = [
  {
    name: 'markers in template comments',
    most: 50_000,
    make: (n) => `# gpu\n${'{{/* a\n---\n*/}}\n'.repeat(n)}a: 1\n`,
  },
  {
    name: 'markers and template comments',
    most: 40_000,
    make: (n) => `# gpu\n${'{{/* a */}}\n---\na: 1\n'.repeat(n)}`,
  },
  { name: 'actions', most: 60_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: {{ .a }}\n`)}` },
  {
    name: 'actions on lines',
    most: 40_000,
    make: (n) => `${pod}${containers}${many(n, () => `{{- include "a" . }}\n`)}`,
  },
  { name: 'actions in a line', most: 150_000, make: (n) => `${pod}${containers}k: ${'{{a}}'.repeat(n)}\n` },
  {
    name: 'actions in a pod',
    most: 5000,
    make: (n) => `${pod}      containers:\n${many(n, (i) => container(i).replace('1.0', '{{ .Values.tag }}'))}`,
  },
  {
    name: 'actions with conditions',
    most: 4000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        {{- if .Values.c${i} }}\n${container(i).replace('limits', 'requests')}        {{- end }}\n`)}`,
  },
  { name: 'unclosed actions', most: 300_000, make: (n) => `${pod}${containers}k: ${'{{a'.repeat(n)}\n` },
  { name: 'unclosed actions on lines', most: 100_000, make: (n) => `${pod}${containers}${'k: {{ a\n'.repeat(n)}` },
  { name: 'unclosed comments', most: 100_000, make: (n) => `${pod}${containers}${'{{/* a\n'.repeat(n)}` },
  { name: 'unclosed Jinja', most: 100_000, make: (n) => `${pod}${containers}${'{% if a\n'.repeat(n)}` },
  { name: 'Jinja comments, unclosed', most: 100_000, make: (n) => `${pod}${containers}${'{# a\n'.repeat(n)}` },
  { name: 'Jinja blocks', most: 40_000, make: (n) => `${pod}${containers}${'{% if a %}\n{% endif %}\n'.repeat(n)}` },
  { name: 'ifs, open', most: 60_000, make: (n) => `${pod}${containers}${'{{ if a }}\n'.repeat(n)}k: 1\n` },
  { name: 'ends, alone', most: 60_000, make: (n) => `${pod}${containers}${'{{ end }}\n'.repeat(n)}k: 1\n` },
  {
    name: 'ranges',
    most: 20_000,
    make: (n) =>
      `${pod}${containers}          env:\n${'            {{ range .a }}\n            - name: A\n            {{ end }}\n'.repeat(n / 2)}`,
  },
  { name: 'quotes in actions', most: 300_000, make: (n) => `${pod}${containers}k: {{ ${'"a'.repeat(n)} }}\n` },
  { name: 'parentheses in actions', most: 300_000, make: (n) => `${pod}${containers}k: {{ ${'('.repeat(n)} }}\n` },
  { name: 'pipes in actions', most: 300_000, make: (n) => `${pod}${containers}k: {{ a${'|a'.repeat(n)} }}\n` },
  { name: 'variables', most: 60_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: \${V}\n`)}` },
  { name: 'variables in flow', most: 60_000, make: (n) => `${pod}${containers}x: [${many(n, () => `\${V}, `)}]\n` },
  { name: 'unclosed variables', most: 200_000, make: (n) => `${pod}${containers}x: [${'${V '.repeat(n)}]\n` },
  { name: 'placeholders', most: 60_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: <your-value>\n`)}` },
  { name: 'open placeholders', most: 200_000, make: (n) => `${pod}${containers}k: ${'<a '.repeat(n)}\n` },
  { name: 'at placeholders', most: 200_000, make: (n) => `${pod}${containers}k: x${'@a_'.repeat(n)}\n` },
  { name: 'stand-in lines', most: 100_000, make: (n) => `${pod}${containers}${'<a>\n'.repeat(n)}` },
];

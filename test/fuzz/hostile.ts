// Values that mutators insert. Each has broken a YAML reader or a calculation before.

const words = (text: string): readonly string[] => text.split(' ');

export const numbers: readonly string[] = [
  ...words(
    '0 -0 -1 1e400 -1e400 1e308 1e-400 .nan .inf -.inf +.5 5. 1_000 0o17 017 0x1F 1:30 190:20:30 0.1 1.5 16 100',
  ),
  ...words('1Ei 9999999Ei 1e3 1E3 1E 1e 1k 1K 1Ki 1m 0.5m 1n 1u .5Gi -5Gi 1GiB 99999999999999999999Gi'),
  ...words('9007199254740993 18446744073709551616 1e2147483647'),
  '1 Gi',
];

/** Property names that every JavaScript object has, and keys with a meaning in YAML or in gpulint. */
export const keys: readonly string[] = [
  ...words('__proto__ constructor toString hasOwnProperty valueOf prototype __defineGetter__ then length'),
  ...words('<< ? = ~ null yes 1 "" spec metadata name kind items template nvidia.com/gpu'),
];

export const values: readonly string[] = [
  ...words('null ~ {} [] "" \'\' yes off | >- |9 *missing !!str @ ` # { [ {{ }} ${{ %s $(VAR) "unclosed \'unclosed'),
  ...words('__proto__ constructor toString 2026-11-22 nvidia.com/mig-1g.5gb GPU'),
  ...[
    '',
    '{a: b}',
    '[1, 2]',
    '&a x',
    '!!binary ==',
    '!<tag> x',
    '!include x',
    '!reference [a, b]',
    '{{ .Values.x }}',
    '- a',
    '? x',
    'a: b: c',
    '{% if %}',
  ],
  `$${'{VAR}'}`,
  'x'.repeat(300),
];

/** Characters and marks to insert. */
export const marks: readonly string[] = [
  ...words('{ } [ ] " \' : , # !! | > ` @ \\ *a é ı'),
  ...['\r', '\n', '\r\n', '\t', '\0', '\b', '\n\n', '\ré', ' ', '   ', ': ', ' #', '- ', '&a ', '%YAML 1.2\n'],
  ...[
    '\u00a0',
    '\ufeff',
    '\u001b[31m',
    '\u2028',
    '\u0085',
    '\u200b',
    '\u007f',
    '\f',
    '\u0001',
    '\ud83d\ude80',
    '\ud83d',
    '\ude80',
  ],
  ...[
    '---\n',
    '\n---\n',
    '--- ',
    '...\n',
    '\n<<<<<<< HEAD\n',
    '\n=======\n',
    '\n>>>>>>> topic\n',
    '\n```yaml\n',
    '\n@@ -1,3 +1,4 @@\n',
    '\n----\n',
    '\n\ufeff',
    '\n\u00a0 ',
    ' // c\n',
    '/* c */',
    '\n: x\n',
    '\u3000',
    '\uff1a ',
    '\n# gpulint-disable-next-line\n',
    ' # gpulint-disable-line',
    '# gpulint-disable\n',
  ],
];

export const templates: readonly string[] = [
  ...[
    '{{ .Values.x }}',
    '{{- if .Values.x }}\n',
    '{{- end }}\n',
    '{{ range $i, $e := .Values.y }}\n',
    '{{/* a comment */}}',
  ],
  ...['{{- toYaml .Values.x | nindent 8 }}', '{{ include "a" . }}', '{{ "a\nb" }}', '{{ `{{` }}'],
  ...['<%= @x %>', '<% if x %>\n', '<your-value>', '@@X@@', '%X%'],
  ...['{% if x %}\n', '{% endif %}\n', '{# x #}', `$${'{X}'}`, `$${'{X:-1}'}`],
];

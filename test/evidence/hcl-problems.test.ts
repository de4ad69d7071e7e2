import { expect, test } from 'vitest';
import { readHcl } from '../../server/src/evidence/hcl.ts';
import { hclProblem } from '../../server/src/evidence/hcl-problems.ts';

const group = (name: string) => `resource "aws_eks_node_group" "${name}" {\n  instance_types = ["g6.xlarge"]\n}\n`;
const [first, second, third] = [group('a'), group('b'), group('c')];

/** The text at the problem, and what is wrong. */
function found(text: string): string | undefined {
  const problem = hclProblem(text);
  return problem && `${text.slice(problem.at, problem.at + 6)} | ${problem.message}`;
}

test.each([
  [first + second.replace('"]', ']') + third, '"g6.xl | Unclosed quote; add the closing quote'],
  [first + second.replace('"]', '"') + third, '["g6.x | Unclosed bracket; add the closing ]'],
  [first + second.replace('\n}\n', '\n') + third, '{\n  in | Unclosed bracket; add the closing }'],
  [first + second.replace('\n}\n', '\n'), '{\n  in | Unclosed bracket; add the closing }'],
  [`${first}}\n`, '}\n | Unexpected }; remove it'],
  [`${first}/* later\n${second}`, '/* lat | Unclosed comment; add the closing */'],
  ['a = <<-EOT\n  b\n', '<<-EOT | Unclosed here-document; add a line with EOT'],
  ['a =\nb = 2\n', '=\nb =  | No value after =; write one'],
  ['a = # later\n', '= # la | No value after =; write one'],
  [
    `${first}<<<<<<< HEAD\n${second}=======\n>>>>>>> b\n`,
    '<<<<<< | Unresolved merge conflict; choose one side and remove the marker lines',
  ],
  ['a = "${lookup(var.b, "c")\nb = 1\n', '"${loo | Unclosed quote; add the closing quote'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['a = { b = "${var.c" }\n', '${var. | Unclosed ${; add the closing }'],
  ["a = ['b']\n", "'b']\n | Single quotes around a text; use double quotes"],
  ['a = \u201cb\u201d\n', '\u201cb\u201d\n | Typographic quote \u201c; use the double quotes of code'],
  ['a =\u00a01\n', '\u00a01\n | Non-breaking space (U+00A0); use a plain space'],
  ['a = ["b" "c"]\n', '" "c"] | Missing comma after this value'],
  ['a = [{ b = 1 }\n  { b = 2 }]\n', '}\n  {  | Missing comma after this value'],
  ['a = { b "c" }\n', '"c" }\n | Missing = before this text'],
  ['a = f(b "c")\n', '"c")\n | Missing comma before this text'],
  ['a {\n  b: 1\n}\n', ': 1\n}\n | Write = after b, not :'],
  ['a {\n  b = 1\n  b = 2\n}\n', 'b = 2\n | b is set twice in this block; remove one'],
  ['a {\n-  b = 1\n+  b = 2\n}\n', '-  b = | This line begins with -, as in a diff; remove the mark, or the line'],
  ['a {\n  size\n}\n', 'size\n} | size has no value; write = and a value, or a block'],
  ['resource "a" "b"\n  c = 1\n}\n', 'resour | The block resource has no {; add it at the end of this line'],
  ['a { b = 1 } c { d = 1 }\n', 'c { d  | A line break is missing after the } of the block above'],
  ['a = 1 b = 2\n', 'b = 2\n | A line break is missing before b'],
  ['a = "C:\\lab"\n', '\\lab"\n | Unknown escape \\l; write \\\\ for a backslash'],
  ['a {\n  b = 1,\n}\n', ',\n}\n | Unexpected comma after the value; remove it'],
  ['a = b ?\n  "c" : "d"\n', '?\n  "c | A value goes on in the next line only in brackets; put it in ( )'],
  ['a = b +\n  c\n', '+\n  c\n | A value goes on in the next line only in brackets; put it in ( )'],
  ['a = b\n  ? "c"\n  : "d"\n', '? "c"\n | A line cannot begin with ?; put the value that it continues in ( )'],
  ['a {\n  b ["c"]\n}\n', 'b ["c" | b has no =; write it before the value'],
  ['a {\n  b  var.c\n}\n', 'b  var | b has no =; write it before the value'],
  ['a { b "c" }\n', 'b "c"  | b has no value; write = and a value, or a block'],
  ['a {\n  b = 1}\n', '}\n | A line break is missing before this }'],
  ['a {\n  b {\n    c = 1\n  }}\n', '}\n | A line break is missing before this }'],
  ['a = {\n  b = \n  c = 1\n}\n', '= \n  c | No value after =; write one'],
  ['a = {\n  b =\n}\n', '=\n}\n | No value after =; write one'],
  ['a = [{ b = "c" d = 1 }]\n', 'd = 1  | Missing comma before d'],
  ['a = { "b" "c" }\n', '"c" }\n | Missing = or comma before this text'],
  ['a = {\n  b {\n    c = 1\n  }\n}\n', '{\n     | Missing = before this {'],
  ['a {\n  b = { c = 1\n  d {\n  }\n}\n', '{ c =  | Unclosed bracket; add the closing }'],
  ['a { b = 1\n  c = 2\n}\n', 'b = 1\n | A line break is missing between { and b, or the } after its value'],
])('%j has an error', (text, expected) => {
  expect(found(text)).toBe(expected);
});

test.each([
  first + second,
  'a = "b # c // d /* e"\nf = [1, 2,\n  3]\n',
  '# don\'t "\n// "\n/* { [ " */\na = 1\n',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  'a = "${replace(b, "\\"", "\\\\\\"")}-$${c"\nd = "%{ if e }x%{ else }${f}%{ endif }"\n',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the quotes of Terraform 0.11
  'a = "${element(split(\\",\\", var.b), count.index)}"\n',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  'a = <<EOT\n{ " ${b}\n resource "x" "y" {\nEOT\nc = <<-E\n  "\n  E\n',
  'a = b == c ? 1 : 2\nd = b >= 3\ne = { for k, v in f : k => v if v != null }\n',
  'a = "\\n\\t\\u00e9\\"\\\\d"\nb = c.*.d\ne = f[*].*\ng = h(\n  i ?\n  j :\n  k,\n)\nl = [\n  m,\n  n\n]\n',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  'a = { for b in c : b => d... if e }\nf = [for g, h in { i = 1 } : "${g}=${h}" if h != 2]\nj { k = 1 }\nl = {\n  m =\n    { n = 1 }\n}\n',
  'a = (\n  b ||\n  c\n)\nlocals {\n  d = {\n    e =\n      1\n  }\n}\n',
  'a = {{ b }}\n{% if c %}\nd = 1\n{% endif %}\n',
  'resource "a" "b" {\r\n  c = "d"\r\n}\r\n',
  // Braces on their own line and names in quotes, as in earlier versions, and lines that a renderer replaces.
  'resource "a" "b"\n{\n  tags {\n    "c" = "it\'s"\n  }\n}\n__EXTRA__\n@LINES@\n',
  'a = { b : 1, "c-d" = 2, (e) = -3 }\nf = g["h"].i[*].j\nk = [for l in { m = 1 } : { n = l } if l > 0]\n',
  'a = { for b in ["c"] : b => "d" if "e" != b }\nf = [for g in "h" : "i"]\nj = {\n  k = 1\n  "l" = m\n  "n" = 2\n}\n',
  'a { b = 1 }\nc { d = e ? "f" : "g" }\nh {}\ni = [\n  "j", # k\n  "l",\n]\nm = flatten([for n in o : [for p in n : p]])\n',
  "a = <<E\n- \u201cb\u201d 'c'\nE\nd = 1\n",
  '- {{ a }}: b\n{% for c in d %}\n- e "f"\n{% endfor %}\n',
])('%j is well formed', (text) => {
  expect(found(text)).toBeUndefined();
});

test.each([
  second.replace('"]', ']'),
  second.replace('"]', '"'),
  second.replace('\n}\n', '\n'),
  second.replace('["g6.xlarge"]', 'merge({ a = ["x"'),
])('an error in a block hides no other block', (broken) => {
  const names = readHcl(first + broken + third).map(({ labels }) => labels[1]);
  expect(names).toEqual(['a', 'b', 'c']);
});

test('the time is linear', () => {
  const count = 60_000;
  for (const part of ['{', '[', '[}', '"${', 'a = "', '<<E\n', '/*', 'resource "a" "b" {\n', '\\"'])
    expect(() => [hclProblem(part.repeat(count)), readHcl(part.repeat(count))]).not.toThrow();
  expect(() => readHcl('['.repeat(count) + '}'.repeat(count))).not.toThrow();
});

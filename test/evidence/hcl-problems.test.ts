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
  'a = (\n  b ||\n  c\n)\nlocals {\n  d = {\n    e =\n      1\n  }\n}\n',
  'a = {{ b }}\n{% if c %}\nd = 1\n{% endif %}\n',
  'resource "a" "b" {\r\n  c = "d"\r\n}\r\n',
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

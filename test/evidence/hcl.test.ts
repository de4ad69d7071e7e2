import { expect, test } from 'vitest';
import { readHcl } from '../../server/src/evidence/hcl.ts';
import { terraformPools } from '../../server/src/evidence/terraform-pools.ts';

function bodyOf(text: string): unknown {
  return plain(readHcl(`locals {\n${text}\n}\n`)[0]?.body);
}

function plain(field: unknown): unknown {
  if (field instanceof Map) return Object.fromEntries([...field].map(([key, value]) => [key, plain(value)]));
  return Array.isArray(field) ? field.map(plain) : field;
}

test.each([
  ['name = "gpu"', { name: 'gpu' }],
  ['count = 3 # three', { count: '3' }],
  ['spot = true // yes', { spot: 'true' }],
  ['types = ["a", "b",]', { types: ['a', 'b'] }],
  ['types = [\n  "a", # first\n  "b"\n]', { types: ['a', 'b'] }],
  ['labels = { "a/b" = "c", d : "e" }', { labels: { 'a/b': 'c', d: 'e' } }],
  ['/* name = "x" */ name = "y"', { name: 'y' }],
  ['config {\n  size = 2\n}\nconfig {\n  size = 3\n}', { config: [{ size: '2' }, { size: '3' }] }],
  // What must be computed is unknown.
  ['name = var.name', { name: null }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = "gpu-${var.name}"', { name: null }],
  ['name = var.spot ? "a" : "b"\nnext = "c"', { name: null, next: 'c' }],
  ['types = concat(["a"], var.more)\nnext = "c"', { types: null, next: 'c' }],
  ['types = [var.a, "b"]', { types: [null, 'b'] }],
  ['text = <<-EOT\n  machine_type = "x"\n  EOT\nnext = "c"', { text: null, next: 'c' }],
])('%j', (text, expected) => {
  expect(bodyOf(text)).toEqual(expected);
});

test.each([
  '{'.repeat(5000),
  'a = ['.repeat(5000),
  'a { '.repeat(5000),
  `x = "${'\\'.repeat(5000)}`,
  `x = ${'\\"'.repeat(100_000)}`,
  '<<EOT\n',
  `${'/*'.repeat(5000)}`,
  '}}}}]]]]))))',
])('a broken file %# is read without an error', (text) => {
  expect(() => readHcl(`${text}\nmachine_type = "g2-standard-4"`)).not.toThrow();
  expect(() => terraformPools(`${text}\nmachine_type = "g2-standard-4"`)).not.toThrow();
});

test('a long file takes one pass', () => {
  const block =
    'resource "google_container_node_pool" "p" {\n  node_config {\n    machine_type = "g2-standard-4"\n  }\n}\n';
  expect(terraformPools(block.repeat(300))).toHaveLength(200);
});

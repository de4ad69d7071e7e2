import { expect, test } from 'vitest';
import { readHcl } from '../../server/src/evidence/hcl.ts';
import {
  placeBy,
  terraformBlocks,
  terraformPoolsOf,
  terraformRegions,
} from '../../server/src/evidence/terraform-pools.ts';
import { terraformStatements, valuesOfFolder } from '../../server/src/evidence/terraform-values.ts';

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
  // Variables and local values are for the other files of the folder to say.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = var.name', { name: { template: '${var.name}' } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = "gpu-${local.name}"', { name: { template: 'gpu-${local.name}' } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['types = [var.a, "b"]', { types: [{ template: '${var.a}' }, 'b'] }],
  // What must be computed is unknown.
  ['name = var.names[local.at]\nnext = "c"', { name: null, next: 'c' }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = var.names[0]\nnext = "c"', { name: { template: '${var.names.0}' }, next: 'c' }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = var.pools["a"].names[count.index]', { name: { template: '${var.pools.a.names.#}' } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['count = length(local.zones)\nnext = "c"', { count: { template: '${length(local.zones)}' }, next: 'c' }],
  ['count = length(keys(local.zones))', { count: null }],
  ['for_each = toset(["a", "b"])\nnext = "c"', { for_each: ['a', 'b'], next: 'c' }],
  [
    'a = {\n for p in var.pools : p.name => p\n if p.on }\nb = { for k, v in local.a.b : k => v }',
    {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
      a: { template: '${var.pools}', mapped: { key: 'name', when: 'on' } },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
      b: { template: '${local.a.b}', mapped: { key: null } },
    },
  ],
  ['a = { for k, v in var.a : k => v.b }\nb = { for p in var.a : p => 1 }\nc = "d"', { a: null, b: null, c: 'd' }],
  ['a = { for k, v in var.a : k => v if v.n > 1 }\nb = [for p in var.a : p]\nc = "d"', { a: null, b: null, c: 'd' }],
  [
    `a = { for z in local.zones : "gpu-\${z}" => { types = ["a"], zone = z, b = { z = "\${z.c}" } } }\nnext = "c"`,
    {
      a: {
        each: {
          name: { template: `gpu-\${each.value}` },
          types: ['a'],
          zone: { template: `\${each.value}` },
          b: { z: { template: `\${each.value.c}` } },
          for_each: { template: `\${local.zones}` },
        },
      },
      next: 'c',
    },
  ],
  [
    'a = [for k, p in var.a : {\n type = p.type\n }]\nb = { for p in var.a : p.n => { c = 1 } if p.on }',
    { a: [{ type: { template: `\${each.value.type}` }, for_each: { template: `\${var.a}` } }], b: null },
  ],
  [
    'a = var.pools[each.key].size\nb = keys(var.pools)',
    { a: { template: `\${var.pools.@.size}` }, b: { template: `\${var.pools}` } },
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = var.pool.name', { name: { template: '${var.pool.name}' } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = var.pool.name[0]', { name: { template: '${var.pool.name.0}' } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
  ['name = "gpu-${upper(var.name)}"', { name: null }],
  [
    'name = var.spot ? "a" : "b"\nnext = "c"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
    { name: { template: '${var.spot}', choice: ['a', 'b'] }, next: 'c' },
  ],
  [
    'types = var.spot ? ["a", "b"] : ["c"]\nmore = var.spot ? ["a"] : []\nnext = "d"',
    {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own templates
      types: { template: '${var.spot}', choice: [['a', 'b'], ['c']] },
      more: null,
      next: 'd',
    },
  ],
  ['types = concat(["a"], var.more)\nnext = "c"', { types: null, next: 'c' }],
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
  'x = { for a in var.x : a => { b = '.repeat(2000),
  `${'x = { for a in var.x : a => { b = '.repeat(20)}1${'} }'.repeat(20)}`,
  '<<EOT\n',
  `${'/*'.repeat(5000)}`,
  '}}}}]]]]))))',
])('a broken file %# is read without an error', (text) => {
  expect(() => readHcl(`${text}\nmachine_type = "g2-standard-4"`)).not.toThrow();
  expect(() => terraformBlocks(`${text}\nmachine_type = "g2-standard-4"`)).not.toThrow();
});

test('a long file takes one pass', () => {
  const block =
    'resource "google_container_node_pool" "p" {\n  node_config {\n    machine_type = "g2-standard-4"\n  }\n}\n';
  expect(terraformBlocks(block.repeat(300))).toHaveLength(200);
});

test.each([
  ['provider "aws" {\n  region = "eu-west-3"\n}', 'aws', 'eu-west-3'],
  ['provider "google-beta" {\n  zone = "us-west1-b"\n}', 'gcp', 'us-west1-b'],
  ['resource "azurerm_kubernetes_cluster" "a" {\n  location = "North Europe"\n}', 'azure', 'northeurope'],
  // The cluster takes precedence, also if its place is computed.
  [
    'provider "google" {\n  region = "us-west1"\n}\nresource "google_container_cluster" "a" {\n  location = "us-east4-a"\n}',
    'gcp',
    'us-east4-a',
  ],
  [
    'provider "google" {\n  region = "us-west1"\n}\nresource "google_container_cluster" "a" {\n  location = var.zone\n}',
    'gcp',
    null,
  ],
  ['provider "aws" {\n  alias = "b"\n  region = "eu-west-3"\n}', 'aws', null],
  ['provider "aws" {\n  region = var.region\n}', 'aws', null],
  ['provider "aws" {\n  region = "eu-west-3"\n}', 'gcp', null],
  ['resource "aws_ecs_cluster" "a" {\n  region = "eu-west-3"\n}', 'aws', null],
] as const)('the place in %j', (text, cloud, region) => {
  expect(placeBy(terraformRegions(text), cloud)).toBe(region);
});

test.each([
  // A default.
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}' }, [], 'us-west-2'],
  [{ 'a.tf': 'variable "r" {\n  type = string\n}' }, [], undefined],
  // What a file of variables sets replaces it, if it always applies.
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}', 'terraform.tfvars': 'r = "eu-west-1"\n' }, [], 'eu-west-1'],
  [{ 'a.tf': 'variable "r" {}', 'x.auto.tfvars': 'r = "eu-west-1"\nother = ["a"]' }, [], 'eu-west-1'],
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}', 'prod.tfvars': 'r = "eu-west-1"' }, [], undefined],
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}', 'prod.tfvars': 'other = "a"' }, [], 'us-west-2'],
  [{ 'a.tf': 'variable "r" {}', 'prod.tfvars': 'r = "eu-west-1"', 'dev.tfvars': 'r = "us-west-2"' }, [], undefined],
  [{ 'a.tf': 'variable "r" {}', 'terraform.tfvars.json': '{"r": "eu-west-1", "n": [1]}' }, [], 'eu-west-1'],
  [{ 'a.tf': 'variable "r" {}', 'terraform.tfvars.json': '{"r": ' }, [], undefined],
  // Another module sets it.
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}' }, ['eu-west-1'], 'eu-west-1'],
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}' }, ['eu-west-1', 'us-east-1'], undefined],
  [{ 'a.tf': 'variable "r" {\n  default = "us-west-2"\n}' }, [null], undefined],
] as const)('the variable of %j', (files, passed, value) => {
  const statements = Object.entries(files).map(([fileName, text]) => ({
    fileName,
    facts: terraformStatements(text, fileName),
  }));
  const others = passed.map((text) => new Map([['var.r', text]]));
  expect(valuesOfFolder(statements, others).get('var.r') ?? undefined).toBe(value);
});

test('local values may refer to others', () => {
  const text = `locals {
    zone = "\${local.region}-b"
    region = var.r
    loop = local.loop
  }
  variable "r" {
    default = "us-east4"
  }`;
  const values = valuesOfFolder([{ fileName: 'a.tf', facts: terraformStatements(text, 'a.tf') }]);
  expect(Object.fromEntries(values)).toEqual({
    'var.r': 'us-east4',
    'local.loop': null,
    'local.region': 'us-east4',
    'local.zone': 'us-east4-b',
  });
});

const nodeGroup = (before: string, max = '3') =>
  `${before}\n  instance_types = ["g5.12xlarge"]\n  scaling_config {\n    max_size = ${max}\n  }\n}`;

test.each([
  // A set has each text once, and a list of one item is one copy.
  ['variable "z" {\n  default = ["a", "b", "a"]\n}', 'for_each = toset(var.z)', '3', [3, 3]],
  ['variable "z" {\n  default = [{ max = 5 }]\n}', 'count = length(var.z)', 'var.z[count.index].max', [5]],
  // A switch is one copy; other computed numbers are unknown.
  ['', 'count = var.on ? 1 : 0', '3', [3]],
  ['', 'count = var.on ? 2 : 0', '3', [null]],
  ['variable "on" {\n  default = true\n}', 'count = var.on ? 1 : 0', '3', [3]],
  ['variable "on" {\n  default = false\n}', 'count = var.on ? 1 : 0', '3', [0]],
  ['variable "on" {\n  default = "cpu"\n}', 'count = var.on == "gpu" ? 1 : 0', '3', [0]],
  ['variable "on" {\n  default = "cpu"\n}', 'count = var.on != "none" ? 1 : 0', '3', [3]],
  ['', 'count = length(data.zones.a.names)', '3', [null]],
] as const)('the limits of pools with %j and %j', (values, copies, max, limits) => {
  const text = `${values}\n${nodeGroup(`resource "aws_eks_node_group" "gpu" {\n  ${copies}`, max)}`;
  const known = valuesOfFolder([{ fileName: 'a.tf', facts: terraformStatements(text, 'a.tf') }]);
  const pools = terraformBlocks(text).flatMap((block) => terraformPoolsOf(block, known));
  expect(pools.map(({ size }) => size?.max)).toEqual(limits);
});

test.each([
  ['count = 2', [null]],
  ['count = 1', [3]],
  ['count = var.on ? 1 : 0', [3]],
  ['for_each = var.zones', [null]],
] as const)('the limits of pools of a module with %s', (copies, limits) => {
  const { modules } = terraformStatements(`module "a" {\n  source = "./pool"\n  ${copies}\n}`, 'main.tf');
  const known = valuesOfFolder([], [new Map(modules.flatMap(({ variables }) => variables))]);
  const text = nodeGroup('resource "aws_eks_node_group" "gpu" {');
  const pools = terraformBlocks(text).flatMap((block) => terraformPoolsOf(block, known));
  expect(pools.map(({ size }) => size?.max)).toEqual(limits);
});

test('a count in a mapping is that of the nodes', () => {
  const text = 'locals {\n  pools = {\n    gpu = { machine_type = "a2-highgpu-1g", count = 3 }\n  }\n}';
  expect(terraformBlocks(text).flatMap((block) => terraformPoolsOf(block))).toHaveLength(1);
});

test.each([
  ['variable "held" {\n  default = ""\n}', 'var.held == "" ? [] : [var.held]', false],
  ['variable "held" {\n  default = "room"\n}', 'var.held == "" ? [] : [var.held]', true],
  ['variable "held" {\n  default = true\n}', 'var.held ? [1] : []', true],
  ['', '[1]', true],
  ['variable "held" {\n  default = []\n}', 'var.held', false],
  // Most users of a module that offers reservations have none.
  ['variable "held" {\n  default = null\n}', 'var.held == null ? [] : [1]', false],
  ['', 'var.held', false],
])('whether a pool is reserved with %j and %s', (values, each, isReserved) => {
  const text = `${values}
resource "google_container_node_pool" "gpu" {
  node_config {
    machine_type = "a2-highgpu-1g"
    dynamic "reservation_affinity" {
      for_each = ${each}
      content {
        consume_reservation_type = "SPECIFIC_RESERVATION"
      }
    }
  }
}
`;
  const known = valuesOfFolder([{ fileName: 'a.tf', facts: terraformStatements(text, 'a.tf') }]);
  const [pool] = terraformBlocks(text).flatMap((block) => terraformPoolsOf(block, known));
  expect(JSON.stringify(pool?.terms).includes('reserved')).toBe(isReserved);
});

import { expect, test } from 'vitest';
import { listed } from './listed-pools.ts';

// Which blocks of Terraform are pools, with amounts computed by hand from the price list.

const region = 'provider "aws" {\n  region = "us-west-2"\n}\n';

test('what groups have unless they state it is part of them, not a pool', async () => {
  const stdout = await listed({
    'a.tf': `${region}module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_group_defaults = {
    instance_types = ["g6.4xlarge"]
    capacity_type  = "SPOT"
  }
  eks_managed_node_groups = {
    mix  = { max_size = 3 }
    film = { max_size = 2, instance_types = ["g5.12xlarge"], capacity_type = "ON_DEMAND" }
  }
}
`,
  });
  // 3 × 0.58185, 2 × 5.672.
  expect(stdout).toContain('mix · g6.4xlarge · $0.58/h spot per node · at most $1.75/h for 3 nodes');
  expect(stdout).toContain('film · g5.12xlarge · $5.67/h on demand per node · at most $11.34/h for 2 nodes');
  expect(stdout).toContain('2 node pools\n');
});

test('local values to choose from are not pools, maps of pools are', async () => {
  const locals = (name: string) =>
    `${region}locals {\n  instance_type = "p5.48xlarge"\n  ${name} = {\n    big = { instance_type = "g5.12xlarge" }\n  }\n}\n`;
  for (const name of ['sizes', 'gpu_defaults', 'machines', 'common'])
    expect(await listed({ 'a.tf': locals(name) })).not.toContain('$');
  expect(await listed({ 'a.tf': locals('node_groups') })).toContain('big · g5.12xlarge · $5.67/h on demand per node');
  expect(await listed({ 'a.tf': locals('databases') })).toContain('1 node pool\n');
});

test.each([
  'resource "aws_instance" "desk" {\n  instance_type = "g5.xlarge"\n}',
  'resource "google_compute_instance" "desk" {\n  machine_type = "g2-standard-8"\n}',
  'resource "aws_emr_cluster" "e" {\n  core_instance_group {\n    instance_type = "g5.xlarge"\n  }\n}',
  'resource "azurerm_machine_learning_compute_cluster" "m" {\n  vm_size = "Standard_NC24ads_A100_v4"\n}',
  'module "desk" {\n  source = "terraform-aws-modules/ec2-instance/aws"\n  instance_type = "g5.xlarge"\n}',
])('a machine outside a cluster is not a pool: %j', async (block) => {
  expect(await listed({ 'a.tf': `${region}${block}\n` })).not.toContain('$');
});

test('a group with the machine and the market of its launch template, which may be in another file', async () => {
  const market = (type: string) =>
    `resource "aws_launch_template" "paint" {\n  instance_type = "g6.4xlarge"\n  instance_market_options {\n    market_type = "${type}"\n  }\n}\n`;
  const group =
    'resource "aws_autoscaling_group" "paint" {\n  name = "paint"\n  max_size = 4\n  launch_template {\n    id = aws_launch_template.paint.id\n  }\n}\n';
  // 4 × 0.58185.
  const row = 'paint · g6.4xlarge · $0.58/h spot per node · at most $2.33/h for 4 nodes';
  expect(await listed({ 'a.tf': region + market('spot') + group })).toContain(row);
  const apart = await listed({ 'a.tf': region + group, 'b.tf': market('spot') });
  expect(apart).toContain(row);
  expect(apart).toContain('1 node pool\n');
  expect(await listed({ 'a.tf': region + group + market('capacity-block') })).toContain('reserved capacity');
});

test('the name of a machine of Azure is read in any case: 3 × 4.591', async () => {
  const files = (size: string) => ({
    'a.tf': `resource "azurerm_kubernetes_cluster" "c" {
  name     = "c"
  location = "UK South"
}

resource "azurerm_kubernetes_cluster_node_pool" "paint" {
  name                  = "paint"
  kubernetes_cluster_id = azurerm_kubernetes_cluster.c.id
  vm_size               = "${size}"
  max_count             = 3
}
`,
  });
  for (const size of ['Standard_NC24ads_A100_v4', 'standard_nc24ads_a100_v4', 'STANDARD_NC24ADS_A100_V4'])
    expect(await listed(files(size))).toContain(
      'paint · Standard_NC24ads_A100_v4 · $4.59/h on demand per node · at most $13.77/h for 3 nodes',
    );
});

test('a mixed group whose machines have weights counts units, not nodes', async () => {
  const group = (weight: string) => `${region}resource "aws_autoscaling_group" "paint" {
  max_size = 4
  mixed_instances_policy {
    launch_template {
      override {
        instance_type     = "g6.4xlarge"
        weighted_capacity = "${weight}"
      }
    }
  }
}
`;
  // 4 × 1.3232.
  expect(await listed({ 'a.tf': group('1') })).toContain('at most $5.29/h for 4 nodes');
  expect(await listed({ 'a.tf': group('2') })).toContain('limit unknown');
});

test('preemptible nodes of Oracle and Nebius, and fixed counts', async () => {
  const oracle = `resource "oci_containerengine_node_pool" "a" {
  name = "a"
  node_shape = "VM.GPU.A10.1"
  node_config_details {
    size = 2
    placement_configs {
      preemptible_node_config {
        preemption_action {
          type = "TERMINATE"
        }
      }
    }
  }
}
`;
  expect(await listed({ 'a.tf': oracle })).toContain('no spot price for it (on demand: $2.00/h)');
  const nebius = (more: string) => `resource "nebius_mk8s_v1_node_group" "g" {
  name = "g"
  fixed_node_count = 2
  template = {
    resources = { platform = "gpu-h100-sxm", preset = "1gpu-16vcpu-200gb" }
    ${more}
  }
}
`;
  // 2 × 2.95, 2 × 1.25.
  expect(await listed({ 'a.tf': nebius('') })).toContain('$2.95/h on demand per node · at most $5.90/h for 2 nodes');
  expect(await listed({ 'a.tf': nebius('preemptible = {}') })).toContain(
    '$1.25/h spot per node · at most $2.50/h for 2 nodes',
  );
});

test('here-documents with the line ends of Windows', async () => {
  const text = `${region}locals {\n  script = <<-EOT\n    pool {\n    "\n  EOT\n}\nresource "aws_eks_node_group" "mix" {\n  instance_types = ["g6.4xlarge"]\n  scaling_config {\n    max_size = 3\n  }\n}\n`;
  // 3 × 1.3232.
  expect(await listed({ 'a.tf': text.replaceAll('\n', '\r\n') })).toContain(
    'mix · g6.4xlarge · $1.32/h on demand per node · at most $3.97/h for 3 nodes',
  );
});

test('many copies of a module with many copies are bounded', async () => {
  const crews = Array.from({ length: 20 }, (_, index) => `    c${index} = { type = "g6.4xlarge" }`).join('\n');
  const block = (index: number) =>
    `resource "aws_eks_node_group" "g${index}" {\n  for_each = var.crews\n  instance_types = [each.value.type]\n}\nvariable "v${index}" {\n  default = "x"\n}\n`;
  const files = Array.from({ length: 10 }, (_, file) => [
    `m/${file}.tf`,
    Array.from({ length: 100 }, (_, index) => block(100 * file + index)).join(''),
  ]);
  const stdout = await listed({
    'a.tf': `${region}variable "crews" {\n  default = {\n${crews}\n  }\n}\nmodule "m" {\n  source = "./m"\n  for_each = var.crews\n  crews = var.crews\n}\n`,
    'm/crews.tf': 'variable "crews" {}\n',
    ...Object.fromEntries(files),
  });
  expect(stdout).toMatch(/0 workloads, 5,\d\d\d node pools/);
});

test('Cluster API with the template in another file, and objects whose count is that of their nodes', async () => {
  const machines = `apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: speech}
spec:
  replicas: 2
  template:
    spec:
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, name: cards}
`;
  const template = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: cards}
spec: {template: {spec: {instanceType: g6.12xlarge, marketType: Spot}}}
`;
  // 2 × 1.9748.
  expect(await listed({ 'a.yaml': machines, 'b.yaml': template })).toContain(
    'a.yaml:1  speech · g6.12xlarge · $1.97/h spot per node · at most $3.95/h for 2 nodes',
  );
  const agents = (fields: string) => `apiVersion: containerservice.azure.com/v1api20240901
kind: ManagedClustersAgentPool
metadata: {name: gpu}
spec: {vmSize: Standard_NC24ads_A100_v4, ${fields}}
`;
  // 3 × 3.673, 4 × 3.673.
  expect(await listed({ 'a.yaml': agents('count: 3') })).toContain('at most $11.02/h for 3 nodes');
  expect(await listed({ 'a.yaml': agents('count: 3, maxCount: 4') })).toContain('at most $14.69/h for 4 nodes');
});

test('limits by Neuron devices and their cores', async () => {
  const pool = (limit: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: film}
spec:
  limits: {${limit}}
  template:
    spec:
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [trn1.32xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`;
  // 16 devices with 2 cores each: 21.50 per node.
  expect(await listed({ 'a.yaml': pool('aws.amazon.com/neuroncore: 70') })).toContain('at most $43.00/h for 2 nodes');
  expect(await listed({ 'a.yaml': pool('aws.amazon.com/neuron: 16') })).toContain('at most $21.50/h for 1 node');
});

test('copies of mappings that are written in place, of local values, and of choices', async () => {
  const group = (each: string, field: string) =>
    `resource "aws_eks_node_group" "g" {\n  for_each = ${each}\n  node_group_name = each.key\n  instance_types = [each.value.${field}]\n  scaling_config {\n    max_size = each.value.most\n  }\n}\n`;
  const crews = (field: string) =>
    `{\n  film = { ${field} = "g6.4xlarge", most = 3 }\n  pen = { ${field} = "g5.12xlarge", most = 2 }\n}`;
  const locals = (name: string, field: string) => `locals {\n  ${name} = ${crews(field)}\n}\n`;
  const folders = [
    group(crews('kind'), 'kind'),
    group(crews('instance_type'), 'instance_type'),
    locals('crews', 'kind') + group('local.crews', 'kind'),
    locals('machines', 'instance_type') + group('local.machines', 'instance_type'),
  ];
  for (const text of folders) {
    const stdout = await listed({ 'a.tf': region + text });
    // 3 × 1.3232, 2 × 5.672.
    expect(stdout).toContain('film · g6.4xlarge · $1.32/h on demand per node · at most $3.97/h for 3 nodes');
    expect(stdout).toContain('pen · g5.12xlarge · $5.67/h on demand per node · at most $11.34/h for 2 nodes');
    expect(stdout).toContain('2 node pools\n');
  }
  // The local value is a map of pools.
  const both = await listed({
    'a.tf': region + locals('crews', 'instance_type') + group('local.crews', 'instance_type'),
  });
  expect(both).toContain('2 node pools\n');
});

test('copies by a for expression over a list or a mapping', async () => {
  const group = (each: string) =>
    `resource "aws_eks_node_group" "g" {\n  for_each = ${each}\n  node_group_name = each.key\n  instance_types = [each.value.kind]\n  scaling_config {\n    max_size = each.value.most\n  }\n}\n`;
  const list = `variable "crews" {
  default = [
    { crew = "film", kind = "g6.4xlarge", most = 3, on = true },
    { crew = "pen", kind = "g5.12xlarge", most = 2, on = false },
  ]
}
`;
  // 3 × 1.3232, 2 × 5.672.
  const [film, pen] = [
    'film · g6.4xlarge · $1.32/h on demand per node · at most $3.97/h for 3 nodes',
    'pen · g5.12xlarge · $5.67/h on demand per node · at most $11.34/h for 2 nodes',
  ];
  const all = await listed({ 'a.tf': region + list + group('{ for one in var.crews : one.crew => one }') });
  expect(all).toContain(film);
  expect(all).toContain(pen);
  expect(all).toContain('2 node pools\n');
  const some = group('{\n    for one in local.crews : one.crew => one\n    if one.on\n  }');
  const kept = await listed({ 'a.tf': `${region}${list}locals {\n  crews = var.crews\n}\n${some}` });
  expect(kept).toContain(film);
  expect(kept).toContain('1 node pool\n');
  const mapping = list
    .replace(/\{ crew = ("\w+"), /g, '$1 = { ')
    .replace('[', '{')
    .replace(/\](?=\n\})/, '}');
  expect(await listed({ 'a.tf': region + mapping + group('{ for k, v in var.crews : k => v }') })).toBe(all);
  // What is computed from the items stays unknown.
  const merged = await listed({
    'a.tf': region + list + group('{ for one in var.crews : one.crew => merge(one, {}) }'),
  });
  expect(merged).not.toContain('$1.32');
});

test('a list of pools is counted once, as the pools that a for expression makes of it', async () => {
  const locals = (last = ', on = false') => `${region}locals {
  crews = [
    { name = "film", instance_type = "g6.4xlarge", most = 3, on = true },
    { name = "pen", instance_type = "g5.12xlarge", most = 2${last} },
  ]
}
`;
  const group = (each: string) =>
    `resource "aws_eks_node_group" "g" {\n  for_each = { for one in ${each} }\n  node_group_name = each.key\n  instance_types = [each.value.instance_type]\n  scaling_config {\n    max_size = each.value.most\n  }\n}\n`;
  const own = await listed({ 'a.tf': locals() + group('local.crews : one.name => one if one.on') });
  expect(own).toContain('film · g6.4xlarge · $1.32/h on demand per node · at most $3.97/h for 3 nodes');
  expect(own).toContain('1 node pool\n');
  const module = 'module "crews" {\n  source = "./groups"\n  crews = local.crews\n}\n';
  const inModule = await listed({
    'a.tf': locals() + module,
    'groups/g.tf': `variable "crews" {}\n${group('var.crews : one.name => one')}`,
  });
  expect(inModule).toContain('2 node pools\n');
  // Which of them are made is unknown.
  const unknown = await listed({ 'a.tf': locals('') + group('local.crews : one.name => one if one.on') });
  expect(unknown).toContain('2 node pools\n');
});

test('a file of variables with a machine and a map of pools', async () => {
  const text =
    'instance_type = "g6.4xlarge"\nzone = "us-west-2a"\npools = [{ name = "pen", machine_type = "a2-highgpu-1g", max_count = 3, zones = ["us-central1-a"] }]\n';
  const stdout = await listed({ 'prod.tfvars': text });
  // 3 × 3.6734.
  expect(stdout).toContain('Pool · g6.4xlarge · $1.32/h on demand per node · limit unknown');
  expect(stdout).toContain('pen · a2-highgpu-1g · $3.67/h on demand per node · at most $11.02/h for 3 nodes');
});

test('each use of a module of pools is a pool with its own values, in the region of the folder that uses it', async () => {
  const group = `variable "crew" {}
variable "machine" {}
variable "most" { default = 2 }
resource "aws_eks_node_group" "g" {
  node_group_name = var.crew
  instance_types  = [var.machine]
  scaling_config {
    max_size = var.most
  }
}
`;
  const use = (name: string, more = '') =>
    `module "${name}" {\n  source = "../group"\n  crew = "${name}"\n  machine = "g6.4xlarge"\n  ${more}\n}\n`;
  const single = await listed({
    'group/main.tf': group,
    'west/main.tf': region + use('film', 'instance_type = "g5.xlarge"'),
  });
  // 2 × 1.3232. The machine that the module ignores is not a second pool.
  expect(single).toContain('film · g6.4xlarge · $1.32/h on demand per node · at most $2.65/h for 2 nodes');
  expect(single).toContain('1 node pool\n');
  const east = 'provider "aws" {\n  region = "eu-central-1"\n}\n';
  const several = await listed({
    'group/main.tf': group,
    'west/main.tf': region + use('film') + use('pen', 'most = 5'),
    'east/main.tf': east + use('voice', 'most = 1'),
  });
  // 5 × 1.3232; in Frankfurt, g6.4xlarge costs 1.65466.
  expect(several).toContain('film · g6.4xlarge · $1.32/h on demand per node · at most $2.65/h for 2 nodes');
  expect(several).toContain('pen · g6.4xlarge · $1.32/h on demand per node · at most $6.62/h for 5 nodes');
  expect(several).toContain('voice · g6.4xlarge · $1.65/h on demand per node · at most $1.65/h for 1 node');
  expect(several).toContain('3 node pools\n');
});

test('a block that names a machine is the pool itself if its module has none', async () => {
  const use = 'module "film" {\n  source = "./group"\n  instance_type = "g6.4xlarge"\n}\n';
  const text = 'variable "instance_type" {}\nresource "aws_iam_role" "r" {}\n';
  const stdout = await listed({ 'main.tf': region + use, 'group/main.tf': text });
  expect(stdout).toContain('g6.4xlarge · $1.32/h on demand per node · limit unknown');
  expect(stdout).toContain('1 node pool\n');
});

test('a pool of queued provisioning has flex-start capacity', async () => {
  const pool = (enabled: string) => `resource "google_container_node_pool" "p" {
  name     = "film"
  cluster  = "lab"
  location = "us-central1-a"
  queued_provisioning { enabled = ${enabled} }
  node_config { machine_type = "a2-highgpu-8g" }
}
`;
  expect(await listed({ 'a.tf': pool('true') })).toContain(
    'film · a2-highgpu-8g · price unknown: flex-start capacity has no list price',
  );
  expect(await listed({ 'a.tf': pool('false') })).toContain('film · a2-highgpu-8g · $29.39/h on demand per node');
});

import { expect, test } from 'vitest';
import { listed } from './listed-pools.ts';

// Amounts that must contain what pools can cost, and pools that must be listed once. Computed by hand from the price list.

const provider = 'provider "aws" { region = "us-east-1" }\n';
const group = (source: string, types = 'each.value.types') => `resource "aws_eks_node_group" "team" {
  for_each        = ${source}
  node_group_name = each.key
  instance_types  = ${types}
  scaling_config {
    max_size = lookup(each.value, "most", 3)
  }
}
`;

test('a bound of vCPUs leaves room for a mix of machines', async () => {
  const text = `${provider}resource "aws_batch_compute_environment" "mix" {
  compute_environment_name = "mix"
  type = "MANAGED"
  compute_resources {
    type          = "EC2"
    instance_type = ["p3.2xlarge", "g6.xlarge"]
    max_vcpus     = 12
  }
}
`;
  // One with 8 vCPUs and one with 4: 3.06 + 0.8048. Three with 4 are 2.41.
  expect(await listed({ 'a.tf': text })).toContain('at most $3.86/h for 1–3 nodes');
});

test('a machine with a part of a card counts as one device', async () => {
  const text = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: parts}
spec:
  limits: {nvidia.com/gpu: 4}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: parts}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g6f.xlarge]}]
`;
  // 4 × 0.2375.
  expect(await listed({ 'a.yaml': text })).toContain('$0.24/h on demand per node · at most $0.95/h for 4 nodes');
});

test('an empty price is no bid, and the maximum of an update is none of a pool', async () => {
  const kops = (price: string) => `apiVersion: kops.k8s.io/v1alpha2
kind: InstanceGroup
metadata: {name: cards}
spec: {machineType: g6.xlarge, maxSize: 2, maxPrice: ${price}, subnets: [us-east-1a]}
`;
  expect(await listed({ 'a.yaml': kops('""') })).toContain('$0.80/h on demand per node · at most $1.61/h');
  expect(await listed({ 'a.yaml': kops('"0.5"') })).toContain('$0.36/h spot per node · at most $0.72/h');
  const pool = `${provider}module "cards" {
  source         = "git::https://git.example.com/pool.git"
  instance_types = ["g6.xlarge"]
  max_price      = null
  update         = { maximum = 1 }
}
`;
  expect(await listed({ 'a.tf': pool })).toContain('$0.80/h on demand per node · limit unknown');
});

test('a local value that a module copies is not a second pool, unless the machines of the module are computed', async () => {
  const files = (types?: string) => ({
    'a.tf': `${provider}locals {
  teams = { film = { types = ["g6.xlarge"], instance_types = ["g6.xlarge"], most = 2, max_size = 2 } }
}
module "team" {
  source = "./team"
  pools  = local.teams
}
`,
    'team/main.tf': `variable "pools" {}\n${group('var.pools', types)}`,
  });
  const inside = `${provider}locals {
  all = { teams = { film = { types = ["g6.xlarge"], instance_types = ["g6.xlarge"], most = 2 } } }
}
${group('local.all.teams')}`;
  const film = 'film · g6.xlarge · $0.80/h on demand per node · at most $1.61/h for 2 nodes';
  for (const found of [
    await listed(files()),
    await listed(files('concat(each.value.types, [])')),
    await listed({ 'a.tf': inside }),
  ]) {
    expect(found).toContain(film);
    expect(found).toContain('1 node pool');
  }
});

test('a field with a default of its type is unknown', async () => {
  const text = `${provider}variable "pools" {
  type = map(object({
    types = list(string)
    most  = optional(number, 5)
  }))
}
${group('var.pools')}`;
  const found = await listed({ 'a.tf': text, 'terraform.tfvars': 'pools = { film = { types = ["g6.xlarge"] } }\n' });
  expect(found).toContain('film · g6.xlarge · $0.80/h on demand per node · limit unknown');
});

test('includes of Terragrunt that are not merged by names, and what they read', async () => {
  const unit = (include: string, inputs = '') => `include "root" {
  ${include}
}
terraform {
  source = "git::https://git.example.com/pool.git"
}
inputs = {
  name   = "cards"
  region = "us-east-1"
  ${inputs}
}
`;
  const found = (strategy: string, own: string) =>
    listed({
      'root.hcl': 'inputs = {\n  instance_types = ["p3.2xlarge"]\n  max_size = 4\n}\n',
      'live/terragrunt.hcl': unit(`path = find_in_parent_folders("root.hcl")\n  ${strategy}`, own),
    });
  const own = 'instance_types = ["g6.xlarge"]';
  // 4 × 3.06, 4 × 0.8048.
  expect(await found('', '')).toContain('cards · p3.2xlarge · $3.06/h on demand per node · at most $12.24/h');
  expect(await found('', own)).toContain('cards · g6.xlarge · $0.80/h on demand per node · at most $3.22/h');
  expect(await found('merge_strategy = "no_merge"', own)).toContain('$0.80/h on demand per node · limit unknown');
  expect(await found('merge_strategy = "no_merge"', '')).not.toContain('cards');
  expect(await found('merge_strategy = "deep"', own)).not.toContain('cards');
  // The file is found from the folder of the unit, not from that of the file that it includes.
  const stages = await listed({
    'stage.hcl': 'locals {\n  most = 1\n}\n',
    'live/stage.hcl': 'locals {\n  most = 5\n}\n',
    'common/pool.hcl':
      'locals {\n  stage = read_terragrunt_config(find_in_parent_folders("stage.hcl"))\n}\ninputs = {\n  instance_types = ["g6.xlarge"]\n  max_size = local.stage.locals.most\n}\n',
    'live/pool/terragrunt.hcl': unit('path = "../../common/pool.hcl"'),
  });
  expect(stages).toContain('cards · g6.xlarge · $0.80/h on demand per node · limit unknown');
});

test('a static pool of Karpenter has as many nodes as it states', async () => {
  const pool = (spec: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cards}
spec:
  ${spec}
  template:
    spec:
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge, g6.2xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`;
  // 3 × 0.9776. A higher limit is for nodes that are being replaced.
  for (const spec of ['replicas: 3', 'replicas: 3\n  limits: {nodes: 5}'])
    expect(await listed({ 'a.yaml': pool(spec) })).toContain('at most $2.93/h for 3 nodes');
  expect(await listed({ 'a.yaml': pool('limits: {nodes: 5}') })).toContain('at most $4.89/h for 5 nodes');
});

test('a pool without zones has the region of the only cluster', async () => {
  const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cards}
spec:
  limits: {nodes: 2}
  template:
    spec:
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`;
  const cluster = (name: string, region: string) =>
    `provider "aws" { region = "${region}" }\nresource "aws_eks_cluster" "${name}" { name = "${name}" }\n`;
  const one = { 'pool.yaml': pool, 'a/a.tf': cluster('a', 'eu-central-1') };
  // 2 × 1.258; with two clusters in two regions, 2 × 1.006 in us-east-1.
  expect(await listed(one)).toContain('at most $2.52/h for 2 nodes');
  expect(await listed({ ...one, 'b/b.tf': cluster('b', 'eu-west-1') })).toContain('at most $2.01/h for 2 nodes');
});

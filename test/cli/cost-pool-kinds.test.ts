import { expect, test } from 'vitest';
import { listed } from './listed-pools.ts';

// Pools of further tools, with amounts computed by hand from the price list.

test('an instance group of kOps that mixes machines on spot', async () => {
  const group = (policy: string) => `apiVersion: kops.k8s.io/v1alpha2
kind: InstanceGroup
metadata: {name: cards}
spec:
  machineType: g6.2xlarge
  maxSize: 3
  minSize: 0
  subnets: [us-west-2a, us-west-2b]
${policy}`;
  expect(await listed({ 'a.yaml': group('') })).toContain(
    'cards · g6.2xlarge · $0.98/h on demand per node · at most $2.93/h for 3 nodes',
  );
  expect(await listed({ 'a.yaml': group('  maxPrice: "0.60"\n') })).toContain('$0.49/h spot per node');
  const mixed =
    '  mixedInstancesPolicy: {instances: [g6.2xlarge, g5.2xlarge], onDemandBase: 0, onDemandAboveBase: 0}\n';
  // 3 × 0.5256.
  expect(await listed({ 'a.yaml': group(mixed) })).toContain(
    '$0.49–$0.53/h spot per node · at most $1.58/h for 3 nodes',
  );
});

test('the workers of a shoot of Gardener, and machine pools of OpenShift', async () => {
  const shoot = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: lab}
spec:
  region: eu-central-1
  provider:
    type: aws
    workers:
      - {name: plain, machine: {type: m5.large}, minimum: 1, maximum: 2}
      - {name: cards, machine: {type: g6.xlarge}, minimum: 0, maximum: 2}
`;
  // 2 × 1.0064.
  expect(await listed({ 'a.yaml': shoot })).toContain(
    'cards · g6.xlarge · $1.01/h on demand per node · at most $2.01/h for 2 nodes',
  );
  const hive = `apiVersion: hive.openshift.io/v1
kind: MachinePool
metadata: {name: lab-cards}
spec:
  name: cards
  replicas: 2
  platform: {aws: {type: g5.xlarge, zones: [us-east-1c]}}
`;
  expect(await listed({ 'a.yaml': hive })).toContain(
    'cards · g5.xlarge · $1.01/h on demand per node · at most $2.01/h for 2 nodes',
  );
});

test('node groups in a template of CloudFormation, with its parameters', async () => {
  const template = (type: string) => `AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  CardType: {Type: String, Default: g6e.xlarge}
  Open: {Type: String}
Resources:
  Cards:
    Type: AWS::EKS::Nodegroup
    Properties:
      InstanceTypes: [${type}]
      ScalingConfig: {MinSize: 0, MaxSize: 2}
`;
  // 2 × 1.861.
  expect(await listed({ 'a.yaml': template('!Ref CardType') })).toContain(
    'Cards · g6e.xlarge · $1.86/h on demand per node · at most $3.72/h for 2 nodes',
  );
  expect(await listed({ 'a.yaml': template('{Ref: CardType}') })).toContain('Cards · g6e.xlarge');
  expect(await listed({ 'a.yaml': template('!Ref Open') })).not.toContain('Cards');
});

test('the bound of a compute environment is in vCPUs', async () => {
  const batch = (most: string) => `resource "aws_batch_compute_environment" "paint" {
  compute_environment_name = "paint"
  type = "MANAGED"
  compute_resources {
    type          = "EC2"
    instance_type = ["g6.xlarge", "g6.4xlarge"]
    max_vcpus     = ${most}
  }
}
`;
  // 32 vCPUs: 8 × 0.8048 or 2 × 1.3232.
  expect(await listed({ 'a.tf': batch('32') })).toContain(
    'paint · g6.xlarge or g6.4xlarge · $0.80–$1.32/h on demand per node · at most $6.44/h for 2–8 nodes',
  );
  expect(await listed({ 'a.tf': batch('var.most') })).toContain('limit unknown');
});

test('a node group for each of the pools in a local value has its place and its size', async () => {
  const pools = (source: string) => `locals {
  place = "us-west-2"
  teams = {
    film  = { machine = "x", instance_type = "g6.2xlarge", most = 2 }
    sound = { machine = "x", instance_type = "g5.xlarge", most = 4 }
  }
}
provider "aws" {
  region = local.place
}
${source}`;
  const group = (value: string) => `  node_group_name = ${value}
  instance_types  = [var_or_each.instance_type]
  capacity_type   = "SPOT"
  scaling_config {
    max_size = var_or_each.most
  }
`;
  const direct = `resource "aws_eks_node_group" "team" {
  for_each = local.teams
${group('each.key').replaceAll('var_or_each', 'each.value')}}
`;
  // 2 × 0.4939, 4 × 0.5445.
  const film = 'film · g6.2xlarge · $0.49/h spot per node · at most $0.99/h for 2 nodes';
  const sound = 'sound · g5.xlarge · $0.54/h spot per node · at most $2.18/h for 4 nodes';
  const own = await listed({ 'a.tf': pools(direct) });
  expect(own).toContain(film);
  expect(own).toContain(sound);
  expect(own).toContain('2 node pools');
  const module = `module "team" {
  for_each = local.teams
  source   = "./team"
  team     = each.key
  pool     = each.value
}
`;
  const inside = `variable "team" {}
variable "pool" {}
resource "aws_eks_node_group" "this" {
${group('var.team').replaceAll('var_or_each', 'var.pool')}}
`;
  const within = await listed({ 'a.tf': pools(module), 'team/main.tf': inside });
  expect(within).toContain(film);
  expect(within).toContain(sound);
  expect(within).toContain('2 node pools');
});

test('a unit of Terragrunt with values of the files that it reads and includes', async () => {
  const module = `variable "types" {}
variable "most" {}
provider "aws" { region = "us-west-2" }
resource "aws_eks_node_group" "cards" {
  node_group_name = "cards"
  instance_types  = var.types
  scaling_config {
    max_size = var.most
  }
}
`;
  const unit = (most: string) => `locals {
  stage = read_terragrunt_config(find_in_parent_folders("stage.hcl"))
}
terraform {
  source = "../../modules//cards"
}
inputs = {
  types = local.stage.locals.types
  most  = ${most}
}
`;
  const files = (most: string) => ({
    'modules/cards/main.tf': module,
    'live/stage.hcl': 'locals {\n  types = ["g6.2xlarge"]\n  most = 3\n}\n',
    'live/cards/terragrunt.hcl': unit(most),
  });
  // 3 × 0.9776.
  expect(await listed(files('local.stage.locals.most'))).toContain(
    'cards · g6.2xlarge · $0.98/h on demand per node · at most $2.93/h for 3 nodes',
  );
  expect(await listed(files('local.stage.locals.least'))).toContain('limit unknown');
  const included = await listed({
    'common/pool.hcl': 'inputs = {\n  name = "cards"\n  instance_types = ["g5.xlarge"]\n  max_size = 2\n}\n',
    'root.hcl': 'locals {\n  most = 4\n}\n',
    'live/pool/terragrunt.hcl': `include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}
include "common" {
  path = "\${dirname(find_in_parent_folders("root.hcl"))}/common/pool.hcl"
}
terraform {
  source = "git::https://git.example.com/pool.git"
}
inputs = {
  max_size = include.root.locals.most
}
`,
  });
  // 4 × 1.006.
  expect(included).toContain('cards · g5.xlarge · $1.01/h on demand per node · at most $4.02/h for 4 nodes');
  expect(included).toContain('1 node pool');
});

test('functions that read a field of a copy, and what a condition makes of it', async () => {
  const groups = (most: string) => `provider "aws" {
  region = "us-west-2"
}
locals {
  lanes = {
    fast = { types = ["g6.2xlarge"], most = 2 }
    slow = { types = ["g5.xlarge"], cheap = true }
  }
}
resource "aws_eks_node_group" "lane" {
  for_each        = local.lanes
  node_group_name = each.key
  instance_types  = each.value.types
  capacity_type   = try(each.value.cheap, false) ? "SPOT" : "ON_DEMAND"
  scaling_config {
    desired_size = 0
    max_size     = ${most}
  }
}
`;
  const known = await listed({ 'a.tf': groups('lookup(each.value, "most", 3)') });
  // 2 × 0.9776, 3 × 0.5445.
  expect(known).toContain('fast · g6.2xlarge · $0.98/h on demand per node · at most $1.96/h for 2 nodes');
  expect(known).toContain('slow · g5.xlarge · $0.54/h spot per node · at most $1.63/h for 3 nodes');
  // A computed limit is unknown, and never the present number of nodes.
  expect(await listed({ 'a.tf': groups('max(2, var.most)') })).toContain('on demand per node · limit unknown');
});

test('pools of a cloud without prices have none, and neither have their pods', async () => {
  const pool = `resource "scaleway_k8s_pool" "cards" {
  name      = "cards"
  node_type = "H100-1-80G"
  size      = 1
}
resource "digitalocean_kubernetes_node_pool" "cards" {
  name   = "paint"
  size   = "gpu-h100x1-80gb"
  labels = { hardware = "cards" }
}
resource "digitalocean_kubernetes_node_pool" "plain" {
  name = "plain"
  size = "s-4vcpu-8gb"
}
resource "yandex_kubernetes_node_group" "ink" {
  name = "ink"
  instance_template {
    platform_id = "gpu-standard-v3"
  }
}
resource "yandex_kubernetes_node_group" "bare" {
  name = "bare"
  instance_template {
    platform_id = "standard-v3"
  }
}
`;
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: painter}
spec:
  nodeSelector: {hardware: cards}
  containers:
    - {name: main, image: registry.example.com/app:1, resources: {limits: {nvidia.com/gpu: 1}}}
`;
  const found = await listed({ 'a.tf': pool, 'pod.yaml': pod });
  expect(found).toContain('cards · price unknown: Scaleway is not in the price sheet');
  expect(found).toContain('paint · price unknown: DigitalOcean is not in the price sheet');
  expect(found).toContain('ink · price unknown: Yandex Cloud is not in the price sheet');
  expect(found).not.toMatch(/plain|bare/);
  expect(found).toMatch(/painter +1 GPU +no price/);
});

test('pods select an instance group of kOps by its name', async () => {
  const text = `apiVersion: kops.k8s.io/v1alpha2
kind: InstanceGroup
metadata: {name: cards}
spec: {machineType: g6.xlarge, maxSize: 2, subnets: [eu-central-1a]}
---
apiVersion: v1
kind: Pod
metadata: {name: painter}
spec:
  nodeSelector: {kops.k8s.io/instancegroup: cards}
  containers:
    - {name: main, image: registry.example.com/app:1, resources: {limits: {nvidia.com/gpu: 1}}}
`;
  expect(await listed({ 'a.yaml': text })).toMatch(/painter +1 GPU +\$1\.01\/h/);
});
